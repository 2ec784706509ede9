import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type LocalWaymark, open } from '../../../src/engine.ts'
import type { LocalProject } from '../../../src/project.ts'

// Every kind with a comparison, in the first and last years that a range can have.

interface Answer {
  readonly results: unknown
  readonly boxplot_data?: unknown
}

let waymark: LocalWaymark
let project: LocalProject
beforeAll(async () => {
  waymark = await open({ dataDir: ':memory:', clock: () => new Date('2026-03-05T20:00:00Z') })
  project = await waymark.createProject({ name: 'comparison', timezone: 'America/New_York' })
  const at = ['0000-06-01T12:00:00Z', '2026-03-01T12:00:00Z']
  await project.ingest({
    batch: at.flatMap((timestamp, session) =>
      ['$pageview', 'buy'].map((event) => {
        const properties = { price: 1, $current_url: '/', $session_id: `01950000-0000-7000-8000-00000000000${session}` }
        return { event, distinct_id: 'ana', timestamp, properties }
      }),
    ),
  })
})
afterAll(() => waymark.close())

const series = [
  { kind: 'EventsNode', event: '$pageview', math_property: 'price' },
  { kind: 'EventsNode', event: 'buy', math_property: 'price' },
]
const funnel = (funnelVizType: string) => ({ kind: 'FunnelsQuery', series, funnelsFilter: { funnelVizType } })
const trend = (display: string) => ({ kind: 'TrendsQuery', series: series.slice(0, 1), interval: 'year', trendsFilter: { display } })
const queries: Readonly<Record<string, { readonly kind: string }>> = {
  line: trend('ActionsLineGraph'),
  number: trend('BoldNumber'),
  'box plot': trend('BoxPlot'),
  'heat map': trend('CalendarHeatmap'),
  stickiness: { kind: 'StickinessQuery', series, interval: 'year' } as { kind: string },
  steps: funnel('steps'),
  'time to convert': funnel('time_to_convert'),
  retention: { kind: 'RetentionQuery', retentionFilter: { period: 'Month' } } as { kind: string },
  paths: { kind: 'PathsQuery' },
  web: { kind: 'WebOverviewQuery', properties: [] } as { kind: string },
}

/** The numbers of an answer, without what says when and where they were counted. */
const numbersOf = ({ results, boxplot_data }: Answer) => ({ results, boxplot_data })

describe.each(Object.entries(queries))('%s', (_, query) => {
  const answers = (more: object) =>
    Promise.all(['core', 'sql'].map(async (road) => (await project.answer({ ...query, ...more, modifiers: { road } })) as Answer))

  test('a comparison that ends before the year 0 is refused by its field', async () => {
    for (const compare_to of ['-2100y', '-999999999y'])
      await expect(answers({ compareFilter: { compare: true, compare_to } })).rejects.toMatchObject({
        code: 'validation-failed',
        attr: 'compareFilter__compare_to',
      })
  })

  test.each([
    ['the last day', { date_from: '9999-12-31', date_to: '9999-12-31' }],
    ['the first year', { date_from: '0000-06-01', date_to: '0000-12-31' }],
  ])('both roads answer %s', async (_day, dateRange) => {
    const [core, sql] = await answers({ dateRange, compareFilter: { compare: true } })
    expect(numbersOf(core!)).toEqual(numbersOf(sql!))
  })
})

test('an event of the year 0 is counted', async () => {
  const dateRange = { date_from: '0000-06-01', date_to: '0000-12-31' }
  const { results } = (await project.answer({ ...queries.number, dateRange, compareFilter: { compare: true } })) as { results: object[] }
  expect(results).toMatchObject([{ aggregated_value: 1 }, { aggregated_value: 0 }])
})
