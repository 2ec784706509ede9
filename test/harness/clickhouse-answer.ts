import { Float64, Table, Utf8, type Vector, vectorFromArray } from 'apache-arrow'
import { alongRoads, type PlainAsk } from '../../src/engine/execution/roads.ts'
import { clickhouse as dialect } from '../../src/language/dialects/clickhouse/dialect.ts'
import { isNumeric } from '../../src/language/types/types.ts'
import type { Answer, StatementAsk } from '../../src/queries/kind.ts'
import { refuse } from '../../src/queries/refusals.ts'
import { queryKinds } from '../../src/queries/registry.ts'
import type { ClickHouse } from './clickhouse.ts'
import type { TestProject } from './duckdb.ts'

/** The answer of a query kind when ClickHouse runs its statements. */
export async function answerOnClickHouse(
  clickhouse: ClickHouse,
  query: { readonly kind: string },
  project: TestProject,
  { foldsInEngine = dialect.capabilities.foldsInEngine }: { readonly foldsInEngine?: boolean } = {},
): Promise<object> {
  const kind = queryKinds[query.kind]!
  const run = async (ask: StatementAsk): Promise<Table> => {
    const { columns } = await clickhouse.print(ask.query, project)
    const rows = await clickhouse.rows(ask.query, project)
    // A column of nothing but NULL has a type too.
    const vectors = columns.map(({ name, type }, i): [string, Vector] => {
      const values = rows.map((row) => row[i])
      if (isNumeric(type)) return [name, vectorFromArray(values as (number | null)[], new Float64())]
      return [name, vectorFromArray(values as (string | null)[], new Utf8())]
    })
    const table = new Table(Object.fromEntries(vectors))
    ask.take?.(table)
    return table
  }
  const answerTo = async (ask: PlainAsk): Promise<Answer> => {
    if ('query' in ask) return run(ask)
    if ('kind' in ask) return ask.kind === 'fold' ? refuse('no-lists') : undefined
    const tables: Table[] = []
    for (const statement of ask) tables.push(await run(statement))
    return tables
  }
  const generator = alongRoads(kind.run(kind.schema.parse(query), await project.context()), { foldsInEngine, events: 0, notes: [] })
  let step = generator.next()
  while (!step.done) step = generator.next(await answerTo(step.value))
  return step.value
}
