import type { ActorsResponse, FunnelStepResult, FunnelsResponse, FunnelTrend } from 'waymark'
import type { Rows } from '../contender.ts'
import { eventNames } from '../generator.ts'
import { dateRange, type Question, rowLimit } from '../question.ts'
import * as clickhouse from './clickhouse-funnels.ts'
import * as duckdb from './duckdb-funnels.ts'
import { windowDays } from './funnel-window.ts'

const three = ['$pageview', 'added to cart', 'purchased']
const five = ['$pageview', 'viewed item', 'added to cart', 'checked out', 'purchased']
const twelve = eventNames.slice(0, 12)

const funnelOf = (steps: readonly string[], filter: object = {}, more: object = {}) =>
  ({
    kind: 'FunnelsQuery',
    series: steps.map((event) => ({ kind: 'EventsNode', event }) as const),
    dateRange,
    interval: 'day',
    funnelsFilter: { funnelWindowInterval: windowDays, funnelWindowIntervalUnit: 'day', ...filter },
    ...more,
  }) as const

const stepRows = ({ results }: FunnelsResponse): Rows => (results as FunnelStepResult[]).map(({ count }, i) => [i + 1, count])
const valueRows = ({ results }: FunnelsResponse): Rows =>
  (results as FunnelStepResult[][]).flatMap((row) => row.map(({ count, breakdown_value }, i) => [String(breakdown_value), i + 1, count]))
const dayRows = ({ results }: FunnelsResponse): Rows =>
  (results as FunnelTrend[]).flatMap(({ days, data }) => days.map((day, i) => [day, data[i]!]))

const ordered = (name: string, steps: readonly string[]): Question => ({
  name,
  waymark: { query: () => funnelOf(steps), rows: stepRows },
  clickhouse: (layout) => clickhouse.counts(layout, steps),
  duckdb: (layout) => duckdb.counts(layout, steps),
})

export const funnels: readonly Question[] = [
  ordered('funnel of 3 steps', three),
  ordered('funnel of 5 steps', five),
  ordered('funnel of 12 steps', twelve),
  {
    name: 'funnel of 3 steps, unordered',
    waymark: { query: () => funnelOf(three, { funnelOrderType: 'unordered' }), rows: stepRows },
    clickhouse: (layout) => clickhouse.unordered(layout, three),
    duckdb: (layout) => duckdb.unordered(layout, three),
  },
  {
    name: 'funnel of 3 steps by a property',
    waymark: { query: () => funnelOf(three, {}, { breakdownFilter: { breakdown: '$browser', breakdown_type: 'event' } }), rows: valueRows },
    clickhouse: (layout) => clickhouse.countsBy(layout, three, '$browser'),
    duckdb: (layout) => duckdb.countsBy(layout, three, '$browser'),
  },
  {
    name: 'funnel of 3 steps by day',
    waymark: { query: () => funnelOf(three, { funnelVizType: 'trends' }), rows: dayRows },
    clickhouse: (layout) => clickhouse.ratesByDay(layout, three),
    duckdb: (layout) => duckdb.ratesByDay(layout, three),
    tolerance: 0.0051, // Waymark prints two digits
  },
  {
    name: 'persons of a funnel step',
    waymark: {
      query: () => ({
        kind: 'ActorsQuery',
        source: { kind: 'FunnelsActorsQuery', source: funnelOf(three), funnelStep: 3 },
        select: ['id'],
        limit: rowLimit,
      }),
      rows: ({ results }: ActorsResponse) => results as Rows,
    },
    clickhouse: (layout) => clickhouse.persons(layout, three),
    duckdb: (layout) => duckdb.persons(layout, three),
    personColumn: 0,
  },
]
