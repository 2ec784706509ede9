import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type LifecycleResponse, open, type Project, type Waymark } from '../../../src/index.ts'
import { assertGenerated } from '../../harness/assert-generated.ts'
import { type LifecycleEvent, type ReferenceLifecycle, referenceLifecycle, statuses } from '../../reference/lifecycle.ts'
import { dayText } from '../../reference/trends.ts'

// Lifecycles over generated events equal loops over the events, on both roads, and as many people are listed as each number says.

const runs = Number(process.env.WAYMARK_RUNS ?? 12)
const persons = [1, 2, 3, 4]
const first = Date.parse('2020-02-20T00:00:00Z')
const hour = 3_600_000

let waymark: Waymark
beforeAll(async () => {
  waymark = await open({ dataDir: ':memory:', clock: () => new Date('2020-06-01T00:00:00Z') })
})
afterAll(() => waymark.close())

// Hours around the days on which clocks change, close enough for neighbours of all intervals.
const timeArb = fc.integer({ min: 0, max: 70 * 24 }).map((hours) => (first + hours * hour) * 1000)
const eventsArb = fc.array(fc.record({ person: fc.constantFrom(...persons), at: timeArb }), { maxLength: 50, size: 'max' })
const createdArb = fc.tuple(timeArb, timeArb, timeArb, timeArb)
const placeArb = fc.record({
  zone: fc.constantFrom('UTC', 'America/New_York', 'Europe/Berlin', 'Asia/Kathmandu'),
  weekStartDay: fc.constantFrom<0 | 1>(0, 1),
})
const dates = { interval: fc.constantFrom<ReferenceLifecycle['interval']>('day', 'week', 'month'), begin: fc.nat(40), length: fc.nat(30) }
const datesArb = fc.record(dates).map(({ begin, length, interval }) => {
  const from = first / 86_400_000 + begin
  return { interval, from: dayText(from), to: dayText(from + length) }
})

async function filled(
  events: readonly LifecycleEvent[],
  created: readonly number[],
  { zone, weekStartDay }: { zone: string; weekStartDay: 0 | 1 },
) {
  const project = await waymark.createProject({ name: `p${Math.random()}`, timezone: zone, week_start_day: weekStartDay })
  const time = (at: number) => new Date(at / 1000).toISOString()
  await project.importPersons(persons.map((n, i) => ({ distinct_ids: [`d${n}`], properties: {}, created_at: time(created[i]!) })))
  const batch = events.map(({ person, at }) => ({ event: 'view', distinct_id: `d${person}`, timestamp: time(at), properties: {} }))
  if (batch.length > 0) await project.ingest({ batch })
  return project
}

const asQuery = ({ interval, from, to }: ReferenceLifecycle, road: 'core' | 'sql') => ({
  kind: 'LifecycleQuery' as const,
  series: [{ kind: 'EventsNode' as const, event: 'view' }],
  interval,
  dateRange: { date_from: from, date_to: to },
  modifiers: { road },
})

async function listed(project: Project, source: object, status: string, day: string): Promise<number> {
  const query = { kind: 'ActorsQuery', source: { kind: 'InsightActorsQuery', source, status, day }, select: ['id'] }
  return ((await project.query(query as never)) as { results: readonly unknown[] }).results.length
}

test('generated lifecycles over generated events answer what loops over the events answer', async () => {
  const queries = fc.array(datesArb, { minLength: 2, maxLength: 4 })
  await assertGenerated(
    fc.asyncProperty(eventsArb, createdArb, placeArb, queries, fc.nat(), async (events, created, place, drawn, at) => {
      const project = await filled(events, created, place)
      const createdAt = new Map(persons.map((person, i) => [person, created[i]!]))
      for (const range of drawn) {
        const query = { ...place, ...range }
        const expected = referenceLifecycle(events, createdAt, query)
        for (const road of ['core', 'sql'] as const) {
          const { results } = (await project.query(asQuery(query, road))) as LifecycleResponse
          expect(results.map(({ status }) => status)).toEqual(statuses)
          expect(results.map(({ data }) => data)).toEqual(expected)
          const row = results[at % 4]!
          const bucket = at % row.data.length
          expect(await listed(project, asQuery(query, road), row.status, row.days[bucket]!)).toBe(Math.abs(row.data[bucket]!))
        }
      }
    }),
    { numRuns: runs },
  )
})
