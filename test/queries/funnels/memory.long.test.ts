import { afterAll, beforeAll, expect, test } from 'vitest'
import { answerQuery } from '../../../src/engine/execution/answer.ts'
import type { QueryProject } from '../../../src/engine/execution/query-context.ts'
import { type TestProject, withoutLists } from '../../harness/duckdb.ts'
import { firstAt, openManyEvents } from './many-events.ts'

// The events of a funnel take a share of the memory limit: with less memory it reads actors in more slices, and its answer is the same.

const events = 12_000
const people = 500
let project: TestProject
beforeAll(async () => {
  const columns = {
    uuid: "md5('' || i)::UUID",
    event_id: '1 + hash(i) % 2',
    timestamp: `make_timestamp(${firstAt} + i * 1000000)`,
    person_no: `1 + hash(i + 7) % ${people}`,
    group_0: "'g' || (hash(i + 9) % 50)",
    properties: `'{"v":"' || (i % 7) || '","s":"' || (hash(i + 3) % 400) || '"}'`,
  }
  project = withoutLists(
    await openManyEvents(events, columns, {
      persons: Array.from({ length: people }, (_, i) => ({ person: i + 1 })),
      groups: Array.from({ length: 50 }, (_, i) => ({ index: 0, key: `g${i}` })),
    }),
  )
})
afterAll(() => project.close())

const node = (event: string, more: object = {}) => ({ kind: 'EventsNode', event, ...more })
const query = (parts: object = {}) => ({
  kind: 'FunnelsQuery',
  series: [node('a'), node('b'), node('a')],
  dateRange: { date_from: '2024-01-02', date_to: '2024-01-03' },
  ...parts,
})
const actors = (parts: object, source: object) => ({
  kind: 'ActorsQuery',
  source: { kind: 'FunnelsActorsQuery', ...parts, source },
  select: ['actor', 'step_timestamps', 'matching_events'],
  orderBy: ['id'],
  limit: 1000,
})

/** The project with less memory, and how many rows of events each slice had. */
function limited(memoryLimit: number): { project: QueryProject; slices: number[] } {
  const slices: number[] = []
  return {
    slices,
    project: {
      ...project,
      limits: { memoryLimit, threads: undefined }, // no server has so little that a row of a list would be too much
      async runInParts(statement, take, options) {
        let rows = 0
        await project.runInParts(
          statement,
          (part) => {
            rows += part.numRows
            take(part)
          },
          options,
        )
        slices.push(rows)
      },
    },
  }
}

const rowBytes = 16
test.each<[string, { readonly kind: string }, bytes: number]>([
  ['persons', query(), rowBytes],
  ['by a property', query({ breakdownFilter: { breakdown: 'v', breakdown_type: 'event' } }), rowBytes + 8],
  ['with an exclusion', query({ funnelsFilter: { exclusions: [{ ...node('x'), funnelFromStep: 0, funnelToStep: 1 }] } }), rowBytes + 8],
  ['groups', query({ aggregation_group_type_index: 0 }), rowBytes],
  ['an expression', query({ funnelsFilter: { funnelAggregateByHogQL: 'properties.s' } }), rowBytes],
  ['the first event', query({ series: [node('a', { math: 'first_time_for_user' }), node('b')] }), rowBytes],
  ['by day', query({ funnelsFilter: { funnelVizType: 'trends' }, interval: 'day' }), rowBytes],
  ['times', query({ funnelsFilter: { funnelVizType: 'time_to_convert' } }), rowBytes],
  ['people with their events', actors({ funnelStep: 2, includeRecordings: true }, query()), rowBytes + 8 + 80],
])('a small limit gives the same answer in slices: %s', async (_, asked, bytes) => {
  const whole = (await answerQuery(asked, project)) as { results: unknown }
  const most = 2500
  const { project: small, slices } = limited(4 * bytes * most)
  const parts = (await answerQuery(asked, small)) as { results: unknown }
  expect(rounded(parts.results)).toEqual(rounded(whole.results))
  expect(slices.length).toBeGreaterThanOrEqual(5)
  expect(Math.max(...slices)).toBeLessThanOrEqual(most)
  expect(slices.reduce((sum, rows) => sum + rows)).toBeGreaterThanOrEqual(events)
})

/** Sums of fractions differ in their last digits by the order of their parts. */
const rounded = (results: unknown): unknown =>
  JSON.parse(JSON.stringify(results, (_, value) => (typeof value === 'number' ? Number(value.toPrecision(10)) : value)))

test('one actor with most of the events is not asked for in more and more slices', async () => {
  const { project: small, slices } = limited(4 * rowBytes * 1000)
  const everyone = query({ funnelsFilter: { funnelAggregateByHogQL: "if(toInt(properties.s) < 300, 'one', properties.s)" } })
  const whole = (await answerQuery(everyone, project)) as { results: unknown }
  const parts = (await answerQuery(everyone, small)) as { results: unknown }
  expect(rounded(parts.results)).toEqual(rounded(whole.results))
  expect(slices.length).toBeLessThan(20)
})
