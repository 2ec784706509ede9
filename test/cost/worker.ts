import { loadTables } from '../../src/doors/postgres/catalog/project-tables.ts'
import { tokenize } from '../../src/doors/postgres/statements/lexer.ts'
import { parseQuery as parsePostgres } from '../../src/doors/postgres/statements/queries.ts'
import { SqlError } from '../../src/doors/postgres/statements/sql-error.ts'
import { Context } from '../../src/doors/postgres/translation/context.ts'
import { translate } from '../../src/doors/postgres/translation/selects.ts'
import { csvIds } from '../../src/engine/definitions/csv-ids.ts'
import { compile } from '../../src/engine/execution/compile.ts'
import { WaymarkError } from '../../src/errors/errors.ts'
import { clickhouse } from '../../src/language/dialects/clickhouse/dialect.ts'
import { duckdb } from '../../src/language/dialects/duckdb/dialect.ts'
import { parseQuery } from '../../src/language/parser/parse.ts'
import { parseFormula } from '../../src/queries/trends/formula.ts'
import { openTestProject } from '../harness/duckdb.ts'

// The process in which functions of ours are called. One message in, one out: what it took, and why it was refused.

export interface Called {
  readonly cpuMs: number
  readonly refusal: string | null
}

const project = await openTestProject({ timezone: 'Europe/Berlin' })
await project.project.ingest({ batch: [{ event: 'view', distinct_id: 'u', properties: { price: 1, plan: 'pro' } }] })
const context = await project.context()

const tables = await loadTables(
  {
    ask: async () => ({ results: [['view', '{"price":1,"plan":"pro"}']] }),
    allowed: async () => null,
  } as unknown as Parameters<typeof loadTables>[0],
  1,
)
/** What a statement of the PostgreSQL door costs before the engine gets it. */
const translated = (text: string) =>
  translate(
    parsePostgres(tokenize(text)),
    new Context({
      tables,
      parameters: { types: [], values: null },
      zone: 'UTC',
      projectZone: 'Europe/Berlin',
      now: new Date(),
      database: 'a',
      user: 'b',
    }),
  )

const calls: Readonly<Record<string, (given: never) => unknown>> = {
  parse: (text: string) => parseQuery(text),
  'compile for DuckDB': (text: string) => compile(parseQuery(text), { context, dialect: duckdb }),
  'compile for ClickHouse': (text: string) => compile(parseQuery(text), { context, dialect: clickhouse }),
  postgres: translated,
  formula: (text: string) => parseFormula(text, 30),
  csv: (text: string) => csvIds(text),
  regexp: ({ source, flags, texts }: { source: string; flags: string; texts: string[] }) => {
    const expression = new RegExp(source, flags)
    for (const text of texts) {
      expression.lastIndex = 0
      if (flags.includes('g')) text.replace(expression, '')
      else expression.test(text)
    }
  },
}
export type CallName = keyof typeof calls

process.on('message', ({ call, given }: { call: string; given: unknown }) => {
  let refusal: string | null = null
  const start = process.cpuUsage()
  try {
    calls[call]!(given as never)
  } catch (error) {
    refusal = error instanceof WaymarkError ? error.code : error instanceof SqlError ? error.state : String(error)
  }
  const { user, system } = process.cpuUsage(start)
  process.send!({ cpuMs: (user + system) / 1000, refusal } satisfies Called)
})
process.send!('ready')
