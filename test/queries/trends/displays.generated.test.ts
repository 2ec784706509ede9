import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { answerQuery } from '../../../src/execution/answer.ts'
import type { TrendsResponse } from '../../../src/queries/trends/index.ts'
import { assertGenerated } from '../../harness/assert-generated.ts'
import { type ClickHouse, hasClickHouse, openClickHouse } from '../../harness/clickhouse.ts'
import { answerOnClickHouse } from '../../harness/clickhouse-answer.ts'
import { withoutLists } from '../../harness/duckdb.ts'
import { projectPool } from '../../harness/projects.ts'
import { type ReferenceDisplay, referenceBoxes, referenceHeatmap, referenceSlope } from '../../reference/displays.ts'
import { asBoxes, asTrend, displayArb } from '../../reference/displays-cases.ts'
import type { ReferenceEvent, ReferenceQuery } from '../../reference/trends.ts'
import { afterMerges, asQuery, eventArb, inZone, mergesArb, queryArb } from '../../reference/trends-cases.ts'

// Calendar heat maps, box plots and slope graphs over generated events equal loops over the events, on both engines.

const pool = projectPool(new Date('2020-06-01T00:00:00Z'))
let clickhouse: ClickHouse
beforeAll(async () => {
  clickhouse = await openClickHouse()
})
afterAll(async () => {
  await pool.close()
  await clickhouse.close()
})

const runs = Number(process.env.WAYMARK_RUNS ?? 15)
const eventsArb = fc.array(eventArb, { minLength: 10, maxLength: 60, size: 'max' })

const rounded = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value), (_, one: unknown) => (typeof one === 'number' ? Number(one.toFixed(6)) : one))

async function expectRight(query: ReferenceDisplay, events: readonly ReferenceEvent[], ask: (query: { kind: string }) => Promise<object>) {
  const heatmap = (await ask(asTrend(query, 'CalendarHeatmap'))) as TrendsResponse
  const right = referenceHeatmap(events, query)
  expect(rounded(heatmap.results[0]!.calendar_heatmap_data)).toEqual(rounded(right))
  expect(rounded([heatmap.results[0]!.count, heatmap.results[0]!.aggregated_value])).toEqual(
    rounded([right.allAggregations, right.allAggregations]),
  )
  const boxes = (await ask(asTrend(query, 'BoxPlot'))) as TrendsResponse
  const shown = boxes.boxplot_data!.map(({ label: _, series_index, series_label, ...datum }) => {
    expect([series_index, series_label]).toEqual([0, query.event ?? 'All events'])
    return datum
  })
  expect(rounded(shown)).toEqual(rounded(referenceBoxes(events, asBoxes(query))))
  expect(boxes.results).toEqual([])
}

test('generated heat maps and box plots are what loops over the events make of them', async () => {
  await assertGenerated(
    fc.asyncProperty(eventsArb, mergesArb, fc.array(displayArb, { minLength: 2, maxLength: 4 }), async (events, merges, queries) => {
      for (const query of queries) {
        const project = await pool.filled(query, events, { merges })
        for (const road of [project, withoutLists(project)])
          await expectRight(query, afterMerges(events, merges), (asked) => answerQuery(asked, road))
      }
    }),
    { numRuns: runs },
  )
})

test('the actors of a cell, of its row and of its column', async () => {
  const persons = [1, 2, 3, 4, 5].map((person) => ({ person }))
  await assertGenerated(
    fc.asyncProperty(eventsArb, displayArb, fc.nat(), async (events, drawn, place) => {
      const query: ReferenceDisplay = { ...drawn, math: 'dau' }
      const project = await pool.filled(query, events, { persons })
      const { data, rowAggregations, columnAggregations, allAggregations } = referenceHeatmap(events, query)
      if (data.length === 0) return
      const one = <T>(list: readonly T[]): T => list[place % list.length]!
      for (const { value, ...cell } of [one(data), one(rowAggregations), one(columnAggregations), { value: allAggregations }]) {
        const source = { kind: 'InsightActorsQuery', source: asTrend(query, 'CalendarHeatmap'), ...cell }
        const answer = (await answerQuery({ kind: 'ActorsQuery', source, select: ['id'], orderBy: [] }, project)) as { results: unknown[] }
        expect([cell, answer.results.length]).toEqual([cell, value])
      }
    }),
    { numRuns: runs },
  )
})

test.skipIf(!hasClickHouse)('and so does ClickHouse', async () => {
  await assertGenerated(
    fc.asyncProperty(
      eventsArb,
      mergesArb,
      fc.array(displayArb, { minLength: 2, maxLength: 3 }),
      async (events, merges, [first, ...others]) => {
        const project = await pool.filled(first!, events, { merges })
        await clickhouse.load(project)
        for (const drawn of [first!, ...others]) {
          const query = { ...drawn, zone: first!.zone, weekStartDay: first!.weekStartDay }
          await expectRight(query, afterMerges(events, merges), (one) => answerOnClickHouse(clickhouse, one, project))
        }
      },
    ),
    { numRuns: Math.ceil(runs / 3) },
  )
})

// A comparison and smoothing are left out of a slope graph.
const slopeArb = queryArb.map((query) => ({ ...query, isTotal: false, isCumulative: false, sample: undefined }))
const asSlope = (query: ReferenceQuery) => {
  const asked = asQuery(query)
  return { ...asked, compareFilter: { compare: true }, trendsFilter: { ...(asked.trendsFilter as object), display: 'SlopeGraph' } }
}
const slopeOf = ({ results }: TrendsResponse) =>
  results.map(({ order, breakdown_value, data, days, labels }) => {
    expect([days.length, labels.length]).toEqual([data!.length, data!.length])
    return { series: order, breakdown: breakdown_value ?? null, data }
  })

test('generated slope graphs are the ends of what loops over the events make of them', async () => {
  await assertGenerated(
    fc.asyncProperty(eventsArb, mergesArb, fc.array(slopeArb, { minLength: 2, maxLength: 4 }), async (events, merges, queries) => {
      for (const query of queries) {
        const project = await pool.filled(query, events, { merges })
        for (const road of [project, withoutLists(project)]) {
          const answer = (await answerQuery(asSlope(query), road)) as TrendsResponse
          expect(rounded(slopeOf(answer))).toEqual(rounded(referenceSlope(afterMerges(events, merges), query)))
        }
      }
    }),
    { numRuns: runs * 2 },
  )
})

test.skipIf(!hasClickHouse)('and on ClickHouse', async () => {
  await assertGenerated(
    fc.asyncProperty(
      eventsArb,
      mergesArb,
      fc.array(slopeArb, { minLength: 2, maxLength: 3 }),
      async (events, merges, [first, ...others]) => {
        const project = await pool.filled(first!, events, { merges })
        await clickhouse.load(project)
        for (const query of [first!, ...others.map((drawn) => inZone(drawn, first!))]) {
          const answer = (await answerOnClickHouse(clickhouse, asSlope(query), project)) as TrendsResponse
          expect(rounded(slopeOf(answer))).toEqual(rounded(referenceSlope(afterMerges(events, merges), query)))
        }
      },
    ),
    { numRuns: Math.ceil(runs / 3) },
  )
})
