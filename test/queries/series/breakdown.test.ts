import { afterAll, beforeAll, expect, test } from 'vitest'
import { answerQuery } from '../../../src/engine/execution/answer.ts'
import type { FunnelsAnswer } from '../../../src/queries/funnels/index.ts'
import { nullValue } from '../../../src/queries/series/breakdown-values.ts'
import type { TrendsResponse } from '../../../src/queries/trends/index.ts'
import { openTestProject, type TestProject } from '../../harness/duckdb.ts'

// Trends and funnels read breakdowns in the same way.

let held: TestProject
beforeAll(async () => {
  held = await openTestProject({ settings: { path_cleaning_filters: [{ regex: '/\\d+', alias: '/ID' }] } })
  const of = (distinct_id: string, properties: object) =>
    ['view', 'buy'].map((event, i) => ({ event, distinct_id, timestamp: `2024-05-30T10:0${i}:00Z`, properties }))
  await held.project.ingest({
    batch: [
      ...of('a', { plan: 'pro', price: 10, path: '/users/1/', $groups: { company: 'acme' }, $set: { city: 'Bonn' } }),
      ...of('b', { plan: '', price: 10.5, path: '/users/22?', $groups: { company: 'acme' }, $set: { city: '' } }),
      ...of('c', { plan: true, path: '#' }),
      ...of('d', { plan: 10 }),
      { event: '$groupidentify', distinct_id: 'a', properties: { $group_type: 'company', $group_key: 'acme', $group_set: { size: 40 } } },
    ],
  })
})
afterAll(() => held.close())

const node = (event: string) => ({ kind: 'EventsNode', event })
const days = { dateRange: { date_from: '2024-05-30', date_to: '2024-05-31' } }

test.each<[what: string, filter: object]>([
  ['texts, booleans and numbers of one key', { breakdown: 'plan' }],
  ['numbers', { breakdown: 'price' }],
  ['a property of the person', { breakdown: 'city', breakdown_type: 'person' }],
  ['a property of a group', { breakdown: 'size', breakdown_type: 'group', breakdown_group_type_index: 0 }],
  ['a column', { breakdown: 'distinct_id', breakdown_type: 'event_metadata' }],
  ['an expression', { breakdown: "concat(properties.plan, '!')", breakdown_type: 'hogql' }],
  ['cleaned paths', { breakdown: 'path', breakdown_path_cleaning: true }],
  ['paths without their ends', { breakdown: 'path', breakdown_normalize_url: true }],
  ['both', { breakdown: 'path', breakdown_normalize_url: true, breakdown_path_cleaning: true }],
  ['a list of one', { breakdowns: [{ property: 'path', normalize_url: true }] }],
])('%s', async (_, breakdownFilter) => {
  const trends = { kind: 'TrendsQuery', series: [node('view')], trendsFilter: { display: 'ActionsTable' }, breakdownFilter, ...days }
  const funnel = { kind: 'FunnelsQuery', series: [node('view'), node('buy')], breakdownFilter, ...days }
  const lines = ((await answerQuery(trends, held)) as TrendsResponse).results
  const rows = ((await answerQuery(funnel, held)) as FunnelsAnswer).results as unknown as { breakdown_value: string[]; count: number }[][]
  const counted = lines.map(({ breakdown_value, aggregated_value }) => {
    const [value] = [breakdown_value].flat() as string[]
    return [value === nullValue ? '' : value, aggregated_value]
  })
  expect(counted.length).toBeGreaterThan(0)
  expect(rows.map(([first]) => [first!.breakdown_value[0], first!.count]).sort()).toEqual(counted.sort())
})

test('a column is named, not computed', async () => {
  const breakdownFilter = { breakdown: 'upper(distinct_id)', breakdown_type: 'event_metadata' }
  for (const query of [
    { kind: 'TrendsQuery', series: [node('view')], breakdownFilter },
    { kind: 'FunnelsQuery', series: [node('view'), node('buy')], breakdownFilter },
  ])
    await expect(answerQuery(query, held)).rejects.toThrow('upper(distinct_id)')
})
