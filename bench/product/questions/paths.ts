import type { PathsResponse } from 'waymark'
import type { Rows } from '../contender.ts'
import { dateRange, inRange, type Layout, type Question } from '../question.ts'

// Which sections and events follow one another in the sessions of a person.

const page = '$pageview'
const steps = 5
const sessionMicros = 30 * 60 * 1_000_000

/** Ten groups of sections, and the names of all other events: so few edges that none is cut. */
const section = '^.*/section-[0-9]?([0-9])/.*$'

const counted = ({ event, eventName }: Layout, startsWith: string) =>
  `${inRange} AND (event = ${event(page)} OR NOT ${startsWith}(${eventName}, '$'))`

/** Arrays are faster than window functions in ClickHouse. */
function clickhouse(layout: Layout): string {
  const item = `if(event = ${layout.event(page)}, replaceRegexpOne(${layout.text('$current_url')}, '${section}', 'section \\\\1'), ${layout.eventName})`
  return `SELECT concat(toString(step), '_', source) AS source_key, concat(toString(step + 1), '_', target) AS target_key, count() AS n FROM (
    SELECT arrayPopBack(path) AS sources, arrayPopFront(path) AS targets FROM (
      SELECT arraySlice(arrayCompact(arrayJoin(arraySplit((item, since) -> since >= ${sessionMicros}, visits.2, arrayDifference(visits.1)))), 1, ${steps}) AS path
      FROM (SELECT arraySort(groupArray((toUnixTimestamp64Micro(timestamp), ${item}))) AS visits FROM events
        WHERE ${counted(layout, 'startsWith')} GROUP BY ${layout.person})))
  ARRAY JOIN sources AS source, targets AS target, arrayEnumerate(sources) AS step
  GROUP BY step, source, target`
}

function duckdb(layout: Layout): string {
  const item = `CASE WHEN event = ${layout.event(page)} THEN regexp_replace(${layout.text('$current_url')}, '${section}', 'section \\1') ELSE ${layout.eventName} END`
  return `WITH visits AS (SELECT ${layout.person} AS p, timestamp AS moment, ${item} AS item FROM events WHERE ${counted(layout, 'starts_with')}),
    neighbours AS (SELECT *, lag(item) OVER w AS last_item, coalesce(epoch_us(moment) - epoch_us(lag(moment) OVER w) >= ${sessionMicros}, false) AS begins
      FROM visits WINDOW w AS (PARTITION BY p ORDER BY moment)),
    sessions AS (SELECT *, sum(begins::INTEGER) OVER (PARTITION BY p ORDER BY moment) AS session FROM neighbours),
    items AS (SELECT item, row_number() OVER w AS step, lag(item) OVER w AS source FROM sessions WHERE begins OR item IS DISTINCT FROM last_item
      WINDOW w AS (PARTITION BY p, session ORDER BY moment))
    SELECT (step - 1) || '_' || source AS source_key, step || '_' || item AS target_key, count(*) AS n FROM items
    WHERE step BETWEEN 2 AND ${steps} GROUP BY ALL`
}

export const paths: readonly Question[] = [
  {
    name: `paths of ${steps} steps`,
    waymark: {
      query: () => ({
        kind: 'PathsQuery',
        dateRange,
        pathsFilter: {
          includeEventTypes: [page, 'custom_event'],
          localPathCleaningFilters: [{ regex: section, alias: 'section \\1' }],
          stepLimit: steps,
          edgeLimit: 10_000,
        },
      }),
      rows: ({ results }: PathsResponse): Rows => results.map(({ source, target, value }) => [source, target, value]),
    },
    clickhouse,
    duckdb,
  },
]
