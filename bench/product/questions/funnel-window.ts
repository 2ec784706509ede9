import { inRange, type Layout } from '../question.ts'

export const windowDays = 7

/** The rows that a funnel reads. */
export const stepsInRange = ({ event }: Layout, steps: readonly string[]): string =>
  `event IN (${steps.map(event).join(', ')}) AND ${inRange}`
