import { text } from '../../../service/accounts/fields.ts'
import type { PropertyValuesAnswer } from '../../answers/property-definitions.ts'
import { failures } from '../errors.ts'
import type { ProjectVisit } from '../resource.ts'
import { answerTo } from './ask.ts'

// The values of a property, for editors that suggest them: the most frequent first.

/** Values that are read to find those of lists. */
const readValues = 1_000
const mostShown = 1_000
const shownByDefault = 10
/** Older events are read only if the recent ones have too few values. */
const recentDays = 30

export const valuesParameters = {
  key: 'The property',
  properties: 'Older name of `key`',
  value: 'Only values that contain this text, ignoring case',
  limit: `Number of values (default ${shownByDefault}, at most ${mostShown})`,
}

type Counted = readonly [value: unknown, count: number]

const keyRule = text({ max: 10_000 })

/** Elements of lists count one by one. */
function shown(rows: readonly Counted[], wanted: string, limit: number): PropertyValuesAnswer {
  const found = new Map<string, { readonly name: string; count: number }>()
  const add = (value: unknown, count: number): void => {
    if (Array.isArray(value)) {
      for (const one of value) add(one, count)
      return
    }
    const name = asText(value)
    const known = found.get(name)
    if (known) known.count += count
    else if (value !== null && name.toLowerCase().includes(wanted)) found.set(name, { name, count })
  }
  for (const [value, count] of rows) add(parsedList(value), count)
  return [...found.values()].sort((a, b) => b.count - a.count).slice(0, limit)
}

const asText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

function parsedList(value: unknown): unknown {
  if (typeof value !== 'string' || !value.startsWith('[')) return value
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}

const wholeNumber = (given: string | null): number | null => (given !== null && /^\d{1,6}$/.test(given) ? Number(given) : null)

async function counted(visit: ProjectVisit, source: string, key: string, wanted: string, values: object): Promise<readonly Counted[]> {
  const contains = wanted === '' ? '' : 'and positionCaseInsensitiveUTF8(toString(value), {wanted}) > 0'
  const query = `select properties[{key}] as value, count() as n from ${source} value is not null ${contains}
    group by value order by n desc, value limit ${readValues}`
  const { results } = (await answerTo(visit, { kind: 'HogQLQuery', query, values: { key, wanted, ...values } })) as { results: Counted[] }
  return results
}

const asked = (visit: ProjectVisit) => {
  const key = keyRule.safeParse(visit.query.get('key') ?? visit.query.get('properties') ?? '')
  if (!key.success) throw failures.required('key')
  const wanted = (visit.query.get('value') ?? '').slice(0, 1_000)
  const limit = Math.min(wholeNumber(visit.query.get('limit')) || shownByDefault, mostShown)
  return { key: key.data, wanted, limit, show: (rows: readonly Counted[]) => shown(rows, wanted.toLowerCase(), limit) }
}

/** `source`: persons, or the groups of a type. */
export async function recordValues(visit: ProjectVisit, source: string): Promise<PropertyValuesAnswer> {
  const { key, wanted, show } = asked(visit)
  return show(await counted(visit, `${source} where`, key, wanted, {}))
}

export async function eventValues(visit: ProjectVisit): Promise<PropertyValuesAnswer> {
  const { key, wanted, limit, show } = asked(visit)
  const names = visit.query.getAll('event_name')
  const ofNames = names.length > 0 ? 'has({names}, event) and' : ''
  const read = (since: string) => counted(visit, `events where ${since} ${ofNames}`, key, wanted, names.length > 0 ? { names } : {})
  const recent = show(await read(`timestamp > now() - interval ${recentDays} day and`))
  return recent.length >= limit ? recent : show(await read(''))
}
