import { QueryError } from '../../../errors/errors.ts'
import { arrayOf, scalar, tupleOf } from '../../types/types.ts'
import { asFloat, folded, once } from '../cells/duckdb-values.ts'
import { byKey } from '../cells/list-groups.ts'
import type { CellContext, SqlCell } from '../row.ts'
import { aggregate, aggregates, rowsCall, withFilter, withoutDistinct } from './aggregate.ts'

// A histogram with adaptive bins.

const mostBins = 250

function binsOf({ params }: Pick<CellContext, 'params'>): number {
  const value = params[0]?.constant
  const bins = typeof value === 'bigint' ? Number(value) : value
  if (typeof bins === 'number' && Number.isInteger(bins) && bins >= 1 && bins <= mostBins) return bins
  throw new QueryError('wrong-type', {
    message: `'histogram' takes the number of its bins as a constant whole number from 1 to ${mostBins}`,
    expected: 'histogram(10)(x)',
  })
}

/** Values are first reduced to this many points per bin, then the nearest points are merged. */
const pointsPerBin = 5

/** Sorted distinct values with their counts. If there are too many: the mean and count for each of equally wide ranges. */
function pointsOf(values: string, most: number, context: CellContext): string {
  const [entry, all] = [context.fresh(), context.fresh()]
  const counts = `list_sort(list_transform(map_entries(${values}), lambda ${entry}: {'m': ${entry}.key, 'w': CAST(${entry}.value AS DOUBLE)}))`
  const width = `((${all}[len(${all})].m - ${all}[1].m) / ${most})`
  const cell = `least(floor((${entry}.m - ${all}[1].m) / ${width}), ${most - 1})`
  const position = `CASE WHEN len(${all}) <= ${most} THEN ${entry}.m ELSE ${cell} END`
  const placed = `list_transform(${all}, lambda ${entry}: row(${position}, ${entry}.m, ${entry}.w))`
  const entries = `list_transform([coalesce(${counts}, [])], lambda ${all}: ${placed})[1]`
  return byKey(entries, scalar('Float64'), context, (group) => {
    const [mean, weight] = [`struct_extract_at(${entry}, 2)`, `struct_extract_at(${entry}, 3)`]
    const sum = (of: string) => `list_sum(list_transform(${group}, lambda ${entry}: ${of}))`
    return `{'m': ${sum(`${mean} * ${weight}`)} / ${sum(weight)}, 'w': ${sum(weight)}}`
  })
}

/** Merges the two nearest points until one is left per bin. */
function joined(points: string, bins: number, context: CellContext): string {
  const [p, at, each, i, start] = Array.from({ length: 5 }, () => context.fresh()) as [string, string, string, string, string]
  const gaps = `list_transform(range(1, len(${p})), lambda ${at}: {'gap': ${p}[${at} + 1].m - ${p}[${at}].m, 'at': ${at}})`
  const [left, right] = [`${p}[${i}]`, `${p}[${i} + 1]`]
  const both = `{'m': ${left}.m + ${right}.w * (${right}.m - ${left}.m) / (${left}.w + ${right}.w), 'w': ${left}.w + ${right}.w}`
  const next = `list_transform([list_min(${gaps}).at], lambda ${i}: list_concat(${p}[1:${i} - 1], [${both}], ${p}[${i} + 2:]))[1]`
  const steps = `list_transform(range(0, len(${start}) - ${bins}), lambda ${each}: ${start}[1:0])`
  return `list_transform([${points}], lambda ${start}: ${folded(steps, [p, each], next, start)})[1]`
}

const duckdb: SqlCell = ([x], context) => {
  const bins = binsOf(context)
  const value = asFloat(x!)
  const rows = withFilter(withoutDistinct(context), `isfinite(${value})`)
  const values = rowsCall('histogram', [value], rows)
  return once(context, joined(pointsOf(values, bins * pointsPerBin, context), bins, context), (points) => {
    const i = context.fresh()
    const [before, here, behind] = [`${points}[${i} - 1]`, `${points}[${i}]`, `${points}[${i} + 1]`]
    const [isFirst, isLast] = [`${i} = 1`, `${i} = len(${points})`]
    const edge = (isEnd: string, end: string, beside: string) =>
      `CASE WHEN ${isEnd} THEN ${rowsCall(end, [value], rows)} ELSE (${here}.m + ${beside}.m) / 2 END`
    const share = (isEnd: string, beside: string) => `CASE WHEN ${isEnd} THEN ${here}.w ELSE (${beside}.w + ${here}.w * 3) / 4 END`
    const height = `(${share(isFirst, before)} + ${share(isLast, behind)}) / 2`
    return `list_transform(range(1, len(${points}) + 1), lambda ${i}: row(${edge(isFirst, 'min', before)}, ${edge(isLast, 'max', behind)}, ${height}))`
  })
}

const float = scalar('Float64')
const few = 'from (select arrayJoin([1, 2, 10, 11, 12]) as x)'

export const histogramFunctions = aggregates({
  histogram: aggregate({
    args: [1, 1],
    takes: 'number',
    params: [1, 1],
    returns: (_, context) => {
      binsOf(context)
      return arrayOf(tupleOf([float, float, float]))
    },
    keeps: 8,
    summary:
      'An adaptive histogram of at most that many bins, each with its lower edge, upper edge and height: the nearest values are merged. Infinite values do not count; ClickHouse refuses them.',
    clickhouse: { name: 'histogram', params: (context) => [String(binsOf(context))] },
    duckdb,
    cases: [
      [
        `select histogram(2)(x) ${few}`,
        [
          [1, 6.25, 2.125],
          [6.25, 12, 2.875],
        ],
      ],
      [`select histogram(1)(x) ${few}`, [[1, 12, 5]]],
      [
        'select histogram(5)(number) from numbers(3)',
        [
          [0, 0.5, 1],
          [0.5, 1.5, 1],
          [1.5, 2, 1],
        ],
      ],
      [
        'select histogram(5)(number) from numbers(10)',
        [
          [0, 1.5, 2],
          [1.5, 3.5, 2],
          [3.5, 5.5, 2],
          [5.5, 7.5, 2],
          [7.5, 9, 2],
        ],
      ],
      [
        'select histogram(5)(x) from (select arrayJoin([1, 1, 1, 2, 2, 3]) as x)',
        [
          [1, 1.5, 2.875],
          [1.5, 2.5, 2],
          [2.5, 3, 1.125],
        ],
      ],
      ['select histogram(3)(x) from (select arrayJoin([1, 1, NULL]) as x)', [[1, 1, 2]]],
      ['select histogram(3)(number) from numbers(0)', []],
      ['select histogram(2)(x).3 from (select arrayJoin([-1.5, 4]) as x)', [1, 1]],
      ['select arraySum(histogram(4)(number % 100).3) from numbers(1000)', 1000, { tolerance: 0.2 }],
    ],
    differences: [
      {
        expression: 'select arrayMap(x -> round(x, 2), histogram(2)(number).3) from numbers(20)',
        duckdb: { value: [8.5, 11.5] },
        clickhouse: { value: [5.5, 14.5] },
        reason:
          'ClickHouse merges values as they arrive once there are twice as many as bins, DuckDB when it has all of them: its bins do not depend on the order of rows',
      },
    ],
  }),
})
