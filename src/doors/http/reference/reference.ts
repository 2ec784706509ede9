import { lightMs } from '../../../engine/admission/lanes.ts'
import { largestKeyCount } from '../../../service/accounts/users/personal-keys.ts'
import { downloadSeconds, longestQueryId, waitedForSeconds } from '../../../service/asking/asking.ts'
import { longestSeconds } from '../../../service/asking/query-runs.ts'
import { loginAllowances } from '../access/login-attempts.ts'
import { defaultRateLimits, hostedQueriesPerHour } from '../access/rate-limits.ts'
import { notKeptHeader } from '../not-kept.ts'
import { defaultConcurrency } from '../queries/concurrency.ts'
import { lookAheadLimits } from '../queries/streamed.ts'
import { resources } from '../registry.ts'
import { largestBody, maxLevels, maxValues } from '../requests/body.ts'
import { maxFormFields } from '../requests/form-fields.ts'
import { maxNames } from '../requests/ignored-fields.ts'
import { effectless } from '../requests/query-parameters.ts'
import { requestBodyDefaults } from '../requests/request-bodies.ts'
import type { Row } from '../resource.ts'
import { routes } from '../routes.ts'
import { differences } from './differences.ts'

// The reference page `docs/http.md`, derived from the rows.

const who = (row: Row): string => {
  if (row.reach === 'open') return 'anybody'
  if (row.reach === 'user') return 'logged in'
  return row.level
}
const scope = (row: Row): string => {
  if (row.reach === 'open') return ''
  return row.scope === 'none' ? 'login only' : row.scope === 'any' ? 'any key' : `\`${row.scope}\``
}

const { bytes, bytesPerSecond, measuredMs, longestMs } = requestBodyDefaults
const number = (value: number) => value.toLocaleString('en')
const mebibytes = (value: number) => `${value / 1024 / 1024} MiB`

const times = ({ failures, seconds }: { readonly failures: number; readonly seconds: number }) =>
  `${failures} at once, and another one every ${seconds} seconds`

const cell = (text: string) => text.replaceAll('|', '\\|')
const effectlessRows = Object.entries(effectless)
  .map(([name, { values, reason }]) => `| \`${name}\` | ${values?.join(', ') ?? 'any'} | ${cell(reason)} |`)
  .join('\n')
const differenceRows = differences
  .map(({ where, asked, here, reason }) => `| ${[where, asked, here, reason].map(cell).join(' | ')} |`)
  .join('\n')

const preface = `# The HTTP API

Generated from the routes: \`npm run docs\`. \`GET /openapi.json\` describes bodies and answers field by field.

**Authentication.** Send a personal API key as \`Authorization: Bearer phx_…\`, in the field \`personal_api_key\` of the body, or in the query parameter of that name; only the first
one found is checked. A key has scopes (\`write\` includes \`read\`, \`*\` is everything), can be limited to projects or organizations, and never allows more than its user may do. Managing
keys and changing the e-mail address of an account take a login of the last six hours (\`POST /api/login/\`), not a key, and a key cannot start a login. A user has at most ${largestKeyCount} keys. \`@current\` stands for the organization or project
that the caller works in, within the reach of the key; \`@me\` stands for the caller.

**Limited keys.** A key limited to projects can use routes of these projects, the key itself, and the part of \`GET /api/users/@me/\` that is not about others: \`team\` is one of its projects,
\`organization\` is null and \`organizations\` is empty. A key limited to organizations can use these, what is in them, and the matching part of lists and of its own account. Neither can change its
account or create an organization.

**Order of checks.** Authentication (401), rate limit (429), scopes and reach of the key (403), the required level (403), and only then whether the method (405) or the object (404) exists. A record
of a foreign organization or project answers 404; anything in a foreign project answers the same 403 whether the project exists or not. A login session works only for pages of the same site.
Permissions are checked again once the body has arrived.

**Invitations.** The secret of an invitation accepts it, not its \`id\`. The secret is in the link of the e-mail or, where no e-mail is sent, in the field \`secret\` of the answer that created it, once. An
invitation expires after three days, or when its sender may no longer invite to it; \`resend\` creates a new secret.

**Passwords.** \`POST /api/reset/\` mails a link, valid for one hour; the answer is the same whether the address has an account, and it comes before the mail is sent. Without a mail server (\`--smtp\`)
it answers 400 \`email_not_available\`; \`GET /_preflight\` says so beforehand (\`email_service_available\`), and the operator prints a link with \`waymark users link\`, valid for 24 hours. A link
works once. A new password ends the sessions of the account and its other links; personal API keys stay if the address was confirmed before. \`PATCH /api/users/@me/\` with \`password\` and \`current_password\` keeps the session of the request.

**Second factor.** If the account has one, \`POST /api/login/\` answers 401 \`2fa_required\`, and \`POST /api/login/token/\` takes a code within ten minutes. While an organization requires a second factor, members without one get
403 \`two_factor_setup_required\` from its routes, and so do their personal API keys ([sign-in.md](sign-in.md)).

**Addresses.** The first link for a new password that is used proves the address of an account. What the account had before ends then: sessions, keys, memberships and invitations
([security.md](security.md#addresses)). \`is_email_verified\` says whether it is proven. \`POST /api/users/@me/ask_confirmation/\` mails a link to the signed-in user, and \`confirm_email/\` takes its secret: then
everything stays. Another \`email\` needs \`current_password\` and a recent login. It is \`pending_email\` until the link that is mailed to it is opened, and the one that is mailed to the present address, if that is proven. Without a mail server the operator
confirms it: \`waymark users confirm --email ADDRESS\`. The answer is the same if somebody else has the address.

**Pagination.** Lists take \`limit\` (default 100, at most 1000) and \`offset\`, and answer \`{"count", "next", "previous", "results"}\`. Links begin with the public URL of the server
([operations.md](operations.md)), else with the host of the request if it is a local one; otherwise they are relative.

**Errors.** Every error has the body \`{"type", "code", "detail", "attr"}\`; \`attr\` names the field, with \`__\` between nested names. For an error in a statement or an expression, \`extra\` has
\`position\` (\`line\` and \`column\` from 1, \`offset\` from 0, \`length\`), \`suggestions\` (likely names), \`expected\` and \`others\` (further errors), as far as they are known.
[errors.md](errors.md) lists the codes.

**Not supported.** Experiments, notebooks, session recordings, surveys and early access features answer 404 with an explanation, for every method. Feature flags are an
empty list, because clients request it for every project. What client libraries request besides sending events (\`/flags/\`, \`/decide/\`, \`/api/surveys/\`, \`/s/\` and the like) gets the empty
answer that they expect, with the header \`${notKeptHeader.replace(/\b[a-z]/g, (letter) => letter.toUpperCase())}\` that names the missing feature.

**Unknown fields** of a query, of an action's steps and of a cohort's filters are refused with their path and the likely name. Unknown fields of a record are ignored, as in PostHog, and
\`X-Ignored-Fields\` lists them with the likely name: \`nme (name?), tile\`. It lists at most ${maxNames} and the number of the others; characters other than letters, digits and
\`_.$-\` are percent-encoded. Read-only fields are ignored too, so you can write a record back as you read it.

**Parameters** of URLs that a route does not have are refused (400) with their name and the likely one, and so is one that is sent several times with different values where one is
expected: if a filter were ignored, the answer would look as if it had been applied. \`GET /openapi.json\` lists those of each route. These may be sent to every route, without effect:

| parameter | values | why it is taken |
|---|---|---|
${effectlessRows}

**Headers.** Every answer has \`X-Request-Id\` (the caller's own if it sent one), \`Cache-Control: no-store\`, \`X-Content-Type-Options: nosniff\`, \`Referrer-Policy: no-referrer\`, and
\`X-Frame-Options\` and \`Content-Security-Policy\` that forbid framing. \`Idempotency-Key\` on a POST that creates something makes it idempotent: the same request with the same key within a day gets the
stored response, without secrets. With another body, or where \`@current\` is another project by then, it is a conflict (409). Requests are limited per key (480 a minute and 4800 an hour; \`--api-limit\` changes it), and those of a signed-in user in all browsers together (3000 a minute); \`RateLimit\` has the remaining requests, \`Retry-After\` the seconds to wait. Queries have an hourly
limit if the operator sets one (\`--queries-per-hour\`; ${hostedQueriesPerHour} with \`--hosted\`); it counts the queries of all keys of one user on one project. Tests of alerts and subscriptions, of keys and of pages, have a limit for each project:
${defaultRateLimits.test.map(({ count, seconds }) => `${count} ${seconds === 60 ? 'a minute' : 'an hour'}`).join(' and ')}.

**Concurrency.** API keys can have ${defaultConcurrency.perProject} queries of one project queued or running, a user ${defaultConcurrency.perUser} in all projects, and an organization
${defaultConcurrency.perOrganization}; one more gets 429 without \`Retry-After\`. When ${defaultConcurrency.inAll} are queued or running on the server, or ${defaultConcurrency.perOrganization} of an organization, a query of a caller who has fewer than
others displaces another one: in the organization with most queries, and there of the user with most, the newest query that has not started. The displaced query gets 503 with \`Retry-After\`, or that error if it is async. If nobody has more, the new query gets it. Organizations get equal
shares of the engine, then projects within an organization, and users within a project. A statement counts as heavy after ${lightMs / 1000} seconds. A heavy statement yields to a lighter one: it is interrupted and restarted later, at most twice; one whose organization has used much more than that of a waiting one yields again after 2, 8, 32 seconds and so on. Queries with a waiting client run
before async ones.

**Timeouts.** A query with a waiting client has ${waitedForSeconds} seconds, an async one ${longestSeconds}, including the time in the queue; the error shows both parts (\`waited 41 s, ran 19 s\`, status
504). Time that the reader of a stream takes does not count.

**Size.** The rows of a JSON answer can take a sixteenth of the server's memory limit, at least 8 and at most 64 MiB, and their text 128 MiB. Beyond that the answer is 400 and says how to stream the
rows. A \`client_query_id\` has at most ${longestQueryId} characters; if you reuse it for another query, it refers to that one. Results of async queries are kept for ten minutes, up to 256 MiB per
project.

**Login.** Wrong passwords count per account and network (${times(loginAllowances.account)}), per address or IPv6 /64 (${times(loginAllowances.address)}), and per network, /24 or IPv6 /48
(${times(loginAllowances.network)}); beyond that the answer is 429 with \`Retry-After\`. An account is never locked: its user can log in from another network, or from a browser in which the user has
logged in before (cookie \`waymark_device\`), which has its own counter until the password changes. Passwords are checked one at a time; if too many are queued, the answer is 503 with
\`Retry-After\`.

**Bodies** have at most ${number(largestBody)} bytes (else 413), ${number(maxValues)} values and ${maxLevels} levels of JSON, and ${number(maxFormFields)} form fields (else 400). A body must arrive at
${number((bytesPerSecond * measuredMs) / 1000)} bytes every ${measuredMs / 1000} seconds and within ${longestMs / 1000} seconds (else 408). All bodies in memory take at most ${number(bytes)} bytes;
beyond that a request gets 503 with \`Retry-After\`. [ingestion.md](ingestion.md) has the limits for events.

**Other formats.** A query with \`Accept: text/csv\` or \`application/vnd.apache.arrow.stream\` is streamed as the engine produces the rows, with backpressure from the client. A chart is small and
sent at once, one row per point (\`label\`, \`date\`, \`value\`), total (\`label\`, \`value\`), funnel step (\`order\`, \`name\`, \`count\`, times in seconds) or bin (\`from_seconds\`,
\`people\`), with \`breakdown_value\`, \`compare_label\` and \`status\` if the chart has them. \`X-Row-Limit\` is the maximum number of rows, without the row of WITH TOTALS. \`X-Has-More\` says
whether more rows exist: \`true\`, \`false\`, or \`unknown\` if that is not known when the answer begins: for rows of more than ${mebibytes(lookAheadLimits.perAnswer)}, and for more than
${mebibytes(lookAheadLimits.always)} while ${mebibytes(lookAheadLimits.together)} of rows wait for other readers. Such an answer with \`X-Row-Limit\` rows may be truncated. A stream that fails ends with its connection, never with a final
chunk. A client that reads nothing for 30 seconds is disconnected. If the JSON answer has \`warnings\`, \`X-Warning-Count\` has their number and \`X-Warnings\` a JSON array of them in ASCII,
without messages and with at most 4,096 characters. [arrow.md](arrow.md) shows how to read Arrow.

**Downloads.** \`POST /api/projects/:project_id/query/export/\` returns all rows of a query as a file, without the row limit of an answer: the body is that of a query, with \`format\` \`csv\`, \`jsonl\`,
\`parquet\`, \`arrow\` or \`spreadsheet\` instead of \`async\` and \`refresh\`. Without \`format\`, the \`Accept\` header decides, else it is CSV. A statement and a list of events or persons have all their rows (a \`limit\` in the query
holds), a chart one row per point. Memory does not depend on the number of rows: CSV, JSON lines and Arrow are streamed as the engine produces them, with backpressure from the client; Parquet is written to a
file in the data directory first, and sent when it is complete. It must leave 256 MiB of the disk free, else the download is refused with \`no-space\` (503). Values are those of a JSON answer; in Parquet, times are in UTC without a zone, and a column whose name is taken gets its index as a suffix. A column whose name contains NUL cannot be in a Parquet file (400). \`csv\` is exact;
\`spreadsheet\` is CSV for people, in which a text that a spreadsheet would take for a formula (it begins with \`=\`, \`+\`, \`-\`, \`@\`, a tab or a carriage return, and is not a number) has an apostrophe before it; in charts, \`(none)\` and \`Other\` replace the internal values of a breakdown. If the client
disconnects, the statement is cancelled. A browser can send a form instead of JSON, with \`query\` as JSON text, and saves the file by itself. If the query fails before the first byte, the answer has the status of the error; after that the connection is closed without a final chunk, so that an incomplete file is
never taken for a complete one. A download has ${downloadSeconds} seconds of the engine's time and counts as a concurrent query. \`waymark serve --downloads off\` turns downloads off; with \`--hosted\` they are off unless \`--downloads on\`.
The command line has \`waymark query … --format parquet --out FILE\` ([quickstart.md](quickstart.md)).

**Times** are ISO 8601 in UTC, with microseconds if they are not zero. Trailing slashes are optional.

\`/api/environments/…\` is an alias of \`/api/projects/…\`.

## Deliberate differences

The API follows a published description of PostHog's. Where Waymark differs from it on purpose:

| what | described as | here | why |
|---|---|---|---|
${differenceRows}

For operators there are \`/_health\`, \`/_livez\`, \`/_readyz\` and \`/metrics\` (Prometheus), without a key.
`

export const httpReference = (): string => {
  const parts = [preface]
  for (const resource of resources) {
    parts.push(`## ${resource.name}\n\n${resource.summary}.\n`)
    const rows = routes
      .filter((route) => route.resource === resource)
      .flatMap((route) => [...route.rows.values()].map((row) => ({ row, path: `${route.path}/` })))
    parts.push(
      ['| route | does | who | scope | status |', '|---|---|---|---|---|']
        .concat(
          rows.map(
            ({ row, path }) =>
              `| \`${row.method} ${path}\` | ${row.summary.replaceAll('|', '\\|')} | ${who(row)} | ${scope(row)} | ${row.status} |`,
          ),
        )
        .join('\n'),
      '',
    )
  }
  return `${parts.join('\n').trimEnd()}\n`
}
