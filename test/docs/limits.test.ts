import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { loginAllowances } from '../../src/doors/http/access/login-attempts.ts'
import { bodyLimits, unpackedLimit } from '../../src/doors/http/capture/handler.ts'
import { longestItem, maxItems } from '../../src/doors/http/capture/json-items.ts'
import { defaultConcurrency } from '../../src/doors/http/queries/concurrency.ts'
import { maxFormFields } from '../../src/doors/http/requests/form-fields.ts'
import { requestBodyDefaults } from '../../src/doors/http/requests/request-bodies.ts'
import { answerBytes } from '../../src/engine/storage/duckdb/budget.ts'
import { nameLimit } from '../../src/events/ingestion/applying/event-names.ts'
import { batchBytesLimit } from '../../src/events/ingestion/decoding/decode-batch.ts'
import { longestTime } from '../../src/events/ingestion/decoding/parse-time.ts'
import { eventBytesLimit } from '../../src/events/ingestion/decoding/prepare.ts'
import { propertiesLimit } from '../../src/events/ingestion/properties/property-size.ts'
import { statementLimits } from '../../src/language/ast/planning-budget.ts'
import { keyLimit, longestKey } from '../../src/language/catalog/property-counts.ts'
import { usualRows } from '../../src/queries/answers/page-limit.ts'
import { waitedForSeconds } from '../../src/service/asking/asking.ts'
import { longestSeconds } from '../../src/service/asking/query-runs.ts'

// The page that says what is taken names the numbers that hold.

const page = readFileSync(join(import.meta.dirname, '../../docs/ingestion.md'), 'utf8')
const mebibytes = (bytes: number) => `${bytes / 1024 / 1024} MiB`
const number = (value: number) => value.toLocaleString('en')

test.each<[string, string]>([
  ['a body of events', `| a body | ${mebibytes(bodyLimits['/batch']!)} on \`/batch/\``],
  ['a body of one event', `${mebibytes(bodyLimits['/e']!)} on the others`],
  ['unpacked', `${mebibytes(unpackedLimit)} unpacked`],
  ['events of a request', `| events of a request | ${number(maxItems)} |`],
  ['the JSON of an event', `| the JSON of one event | ${mebibytes(longestItem)} |`],
  ['a batch in the log', `| a batch in the log | ${mebibytes(batchBytesLimit)} |`],
  ['fields of a form', `| fields of a form | ${number(maxFormFields)} |`],
  ['bodies in flight', `| ${mebibytes(requestBodyDefaults.bytes)} | 503`],
  [
    'the pace',
    `${number((requestBodyDefaults.bytesPerSecond * requestBodyDefaults.measuredMs) / 1000)} bytes every ${requestBodyDefaults.measuredMs / 1000} seconds`,
  ],
  ['the time', `within ${requestBodyDefaults.longestMs / 1000} seconds`],
  ['patience', `arriving for ${['zero', 'one', 'two'][requestBodyDefaults.patienceMs / 1000]} seconds`],
  ['a time', `A time of more than ${longestTime} characters is invalid`],
  ['properties of an event', `${number(eventBytesLimit)} bytes of properties`],
  ['properties of a person', `${number(propertiesLimit)} characters of properties`],
  ['names of events', `has ${number(nameLimit)} event names`],
  ['keys', `beyond ${number(keyLimit)} per scope, or longer than ${longestKey} characters`],
])('%s', (_, text) => {
  expect(page.replaceAll('\n', ' ')).toContain(text)
})

test('the page on statements lists every limit of planning, in its order', () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/sql.md'), 'utf8')
  const rows = page.split('<!-- statement limits -->')[1]!.split('\n\n')[0]!.trim().split('\n').slice(2)
  expect(rows.map((row) => row.split('|').at(-2)!.trim())).toEqual(Object.values(statementLimits).map(number))
})

const security = readFileSync(join(import.meta.dirname, '../../docs/security.md'), 'utf8').replaceAll('\n', ' ')
test.each<[string, string]>([
  ['bodies', `${mebibytes(bodyLimits['/batch']!)}, ${number(maxItems)} events, ${mebibytes(longestItem)} for one`],
  ['the log', `${mebibytes(batchBytesLimit)} in the log`],
  [
    'in flight',
    `${mebibytes(requestBodyDefaults.bytes)} for all connections together; slow senders are cut after ${requestBodyDefaults.longestMs / 1000}`,
  ],
  ['time', `${waitedForSeconds} seconds, ${longestSeconds} in the background`],
  [
    'queries',
    `${defaultConcurrency.perProject} of a project's keys, ${defaultConcurrency.perUser} of a user, ${defaultConcurrency.perOrganization} of an organization, ${defaultConcurrency.inAll} of a server`,
  ],
  ['answers', `${number(usualRows.mostRows)} rows; in JSON ${mebibytes(answerBytes(2 ** 40))} or a sixteenth`],
  [
    'statements',
    `${number(statementLimits.text)} characters, ${number(statementLimits.tokens)} tokens, ${number(statementLimits.sql)} characters of generated SQL, and fifteen more`,
  ],
  ['passwords', `${loginAllowances.account.failures} wrong ones`],
])('the page on security: %s', (_, text) => {
  expect(security).toContain(text)
  expect(Object.keys(statementLimits)).toHaveLength(3 + 15)
})
