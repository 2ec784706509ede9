import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { answerQuery } from '../../../src/engine/execution/answer.ts'
import type { TrendsResponse } from '../../../src/queries/trends/index.ts'
import { assertGenerated } from '../../harness/assert-generated.ts'
import { type ClickHouse, hasClickHouse, openClickHouse } from '../../harness/clickhouse.ts'
import { answerOnClickHouse } from '../../harness/clickhouse-answer.ts'
import { withoutLists } from '../../harness/duckdb.ts'
import { projectPool } from '../../harness/projects.ts'
import { personUuid } from '../../harness/store.ts'
import {
  periodsOf,
  type ReferenceDisplay,
  type ReferencePeriod,
  referenceBoxActors,
  referenceBoxes,
  referenceHeatmap,
  referenceSlope,
} from '../../reference/displays.ts'
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
  const label = query.event ?? 'All events'
  const periods = periodsOf(query)
  const compared = (period: ReferencePeriod | null) => (period === null ? {} : { compare: true, compare_label: period })
  const heatmap = (await ask(asTrend(query, 'CalendarHeatmap'))) as TrendsResponse
  const shown = heatmap.results.map(({ order, label, compare, compare_label, count, aggregated_value, calendar_heatmap_data }) => {
    return { order, label, ...(compare && { compare, compare_label }), count, aggregated_value, calendar_heatmap_data }
  })
  const right = periods.map(([period, moved]) => {
    const calendar_heatmap_data = referenceHeatmap(events, moved)
    const all = calendar_heatmap_data.allAggregations
    return { order: 0, label, ...compared(period), count: all, aggregated_value: all, calendar_heatmap_data }
  })
  expect(rounded(shown)).toEqual(rounded(right))
  expectRanges(heatmap, query)

  const plot = (await ask(asTrend(query, 'BoxPlot'))) as TrendsResponse
  const boxes = periods.flatMap(([period, moved]) =>
    referenceBoxes(events, asBoxes(moved)).map((box) => ({ ...box, series_index: 0, series_label: label, ...compared(period) })),
  )
  expect(rounded(plot.boxplot_data!.map(({ label: _, ...datum }) => datum))).toEqual(rounded(boxes))
  expect(plot.results).toEqual([])
  expectRanges(plot, query)
}

/** Of both periods, also where a box begins earlier than its period. */
function expectRanges(answer: TrendsResponse, query: ReferenceDisplay) {
  const told = [answer.resolved_date_range, answer.resolved_compare_date_range].map((range) => range?.date_from.slice(0, 10))
  expect(told).toEqual([0, 1].map((i) => periodsOf(query)[i]?.[1]).map((moved) => moved?.from))
}

test('generated heat maps and box plots are what loops over the events make of them', async () => {
  await assertGenerated(
    fc.asyncProperty(eventsArb, mergesArb, fc.array(displayArb, { minLength: 2, maxLength: 4 }), async (events, merges, queries) => {
      for (const query of queries) {
        const project = await pool.filled(query, events, { merges })
        for (const road of ['core', 'sql'])
          await expectRight(query, afterMerges(events, merges), (asked) => answerQuery({ ...asked, modifiers: { road } }, project))
      }
    }),
    { numRuns: runs },
  )
})

const persons = [1, 2, 3, 4, 5].map((person) => ({ person }))
const one = <T>(list: readonly T[], place: number): T => list[place % list.length]!

test('the actors of a cell, of its row and of its column, of both periods', async () => {
  await assertGenerated(
    fc.asyncProperty(eventsArb, displayArb, fc.nat(), async (events, drawn, place) => {
      const query: ReferenceDisplay = { ...drawn, math: 'dau' }
      const project = await pool.filled(query, events, { persons })
      for (const [compare, moved] of periodsOf(query)) {
        const { data, rowAggregations, columnAggregations, allAggregations } = referenceHeatmap(events, moved)
        if (data.length === 0) continue
        const cells = [one(data, place), one(rowAggregations, place), one(columnAggregations, place), { value: allAggregations }]
        for (const { value, ...cell } of cells) {
          const source = { kind: 'InsightActorsQuery', source: asTrend(query, 'CalendarHeatmap'), ...cell, compare }
          const answer = (await answerQuery({ kind: 'ActorsQuery', source, select: ['id'], orderBy: [] }, project)) as {
            results: unknown[]
          }
          expect([compare, cell, answer.results.length]).toEqual([compare, cell, value])
        }
      }
    }),
    { numRuns: runs },
  )
})

/** Of the first box, of the last one, of one between them and of all. */
async function expectBoxActors(
  query: ReferenceDisplay,
  events: readonly ReferenceEvent[],
  place: number,
  ask: (query: { kind: string }) => Promise<object>,
) {
  for (const [compare, moved] of periodsOf(query)) {
    const days = referenceBoxes(events, asBoxes(moved)).map(({ day }) => day)
    for (const day of days.length === 0 ? [null] : new Set([days[0]!, days.at(-1)!, one(days, place), null])) {
      const source = { kind: 'InsightActorsQuery', source: asTrend(query, 'BoxPlot'), compare, ...(day && { day }) }
      const answer = (await ask({ kind: 'ActorsQuery', source, select: ['id', 'event_count'], orderBy: ['id'], limit: 100 } as {
        kind: string
      })) as { results: [string, unknown][] }
      const right = [...referenceBoxActors(events, asBoxes(moved), day)].map(([person, count]) => [personUuid(person), count])
      expect([compare, day, answer.results.map(([id, count]) => [id, Number(count)])]).toEqual([compare, day, right.sort()])
    }
  }
}

test('the actors of a box are those who have its numbers, and have as many, on both roads', async () => {
  await assertGenerated(
    fc.asyncProperty(eventsArb, mergesArb, displayArb, fc.nat(), async (events, merges, query, place) => {
      const project = await pool.filled(query, events, { merges, persons })
      const after = afterMerges(events, merges)
      for (const road of ['core', 'sql'])
        await expectBoxActors(query, after, place, (asked) => answerQuery({ ...asked, modifiers: { road } }, project))
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
      fc.nat(),
      async (events, merges, [first, ...others], place) => {
        const project = await pool.filled(first!, events, { merges, persons })
        await clickhouse.load(project)
        for (const drawn of [first!, ...others]) {
          const query = { ...drawn, zone: first!.zone, weekStartDay: first!.weekStartDay }
          const [after, ask] = [
            afterMerges(events, merges),
            (one: { kind: string }) => answerOnClickHouse(clickhouse, one, project),
          ] as const
          await expectRight(query, after, ask)
          await expectBoxActors(query, after, place, ask)
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
