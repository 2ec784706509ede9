import { compile } from '../../src/engine/execution/compile.ts'
import { errorTable } from '../../src/errors/codes.ts'
import { WaymarkError } from '../../src/errors/errors.ts'
import type { Query } from '../../src/language/ast/nodes.ts'
import { print } from '../../src/language/ast/print.ts'
import { clickhouse } from '../../src/language/dialects/clickhouse/dialect.ts'
import { duckdb } from '../../src/language/dialects/duckdb/dialect.ts'
import { parseQuery } from '../../src/language/parser/parse.ts'
import { openTestProject, type TestProject } from '../harness/duckdb.ts'
import { mutants } from './mutants.ts'

export interface Finding {
  readonly statement: string
  readonly what: string
}
export interface Findings {
  readonly compiled: number
  readonly run: number
  readonly answered: number
  readonly refused: ReadonlyMap<string, number>
  readonly findings: readonly Finding[]
}

/** Words of an engine's own, of a table in its store, or of a statement that nobody wrote. */
const engineWords =
  /\b(Binder|Parser|Catalog|Conversion|Invalid Input|Internal|INTERNAL) Error|LINE \d|Candidate|candidate functions|\b(VARCHAR|BIGINT|HUGEINT|UBIGINT|DOUBLE|STRUCT|INTEGER|TIMESTAMP|UTINYINT|BOOLEAN|BLOB)\b|\b(json_extract|list_|regexp_|try_cast|TRY_CAST|epoch_us|struct_|unnest)|"p\d+"|explicit type casts|DuckDB/

/**
 * Makes what cannot be meant into statements of both engines, and runs some: whatever is wrong has to be said in our words. `first`: statements
 * before those that are drawn.
 */
export async function fuzz(count: number, seed: number, runs: number, first: readonly string[] = []): Promise<Findings> {
  const project = await openTestProject({ timezone: 'Europe/Berlin' })
  try {
    await project.project.definePropertyTypes([{ type: 'event', name: 'price', property_type: 'Numeric' }])
    await project.project.ingest({
      batch: Array.from({ length: 6 }, (_, i) => ({
        event: i % 2 ? 'view' : 'buy',
        distinct_id: `u${i % 3}`,
        timestamp: `2024-03-30T0${i}:00:00Z`,
        properties: { price: i, plan: ['pro', '', null][i % 3], list: [i, 'x'] },
      })),
    })
    const queries = [...first.map((text) => parseQuery(text)), ...mutants(count, seed)]
    return await look(project, queries, runs + first.length)
  } finally {
    await project.close()
  }
}

async function look(project: TestProject, queries: readonly Query[], runs: number): Promise<Findings> {
  const context = await project.context()
  const findings: Finding[] = []
  const refused = new Map<string, number>()
  let [run, answered] = [0, 0]
  /** The code of a mistake in our words; anything else is a finding. */
  const judge = (query: Query, error: unknown): void => {
    const code = error instanceof WaymarkError && Object.hasOwn(errorTable, error.code) ? error.code : null
    if (code) refused.set(code, (refused.get(code) ?? 0) + 1)
    const text =
      error instanceof Error ? `${error.message} ${error.cause instanceof Error ? `(${error.cause.message})` : ''}` : String(error)
    if (!code || (!code.startsWith('unsupported') && engineWords.test((error as Error).message)))
      findings.push({ statement: print(query), what: text.slice(0, 600) })
  }
  for (const query of queries) {
    let isSound = true
    for (const dialect of [duckdb, clickhouse])
      try {
        compile(query, { context, dialect })
      } catch (error) {
        isSound &&= dialect !== duckdb
        judge(query, error)
      }
    if (!isSound || run >= runs) continue
    run++
    try {
      await project.rows(query)
      answered++
    } catch (error) {
      judge(query, error)
    }
  }
  return { compiled: queries.length, run, answered, refused, findings }
}
