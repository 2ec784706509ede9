import { inRange } from '../question.ts'

export const windowDays = 7

/** The rows that a funnel reads. */
export const stepsInRange = (steps: readonly string[]): string =>
  `event IN (${steps.map((event) => `'${event}'`).join(', ')}) AND ${inRange}`
