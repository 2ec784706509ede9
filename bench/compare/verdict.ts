import { median } from '../measure.ts'

/** How much slower a question may be than at the revision. */
export const tolerated = 1.1

/** One question asked of both, one right after the other. */
export interface Pair {
  readonly revision: number
  readonly working: number
}
export interface Verdict {
  /** Of the medians: working tree to revision. */
  readonly ratio: number
  /** Where the middle half of the ratios of pairs lies. */
  readonly middle: readonly [low: number, high: number]
  readonly isSlower: boolean
}

const quantile = (sorted: readonly number[], share: number): number => sorted[Math.round((sorted.length - 1) * share)]!

/** Slower is what is slower by more than is tolerated, and in at least three of four pairs slower at all: noise goes both ways. */
export function verdictOf(pairs: readonly Pair[]): Verdict {
  const ratios = pairs.map(({ revision, working }) => working / revision).sort((a, b) => a - b)
  const ratio = median(pairs.map(({ working }) => working)) / median(pairs.map(({ revision }) => revision))
  const middle = [quantile(ratios, 0.25), quantile(ratios, 0.75)] as const
  return { ratio, middle, isSlower: ratio > tolerated && middle[0] > 1 }
}
