import { afterAll, beforeAll, expect, test } from 'vitest'
import { open, type Project, type Waymark } from '../../../src/index.ts'
import { allowCells, allowFound, mostCells, mostFoundCells } from '../../../src/queries/answers/cells.ts'

// Charts whose numbers would not fit into memory are refused before anything is computed: by what they ask for, and by the values that are found.

let waymark: Waymark
let project: Project
beforeAll(async () => {
  waymark = await open({ dataDir: ':memory:', memoryLimit: '64MiB', clock: () => new Date('2026-01-06T00:00:00Z') })
  project = await waymark.createProject({ name: 'Cells' })
  const batch = Array.from({ length: 1000 }, (_, i) => ({
    event: 'seen',
    distinct_id: `u${i}`,
    timestamp: new Date(Date.UTC(2026, 0, 1) + i * 1000).toISOString(),
    properties: { value: `v${i}`, number: i },
  }))
  await project.ingest({ batch })
})
afterAll(() => waymark.close())

const series = [{ kind: 'EventsNode', event: 'seen' }]
const steps = [...series, { kind: 'EventsNode', event: 'seen' }]
const months = { date_from: '2025-08-29', date_to: '2026-01-06' }
const byValue = (breakdown_limit: number) => ({ breakdown: 'value', breakdown_type: 'event', breakdown_limit })
type Body = Readonly<Record<string, unknown>>
const asked = (body: Body) => project.query(body as never)
const trend = (more: Body): Body => ({ kind: 'TrendsQuery', series, dateRange: months, interval: 'minute', ...more })

test.each<[string, Body]>([
  ['minutes of 130 days by a thousand values', trend({ breakdownFilter: byValue(1000) })],
  ['the same by SQL', trend({ breakdownFilter: byValue(1000), modifiers: { road: 'sql' } })],
  ['the same of the last months', trend({ breakdownFilter: byValue(1000), dateRange: { date_from: '-130d' } })],
  ['many series', trend({ series: Array.from({ length: 20 }, () => series[0]!) })],
  ['many cohorts and a comparison', trend({ series: Array.from({ length: 8 }, () => series[0]!), compareFilter: { compare: true } })],
  ['rolling windows', trend({ series: [{ ...series[0]!, math: 'weekly_active' }], breakdownFilter: byValue(1000) })],
  ['cumulative', trend({ breakdownFilter: byValue(1000), trendsFilter: { display: 'ActionsLineGraphCumulative' } })],
  ['a formula', trend({ breakdownFilter: byValue(1000), trendsFilter: { formula: 'A * 2' } })],
  ['boxes', trend({ series: [0, 1, 2].map(() => ({ ...series[0]!, math_property: 'number' })), trendsFilter: { display: 'BoxPlot' } })],
  [
    'funnels over time',
    {
      kind: 'FunnelsQuery',
      series: steps,
      dateRange: months,
      interval: 'minute',
      funnelsFilter: { funnelVizType: 'trends' },
      breakdownFilter: byValue(1000),
    },
  ],
  [
    'retention',
    {
      kind: 'RetentionQuery',
      dateRange: { date_from: '2025-01-01', date_to: '2026-01-01' },
      retentionFilter: { period: 'Day', totalIntervals: 300 },
      breakdownFilter: byValue(1000),
    },
  ],
])('what is asked: %s', async (_, body) => {
  const error = await asked(body).catch((found: unknown) => found)
  expect(error).toMatchObject({ code: 'validation-failed' })
  expect(String(error)).toMatch(/would have [\d,]+ numbers \(.+\); the limit is 2,500,000\. Choose a longer interval/)
})

test.each<[string, Body]>([
  ['by the lists', {}],
  ['by SQL', { modifiers: { road: 'sql' } }],
])('what is found, %s: few values are asked for, and a thousand are there', async (_, more) => {
  const error = await asked(trend({ breakdownFilter: byValue(5), ...more })).catch((found: unknown) => found)
  expect(String(error)).toContain('The breakdown has 1,000 values in 187,201 buckets')
})

test('what fits is answered', async () => {
  const day = { dateRange: { date_from: '2026-01-01', date_to: '2026-01-01T23:59:00Z' } }
  const { results } = (await asked(trend({ breakdownFilter: byValue(1000), ...day }))) as unknown as { results: unknown[] }
  expect(results).toHaveLength(1000)
  const long = (await asked(trend({}))) as unknown as { results: { data: number[] }[] }
  expect(long.results[0]!.data.length).toBeGreaterThan(180_000)
  await asked({ ...trend({ breakdownFilter: byValue(5) }), interval: 'hour' })
})

test('the limits are those of the numbers, not of their parts', () => {
  expect(() => allowCells({ buckets: mostCells, interval: 'day', series: 1 })).not.toThrow()
  expect(() => allowCells({ buckets: mostCells, interval: 'day', series: 1, values: 2 })).toThrow(/smaller breakdown_limit/)
  expect(() => allowCells({ buckets: mostCells, interval: 'day', series: 2 })).toThrow(/fewer series/)
  expect(() => allowFound(1, mostFoundCells)).not.toThrow()
  expect(() => allowFound(2, mostFoundCells)).toThrow(/filter the values/)
})

test('all time begins with an event of the year 1', async () => {
  const old = await waymark.createProject({ name: 'Old' })
  const event = (timestamp: string) => ({ event: 'seen', distinct_id: 'a', timestamp, properties: {} })
  await old.ingest({ historical_migration: true, batch: [event('0001-01-01T00:00:00Z'), event('2026-01-05T00:00:00Z')] })
  const all = { kind: 'TrendsQuery', series, dateRange: { date_from: 'all' } }
  const refused = await old.query({ ...all, interval: 'day' } as never).catch((found: unknown) => String(found))
  expect(refused).toContain('All time starts at the earliest event (0001-01-01T00:00:00Z) and has more than 200000 buckets of one day')
  expect(refused).toContain('a later date_from')
  const retention = { kind: 'RetentionQuery', dateRange: { date_from: 'all' }, retentionFilter: { period: 'Day' } }
  expect(await old.query(retention as never).catch((found: unknown) => String(found))).toContain('earliest event (0001-01-01T00:00:00Z)')
  // Nothing is left out where it fits.
  const { results } = (await old.query({ ...all, interval: 'year' } as never)) as unknown as {
    results: { count: number; data: number[] }[]
  }
  expect(results[0]).toMatchObject({ count: 2 })
  expect(results[0]!.data).toHaveLength(2026)
  const web = (await old.query({ kind: 'WebOverviewQuery', dateRange: { date_from: 'all' } } as never)) as unknown as { results: unknown[] }
  expect(web.results).toHaveLength(5)
})
