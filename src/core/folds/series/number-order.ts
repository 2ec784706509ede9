import { sharedArray } from '../../lists/shared-array.ts'
import type { ColumnView } from '../fold.ts'

/** The numbers of a column of coded numbers in order. NaN is none of them. */
export interface NumberOrder {
  /** By code, the place in the order; behind all for NaN. */
  readonly rank: Uint16Array
  readonly numbers: Float64Array
}

const orders = new WeakMap<object, NumberOrder>()

/** Null: the numbers are not coded. Kept until the column has more numbers. */
export function numberOrder(column: Pick<ColumnView, 'numbers'>): NumberOrder | null {
  const { numbers } = column
  if (numbers === null) return null
  const known = orders.get(column)
  if (known?.rank.length === numbers.length) return known
  const order = orderOf(numbers)
  orders.set(column, order)
  return order
}

function orderOf(byCode: Float64Array): NumberOrder {
  const sorted = Float64Array.from(byCode).sort() // NaN is last
  const count = Number.isNaN(sorted.at(-1)) ? sorted.length - 1 : sorted.length
  const numbers = sharedArray(Float64Array, count)
  numbers.set(sorted.subarray(0, count))
  const rank = sharedArray(Uint16Array, byCode.length)
  for (const [code, value] of byCode.entries()) rank[code] = Number.isNaN(value) ? count : placeOf(value, numbers)
  return { rank, numbers }
}

function placeOf(value: number, numbers: Float64Array): number {
  let [low, high] = [0, numbers.length - 1]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (numbers[middle]! < value) low = middle + 1
    else high = middle
  }
  return low
}
