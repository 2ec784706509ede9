import { QueryError, UnsupportedError } from '../../../errors/errors.ts'
import { isNullable, isTime, scalar } from '../../types/types.ts'
import { truth } from '../arrays/lambda.ts'
import { folded } from '../cells/duckdb-values.ts'
import { seconds } from '../cells/seconds.ts'
import type { Case, CellContext, SqlCell } from '../row.ts'
import { aggregate, aggregates, rowsCall, withoutDistinct } from './aggregate.ts'

// A funnel as an aggregate, for statements that are written with it. Funnel queries do more, and faster.

const modes = ['strict_order', 'strict_deduplication', 'strict_increase', 'strict_once', 'allow_reentry'] as const
type Mode = (typeof modes)[number]
const isMode = (text: unknown): text is Mode => modes.some((mode) => mode === text)

function modesOf({ params: [window, ...given] }: Pick<CellContext, 'params'>): ReadonlySet<Mode> {
  const found = new Set<Mode>()
  const seconds = window?.constant
  if (seconds !== undefined && !(typeof seconds === 'number' && seconds > 0) && !(typeof seconds === 'bigint' && seconds > 0n))
    throw new QueryError('wrong-type', {
      message: `'windowFunnel' takes its window as a number of seconds above 0, but got ${JSON.stringify(String(seconds))}`,
      expected: 'windowFunnel(3600)(timestamp, a, b)',
    })
  for (const { constant } of given) {
    if (!isMode(constant))
      throw new QueryError('wrong-type', {
        message: `'windowFunnel' takes its modes as texts (${modes.join(', ')}), but got ${JSON.stringify(constant ?? null)}`,
        expected: "windowFunnel(3600, 'strict_order')(timestamp, a, b)",
      })
    found.add(constant)
  }
  if (found.has('allow_reentry') && !found.has('strict_order'))
    throw new QueryError('wrong-type', {
      message: "The mode 'allow_reentry' of 'windowFunnel' needs 'strict_order' beside it",
      expected: "windowFunnel(3600, 'strict_order', 'allow_reentry')(timestamp, a, b)",
    })
  return found
}

/**
 * Every row yields one item for each step that it matches: the time and the step. Items are sorted by both. An item of step n starts when its step n - 1
 * started, if that is within the window. `b` holds the start of the newest chain that reaches each step, `l` when the step was reached, `m` the highest
 * step, and `d` whether a mode has ended the search. With strict_order a row that matches no step yields an item of step 0.
 */
const duckdb: SqlCell = ([at, ...steps], context: CellContext) => {
  const [window] = context.params
  const has = modesOf(context)
  if (has.has('strict_once') && (has.has('strict_order') || has.has('strict_deduplication')))
    throw new UnsupportedError('unsupported-function', {
      name: 'windowFunnel',
      engine: 'DuckDB',
      reason: 'it has the mode strict_once alone or with strict_increase there',
    })
  const [t, i, s, e, k] = Array.from({ length: 5 }, () => context.fresh()) as [string, string, string, string, string]
  const met = steps.map((step, n) => `CASE WHEN coalesce(${truth(step.sql, step.type)}, false) THEN ${n + 1} END`)
  const rows = rowsCall('list', [`{'t': ${seconds(at!)}, 'i': [${met.join(', ')}]}`], withoutDistinct(context))
  const none = 'CAST(NULL AS BIGINT[])'
  const found = `list_filter(${t}.i, lambda ${i}: ${i} IS NOT NULL)`
  const matched = has.has('strict_order') ? `CASE WHEN len(${found}) = 0 THEN [0] ELSE ${found} END` : found
  const item = `{'t': ${t}.t, 'i': ${i}, 'b': ${none}, 'l': ${none}, 'm': 0, 'd': false}`
  const timed = `list_filter(${rows}, lambda ${t}: ${t}.t IS NOT NULL)`
  // With strict_once a row yields its last step first, so that a row never reaches a step through another step of the same row.
  const rowSteps = `list_sort(list_filter(list_transform(${timed}, lambda ${t}: {'t': ${t}.t, 'i': ${found}}), lambda ${t}: len(${t}.i) > 0))`
  // Several rows of the same time that match several steps can be assigned to steps in many ways. That is a matching problem, not a fold.
  const pair = context.fresh()
  const isSeveral = `${pair}[1].t = ${pair}[2].t AND (len(${pair}[1].i) > 1 OR len(${pair}[2].i) > 1)`
  const undecided = `len(list_filter(list_zip(${rowSteps}, ${rowSteps}[2:], true), lambda ${pair}: ${isSeveral})) > 0`
  const tie = "'With strict_once, rows of one time must match one step each: make the steps exclude each other, or the time finer'"
  const decided = `CASE WHEN ${undecided} THEN ${context.refuse(tie)} ELSE ${rowSteps} END`
  const sorted = has.has('strict_once')
    ? `flatten(list_transform(${decided}, lambda ${t}: list_reverse(list_transform(${t}.i, lambda ${i}: ${item}))))`
    : `list_sort(flatten(list_transform(${timed}, lambda ${t}: list_transform(${matched}, lambda ${i}: ${item}))))`
  const before = `${s}.b[${e}.i - 1]`
  const inTime = [`${e}.t <= ${before} + ${window!.sql}`, ...(has.has('strict_increase') ? [`${s}.l[${e}.i - 1] < ${e}.t`] : [])].join(
    ' AND ',
  )
  const isBegun = `${s}.b[1] IS NOT NULL`
  const ends = [
    ...(has.has('strict_order') ? [`${e}.i = 0 AND ${isBegun}`] : []),
    ...(has.has('strict_deduplication') ? [`${e}.i > 1 AND ${s}.b[${e}.i] IS NOT NULL`] : []),
    ...(has.has('strict_order') && !has.has('allow_reentry') ? [`${e}.i > 1 AND ${isBegun} AND ${before} IS NULL`] : []),
  ]
  const isDone = [`${s}.d`, ...ends.map((end) => `coalesce(${end}, false)`)].join(' OR ')
  const start = `CASE WHEN ${isDone} THEN NULL WHEN ${e}.i = 1 THEN ${e}.t WHEN ${e}.i > 1 AND ${inTime} THEN ${before} END`
  const updated = (list: string, value: string) =>
    `list_transform(range(1, ${steps.length + 1}), lambda ${k}: CASE WHEN ${k} = ${e}.i AND ${start} IS NOT NULL THEN ${value} ELSE ${s}.${list}[${k}] END)`
  const reached = `CASE WHEN ${start} IS NULL THEN ${s}.m ELSE greatest(${s}.m, ${e}.i) END`
  const first = `{'t': CAST(0 AS BIGINT), 'i': 0, 'b': CAST([] AS BIGINT[]), 'l': CAST([] AS BIGINT[]), 'm': 0, 'd': false}`
  const next = `{'t': ${e}.t, 'i': ${e}.i, 'b': ${updated('b', start)}, 'l': ${updated('l', `${e}.t`)}, 'm': ${reached}, 'd': ${isDone}}`
  return `coalesce(${folded(sorted, [s, e], next, first)}.m, 0)`
}

const visits = 'from (select arrayJoin([(10, 1), (20, 2), (30, 3)]) as r)'
/** Test rows, one per second unless a time is given: the step from 1 to 3 that a row matches, or 0. */
const inMode = (modes: string, rows: readonly (readonly [number, number])[], value: number): Case => [
  `select windowFunnel(10, ${modes})(${steps}) from (select arrayJoin([${rows.map(([at, step]) => `(${at}, ${step})`).join(', ')}]) as r)`,
  value,
]
const steps = 'r.1, r.2 = 1, r.2 = 2, r.2 = 3'

export const funnelFunctions = aggregates({
  windowFunnel: aggregate({
    args: [1, 99],
    takes: ['time', 'boolean'],
    params: [1, null],
    returns: (_, context) => {
      modesOf(context)
      return scalar('UInt8')
    },
    keeps: 6,
    summary:
      'Number of conditions that are met in order within a number of seconds. Further parameters are modes: `strict_order` (nothing else between), `allow_reentry` (with it: steps that come too early are ignored), `strict_deduplication` (ends at a step met twice), `strict_increase` (each step later than the one before), `strict_once` (a row counts for one step; on DuckDB alone or with `strict_increase`, and refused where one of several rows of one time matches several steps).',
    clickhouse: {
      name: 'windowFunnel',
      params: (context) => [context.params[0]!.sql, ...[...modesOf(context)].map((mode) => context.literal(mode))],
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
      inMode(
        "'strict_order'",
        [
          [1, 1],
          [2, 2],
          [3, 3],
        ],
        3,
      ),
      inMode(
        "'strict_order'",
        [
          [1, 1],
          [2, 3],
          [3, 2],
        ],
        1,
      ),
      inMode(
        "'strict_order'",
        [
          [1, 1],
          [2, 2],
          [3, 0],
          [4, 3],
        ],
        2,
      ),
      inMode(
        "'strict_order'",
        [
          [1, 0],
          [2, 3],
          [3, 1],
          [4, 2],
          [5, 3],
        ],
        3,
      ),
      inMode(
        "'strict_order', 'allow_reentry'",
        [
          [1, 1],
          [2, 3],
          [3, 2],
          [4, 3],
        ],
        3,
      ),
      inMode(
        "'strict_deduplication'",
        [
          [1, 1],
          [2, 2],
          [3, 2],
          [4, 3],
        ],
        2,
      ),
      inMode(
        "'strict_deduplication'",
        [
          [1, 1],
          [2, 1],
          [3, 2],
          [4, 3],
        ],
        3,
      ),
      inMode(
        "'strict_increase'",
        [
          [1, 1],
          [1, 2],
          [3, 3],
        ],
        1,
      ),
      inMode(
        "'strict_increase'",
        [
          [1, 1],
          [2, 2],
          [2, 3],
        ],
        2,
      ),
      inMode(
        "'strict_increase'",
        [
          [1, 1],
          [2, 2],
          [3, 3],
        ],
        3,
      ),
      inMode(
        "'strict_increase', 'strict_order'",
        [
          [1, 1],
          [2, 2],
          [2, 3],
          [3, 3],
        ],
        3,
      ),
      inMode(
        "'strict_order', 'strict_deduplication'",
        [
          [1, 1],
          [2, 2],
          [3, 1],
          [4, 3],
        ],
        3,
      ),
      ["select windowFunnel(10, 'strict_order')(r.1, r.2 = 1) from (select arrayJoin([(1, 0)]) as r)", 0],
      // Each row matches every step.
      ['select windowFunnel(10)(number, 1, 1, 1) from numbers(1)', 3],
      ["select windowFunnel(10, 'strict_once')(number, 1, 1, 1) from numbers(1)", 1],
      ["select windowFunnel(10, 'strict_once')(number, 1, 1, 1) from numbers(2)", 2],
      ["select windowFunnel(10, 'strict_once')(intDiv(number, 2), number < 1, number > 0) from numbers(3)", 2],
    ],
  }),
})
