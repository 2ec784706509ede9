import { join, resolve } from 'node:path'
import ts from 'typescript'
import { expect, test } from 'vitest'

// A field that is renamed in the schema of an answer does not compile in the page that reads it. Each case renames one in memory.

const src = resolve(import.meta.dirname, '../../../src')
const cases: readonly [schema: string, field: string, page: string][] = [
  ['batch-exports.ts', 'bytes_exported', 'pipelines/exports.tsx'],
  ['roles.ts', 'associated_flags', ''], // no page reads it
  ['projects.ts', 'anonymize_ips', 'settings/project.tsx'], // of a loose object
  ['notifications.ts', 'snoozed_until', 'alerts/cards.tsx'],
  ['query.ts', 'error_message', 'sql/background.ts'],
  ['pages.ts', 'next', 'ui/list-table.tsx'],
]

test('a renamed field does not compile in the page that reads it', () => {
  const config = join(src, 'web/tsconfig.json')
  const { options } = ts.parseJsonConfigFileContent(ts.readConfigFile(config, ts.sys.readFile).config, ts.sys, join(src, 'web'))
  const host = ts.createCompilerHost(options)
  const read = host.readFile
  host.readFile = (file) => {
    const fields = cases.flatMap(([schema, field]) => (file === join(src, 'doors/answers', schema) ? [field] : []))
    return fields.reduce((text, field) => text?.replace(new RegExp(`\\b${field}:`, 'g'), `${field}_of_now:`), read(file))
  }
  const pages = [...new Set(cases.map(([, , page]) => page)), 'settings/access.tsx'].filter(Boolean)
  const program = ts.createProgram(
    pages.map((page) => join(src, 'web', page)),
    options,
    host,
  )
  const wrong = pages.flatMap((page) =>
    program
      .getSemanticDiagnostics(program.getSourceFile(join(src, 'web', page)))
      .map((one) => ({ page, text: ts.flattenDiagnosticMessageText(one.messageText, ' ') })),
  )
  const found = cases.map(([schema, field]) => [schema, field, wrong.find(({ text }) => text.includes(`'${field}'`))?.page ?? ''])
  expect(found).toEqual(cases)
})
