import { asNumber, cannot, compare, keyOf, type Value } from './values.ts'

// Aggregates over the values that each row gives them. Rows with a null in an argument do not count.

export interface Aggregated {
  /** The arguments of each row. */
  readonly rows: readonly (readonly Value[])[]
  readonly params: readonly Value[]
  readonly isDistinct: boolean
  /** What no rows give: null where the argument could be null. */
  readonly mayBeNull: () => boolean
}

const numbers = (values: readonly Value[]) => values.map((value) => (typeof value === 'number' ? value : cannot('a number of this value')))
const sum = (values: readonly number[]) => values.reduce((a, b) => a + b, 0)
const best = (values: readonly Value[], sign: 1 | -1) => values.reduce((a, b) => (sign * compare(b, a) < 0 ? b : a))

/** Between the two nearest values. */
function quantile(share: number, values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const at = share * (sorted.length - 1)
  const [low, high] = [sorted[Math.floor(at)]!, sorted[Math.ceil(at)]!]
  return low + (high - low) * (at - Math.floor(at))
}

export const aggregateNames: ReadonlySet<string> = new Set([
  ...['count', 'uniq', 'min', 'max', 'sum', 'avg', 'quantile', 'argMax', 'any', 'first_value'],
  ...['countIf', 'sumIf'],
])

export function aggregate(name: string, { rows, params, isDistinct, mayBeNull }: Aggregated): Value {
  if (name.endsWith('If')) {
    const chosen = rows.filter((row) => row.at(-1) === true).map((row) => row.slice(0, -1))
    return aggregate(name.slice(0, -2), { rows: chosen, params, isDistinct, mayBeNull })
  }
  const given = ['sum', 'avg', 'quantile'].includes(name) ? rows.map((row) => row.map(asNumber)) : rows
  const filled = given.filter((row) => !row.includes(null))
  const values = filled.map((row) => row[0]!)
  const none = (otherwise: Value): Value => (mayBeNull() ? null : otherwise)
  switch (name) {
    case 'count':
      return isDistinct ? new Set(values.map(keyOf)).size : filled.length
    case 'uniq':
      return new Set(values.map(keyOf)).size
    case 'sum':
      return values.length ? sum(numbers(values)) : none(0)
    case 'avg':
      return values.length ? sum(numbers(values)) / values.length : null
    case 'quantile':
      return values.length ? quantile(numbers(params)[0]!, numbers(values)) : null
    case 'min':
    case 'max':
      return values.length ? best(values, name === 'min' ? 1 : -1) : mayBeNull() ? null : cannot('the smallest of nothing')
    case 'any':
    case 'first_value':
      return values[0] ?? (mayBeNull() ? null : cannot('the first of nothing'))
    case 'argMax':
      return filled.length
        ? filled.reduce((a, b) => (compare(b[1]!, a[1]!) > 0 ? b : a))[0]!
        : mayBeNull()
          ? null
          : cannot('a value of nothing')
  }
  return cannot(`the aggregate ${name}`)
}
