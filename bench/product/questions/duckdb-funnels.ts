import type { DuckdbLayout } from '../question.ts'
import { stepsInRange, windowDays } from './funnel-window.ts'

// Funnels as a chain of ASOF joins: the latest row of the step before has the latest beginning, and no other leaves more time. At a few million
// events window functions (a sort for each step) take 1.5 to 6 times as long, and a fold over the list of a person's events 4 times.

const within = `INTERVAL ${windowDays} DAY`

const chain = (layout: DuckdbLayout, steps: readonly string[], more = '') =>
  [
    `e AS (SELECT ${layout.person} AS p, timestamp AS moment, event${more} FROM events WHERE ${stepsInRange(layout, steps)})`,
    `r1 AS (SELECT p, moment, moment AS began FROM e WHERE event = ${layout.event(steps[0]!)})`,
    ...steps.slice(1).map(
      (step, i) =>
        `r${i + 2} AS (SELECT e.p, e.moment, began FROM e ASOF JOIN r${i + 1} r ON e.p = r.p AND e.moment > r.moment
          WHERE event = ${layout.event(step)} AND e.moment <= began + ${within})`,
    ),
  ].join(',\n')

export const counts = (layout: DuckdbLayout, steps: readonly string[]): string =>
  `WITH ${chain(layout, steps)}
  ${steps.map((_, i) => `SELECT ${i + 1} AS step, count(DISTINCT p) AS n FROM r${i + 1}`).join(' UNION ALL ')}`

export const countsBy = (layout: DuckdbLayout, steps: readonly string[], property: string): string =>
  `WITH ${chain(layout, steps, `, ${layout.text(property)} AS value`)},
  touched AS (SELECT p, arg_min(value, moment) AS value FROM e GROUP BY p)
  ${steps.map((_, i) => `SELECT value, ${i + 1} AS step, count(DISTINCT p) AS n FROM r${i + 1} JOIN touched USING (p) GROUP BY value`).join(' UNION ALL ')}`

export const unordered = (layout: DuckdbLayout, steps: readonly string[]): string => {
  const done = steps.map(
    (step) => `coalesce(max(timestamp) FILTER (event = ${layout.event(step)}) OVER w >= timestamp - ${within}, false)::INTEGER`,
  )
  const best = `SELECT p, max(n) AS level FROM (SELECT ${layout.person} AS p, ${done.join(' + ')} AS n FROM events WHERE ${stepsInRange(layout, steps)}
    WINDOW w AS (PARTITION BY ${layout.person} ORDER BY timestamp)) GROUP BY p`
  return `WITH best AS (${best})
  ${steps.map((_, i) => `SELECT ${i + 1} AS step, count(*) AS n FROM best WHERE level > ${i}`).join(' UNION ALL ')}`
}

/** Each day of the first step is an actor of its own, and takes what its person did from then on. */
export const ratesByDay = (layout: DuckdbLayout, steps: readonly string[]): string => {
  const last = steps.length
  const later = steps.slice(1).map(
    (step, i) =>
      `r${i + 2} AS (SELECT e.p, e.day, e.moment, began FROM later e ASOF JOIN r${i + 1} r ON e.p = r.p AND e.day = r.day AND e.moment > r.moment
        WHERE event = ${layout.event(step)} AND e.moment <= began + ${within})`,
  )
  return `WITH e AS (SELECT ${layout.person} AS p, timestamp AS moment, event FROM events WHERE ${stepsInRange(layout, steps)}),
  r1 AS (SELECT p, moment::DATE AS day, moment, moment AS began FROM e WHERE event = ${layout.event(steps[0]!)}),
  later AS (SELECT p, (moment::DATE - i::INTEGER) AS day, moment, event FROM e, range(${windowDays + 1}) earlier(i) WHERE event <> ${layout.event(steps[0]!)}),
  ${later.join(',\n')}
  SELECT day, 100 * coalesce(converted, 0) / entered AS rate FROM (SELECT day, count(DISTINCT p) AS entered FROM r1 GROUP BY day)
  LEFT JOIN (SELECT day, count(DISTINCT p) AS converted FROM r${last} GROUP BY day) USING (day)`
}

export const persons = (layout: DuckdbLayout, steps: readonly string[]): string =>
  `WITH ${chain(layout, steps)} SELECT DISTINCT p FROM r${steps.length}`
