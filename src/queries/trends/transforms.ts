import { mathFacts } from '../series/maths.ts'
import { scaledUp } from '../series/sampling.ts'

/** Value i becomes the mean of the last `intervals` values, rounded down; at the start there are fewer. */
export function smooth(data: readonly number[], intervals: number): readonly number[] {
  if (intervals <= 1) return data
  return data.map((_, i) => {
    const window = data.slice(Math.max(0, i - intervals + 1), i + 1)
    return Math.floor(window.reduce((sum, value) => sum + value, 0) / window.length)
  })
}

export function accumulate(data: readonly number[]): number[] {
  let sum = 0
  return data.map((value) => (sum += value))
}

/** Counts of a sample are scaled up; averages and extremes are not. */
export const scaleSample = (data: readonly number[], factor: number | null | undefined, math: string): readonly number[] => {
  const { of = 'sum' } = mathFacts(math)
  return of !== 'sum' || factor == null || factor === 1 ? data : data.map((value) => scaledUp(value, factor))
}
