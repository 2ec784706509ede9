/** A size, in bytes or parts, and what it cost. */
export type Point = readonly [size: number, cost: number]

/**
 * The power of the size that a cost grows with, by three sizes. Costs are compared by their differences, so what every input costs alike does not
 * hide the rest. Null: they differ by less than the floor.
 */
export function exponentOf([a, b, c]: readonly [Point, Point, Point], floor: number): number | null {
  const late = c[1] - b[1]
  if (late < floor) return null
  const early = Math.max(b[1] - a[1], floor / 16)
  const sizes = (c[0] - b[0]) / (b[0] - a[0])
  return sizes <= 1 ? null : Math.log(late / early) / Math.log(sizes)
}

/** Cost of two sizes, the second well above the floor and out of proportion: worth a closer look. */
export function looksSteep([a, b]: readonly [Point, Point], floor: number, exponent: number): boolean {
  const times = b[0] / a[0]
  return b[1] - a[1] > floor && b[1] > Math.max(a[1], floor / 16) * times ** exponent
}

/** Of several measurements of the same the least is nearest to what it costs: others only add. */
export const least = <T>(of: readonly T[], cost: (one: T) => number): T => of.reduce((a, b) => (cost(b) < cost(a) ? b : a))
