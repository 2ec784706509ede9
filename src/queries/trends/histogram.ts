import { alias, call, literal, select } from '../../language/ast/build.ts'
import type { Expr, Query, TableSource } from '../../language/ast/nodes.ts'
import { nullValue } from '../series/breakdown-values.ts'

// Bins of equal width from the smallest to the largest value that is counted. They are half open; the last one is widened so that it holds the
// maximum. Values that are not finite numbers have no bin.

export interface Bins {
  /** One more than there are bins. */
  readonly edges: readonly number[]
}

const widening = 0.01

/** null if no counted event has a number. */
export function binsOf(low: number | null, high: number | null, count: number): Bins | null {
  if (low === null || high === null || !Number.isFinite(low) || !Number.isFinite(high)) return null
  if (low === high) return { edges: [low, above(high, shorten(high + widening))] }
  const width = high / count - low / count
  const inner = Array.from({ length: count }, (_, i) => shorten(low + i * width, width))
  return { edges: [Math.min(low, inner[0]!), ...inner.slice(1), above(high, shorten(high + widening, width))] }
}

/** The rounded edge, or the next number above it if it is too large for such digits. */
const above = (high: number, edge: number): number => (edge > high ? edge : high + Math.abs(high) * Number.EPSILON)

/** Two decimals are enough for a label, unless the bins are narrower. */
function shorten(value: number, width = 1): number {
  if (width < 1) return Number(value.toPrecision(12))
  if (Math.abs(value) > 1e15) return value
  const cents = Math.floor(Number((value * 100).toPrecision(15)))
  return cents / 100
}

export const binText = (low: number, high: number): string => `[${low},${high}]`

/** `[10,17.5]`; null for anything else, such as `["",""]`, which means all values. */
export function parseBin(text: string): readonly [number, number] | null {
  try {
    const parsed: unknown = JSON.parse(text)
    if (Array.isArray(parsed) && parsed.length === 2 && parsed.every((edge): edge is number => typeof edge === 'number'))
      return [parsed[0]!, parsed[1]!]
  } catch {
    // not JSON
  }
  return null
}

export function binOf(value: Expr, { edges }: Bins): Expr {
  const isInside = call(
    'and',
    call('isNotNull', value),
    call('greaterOrEquals', value, literal(edges[0]!)),
    call('less', value, literal(edges.at(-1)!)),
  )
  return call('if', isInside, search(value, edges, 0, edges.length - 1), literal(nullValue))
}

function search(value: Expr, edges: readonly number[], low: number, high: number): Expr {
  if (high - low === 1) return literal(binText(edges[low]!, edges[high]!))
  const middle = (low + high) >> 1
  return call('if', call('less', value, literal(edges[middle]!)), search(value, edges, low, middle), search(value, edges, middle, high))
}

/** Smallest and largest number of each part with bins. */
export const binRanges = (values: readonly Expr[], events: TableSource, where: Expr): Query =>
  select({
    columns: values
      .map((value) => call('toFloat', value))
      .flatMap((number, i) => [
        alias(call('minIf', number, call('isFinite', number)), `low${i}`),
        alias(call('maxIf', number, call('isFinite', number)), `high${i}`),
      ]),
    from: events,
    where,
  })
