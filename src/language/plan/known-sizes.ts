import { type Counting, headBytes, type Makes } from '../functions/makes.ts'
import type { CallNode } from '../resolver/typed.ts'
import { isFixed, type Size } from './sizes.ts'

/** The size rule in the registry row of a call. */
export function makesOf({ row, args, type }: CallNode): Makes | undefined {
  if (typeof row.makes !== 'function') return row.makes
  return row.makes({ args: args.map((arg) => ({ type: arg.type, constant: arg.kind === 'constant' ? arg.value : undefined })), type })
}

/** Evaluates a size from constants of the plan: null if they do not determine it. */
export function countingKnown({ args }: CallNode, sizes: readonly Size[]): Counting<number | null> {
  const both = (join: (a: number, b: number) => number) => (a: number | null, b: number | null) =>
    a === null || b === null ? null : join(a, b)
  const item = (position: number): number | null => (sizes[position]!.of.size === 0 ? sizes[position]!.bytes : null)
  return {
    number: (value) => value,
    value(position) {
      const arg = args[position]
      return arg?.kind === 'constant' && (typeof arg.value === 'number' || typeof arg.value === 'bigint') ? Number(arg.value) : null
    },
    bytes: (position) => (item(position) === null ? null : Math.max(0, item(position)! - (isFixed(args[position]!.type) ? 0 : headBytes))),
    item,
    letters(position, letters) {
      const arg = args[position]
      return arg?.kind === 'constant' && typeof arg.value === 'string' ? [...arg.value].filter((one) => letters.includes(one)).length : null
    },
    plus: both((a, b) => a + b),
    times: both((a, b) => a * b),
    over: both((a, b) => (b === 0 ? 0 : a / b)),
    least: both(Math.min),
    most: both(Math.max),
    size: (a) => (a === null ? null : Math.abs(a)),
  }
}
