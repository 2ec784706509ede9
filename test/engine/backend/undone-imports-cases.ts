import { expect } from 'vitest'
import { random } from '../../../bench/random.ts'
import type { LocalProject } from '../../../src/project.ts'

// Imports beside live events, one of which is undone, on any engine: what is left is what a project has that never got its events.

export interface Step {
  /** 0: live; others: an import. */
  readonly source: number
  readonly batch: readonly { readonly uuid: string; readonly n: number; readonly person: string; readonly with: string | null }[]
}

export const importIdOf = (source: number): string => `018f0000-0000-7000-8000-aaaaaaaa000${source}`
const uuidOf = (n: number) => `018f0000-0000-7000-8000-${String(n).padStart(12, '0')}`

/** Uuids are drawn from few: many come twice, from different sources. */
export function drawSteps(seed: number, count = 60): Step[] {
  const draw = random(seed)
  const below = (most: number) => Math.floor(draw() * most)
  return Array.from({ length: count }, () => ({
    source: below(4),
    batch: Array.from({ length: 1 + below(4) }, () => {
      const n = below(150)
      // Of one uuid there is one event, whoever sends it.
      return { uuid: uuidOf(n), n, person: `p${n % 23}`, with: n % 11 === 0 ? `anon${n % 23}` : null }
    }),
  }))
}

export async function send(project: LocalProject, { source, batch }: Step): Promise<void> {
  const events = batch.map(({ uuid, n, person, with: other }) => ({
    uuid,
    event: other === null ? 'bought' : '$identify',
    distinct_id: person,
    timestamp: new Date(Date.UTC(2025, 0, 1) + n * 60_000).toISOString(),
    properties: {
      n,
      // A property of few, and one that has an odd name.
      [`of ${n % 40}`]: n,
      [`"odd" \\ é ${n % 31}`]: [n],
      ...(other !== null && { $anon_distinct_id: other }),
      $set: { [`own ${n % 29}`]: n },
    },
  }))
  const body = { batch: events, ...(source > 0 && { historical_migration: true }) }
  await project.take(body, source > 0 ? { importId: importIdOf(source) } : {})
}

/** The first source of each uuid has stored it. */
export function storedBy(steps: readonly Step[]): Map<string, number> {
  const stored = new Map<string, number>()
  for (const { source, batch } of steps) for (const { uuid } of batch) if (!stored.has(uuid)) stored.set(uuid, source)
  return stored
}

export async function uuidsOf(project: LocalProject): Promise<string[]> {
  const sql = await project.query<[string]>({ kind: 'SqlLikeQuery', query: 'select toString(uuid) from events order by uuid limit 10000' })
  return sql.results.map(([uuid]) => uuid)
}

export const left = (stored: ReadonlyMap<string, number>, undone: readonly number[]): string[] =>
  [...stored]
    .filter(([, source]) => !undone.includes(source))
    .map(([uuid]) => uuid)
    .sort()

/** By each road. */
export async function mustBeLeft(project: LocalProject, uuids: readonly string[]): Promise<void> {
  expect(await uuidsOf(project)).toEqual(uuids)
  const trend = await project.query({
    kind: 'TrendsQuery',
    series: [{ kind: 'EventsNode', event: null }],
    dateRange: { date_from: '2024-12-01', date_to: '2025-12-31' },
    interval: 'year',
  } as never)
  const counts = (trend.results as unknown as { count: number }[]).map(({ count }) => count)
  expect(counts).toEqual([uuids.length])
  const names = await project.query<[string, number, string, string]>({
    kind: 'SqlLikeQuery',
    query: 'select event, count(), min(timestamp), max(timestamp) from events group by event order by event',
  })
  const known = (await project.events()).map(({ name, count, first_seen, last_seen }) => [name, count, first_seen, last_seen])
  const seen = (text: string) => new Date(`${text.replace(' ', 'T').slice(0, 19)}Z`)
  expect(known.toSorted()).toEqual(names.results.map(([name, count, first, last]) => [name, count, seen(first), seen(last)]))
}

/** Each property that is listed is one of an event or of a person, and all of these are. */
export async function propertiesMustBeThere(project: LocalProject): Promise<void> {
  const events = await project.query<[string]>({ kind: 'SqlLikeQuery', query: 'select properties from events limit 10000' })
  const people = await project.query<[string]>({ kind: 'SqlLikeQuery', query: 'select properties from persons limit 10000' })
  const keysOf = (rows: readonly (readonly [unknown])[]) =>
    [...new Set(rows.flatMap(([one]) => Object.keys(typeof one === 'string' ? JSON.parse(one) : (one as object))))].sort()
  const listed = (await project.properties()) as readonly { readonly scope: string; readonly name: string }[]
  const namesOf = (scope: string) =>
    listed
      .filter((one) => one.scope === scope)
      .map(({ name }) => name)
      .sort()
  expect(namesOf('event')).toEqual(keysOf(events.results))
  // The event that made a person is no property that somebody has sent.
  expect(namesOf('person')).toEqual(keysOf(people.results).filter((name) => name !== '$creator_event_uuid'))
}

/** Ids, each with how many events are under its person. */
export async function peopleOf(project: LocalProject): Promise<unknown[]> {
  const query = `select i.distinct_id, count(e.uuid) from person_distinct_ids i left join events e on e.person_id = i.person_id
    group by i.distinct_id order by i.distinct_id limit 1000`
  return (await project.query({ kind: 'SqlLikeQuery', query })).results as unknown[]
}
