import { QueryError, UnsupportedError } from '../../../errors/errors.ts'
import { arrayOf, isNullable, isTime, scalar } from '../../types/types.ts'
import { truth } from '../arrays/lambda.ts'
import { asFloat } from '../cells/duckdb-values.ts'
import type { Arg, Case, CellContext, SqlCell } from '../row.ts'
import { type AggregateRow, aggregate, aggregates, rowsCall, withFilter, withoutDistinct } from './aggregate.ts'
import { isTimeBetween, type PatternItem, patternItems } from './sequence-pattern.ts'
import { matchesWithTimes } from './sequence-times.ts'

// Retention, sequences of steps, and decaying averages: aggregates over the rows of one person in their order.

const met = (step: Arg) => truth(step.sql, step.type)
/** ClickHouse accepts no condition that may be NULL. */
const certain = (step: Arg) => (isNullable(step.type) ? `ifNull(${step.sql}, 0)` : step.sql)

const ever = (step: Arg, context: CellContext) => `coalesce(${rowsCall('bool_or', [met(step)], withoutDistinct(context))}, false)`

// --- sequences -------------------------------------------------------------------------------

const stepOf = (item: PatternItem): number | null => (typeof item === 'object' && 'step' in item ? item.step : null)

/** Each row becomes one character: the set of conditions that it matches. */
const firstCharacter = 0x4e00
const mostSteps = 8

/** The characters of rows that match a condition. */
function classOf(bit: number, bits: number): string {
  const run = 2 ** bit
  const ranges = Array.from({ length: 2 ** (bits - bit - 1) }, (_, i) => firstCharacter + (2 * i + 1) * run)
  const character = (code: number) => String.fromCodePoint(code)
  return `[${ranges.map((from) => (run === 1 ? character(from) : `${character(from)}-${character(from + run - 1)}`)).join('')}]`
}

const sequence =
  (name: string, answer: (text: string, pattern: string) => string, answerOfCount: (count: string) => string): SqlCell =>
  (args, context) => {
    const [at, ...steps] = args
    const items = patternItems(name, context.params[0]?.constant, steps.length)
    if (items.some(isTimeBetween)) return answerOfCount(matchesWithTimes(name, items, args, context))
    const used = [...new Set(items.flatMap((item) => stepOf(item) ?? []))].sort((a, b) => a - b)
    if (used.length > mostSteps)
      throw new UnsupportedError('unsupported-function', {
        name,
        engine: 'DuckDB',
        reason: `patterns there name at most ${mostSteps} conditions`,
      })
    const pattern = items
      .map((item) => (item === '.*' ? '.*?' : item === '.' ? '.' : classOf(used.indexOf(stepOf(item)!), used.length)))
      .join('')
    const character = `chr(CAST(${[firstCharacter, ...used.map((step, bit) => `CASE WHEN ${met(steps[step]!)} THEN ${2 ** bit} ELSE 0 END`)].join(' + ')} AS INTEGER))`
    const rows = withFilter(withoutDistinct(context), `(${steps.map(met).join(' OR ')}) AND ${at!.sql} IS NOT NULL`)
    // Rows of the same time are ordered by the conditions that they match.
    const order = `${at!.sql}, ${steps.map((step, i) => `CASE WHEN ${met(step)} THEN CAST(${2 ** i} AS BIGINT) ELSE 0 END`).join(' + ')}`
    const around = rows.aggregate!
    const text = rowsCall('string_agg', [character, "''"], { ...rows, aggregate: { ...around, orderBy: order } })
    return answer(`coalesce(${text}, '')`, context.literal(pattern))
  }

const sequenceRow = (name: string, returns: 'UInt8' | 'UInt64', summary: string, duckdb: SqlCell, cases: readonly Case[]): AggregateRow =>
  aggregate({
    args: [3, 33],
    takes: ['time', 'boolean'],
    params: [1, 1],
    returns: ([, ...steps], { params }) => {
      patternItems(name, params[0]?.constant, steps.length)
      return scalar(returns)
    },
    keeps: 6,
    summary,
    clickhouse: (args, context) => {
      const [at, ...steps] = args
      const hasTimes = patternItems(name, context.params[0]?.constant, steps.length).some(isTimeBetween)
      const moment =
        isTime(at!.type) && !hasTimes ? `toUInt64(toUnixTimestamp64Micro(toDateTime64(${at!.sql}, 6)))` : `toDateTime(${at!.sql})`
      return rowsCall(`${name}(${context.params[0]!.sql})`, [moment, ...steps.map(certain)], context)
    },
    duckdb,
    cases,
  })

const visits = 'from (select arrayJoin([(10, 1), (20, 2), (30, 3), (40, 1), (50, 3), (60, 2)]) as r)'
const twiceInASecond =
  "from (select arrayJoin([(toDateTime64('2024-01-01 00:00:00.100', 3), 2), (toDateTime64('2024-01-01 00:00:00.900', 3), 1)]) as r)"
const atOnce = 'from (select arrayJoin([(10, 1), (10, 2)]) as r)'
const rows = 'toDateTime(r.1), r.2 = 1, r.2 = 2, r.2 = 3'

// --- averages --------------------------------------------------------------------------------

const average: SqlCell = ([x, at], context) => {
  const [row, half] = [context.fresh(), asFloat(context.params[0]!)]
  const both = `{'v': ${asFloat(x!)}, 't': ${isTime(at!.type) ? `epoch(${at!.sql})` : asFloat(at!)}}`
  const known = withFilter(withoutDistinct(context), `${x!.sql} IS NOT NULL AND ${at!.sql} IS NOT NULL`)
  const list = `coalesce(${rowsCall('list', [both], known)}, [])`
  const [all, last] = [context.fresh(), context.fresh()]
  const newest = `list_max(list_transform(${all}, lambda ${row}: ${row}.t))`
  // Captured values of a lambda are copied for each item: so it captures the time only, never the list.
  const sum = `list_sum(list_transform(${all}, lambda ${row}: ${row}.v * pow(2, (${row}.t - ${last}) / ${half})))`
  return `list_transform([${list}], lambda ${all}: list_transform([${newest}], lambda ${last}: coalesce((1 - pow(2, -1 / ${half})) * ${sum}, 0))[1])[1]`
}

export const sequenceFunctions = aggregates({
  retention: aggregate({
    args: [2, 32],
    takes: 'boolean',
    returns: () => arrayOf(scalar('UInt8')),
    summary: 'Returns 1 for each condition that a row of the group meets; from the second on, only if a row meets the first one too.',
    clickhouse: { name: 'retention', args: (steps) => steps.map(certain) },
    duckdb: (steps, context) => {
      const [first, ...others] = steps.map((step) => ever(step, context))
      return `[${[first!, ...others.map((other) => `(${first} AND ${other})`)].map((one) => `CAST(${one} AS UTINYINT)`).join(', ')}]`
    },
    cases: [
      ['select retention(number = 1, number = 2, number = 7) from numbers(4)', [1, 1, 0]],
      ['select retention(number = 9, number = 2) from numbers(4)', [0, 0]],
      ['select retention(number = 1, number = 2) from numbers(0)', [0, 0]],
      ['select retention(number < 2, number > 2) from numbers(4)', [1, 1]],
    ],
  }),
  sequenceMatch: sequenceRow(
    'sequenceMatch',
    'UInt8',
    'Whether the rows, in order of time, match a pattern: `(?1)` a row that meets condition 1, `.` any row, `.*` any number of them. Rows that meet no condition are ignored. `(?t<=60)` any number of rows, up to one that is at most 60 seconds after the row before them (also `<`, `>`, `>=`, `==`).',
    sequence(
      'sequenceMatch',
      (text, pattern) => `CAST(regexp_matches(${text}, ${pattern}) AS UTINYINT)`,
      (count) => `CAST(${count} > 0 AS UTINYINT)`,
    ),
    [
      [`select sequenceMatch('(?1)(?2)')(${rows}) ${visits}`, 1],
      [`select sequenceMatch('(?2)(?1)')(${rows}) ${visits}`, 0],
      [`select sequenceMatch('(?2).(?1)')(${rows}) ${visits}`, 1],
      [`select sequenceMatch('(?2).*(?1)')(${rows}) ${visits}`, 1],
      [`select sequenceMatch('(?2)(?1)')(toDateTime(r.1), r.2 = 1, r.2 = 2) ${visits}`, 1],
      [`select sequenceMatch('(?1)(?2)')(r.1, r.2 = 1, r.2 = 2) ${twiceInASecond}`, 0],
      [`select sequenceMatch('(?2)(?1)')(r.1, r.2 = 1, r.2 = 2) ${twiceInASecond}`, 1],
      ["select sequenceMatch('(?1)')(toDateTime(number), number = 99, number = 98) from numbers(5)", 0],
      ["select sequenceMatch('(?1)(?2)')(toDateTime(number), number > 1, number > 2) from numbers(5)", 1],
      [`select sequenceMatch('(?2)(?1)')(toDateTime(r.1), r.2 = 1, r.2 = 2) ${atOnce}`, 0],
      [`select sequenceMatch('(?1)(?2)')(toDateTime(r.1), r.2 = 1, r.2 = 2) ${atOnce}`, 1],
      [`select sequenceMatch('(?1)(?t<=10)(?2)')(${rows}) ${visits}`, 1],
      [`select sequenceMatch('(?1)(?t<10)(?2)')(${rows}) ${visits}`, 0],
      [`select sequenceMatch('(?1)(?t>=30)(?2)')(${rows}) ${visits}`, 1],
      [`select sequenceMatch('(?1)(?t>50)(?2)')(${rows}) ${visits}`, 0],
      [`select sequenceMatch('(?1)(?t==50)(?2)')(${rows}) ${visits}`, 1],
      [`select sequenceMatch('(?1)(?t==20)(?2)')(${rows}) ${visits}`, 1],
      [`select sequenceMatch('(?1)(?t==40)(?2)')(${rows}) ${visits}`, 0],
      [`select sequenceMatch('(?2)(?t<=10)(?3)(?t<=10)(?1)')(${rows}) ${visits}`, 1],
      [`select sequenceMatch('(?2)(?t<=10)(?3).*(?t>=20)(?2)')(${rows}) ${visits}`, 1],
      ["select sequenceMatch('(?1)(?t<=10)(?2)')(toDateTime(number), number = 9, number = 8) from numbers(5)", 0],
    ],
  ),
  sequenceCount: sequenceRow(
    'sequenceCount',
    'UInt64',
    'Number of non-overlapping matches of a `sequenceMatch` pattern in the rows, in order of time.',
    sequence(
      'sequenceCount',
      (text, pattern) => `CAST(len(regexp_extract_all(${text}, ${pattern})) AS UBIGINT)`,
      (count) => `CAST(${count} AS UBIGINT)`,
    ),
    [
      [`select sequenceCount('(?1).*(?2)')(${rows}) ${visits}`, 2],
      [`select sequenceCount('(?3)')(${rows}) ${visits}`, 2],
      [`select sequenceCount('(?1).*(?3)')(${rows}) ${visits}`, 2],
      ["select sequenceCount('(?1)(?2)')(toDateTime(number), number % 2 = 0, number % 2 = 1) from numbers(10)", 5],
      ["select sequenceCount('(?1)')(toDateTime(number), number > 1, number > 2) from numbers(0)", 0],
      [`select sequenceCount('(?1)(?t<=20)(?2)')(${rows}) ${visits}`, 2],
      [`select sequenceCount('(?1)(?t<=10)(?2)')(${rows}) ${visits}`, 1],
    ],
  ),
  exponentialMovingAverage: aggregate({
    args: [2, 2],
    takes: ['number', 'time'],
    params: [1, 1],
    returns: (_, { params: [half] }) => {
      if (!(Number(half?.constant) > 0))
        throw new QueryError('wrong-type', {
          message: "'exponentialMovingAverage' takes a number above 0 as its parameter",
          expected: 'a number above 0',
        })
      return scalar('Float64')
    },
    keeps: 2,
    summary: 'Exponentially weighted moving average; the weight halves after the units of time (seconds) of the parameter.',
    clickhouse: {
      name: 'exponentialMovingAverage',
      params: (context) => context.params.map((p) => p.sql),
      args: ([x, at]) => [x!.sql, `toFloat64(${at!.sql})`],
    },
    duckdb: average,
    cases: [
      ['select exponentialMovingAverage(1)(number, number) from numbers(3)', 1.25, { tolerance: 1e-9 }],
      ['select exponentialMovingAverage(5)(number, number) from numbers(10)', 4.14, { tolerance: 0.2 }],
      ['select exponentialMovingAverage(5)(number, number) from numbers(0)', 0],
    ],
  }),
})
