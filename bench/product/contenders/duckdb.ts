import { join } from 'node:path'
import { type DuckDBConnection, DuckDBInstance, type Json, version } from '@duckdb/node-api'
import type { Contender, EventFiles, Resources, Rows } from '../contender.ts'
import { type DataSet, peopleOf } from '../generator.ts'
import type { Layout } from '../question.ts'

export interface DuckdbTable {
  readonly name: string
  readonly layout: string
  /** Statements before the events are loaded. */
  readonly tables: readonly string[]
  readonly values: string
  readonly columns: Pick<Layout, 'event' | 'eventName' | 'text' | 'number'>
}

const openIn = async ({ directory, threads, memory }: Resources): Promise<{ connection: DuckDBConnection; close(): Promise<void> }> => {
  const instance = await DuckDBInstance.create(join(directory, 'events.duckdb'), { memory_limit: memory, threads: String(threads) })
  const connection = await instance.connect()
  return {
    connection,
    async close() {
      connection.closeSync()
      instance.closeSync()
    },
  }
}

async function load({ tables, values }: DuckdbTable, { files }: EventFiles, resources: Resources, onFile: (files: number) => void) {
  const { connection, close } = await openIn(resources)
  for (const statement of tables) await connection.run(statement)
  for (const [i, file] of files.entries()) {
    await connection.run(`INSERT INTO events SELECT ${values} FROM read_parquet('${file}')`)
    onFile(i + 1)
  }
  await connection.run('CHECKPOINT')
  await close()
}

/** The client gives 64-bit integers as text. */
const plain = (cell: Json) => (typeof cell === 'string' && /^-?\d+$/.test(cell) ? Number(cell) : cell)

async function rowsOf(connection: DuckDBConnection, query: string): Promise<Rows> {
  const answer = await connection.runAndReadAll(query)
  return answer.getRowsJson().map((row) => row.map(plain)) as Rows
}

/** DuckDB in this process, with one table of events in a file. */
export const duckdb = (table: DuckdbTable): Contender => ({
  name: table.name,
  layout: table.layout,
  load: (events, resources, onProgress) =>
    load(table, events, resources, (files) => onProgress((events.data.events * files) / events.files.length)),
  async open(data: DataSet, resources) {
    const { connection, close } = await openIn(resources)
    const layout = { ...table.columns, person: 'person', personLiteral: String, people: peopleOf(data) }
    return {
      version: `DuckDB ${version().replace(/^v/, '')}`,
      async prepare(question) {
        const query = question.duckdb(layout)
        return { ask: () => rowsOf(connection, query), rows: (answer) => answer as Rows }
      },
      close,
    }
  },
})
