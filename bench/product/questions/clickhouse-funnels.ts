import type { ClickHouseLayout } from '../question.ts'
import { stepsInRange, windowDays } from './funnel-window.ts'

// Funnels as windowFunnel counts them. The attempt of a person with the most steps counts, and its time runs from its first step.

const microseconds = windowDays * 86_400_000_000
const level = (steps: readonly string[]) =>
  `windowFunnel(${microseconds}, 'strict_increase')(toUInt64(toUnixTimestamp64Micro(timestamp)), ${steps.map((event) => `event = '${event}'`).join(', ')})`

const levels = ({ person }: ClickHouseLayout, steps: readonly string[], reached: string, more = '') =>
  `SELECT ${person} AS p, ${reached} AS level${more} FROM events WHERE ${stepsInRange(steps)} GROUP BY p HAVING level > 0`
const countsOf = (steps: readonly string[]) => `[${steps.map((_, step) => `countIf(level > ${step})`).join(', ')}]`

export const counts = (layout: ClickHouseLayout, steps: readonly string[], reached = level(steps)): string =>
  `SELECT step, n FROM (SELECT ${countsOf(steps)} AS counts FROM (${levels(layout, steps, reached)})) ARRAY JOIN counts AS n, arrayEnumerate(counts) AS step`

export const countsBy = (layout: ClickHouseLayout, steps: readonly string[], property: string): string =>
  `SELECT value, step, n FROM (SELECT value, ${countsOf(steps)} AS counts
    FROM (${levels(layout, steps, level(steps), `, argMin(${layout.text(property)}, timestamp) AS value`)}) GROUP BY value)
  ARRAY JOIN counts AS n, arrayEnumerate(counts) AS step`

const permutations = <T>(values: readonly T[]): T[][] =>
  values.length === 0 ? [[]] : values.flatMap((value, i) => permutations(values.toSpliced(i, 1)).map((rest) => [value, ...rest]))

/** The order in which most steps were done is one of all. */
export const unordered = (layout: ClickHouseLayout, steps: readonly string[]): string =>
  counts(layout, steps, `greatest(${permutations(steps).map(level).join(', ')})`)

/** Each later step also counts for those who began on a day before, as far back as the window reaches. */
export const ratesByDay = ({ person }: ClickHouseLayout, steps: readonly string[]): string =>
  `SELECT day, 100 * countIf(level = ${steps.length}) / count() AS rate FROM (
    SELECT ${person} AS p, arrayJoin(if(event = '${steps[0]}', [toDate(timestamp)], arrayMap(i -> toDate(timestamp) - i, range(${windowDays + 1})))) AS day,
      ${level(steps)} AS level
    FROM events WHERE ${stepsInRange(steps)} GROUP BY p, day HAVING level > 0)
  GROUP BY day`

export const persons = (layout: ClickHouseLayout, steps: readonly string[]): string =>
  `SELECT p FROM (${levels(layout, steps, level(steps))}) WHERE level = ${steps.length}`
