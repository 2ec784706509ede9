import { call, literal } from '../../language/ast/build.ts'
import type { Expr } from '../../language/ast/nodes.ts'
import type { Micros } from '../../lib/time/zone.ts'
import { type Run, runsOf } from './buckets.ts'

/** The number of the bucket that contains `at` (microseconds, within the edges): a binary search for the run, then one division. */
export function bucketNumber(at: Expr, edges: readonly Micros[]): Expr {
  const runs = runsOf(edges)
  return runs.length === 0 ? literal(0) : search(at, runs)
}

function search(at: Expr, runs: readonly Run[]): Expr {
  if (runs.length === 1) return inside(at, runs[0]!)
  const middle = runs.length >> 1
  const low = runs.slice(0, middle)
  const high = runs.slice(middle)
  return call('if', call('less', at, literal(high[0]!.start)), search(at, low), search(at, high))
}

function inside(at: Expr, { start, width, first, count }: Run): Expr {
  if (count === 1) return literal(first)
  const number = call('intDiv', call('minus', at, literal(start)), literal(width))
  return first === 0 ? number : call('plus', number, literal(first))
}
