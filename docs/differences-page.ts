import { families } from '../src/language/functions/registry.ts'
import type { Answered, Difference } from '../src/language/functions/row.ts'
import { type StatementAnswer, statementDifferences } from './statement-differences.ts'

// Where the engines differ, from the rows that the tests run on both.

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ')
const code = (text: string): string => {
  const ticks = text.includes('`') ? '``' : '`'
  return `${ticks}${cell(text)}${ticks}`
}
const answered = (one: Answered | StatementAnswer): string =>
  'refused' in one ? `refused: ${cell(one.refused)}` : code(JSON.stringify('rows' in one ? one.rows : one.value))

const statements = (): string =>
  [
    '| what | statement | DuckDB | ClickHouse | why |',
    '|---|---|---|---|---|',
    ...statementDifferences.map(
      ({ what, statement, duckdb, clickhouse, reason }) =>
        `| ${cell(what)} | ${code(statement)} | ${answered(duckdb)} | ${answered(clickhouse)} | ${cell(reason)} |`,
    ),
  ].join('\n')

const ofFunctions = (): readonly (readonly [name: string, difference: Difference])[] =>
  Object.values(families).flatMap((functions) =>
    Object.entries(functions).flatMap(([name, row]) => (row.differences ?? []).map((difference) => [name, difference] as const)),
  )

/** One part for each reason, those with most calls first. */
function calls(): string {
  const byReason = new Map<string, (readonly [string, Difference])[]>()
  for (const [name, difference] of ofFunctions())
    byReason.set(difference.reason, [...(byReason.get(difference.reason) ?? []), [name, difference]])
  return [...byReason]
    .sort(([, a], [, b]) => b.length - a.length)
    .map(([reason, rows]) =>
      [
        `### ${reason.charAt(0).toUpperCase()}${reason.slice(1)}`,
        '',
        '| function | call | DuckDB | ClickHouse |',
        '|---|---|---|---|',
        ...rows.map(
          ([name, { expression, duckdb, clickhouse }]) =>
            `| ${code(name)} | ${code(expression)} | ${answered(duckdb)} | ${answered(clickhouse)} |`,
        ),
      ].join('\n'),
    )
    .join('\n\n')
}

export const differencesPage = (): string => `# Where the engines differ

The last part says where Waymark differs from the reference system on purpose. The others are written by \`npm run docs\` from rows that the tests run
on both engines: each fails once its engines stop differing. A statement answers the same
rows on DuckDB and on ClickHouse but for what is listed here, functions that only one of them has ([functions.md](functions.md) says which), the
last digits of sums of floats, and the order of rows where ORDER BY leaves it open.

## Statements

${statements()}

## Functions

${calls()}

## How differences are found

\`npm run test:differential\` generates statements along named axes and runs them on both engines, and on a naive interpreter where it supports them; the default tests generate 200. Three runs of 3,000
statements covered 171 values of axes and 8,600 pairs of them; the interpreter answered 72 of 100, and no rows differed. In one run a statement on DuckDB exceeded the limit of 60 seconds on a loaded machine;
repeated 560 times afterwards, it took at most two seconds. \`npm run test:differential:functions\` calls functions with edge values in place of the arguments of their cases. About one of 25 calls differs,
nearly always because one engine refuses what the other accepts: \`test/differential/explanations.ts\` has the reasons, and a difference without a reason fails. \`npm run test:differential:values\`
puts a value of every type in place of each argument: of 100 such calls both engines refuse 56, ClickHouse alone refuses 13, and two or three differ, for the reasons in \`test/differential/value-differences.ts\`.

## Differences from PostHog

| what | PostHog | Waymark |
|---|---|---|
| correlated EXISTS and IN, LATERAL, WITH FILL, DESCRIBE and SHOW | not supported | supported ([sql.md](sql.md)) |
| windows and times of \`windowFunnel\`, \`sequenceMatch\`, \`sequenceCount\` over a Date | days, the unit of the column | seconds, as over times |
| \`GROUP BY … WITH TOTALS\` | the totals of ClickHouse, separate from the rows | one row after the others, whose keys have the default of their type |
| actors behind Other of a breakdown (\`InsightActorsQuery\`) | all actors of the point | those whose values have no row of their own |
| a column of a table without a row that joins | the default of its type (\`''\`, 0) | NULL, with grouping sets and ROLLUP too |
| \`arrayReverseSort\` | sorts upwards | sorts downwards |
| unknown fields in the body of a record, or of an event | ignored | ignored and reported: those of a record in the header \`X-Ignored-Fields\` with the likely name ([http.md](http.md)), those of an event by a warning ([ingestion.md](ingestion.md)). In steps of an action and filters of a cohort they are refused |
| notifications of alerts | e-mail, and destinations beside the alert | e-mail, and a signed webhook of the alert itself ([sharing.md](sharing.md#webhooks)) |
| targets of subscriptions | e-mail, Slack, webhook | e-mail and signed webhook; on a hosted server, e-mail to members only |
| times of subscriptions | in UTC | in the project's time zone, with the same local time when clocks change |
| \`/shared/<token>.json\` | the insight with its query | its answer only |
| sessions of web analytics | overviews count sessions that began in the range; tables without a comparison count those with events in it | both count sessions that began in the range, so that their numbers agree ([web.md](web.md#what-counts)) |
| visits without a \`$session_id\` in web analytics | in no table of channels and of entry pages | sessions that are made of each person's events, ended by 30 minutes without any ([web.md](web.md#what-counts)) |
| the visitor of a session with several persons | any of them | the one who was created first, so that the same question has the same answer |
| tables by language | \`en-\` for a language without a region; no column for the share of a row | \`en\`; the columns of other tables |
| goals of web analytics | the five actions that were pinned or computed last | the first five actions by their ids; more with \`limit\` and \`offset\` |
| revenue in web analytics (\`includeRevenue\`) | supported | refused |
| external clicks, searches of addresses | no \`offset\`; a tenth of the events is searched in older versions | \`offset\`; all events are searched |
| completion in an editor | all functions at once; nothing within texts | those that contain the word, 220 of each kind; names of events behind \`event =\` |
| a \`refresh\` of an insight or a dashboard that does not exist | as \`force_cache\` | refused with the likely name |
| a saved query with a misspelled field | saved; its answer fails | refused with the place of the field ([saved.md](saved.md)) |
| the removal or the change of a view that others read | allowed; the others fail | refused with their names |
| names of views | may have dots | letters, digits and underscores |
| events with an unknown project API key | answers 200 and drops them silently | answers 401 \`invalid_api_key\`; clients report it and drop the batch. \`/metrics\` counts it (\`waymark_capture_refused_total\`), and the first of each minute is logged |
| \`POST persons/:id/\`, \`update_property\`, \`delete_property\` | an event \`$set\` is sent, and the change is visible some time later | a record of the log that is no event; applied when it is answered, with the changed person as the answer |
| \`DELETE persons/:id/?delete_events=true\` | events are deleted some days later | they are gone when it is answered ([records.md](records.md#deleting)) |
| properties of events after their person was deleted without its events | events keep copies of the person's properties | nothing of the person remains |
| events that were deleted and are sent again with the same \`uuid\` | stored again | dropped as duplicates |
| \`GET events/\` | \`next\` names the time of the last event | \`next\` fixes the time of the first page, so that events with equal times are not skipped |
`
