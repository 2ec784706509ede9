import { errorTable } from '../src/errors/codes.ts'
import type { Row } from '../src/errors/row.ts'
import { typeOfRow } from '../src/http/errors.ts'

// The codes of errors, from the one table of the library and of HTTP.

const rows = Object.entries(errorTable as Readonly<Record<string, Row<never>>>)
  .sort(([a], [b]) => a.localeCompare(b))
  .map(([code, row]) => {
    const { status, isRetryable } = row
    const wire = row.wireNote ?? (typeof row.wire === 'string' ? `\`${row.wire}\`` : '')
    return `| \`${code}\` | ${status} | \`${typeOfRow(row)}\` | ${wire} | ${isRetryable ? 'yes' : ''} |`
  })

export const errorsPage = (): string => `# Codes of errors

Written by \`npm run docs\` from the one table of codes. In the library a mistake of the caller rejects with a \`WaymarkError\`: \`code\` is the first column,
\`detail\` says what was expected, what came and what to do, \`attr\` names the field to blame (\`series__0__math\`), \`isRetryable\` says whether the same call may
succeed later. Over HTTP the same error has the status, \`type\` and \`code\` of the other columns, with the same \`detail\` and \`attr\`; where the column of
codes is empty, it is \`invalid_input\` (400), \`permission_denied\` (403), \`not_found\` (404), \`conflict\` (409) or \`error\`. Whatever is not in the table is
our fault: an \`InternalError\` in the library, 500 over HTTP, with the reason in the log alone.

A query with a field that is unknown or does not fit the schema of its kind is \`validation-failed\` in the library. Over HTTP it is \`parse_error\`, as clients
of the reference system expect, with their words before ours in \`detail\`, and \`attr\` names the same field. An unknown kind of query is refused with the kinds
that are answered here, the same in the library and over HTTP. What was likely meant and what is allowed is a part of \`detail\`, except where
clients compare its words: then it stands in \`extra\` alone (\`suggestions\`, \`expected\`).

| code | status | type | code over HTTP | may succeed later |
|---|---|---|---|---|
${rows.join('\n')}

What refuses events on the paths of client libraries has codes of its own: [ingestion.md](ingestion.md).
`
