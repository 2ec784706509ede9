import { longestQueryId, waitedForSeconds } from '../execution/asking/asking.ts'
import { lightMs } from '../execution/asking/lanes.ts'
import { longestSeconds } from '../execution/asking/query-runs.ts'
import { largestBody, mostLevels, mostValues } from './body.ts'
import { mostFormFields } from './form-fields.ts'
import { mostNames } from './ignored-fields.ts'
import { loginAllowances } from './login-attempts.ts'
import { notKeptHeader } from './not-kept.ts'
import { defaultConcurrency } from './queries/concurrency.ts'
import { hostedQueriesPerHour } from './rate-limits.ts'
import { resources } from './registry.ts'
import { requestBodyDefaults } from './request-bodies.ts'
import type { Row } from './resource.ts'
import { places } from './routes.ts'

// The reference page `docs/http.md`, read from the rows.

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

const times = ({ failures, seconds }: { readonly failures: number; readonly seconds: number }) =>
  `${failures} at once, and another one every ${seconds} seconds`

const preface = `# The HTTP API

Generated from the routes: \`npm run docs\`. \`GET /openapi.json\` describes bodies and answers field by field.

**Keys.** \`Authorization: Bearer phx_…\`, else the field \`personal_api_key\` of the body, else the query parameter of that name; only the first one
found is tried. A key has scopes (\`write\` includes \`read\`, \`*\` is everything) and may be limited to projects or organizations; it never does what its
user may not. Managing keys and changing the own address take a recent login (\`POST /api/login/\`), not a key, and a key starts no login. \`@current\` stands
for the organization or project the caller works in, as far as its key reaches, \`@me\` for the caller.

**Limited keys.** A key limited to projects reaches routes of these projects, the key itself and, of \`GET /api/users/@me/\`, what is not about others:
\`team\` is one of its projects, \`organization\` is null and \`organizations\` is empty. A key limited to organizations reaches these, what is in them, and of
lists and the own account the part about them. Neither changes the own account or makes an organization.

**Order of checks.** Who calls (401), how often (429), what the key may do and whose things they are (403), which level it takes (403); only then whether
the method (405) or the object (404) exists. The record of a foreign organization or project is simply not there (404); what is in a project is refused
with the same 403 whether the project is somebody else's or nobody's. A login counts only for pages of the same site, and who may is looked at again once
the body has arrived.

**Invitations.** What accepts an invitation is its secret, not its \`id\`: it is in the link of the mail, or where no mail goes out in the field \`secret\` of
the answer that made it, this once. An invitation lasts three days and as long as whoever sent it may invite to it; \`resend\` makes a new secret.

**Pages.** Lists take \`limit\` (100; pages hold at most 1000) and \`offset\` and answer \`{"count", "next", "previous", "results"}\`. Links begin with the
public URL of the server ([operations.md](operations.md)), else with the host of the request where it is a local one; they are relative otherwise.

**Failures.** Every one has the body \`{"type", "code", "detail", "attr"}\`; \`attr\` names the field to blame, nested ones joined by \`__\`.
Of a mistake in a statement or an expression, \`extra\` holds \`position\` (\`line\` and \`column\` from 1, \`offset\` from 0, \`length\`), \`suggestions\` (names that may have
been meant), \`expected\` and \`others\` (further mistakes), as far as they are known.
[errors.md](errors.md) has the codes.

**What is not kept.** Insights, dashboards, annotations, experiments, notebooks, session recordings, surveys and early access features are answered with 404
and a text that says so, whatever the method. Feature flags have an empty list, because clients ask every project for it, and what client libraries ask for
besides sending events (\`/flags/\`, \`/decide/\`, \`/api/surveys/\`, \`/s/\` and the like) has the empty answer that they expect: these carry the header
\`${notKeptHeader.replace(/\b[a-z]/g, (letter) => letter.toUpperCase())}\` with the name of what is not kept.

**Unknown fields** of a query are refused with their path and the likely name, and so are those of an action's steps and of a cohort's filters. Unknown fields
of a record are ignored, as in the reference system, and \`X-Ignored-Fields\` names them, with the likely name: \`nme (name?), tile\`. It names
${mostNames} at most and says how many more there are; characters other than letters, digits and \`_.$-\` are percent-encoded. Fields that can only be read
are ignored too, so a record that was read can be written back.

**Headers.** Every answer has \`X-Request-Id\`, the caller's own if it sent one, \`Cache-Control: no-store\`, \`X-Content-Type-Options: nosniff\`,
\`Referrer-Policy: no-referrer\`, and \`X-Frame-Options\` and \`Content-Security-Policy\` that let no page frame it. \`Idempotency-Key\` on a post that creates makes it happen once: the same
request with the same key within a day gets the first answer again, less secrets. Calls with keys are limited per key: 480 a minute and 4800 an hour;
\`RateLimit\` says what is left, \`Retry-After\` how long to wait. Queries have an hourly limit where the operator sets one
(\`--queries-per-hour\`; ${hostedQueriesPerHour} with \`--hosted\`): it counts what the keys of one user ask one project.

**Waiting and running.** Keys may have ${defaultConcurrency.perProject} queries of a project waiting or running at once, a user ${defaultConcurrency.perUser} in all projects, whatever they are asked
with; one more is refused with 429 and no time to wait. When ${defaultConcurrency.inAll} wait or run in all, the answer is 503 with \`Retry-After\`. Projects have equal shares of the
engine, and so have the users of one project. A statement that has run for ${lightMs / 1000} seconds counts as heavy: it makes room when somebody with less waits, is
begun again later, and is left alone after the second time. What somebody waits for goes before what runs in the background.

**Time.** A query that is waited for has ${waitedForSeconds} seconds, one in the background ${longestSeconds}, its waiting included; the error says how much was which
(\`waited 41 s, ran 19 s\`, status 504). What the reader of a stream takes for itself does not count.

**Size.** The rows of a JSON answer may take a sixteenth of the server's memory limit, at least 8 and at most 64 MiB, and their text 128 MiB; beyond that the
answer is 400 and says how to have them streamed. A \`client_query_id\` has at most ${longestQueryId} characters; used again with another query, it names that one
from then on. Answers of the background are kept for ten minutes, and of one project as long as they are not more than 256 MiB together.

**Signing in.** Wrong passwords count for an account in the network they come from (${times(loginAllowances.account)}),
for an address or an IPv6 /64 (${times(loginAllowances.address)}), and for a network, /24 or IPv6 /48
(${times(loginAllowances.network)}); beyond that the answer is 429 with \`Retry-After\`. An account is never closed: from another network its
user gets in, and so does a browser in which the user has signed in before, by its cookie \`waymark_device\`, which has tries of its own until
the password changes. Passwords are looked at one at a time; who would wait behind too many others is answered 503 with \`Retry-After\`.

**Bodies** have at most ${number(largestBody)} bytes (else 413), ${number(mostValues)} values and ${mostLevels} levels of JSON, and ${number(mostFormFields)} fields of a form (else 400). One must
bring ${number((bytesPerSecond * measuredMs) / 1000)} bytes every ${measuredMs / 1000} seconds and be whole within ${longestMs / 1000} (else 408). All that are in flight hold ${number(bytes)} bytes at most; beyond
that a request gets 503 with \`Retry-After\`. What holds for events is in [ingestion.md](ingestion.md).

**Rows in other forms.** A query asked with \`Accept: text/csv\` or \`application/vnd.apache.arrow.stream\` is answered as the engine makes the rows, no
faster than they are taken. A chart is small and comes as a whole, a row for each point (\`label\`, \`date\`, \`value\`), each total (\`label\`, \`value\`),
each step of a funnel (\`order\`, \`name\`, \`count\`, the times in seconds) or each of its bins (\`from_seconds\`, \`people\`), beside them
\`breakdown_value\`, \`compare_label\` and \`status\` where the chart has them. \`X-Row-Limit\` says how many rows come at most, less the row of WITH TOTALS. \`X-Has-More\` says whether there
are more, when that is known before the first megabyte is sent; without it, as many rows as the limit means that there may be more. An answer that
cannot be finished ends with its connection, never with the end of its chunks. A client that takes nothing for 30 seconds is given up.
Where the JSON answer has \`warnings\`, \`X-Warning-Count\` says how many and \`X-Warnings\` has them as a JSON array in ASCII, without their messages and at most
4,096 characters of them. [arrow.md](arrow.md) says how to read Arrow.

**Times** are ISO 8601 in UTC, with microseconds when there are some. A trailing slash is optional everywhere.

\`/api/environments/…\` is another name for \`/api/projects/…\`.

Operators have \`/_health\`, \`/_livez\`, \`/_readyz\` and \`/metrics\` (Prometheus), without a key.
`

export const httpReference = (): string => {
  const parts = [preface]
  for (const resource of resources) {
    parts.push(`## ${resource.name}\n\n${resource.summary}.\n`)
    const rows = places
      .filter((place) => place.resource === resource)
      .flatMap((place) => [...place.rows.values()].map((row) => ({ row, path: `${place.path}/` })))
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
