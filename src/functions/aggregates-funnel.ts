import { UnsupportedError } from '../errors/errors.ts'
import { isNullable, isTime, scalar } from '../types/types.ts'
import { aggregate, aggregates, rowsCall, withoutDistinct } from './aggregate.ts'
import { truth } from './lambda.ts'
import type { CellContext, SqlCell } from './row.ts'
import { seconds } from './seconds.ts'

// A funnel as an aggregate. Funnel queries answer more, and faster; this is for statements written with it.

/**
 * Every row gives an item for each step it matches: when, and which step. In order of both, an item of step n starts where its step n - 1 started,
 * when that is not too long ago. `b` holds the start of the newest chain that reaches each step.
 */
const duckdb: SqlCell = ([at, ...steps], context: CellContext) => {
  const [window, ...modes] = context.params
  if (modes.length > 0)
    throw new UnsupportedError('unsupported-function', { name: 'windowFunnel', engine: 'DuckDB', reason: 'it has no modes there' })
  const [t, i, s, e, k] = Array.from({ length: 5 }, () => context.fresh())
  const met = steps.map((step, n) => `CASE WHEN coalesce(${truth(step.sql, step.type)}, false) THEN ${n + 1} END`)
  const rows = rowsCall('list', [`{'t': ${seconds(at!)}, 'i': [${met.join(', ')}]}`], withoutDistinct(context))
  const started = 'CAST(NULL AS BIGINT[])'
  const items = `list_transform(list_filter(${t}.i, lambda ${i}: ${i} IS NOT NULL), lambda ${i}: {'t': ${t}.t, 'i': ${i}, 'b': ${started}, 'm': 0})`
  const sorted = `list_sort(flatten(list_transform(list_filter(${rows}, lambda ${t}: ${t}.t IS NOT NULL), lambda ${t}: ${items})))`
  const start = `CASE WHEN ${e}.i = 1 THEN ${e}.t WHEN ${e}.t <= ${s}.b[${e}.i - 1] + ${window!.sql} THEN ${s}.b[${e}.i - 1] END`
  const starts = `list_transform(range(1, ${steps.length + 1}), lambda ${k}: CASE WHEN ${k} = ${e}.i THEN coalesce(${start}, ${s}.b[${k}]) ELSE ${s}.b[${k}] END)`
  const reached = `CASE WHEN ${start} IS NULL THEN ${s}.m ELSE greatest(${s}.m, ${e}.i) END`
  const first = `{'t': CAST(0 AS BIGINT), 'i': 0, 'b': CAST([] AS BIGINT[]), 'm': 0}`
  return `coalesce(list_reduce(${sorted}, lambda ${s}, ${e}: {'t': ${e}.t, 'i': ${e}.i, 'b': ${starts}, 'm': ${reached}}, ${first}).m, 0)`
}

const visits = 'from (select arrayJoin([(10, 1), (20, 2), (30, 3)]) as r)'
const steps = 'r.1, r.2 = 1, r.2 = 2, r.2 = 3'

export const funnelFunctions = aggregates({
  windowFunnel: aggregate({
    args: [1, 99],
    takes: ['time', 'boolean'],
    params: [1, null],
    returns: () => scalar('UInt8'),
    keeps: 6,
    summary:
      'How many of the conditions are met one after the other within a number of seconds. Modes (more parameters) on ClickHouse only.',
    clickhouse: {
      name: 'windowFunnel',
      params: (context) => context.params.map((p) => p.sql),
      args: ([at, ...others]) => [
        isTime(at!.type) ? `toDateTime(${at!.sql})` : at!.sql,
        ...others.map((o) => (isNullable(o.type) ? `ifNull(${o.sql}, 0)` : o.sql)),
      ],
    },
    duckdb,
    cases: [
      [`select windowFunnel(100)(${steps}) ${visits}`, 3],
      [`select windowFunnel(10)(${steps}) ${visits}`, 2],
      ['select windowFunnel(10)(r.1, r.2 = 2, r.2 = 1) from (select arrayJoin([(10, 1), (10, 2)]) as r)', 2],
      ['select windowFunnel(10)(r.1, r.2 = 2, r.2 = 1) from (select arrayJoin([(10, 1), (15, 2)]) as r)', 1],
      ['select windowFunnel(10)(r.1, r.2 = 1, r.2 = 1) from (select arrayJoin([(10, 1), (20, 2)]) as r)', 2],
      ['select windowFunnel(10)(toDateTime(number), number = 4, number = 7) from numbers(20)', 2],
      ['select windowFunnel(10)(number, number = 99) from numbers(5)', 0],
      ['select windowFunnel(10)(number, number = 99) from numbers(0)', 0],
    ],
  }),
})
