import { isObject } from '../../../lib/is-object.ts'
import { type ProjectApi, RecordRefused, type Row } from './api.ts'
import type { Made } from './made.ts'
import { NotMoved, withNewIds } from './references.ts'

// The same questions on both sides, after definitions and events have been moved.

export interface Compared {
  readonly name: string
  /** Numbers of the answers. */
  readonly numbers: number
  readonly different: number
  /** The first difference, or why there is no answer. */
  readonly note: string | null
}

const comparable: ReadonlySet<unknown> = new Set([
  'TrendsQuery',
  'FunnelsQuery',
  'RetentionQuery',
  'LifecycleQuery',
  'StickinessQuery',
  'PathsQuery',
])

export async function compareInsights(source: ProjectApi, target: ProjectApi, made: Made, most: number): Promise<readonly Compared[]> {
  const found: Compared[] = []
  for await (const row of source.rows('insights/?basic=true')) {
    if (found.length === most) break
    const query = sourceQuery(row.query)
    if (!query || row.deleted === true || made.find('insights', row.id) === undefined) continue
    const name = typeof row.name === 'string' && row.name !== '' ? row.name : String(row.derived_name ?? row.id)
    found.push({ name, ...(await compared(query, source, target, made)) })
  }
  return found
}

/** The question itself, without how it is shown. */
function sourceQuery(query: unknown): Row | null {
  if (!isObject(query)) return null
  if (isObject(query.source)) return sourceQuery(query.source)
  return comparable.has(query.kind) ? query : null
}

async function compared(query: Row, source: ProjectApi, target: ProjectApi, made: Made): Promise<Omit<Compared, 'name'>> {
  try {
    const ask = (api: ProjectApi, asked: unknown) => api.post('query/', { query: asked as object, refresh: 'force_blocking' })
    const [there, here] = [await ask(source, query), await ask(target, withNewIds(query, made))].map(({ results }) => numbersIn(results))
    return difference(there!, here!)
  } catch (error) {
    if (error instanceof RecordRefused || error instanceof NotMoved)
      return { numbers: 0, different: 0, note: `not answered: ${error.message}` }
    throw error
  }
}

interface Found {
  readonly place: string
  readonly value: number
}

const counted: ReadonlySet<string> = new Set([
  'data',
  'count',
  'aggregated_value',
  'value',
  'average_conversion_time',
  'median_conversion_time',
])
/** Ids and places in an order differ without a meaning. */
const named = ['label', 'name', 'date', 'source', 'target', 'status']

/** The numbers of an answer, each with what it is of: rows may come in another order. */
export function numbersIn(value: unknown, place = '', key = ''): readonly Found[] {
  if (typeof value === 'number') return counted.has(key) ? [{ place, value }] : []
  if (Array.isArray(value)) return value.flatMap((one: unknown, i) => numbersIn(one, isObject(one) ? place : `${place} ${i + 1}`, key))
  if (!isObject(value)) return []
  // The value of a breakdown by cohorts is an id; a label says its name.
  const names = typeof value.label === 'string' ? named : [...named, 'breakdown_value']
  const own = names
    .flatMap((name) => (typeof value[name] === 'string' || typeof value[name] === 'number' ? [String(value[name])] : []))
    .join(' ')
  return Object.entries(value).flatMap(([name, one]) => numbersIn(one, `${place} ${own} ${name}`.trim(), name))
}

const digits = 9

export function difference(there: readonly Found[], here: readonly Found[]): Omit<Compared, 'name'> {
  const byPlace = new Map<string, number[]>()
  for (const { place, value } of here) byPlace.set(place, [...(byPlace.get(place) ?? []), value])
  let different = 0
  let note: string | null = null
  for (const { place, value } of there) {
    const other = byPlace.get(place)?.shift()
    if (other !== undefined && Number(other.toPrecision(digits)) === Number(value.toPrecision(digits))) continue
    different++
    note ??= `${place}: ${value} there, ${other ?? 'nothing'} here`
  }
  const more = [...byPlace.values()].reduce((sum, { length }) => sum + length, 0)
  if (more > 0) note ??= `${more} more numbers here`
  return { numbers: there.length, different: different + more, note }
}
