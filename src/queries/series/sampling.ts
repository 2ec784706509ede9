/** Counts of a sample are scaled up. */
export const scaledUp = (count: number, factor: number | null | undefined): number =>
  factor == null || factor === 1 ? count : Math.round(count / factor)
