import { nullable, type SqlType, scalar, unknownType } from '../../types/types.ts'
import { aggregateOf } from '../aggregates/aggregate.ts'
import { defaultOf } from '../cells/duckdb-values.ts'
import { commonType } from '../results.ts'
import { type Case, type CellContext, call, type FunctionRow, functions } from '../row.ts'
import { type FrameContext, type FrameEdge, overText } from './window-frame.ts'

// Functions that need OVER (…).

/** The call, with IGNORE NULLS if requested, and its window. */
const inWindow = (name: string, args: readonly string[], context: CellContext): string => {
  const { ignoreNulls, over } = aggregateOf(context)
  return `${name}(${args.join(', ')}${ignoreNulls ? ' IGNORE NULLS' : ''})${over}`
}
const onClickHouse = (name: string, args: readonly string[], context: CellContext): string => {
  const { ignoreNulls, over } = aggregateOf(context)
  return `${name}(${args.join(', ')})${ignoreNulls ? ' IGNORE NULLS' : ''}${over}`
}

const rank = (name: string, summary: string, cases: readonly Case[]): FunctionRow => ({
  kind: 'window',
  args: [0, 0],
  returns: () => scalar('UInt64'),
  summary,
  sql: { duckdb: (_, context) => inWindow(name, [], context), clickhouse: (_, context) => onClickHouse(name, [], context) },
  cases,
})

const withoutNulls = (context: CellContext): CellContext => ({ ...context, aggregate: { ...aggregateOf(context), ignoreNulls: true } })

/** A value of another row of the frame; outside of it, the default of the type. ClickHouse skips NULL for the first and last value. */
const ofFrame = (name: string, args: FunctionRow['args'], summary: string, cases: readonly Case[]): FunctionRow => ({
  kind: 'window',
  args,
  takes: ['value', 'integer'],
  returns: ([x]) => x!,
  summary,
  sql: {
    duckdb: (given, context) => {
      const text = inWindow(
        name,
        given.map((a) => a.sql),
        name === 'nth_value' ? context : withoutNulls(context),
      )
      const empty = defaultOf(context.type)
      return empty === 'NULL' ? text : `coalesce(${text}, ${empty})`
    },
    clickhouse: (given, context) =>
      onClickHouse(
        name,
        given.map((a) => a.sql),
        context,
      ),
  },
  cases,
})

/** A value of a previous or following row. `isNull`: NULL if there is none, else the default of the type. */
const shifted = (name: 'lag' | 'lead', isNull: boolean, summary: string, cases: readonly Case[]): FunctionRow => ({
  kind: 'window',
  args: [1, 3],
  takes: ['alike', 'integer', 'alike'],
  returns: ([x, , other]): SqlType => (other ? commonType([x!, other]) : isNull ? nullable(x ?? unknownType) : x!),
  summary,
  sql: {
    duckdb: ([x, by, other], context) => {
      const outside = other?.sql ?? (isNull ? 'NULL' : defaultOf(context.type))
      const value = inWindow(name, [x!.sql, by?.sql ?? '1', outside], context)
      const inFrame = isInFrame(name, by?.sql ?? '1', isNull, context)
      return inFrame === null ? value : `CASE WHEN ${inFrame} THEN ${value} ELSE ${outside} END`
    },
    clickhouse: ([x, by, other], context) => {
      const value = isNull && !other ? `toNullable(${x!.sql})` : x!.sql
      return onClickHouse(`${name}InFrame`, [value, by?.sql ?? '1', ...(other ? [other.sql] : [])], isNull ? whole(context) : context)
    },
  },
  cases,
})

const start: FrameEdge = { side: 'PRECEDING', offset: null }
const [current, end]: FrameEdge[] = [
  { side: 'CURRENT ROW', offset: null },
  { side: 'FOLLOWING', offset: null },
]
const isUnbounded = ({ side, offset }: FrameEdge): boolean => side !== 'CURRENT ROW' && offset === null

/** ClickHouse only looks inside the frame, which ends at the current row by default. */
function whole(context: CellContext): CellContext {
  const around = aggregateOf(context)
  const { window } = around
  if (!window || window.frame) return context
  return { ...context, aggregate: { ...around, over: ` ${overText(window, { unit: 'ROWS', from: start, to: end! })}` } }
}

/** Whether the row at this distance is in the frame, which DuckDB ignores here; null if the frame excludes no row. */
function isInFrame(name: 'lag' | 'lead', by: string, isWholeByDefault: boolean, context: CellContext): string | null {
  const { window } = aggregateOf(context)
  const byDefault: FrameContext | undefined =
    isWholeByDefault || !window?.isOrdered ? undefined : { unit: 'RANGE', from: start, to: current! }
  const frame = window?.frame ?? byDefault
  if (!window || !frame) return null
  const [near, far] = name === 'lag' ? [frame.to, frame.from] : [frame.from, frame.to]
  if (isUnbounded(far) && (near.side !== far.side || isUnbounded(near))) return null
  const distance = `${name === 'lag' ? '-' : ''}CAST(${by} AS BIGINT)`
  if (frame.unit === 'RANGE') {
    // The rows before the frame: the row number of its last row, less the rows in it.
    const last = `count(*) ${overText(window, { unit: 'RANGE', from: start, to: frame.to })}`
    const first = `${last} - count(*) ${overText(window, frame)} + 1`
    return `row_number() ${overText(window)} + ${distance} BETWEEN ${first} AND ${last}`
  }
  const bound = (edge: FrameEdge, sign: '>=' | '<='): readonly string[] => {
    if (isUnbounded(edge)) return []
    const offset = edge.offset === null ? '0' : `${edge.side === 'PRECEDING' ? '-' : ''}CAST(${edge.offset} AS BIGINT)`
    return [`${distance} ${sign} ${offset}`]
  }
  return [...bound(frame.from, '>='), ...bound(frame.to, '<=')].join(' AND ')
}

/** One value from a small ordered table, so that a case fits on one line. */
const over = (expression: string, window = 'ORDER BY x'): string =>
  `select groupArray(v) from (select ${expression} over (${window}) as v from (select arrayJoin([10, 20, 20, 30]) as x) order by x)`

export const windowFunctions = functions({
  row_number: rank('row_number', 'Number of the row in its window.', [[over('row_number()'), [1, 2, 3, 4]]]),
  rank: rank('rank', 'Rank of the row; equal rows share one, and the next has a gap.', [[over('rank()'), [1, 2, 2, 4]]]),
  dense_rank: rank('dense_rank', 'Rank of the row, without gaps.', [[over('dense_rank()'), [1, 2, 2, 3]]]),
  first_value: ofFrame('first_value', [1, 1], 'The value of the first row of the frame.', [[over('first_value(x)'), [10, 10, 10, 10]]]),
  last_value: ofFrame('last_value', [1, 1], 'The value of the last row of the frame.', [
    [over('last_value(x)', 'ORDER BY x ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING'), [30, 30, 30, 30]],
    [over('last_value(x)', 'ORDER BY x ROWS BETWEEN 3 PRECEDING AND 3 PRECEDING'), [0, 0, 0, 10]],
  ]),
  nth_value: ofFrame('nth_value', [2, 2], 'The value of the n-th row of the frame.', [
    [over('nth_value(x, 2)', 'ORDER BY x ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW'), [0, 20, 20, 20]],
  ]),
  lag: shifted('lag', true, 'The value that many rows (1) earlier; NULL or the third argument where there is none.', [
    [over('ifNull(lag(x), -1)').replace('ifNull(lag(x), -1) over (ORDER BY x)', 'ifNull(lag(x) over (ORDER BY x), -1)'), [-1, 10, 20, 20]],
    [over('lag(x, 2, 5)'), [5, 5, 10, 20]],
  ]),
  lead: shifted('lead', true, 'The value that many rows (1) later; NULL or the third argument where there is none.', [
    [over('lead(x, 1, 5)'), [20, 20, 30, 5]],
  ]),
  lagInFrame: shifted(
    'lag',
    false,
    'The value that many rows (1) earlier; the default of the type or the third argument where there is none.',
    [
      [over('lagInFrame(x)'), [0, 10, 20, 20]],
      [over('lagInFrame(x, 2)', 'ORDER BY x ROWS BETWEEN 2 PRECEDING AND CURRENT ROW'), [0, 0, 10, 20]],
      [over('lagInFrame(x, 2)', 'ORDER BY x ROWS BETWEEN 1 PRECEDING AND CURRENT ROW'), [0, 0, 0, 0]],
      [over('lagInFrame(x, 1, 7)', 'ORDER BY x ROWS 1 PRECEDING'), [7, 10, 20, 20]],
      [over('lagInFrame(x)', 'ORDER BY x ROWS BETWEEN UNBOUNDED PRECEDING AND 2 PRECEDING'), [0, 0, 0, 0]],
      [over('lagInFrame(x, 1, 7)', 'ORDER BY x RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING'), [7, 7, 20, 7]],
      [over('lagInFrame(x, 1, 7)', 'ORDER BY x RANGE BETWEEN 9 PRECEDING AND CURRENT ROW'), [7, 7, 20, 7]],
      [over('lagInFrame(x, 1, 7)', 'ORDER BY x RANGE BETWEEN 10 PRECEDING AND 5 PRECEDING'), [7, 10, 7, 20]],
      [over('lagInFrame(x, 2, 7)', 'ORDER BY x DESC RANGE BETWEEN 10 PRECEDING AND CURRENT ROW'), [20, 7, 30, 7]],
    ],
  ),
  leadInFrame: shifted(
    'lead',
    false,
    'The value that many rows (1) later; the default of the type or the third argument where there is none.',
    [
      [over('leadInFrame(x)', 'ORDER BY x ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING'), [20, 20, 30, 0]],
      [over('leadInFrame(x, 1)', 'ORDER BY x ROWS BETWEEN CURRENT ROW AND 1 FOLLOWING'), [20, 20, 30, 0]],
      [over('leadInFrame(x, 2)', 'ORDER BY x ROWS BETWEEN CURRENT ROW AND 1 FOLLOWING'), [0, 0, 0, 0]],
      [over('leadInFrame(x)', 'ORDER BY x ROWS BETWEEN 1 PRECEDING AND CURRENT ROW'), [0, 0, 0, 0]],
      [over('leadInFrame(x)'), [0, 20, 0, 0]],
      [over('leadInFrame(x)', 'ORDER BY x RANGE BETWEEN CURRENT ROW AND 10 FOLLOWING'), [20, 20, 30, 0]],
      [over('leadInFrame(x)', 'ORDER BY x RANGE BETWEEN 1 FOLLOWING AND 10 FOLLOWING'), [20, 0, 30, 0]],
      [over('leadInFrame(x, 2)', 'ORDER BY x RANGE BETWEEN UNBOUNDED PRECEDING AND 10 FOLLOWING'), [20, 30, 0, 0]],
    ],
  ),
})

export const tableFunctions = functions({
  numbers: {
    kind: 'table',
    args: [1, 2],
    returns: () => scalar('UInt64'),
    summary: 'A table of integers in the column `number`: the given count from 0, or from the first argument with the second as the count.',
    sql: {
      duckdb: ([a, b]) =>
        b
          ? `(SELECT range AS "number" FROM range(CAST(${a!.sql} AS BIGINT), CAST(${a!.sql} AS BIGINT) + CAST(${b.sql} AS BIGINT)))`
          : `(SELECT range AS "number" FROM range(CAST(${a!.sql} AS BIGINT)))`,
      clickhouse: call('numbers'),
    },
    cases: [
      ['select groupArray(number) from numbers(3)', [0, 1, 2]],
      ['select groupArray(number) from numbers(5, 2)', [5, 6]],
    ],
  },
  generateSeries: {
    kind: 'table',
    args: [3, 3],
    returns: () => scalar('UInt64'),
    summary: 'A table of whole numbers from a start up to a stop, with a step.',
    sql: {
      duckdb: (args) => `(SELECT generate_series FROM generate_series(${args.map((a) => `CAST(${a.sql} AS BIGINT)`).join(', ')}))`,
      clickhouse: call('generate_series'),
    },
    cases: [
      ['select groupArray(number) from generateSeries(1, 6, 2)', [1, 3, 5]],
      ['select count() from generateSeries(5, 1, 1)', 0],
    ],
  },
})
