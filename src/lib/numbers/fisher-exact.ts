/** Smaller than the precision of a double, relative to 1. */
const negligible = 1e-17
/** Tables as likely as the given one have the same weight up to rounding. */
const sameUpTo = 1 + 1e-7

/**
 * Fisher's exact test of a table of two rows and two columns, two-sided: the probability of a table that is at most as likely as this one, given the
 * sums of its rows and columns. The weights of the tables follow from one another, from the most likely one on.
 */
export function fisherExact(a: number, b: number, c: number, d: number): number {
  const [row, column, all] = [a + b, a + c, a + b + c + d]
  const [least, most] = [Math.max(0, row + column - all), Math.min(row, column)]
  if (least === most) return 1
  const mode = Math.min(most, Math.max(least, Math.floor(((row + 1) * (column + 1)) / (all + 2))))
  /** How much more likely a table with `x` in its first cell is than the one with one less. */
  const growth = (x: number) => ((row - x + 1) * (column - x + 1)) / (x * (all - row - column + x))
  const own = a === mode ? 1 : weightOf(a, mode, growth)
  const tooSmall = negligible * own
  let total = 1
  let asUnlikely = own * sameUpTo >= 1 ? 1 : 0
  const add = (weight: number) => {
    total += weight
    if (weight <= own * sameUpTo) asUnlikely += weight
  }
  for (let x = mode + 1, weight = 1; x <= most; x++) {
    weight *= growth(x)
    if (weight <= tooSmall) break
    add(weight)
  }
  for (let x = mode - 1, weight = 1; x >= least; x--) {
    weight /= growth(x + 1)
    if (weight <= tooSmall) break
    add(weight)
  }
  return Math.min(1, asUnlikely / total)
}

/** Relative to the most likely table; 0 where that is less than any double. */
function weightOf(a: number, mode: number, growth: (x: number) => number): number {
  let weight = 1
  if (a > mode) for (let x = mode + 1; x <= a && weight > 0; x++) weight *= growth(x)
  else for (let x = mode; x > a && weight > 0; x--) weight /= growth(x)
  return weight
}
