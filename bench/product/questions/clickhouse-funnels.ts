import type { Layout } from '../question.ts'
import { stepsInRange, windowDays } from './funnel-window.ts'

// Funnels as windowFunnel counts them. The attempt of a person with the most steps counts, and its time runs from its first step.

const microseconds = windowDays * 86_400_000_000
const level = ({ event }: Layout, steps: readonly string[]) =>
  `windowFunnel(${microseconds}, 'strict_increase')(toUInt64(toUnixTimestamp64Micro(timestamp)), ${steps.map((step) => `event = ${event(step)}`).join(', ')})`

const levels = (layout: Layout, steps: readonly string[], more = '') =>
  `SELECT ${layout.person} AS p, ${level(layout, steps)} AS level${more} FROM events WHERE ${stepsInRange(layout, steps)} GROUP BY p HAVING level > 0`
const countsOf = (steps: readonly string[]) => `[${steps.map((_, step) => `countIf(level > ${step})`).join(', ')}]`

/** Counts of each step, of rows that have the number of steps that a person reached. */
const countsIn = (steps: readonly string[], reached: string) =>
  `SELECT step, n FROM (SELECT ${countsOf(steps)} AS counts FROM (${reached})) ARRAY JOIN counts AS n, arrayEnumerate(counts) AS step`

export const counts = (layout: Layout, steps: readonly string[]): string => countsIn(steps, levels(layout, steps))

export const countsBy = (layout: Layout, steps: readonly string[], property: string): string =>
  `SELECT value, step, n FROM (SELECT value, ${countsOf(steps)} AS counts
    FROM (${levels(layout, steps, `, argMin(${layout.text(property)}, timestamp) AS value`)}) GROUP BY value)
  ARRAY JOIN counts AS n, arrayEnumerate(counts) AS step`

/** windowFunnel only knows an order. Window functions are faster than the best of its answers for all orders. */
export const unordered = (layout: Layout, steps: readonly string[]): string => {
  const at = 'toUnixTimestamp64Micro(timestamp)'
  const done = steps.map((step) => `(maxIf(${at}, event = ${layout.event(step)}) OVER w >= ${at} - ${microseconds})`)
  const reached = `SELECT p, max(n) AS level FROM (SELECT ${layout.person} AS p, ${done.join(' + ')} AS n FROM events WHERE ${stepsInRange(layout, steps)}
    WINDOW w AS (PARTITION BY ${layout.person} ORDER BY timestamp)) GROUP BY p`
  return countsIn(steps, reached)
}

/** Each later step also counts for those who began on a day before, as far back as the window reaches. */
export const ratesByDay = (layout: Layout, steps: readonly string[]): string =>
  `SELECT day, 100 * countIf(level = ${steps.length}) / count() AS rate FROM (
    SELECT ${layout.person} AS p, arrayJoin(if(event = ${layout.event(steps[0]!)}, [toDate(timestamp)], arrayMap(i -> toDate(timestamp) - i, range(${windowDays + 1})))) AS day,
      ${level(layout, steps)} AS level
    FROM events WHERE ${stepsInRange(layout, steps)} GROUP BY p, day HAVING level > 0)
  GROUP BY day`

export const persons = (layout: Layout, steps: readonly string[]): string =>
  `SELECT p FROM (${levels(layout, steps)}) WHERE level = ${steps.length}`
