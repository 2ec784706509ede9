import { QueryError } from '../../../errors/errors.ts'
import { isFloat, isNamed, isNullable, isTime, type SqlType, scalar, tupleOf } from '../../types/types.ts'
import { asFloat, nan, orDefault } from '../cells/duckdb-values.ts'
import type { Arg, Case, CellContext } from '../row.ts'
import {
  type AggregateRow,
  type AggregateSpec,
  aggregate,
  aggregateOf,
  aggregates,
  countOf,
  floatLike,
  rowsCall,
  withFilter,
} from './aggregate.ts'

// Quantiles, moments and correlations. Quantiles are exact on both engines: ClickHouse's own `quantile` samples beyond 8,192 values.

const levels = (context: CellContext): readonly string[] => context.params.map((p) => p.sql)
const timeOrFloat = (args: readonly SqlType[]): SqlType => (isTime(args[0]!) ? args[0]! : floatLike(args))

/** Interpolates between the two nearest values, also between times. */
const interpolated = (arg: Arg, level: string, context: CellContext): string => {
  if (isNamed(arg.type, 'Date')) return orDefault(`CAST(${rowsCall('quantile_cont', [arg.sql, level], context)} AS DATE)`, context)
  if (isTime(arg.type)) return orDefault(rowsCall('quantile_cont', [arg.sql, level], context), context)
  return orDefault(rowsCall('quantile_cont', [asFloat(arg), level], context), context, nan)
}
/** The same for a printed list. */
function interpolatedList(list: string, item: SqlType, level: string, context: CellContext): string {
  const of = (items: string) => `list_aggregate(${items}, 'quantile_cont', ${level})`
  if (isNamed(item, 'Date')) return orDefault(`CAST(${of(list)} AS DATE)`, context)
  if (isTime(item)) return orDefault(of(list), context)
  return orDefault(of(`CAST(${list} AS DOUBLE[])`), context, nan)
}
/** ClickHouse's exact quantile accepts numbers only. */
export const quantileOnClickHouse = (value: SqlType): string => (isTime(value) ? 'quantile' : 'quantileExactInclusive')

/** ClickHouse interpolates between floats, not between decimals. */
const floats = (args: readonly Arg[]): string[] => args.map(({ sql, type }) => (isNamed(type, 'Decimal') ? `toFloat64(${sql})` : sql))

const levelOf = (context: CellContext): string => levels(context)[0] ?? '0.5'

function quantile(summary: string, cases: readonly Case[], isMedian: boolean): AggregateRow {
  const level = isMedian ? () => '0.5' : levelOf
  return aggregate({
    args: [1, 1],
    takes: 'number',
    alsoTakes: 'times',
    ...(isMedian ? {} : { params: [1, 1] as const, paramKinds: ['share'] as const }),
    returns: timeOrFloat,
    summary,
    clickhouse: { name: 'quantileExactInclusive', nameOver: quantileOnClickHouse, params: (context) => [level(context)], args: floats },
    duckdb: (args, context) => interpolated(args[0]!, level(context), context),
    ofList: (list, item, context) => interpolatedList(list, item, level(context), context),
    cases,
  })
}

/** The value at a position in sorted order, without interpolation. `n` is the number of values. */
function nearest(
  name: string,
  position: string,
  engine: AggregateSpec['clickhouse'],
  summary: string,
  params?: readonly [1, 1],
): AggregateRow {
  const pick = (list: string, context: CellContext): string =>
    `list_extract(list_sort(${list}), ${position.replaceAll('n', () => `len(${list})`).replaceAll('{level}', () => levelOf(context))})`
  /** Of no floats, what is not a number. */
  const orNone = (value: string, context: CellContext): string =>
    isFloat(context.type) && !isNullable(context.type) ? `coalesce(${value}, ${nan})` : orDefault(value, context)
  return aggregate({
    args: [1, 1],
    takes: 'number',
    alsoTakes: 'times and intervals',
    ...(params ? { params, paramKinds: ['share'] as const } : {}),
    returns: (args) => args[0]!,
    summary,
    keeps: 2,
    clickhouse: engine,
    duckdb: ([x], context) => orNone(pick(rowsCall('list', [x!.sql], withFilter(context, `${x!.sql} IS NOT NULL`)), context), context),
    ofList: (list, _item, context) => orNone(pick(list, context), context),
    cases: [
      [`select ${name}${params ? '(0.5)' : ''}(x) from (select arrayJoin([1, 2, 4, 7]) as x)`, name === 'medianExactLow' ? 2 : 4],
      [`select ${name}${params ? '(0.5)' : ''}(number) from numbers(0)`, 0],
      [`select isNaN(${name}${params ? '(0.5)' : ''}(number / 2)) from numbers(0)`, 1],
    ],
  })
}
const exactPosition = 'least(CAST(floor({level} * n) AS BIGINT) + 1, n)'

const alike = (name: string, what: string): AggregateRow =>
  quantile(
    `The middle value. Exact here, ${what} in ClickHouse.`,
    [[`select ${name}(x) from (select arrayJoin([1, 2, 4, 7]) as x)`, 3]],
    true,
  )

// --- moments -------------------------------------------------------------------------------------

/** For too few values DuckDB returns NULL. ClickHouse returns nan, or NULL if there are none and the argument is nullable. */
const orNan = (text: string, args: readonly Arg[], context: CellContext): string =>
  isNullable(context.type) ? `CASE WHEN ${countOf(args, context)} > 0 THEN coalesce(${text}, ${nan}) END` : `coalesce(${text}, ${nan})`

const moment = (name: string, engine: string, summary: string, cases: readonly Case[]): AggregateRow =>
  aggregate({
    args: [1, 1],
    takes: 'number',
    returns: floatLike,
    summary,
    clickhouse: name,
    duckdb: (args, context) => orNan(rowsCall(engine, [asFloat(args[0]!)], context), args, context),
    ofList: (list, _item, context) => {
      const text = `list_aggregate(CAST(${list} AS DOUBLE[]), '${engine}')`
      return isNullable(context.type) ? `CASE WHEN list_count(${list}) > 0 THEN coalesce(${text}, ${nan}) END` : `coalesce(${text}, ${nan})`
    },
    cases,
  })

/** From sums of powers, as ClickHouse does; DuckDB's skewness and kurtosis correct for small samples. */
const shape = (name: string, order: 3 | 4, isSample: boolean, summary: string, value: number): AggregateRow =>
  aggregate({
    args: [1, 1],
    takes: 'number',
    returns: floatLike,
    summary,
    clickhouse: name,
    duckdb: (args, context) => {
      const x = asFloat(args[0]!)
      const mean = (power: number): string => rowsCall('avg', [Array.from({ length: power }, () => x).join(' * ')], context)
      const [m1, m2, m3] = [mean(1), mean(2), mean(3)]
      const third = `(${m3} - 3 * ${m1} * ${m2} + 2 * pow(${m1}, 3))`
      const central = order === 3 ? third : `(${mean(4)} - 4 * ${m1} * ${m3} + 6 * pow(${m1}, 2) * ${m2} - 3 * pow(${m1}, 4))`
      const variance = rowsCall(isSample ? 'var_samp' : 'var_pop', [x], context)
      const divisor = order === 3 ? `pow(${variance}, 1.5)` : `pow(${variance}, 2)`
      return orNan(`(${central} / nullif(${divisor}, 0))`, args, context)
    },
    cases: [[`select ${name}(x) from (select arrayJoin([1, 2, 2, 4, 7]) as x)`, value]],
  })

const pair = (name: string, engine: string, summary: string, value: number): AggregateRow =>
  aggregate({
    args: [2, 2],
    takes: 'number',
    returns: floatLike,
    summary,
    clickhouse: name,
    duckdb: (args, context) => orNan(rowsCall(engine, [asFloat(args[0]!), asFloat(args[1]!)], context), args, context),
    cases: [[`select ${name}(x, x * x) from (select arrayJoin([1, 2, 2, 4, 7]) as x)`, value]],
  })

const five = 'from (select arrayJoin([1, 2, 2, 4, 7]) as x)'
const four = 'from (select arrayJoin([1, 2, 4, 7]) as x)'

export const statisticsFunctions = aggregates({
  median: quantile(
    'Median; the mean of the two middle values if their number is even. Exact.',
    [
      ['select median(number) from numbers(4)', 1.5],
      ['select median(x) from (select arrayJoin([1, NULL, 3, 10]) as x)', 3],
      ['select isNaN(median(number)) from numbers(0)', 1],
    ],
    true,
  ),
  quantile: quantile(
    'The value below which this share of the values lies, interpolated. Exact.',
    [
      [`select quantile(0.5)(x) ${four}`, 3],
      [`select quantile(0.9)(x) ${four}`, 6.1],
      [`select quantile(0.25)(x) ${four}`, 1.75],
    ],
    false,
  ),
  quantileTDigest: quantile(
    'The same as `quantile`: exact, unlike the sketch of that name.',
    [[`select quantileTDigest(0.5)(x) ${four}`, 3]],
    false,
  ),
  quantiles: aggregate({
    args: [1, 1],
    takes: 'number',
    params: [1, null],
    paramKinds: ['share'],
    returns: () => ({ kind: 'array', item: scalar('Float64') }),
    summary: 'Several quantiles at once, one for each parameter. Exact.',
    clickhouse: { name: 'quantilesExactInclusive', params: levels, args: floats },
    duckdb: ([x], context) => {
      const given = levels(context)
      return `coalesce(${rowsCall('quantile_cont', [asFloat(x!), `[${given.join(', ')}]`], context)}, [${given.map(() => nan).join(', ')}])`
    },
    ofList: (list, _item, context) => {
      const given = levels(context)
      return `coalesce(list_aggregate(CAST(${list} AS DOUBLE[]), 'quantile_cont', [${given.join(', ')}]), [${given.map(() => nan).join(', ')}])`
    },
    cases: [[`select quantiles(0.25, 0.5)(x) ${four}`, [1.75, 3]]],
  }),
  quantileExact: nearest(
    'quantileExact',
    exactPosition,
    { name: 'quantileExact', params: (context) => [levelOf(context)] },
    'The value below which this share of the values lies: one of the values, not interpolated.',
    [1, 1],
  ),
  percentile_cont: aggregate({
    args: [0, 1],
    takes: 'number',
    alsoTakes: 'anything',
    params: [0, 2],
    paramKinds: ['share'],
    returns: (_, { args: [share], orderBy }) => {
      checkShare('percentile_cont', share)
      return floatLike(orderBy?.length ? orderBy : [scalar('Float64')])
    },
    summary: 'The quantile of WITHIN GROUP (ORDER BY x), interpolated.',
    clickhouse: (args, context) =>
      ordered(args, context, (arg, level, inner) => rowsCall(`quantileExactInclusive(${level})`, [arg.sql], inner)),
    duckdb: (args, context) =>
      ordered(args, context, (arg, level, inner) => orDefault(rowsCall('quantile_cont', [asFloat(arg), level], inner), context, nan)),
    cases: [
      [`select percentile_cont(0.5) within group (order by x) ${four}`, 3],
      [`select percentile_cont(0.25) within group (order by x desc) ${four}`, 4.75],
    ],
  }),
  percentile_disc: aggregate({
    args: [0, 1],
    takes: 'number',
    alsoTakes: 'anything',
    params: [0, 2],
    paramKinds: ['share'],
    returns: (_, { args: [share], orderBy }) => {
      checkShare('percentile_disc', share)
      return orderBy?.[0] ?? scalar('Float64')
    },
    keeps: 2,
    summary: 'The quantile of WITHIN GROUP (ORDER BY x): the first value that at least this share of the values does not exceed.',
    clickhouse: (args, context) =>
      ordered(args, context, (arg, level, inner) => {
        const list = `arraySort(${rowsCall('groupArray', [arg.sql], inner)})`
        return `arrayElement(${list}, greatest(toInt64(ceil(${level} * length(${list}))), 1))`
      }),
    duckdb: (args, context) =>
      ordered(args, context, (arg, level, inner) => {
        const list = `list_sort(${rowsCall('list', [arg.sql], withFilter(inner, `${arg.sql} IS NOT NULL`))})`
        return orDefault(`list_extract(${list}, greatest(CAST(ceil(${level} * len(${list})) AS BIGINT), 1))`, context)
      }),
    cases: [[`select percentile_disc(0.5) within group (order by x) ${four}`, 2]],
  }),
  medianExact: nearest(
    'medianExact',
    exactPosition.replace('{level}', '0.5'),
    'medianExact',
    'The middle value; the upper one of two middle values.',
  ),
  medianExactHigh: nearest('medianExactHigh', 'n // 2 + 1', 'medianExactHigh', 'The middle value; the upper one of two middle values.'),
  medianExactLow: nearest('medianExactLow', '(n + 1) // 2', 'medianExactLow', 'The middle value; the lower one of two middle values.'),
  medianExactWeighted: nearest(
    'medianExactWeighted',
    exactPosition.replace('{level}', '0.5'),
    'medianExact',
    'The middle value. It takes no weights here: all values weigh the same.',
  ),
  medianDeterministic: alike('medianDeterministic', 'a sample'),
  medianBFloat16: alike('medianBFloat16', 'with two or three digits'),
  medianTDigest: alike('medianTDigest', 'an estimate'),
  medianTDigestWeighted: alike('medianTDigestWeighted', 'an estimate'),
  medianTiming: alike('medianTiming', 'rounded'),
  medianTimingWeighted: alike('medianTimingWeighted', 'rounded'),
  stddevPop: moment('stddevPop', 'stddev_pop', 'Standard deviation of all values.', [[`select stddevPop(x) ${five}`, 2.1354156504062622]]),
  stddevSamp: moment('stddevSamp', 'stddev_samp', 'Standard deviation estimated from a sample.', [
    [`select stddevSamp(x) ${five}`, 2.3874672772626644],
    ['select isNaN(stddevSamp(number)) from numbers(1)', 1],
  ]),
  varPop: moment('varPop', 'var_pop', 'Variance of all values.', [[`select varPop(x) ${five}`, 4.56]]),
  varSamp: moment('varSamp', 'var_samp', 'Variance estimated from a sample.', [[`select varSamp(x) ${five}`, 5.7]]),
  skewPop: shape('skewPop', 3, false, 'Skewness of all values.', 0.8478566294318499),
  skewSamp: shape('skewSamp', 3, true, 'Skewness estimated from a sample.', 0.6066768187467089),
  kurtPop: shape('kurtPop', 4, false, 'Kurtosis of all values.', 2.274699907663898),
  kurtSamp: shape('kurtSamp', 4, true, 'Kurtosis estimated from a sample.', 1.4558079409048947),
  covarPop: pair('covarPop', 'covar_pop', 'Covariance of two columns.', 37.44),
  covarSamp: pair('covarSamp', 'covar_samp', 'Covariance estimated from a sample.', 46.8),
  corr: pair('corr', 'corr', 'Correlation of two columns.', 0.9817147301198066),
  avgWeighted: aggregate({
    args: [2, 2],
    takes: 'number',
    returns: floatLike,
    summary: 'Mean of the first argument, each value weighed by the second.',
    // With integer weights it would truncate the values
    clickhouse: { name: 'avgWeighted', args: (args) => args.map((a) => `toFloat64(${a.sql})`) },
    duckdb: (args, context) => {
      const [x, w] = [asFloat(args[0]!), asFloat(args[1]!)]
      const weights = rowsCall('sum', [w], withFilter(context, `${args[0]!.sql} IS NOT NULL`))
      return orNan(`(${rowsCall('sum', [`${x} * ${w}`], context)} / nullif(${weights}, 0))`, args, context)
    },
    cases: [[`select avgWeighted(x, x) ${five}`, 4.625]],
  }),
  simpleLinearRegression: aggregate({
    args: [2, 2],
    takes: 'number',
    returns: () => tupleOf([scalar('Float64'), scalar('Float64')], ['k', 'b']),
    summary: 'Slope and intercept of the straight line nearest to the points (x, y).',
    clickhouse: 'simpleLinearRegression',
    duckdb: (args, context) => {
      const [x, y] = [asFloat(args[0]!), asFloat(args[1]!)]
      const part = (name: string): string => `coalesce(${rowsCall(name, [y, x], context)}, ${nan})`
      return `row(${part('regr_slope')}, ${part('regr_intercept')})`
    },
    cases: [[`select simpleLinearRegression(x, x * 2 + 1) ${five}`, [2, 1]]],
  }),
})

/** WITHIN GROUP: the expression of ORDER BY is the argument; a descending order inverts the share. */
/** The share of WITHIN GROUP is one of the arguments. */
function checkShare(name: string, share: Arg | undefined): void {
  if (!share) return
  const value = typeof share.constant === 'number' ? share.constant : Number.NaN
  if (value >= 0 && value <= 1) return
  const expected = 'a number from 0 to 1'
  throw new QueryError('wrong-type', { message: `'${name}' takes ${expected} before WITHIN GROUP`, expected })
}

function ordered(args: readonly Arg[], context: CellContext, body: (arg: Arg, level: string, inner: CellContext) => string): string {
  const around = aggregateOf(context)
  const first = around.order[0]
  if (!first) throw new QueryError('invalid-query', { message: 'This aggregate needs WITHIN GROUP (ORDER BY …).' })
  const share = context.params[0]?.sql ?? args[0]?.sql ?? '0.5'
  const level = first.descending ? `(1 - ${share})` : share
  return body(first.arg, level, { ...context, aggregate: { ...around, orderBy: '', order: [] } })
}
