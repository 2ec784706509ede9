import type { ClickHouseClient } from '@clickhouse/client'
import { hasClickHouse, howToInstallClickHouse, openChdb } from '../../../test/clickhouse/chdb.ts'
import type { Contender, EventFiles, Resources, Rows } from '../contender.ts'
import type { Layout } from '../question.ts'
import { inNumbers, type PersonNumbers } from './person-numbers.ts'

export interface ClickHouseTable {
  readonly name: string
  readonly layout: string
  /** Columns, engine and order. */
  readonly table: string
  /** What is inserted of a row of the files. */
  readonly values: string
  readonly columns: Layout
}

const openIn = async ({ directory, threads, memory }: Resources): Promise<ClickHouseClient> => {
  const client = await openChdb(directory)
  const bytes = `${Number.parseFloat(memory) * (memory.endsWith('GB') ? 1e9 : 1e6)}`
  for (const setting of [`max_threads = ${threads}`, `max_insert_threads = ${threads}`, `max_memory_usage = ${bytes}`])
    await client.command({ query: `SET ${setting}` })
  return client
}

async function load({ table, values }: ClickHouseTable, { files }: EventFiles, resources: Resources, onFile: (files: number) => void) {
  const client = await openIn(resources)
  await client.command({ query: `CREATE TABLE events ${table}` })
  for (const [i, file] of files.entries()) {
    await client.command({ query: `INSERT INTO events SELECT ${values} FROM file('${file}', Parquet)` })
    onFile(i + 1)
  }
  await client.command({ query: 'OPTIMIZE TABLE events FINAL' })
  await client.close()
}

const rowsOf = async (client: ClickHouseClient, query: string): Promise<Rows> => {
  const answer = await client.query({
    query,
    format: 'JSONCompactEachRow',
    clickhouse_settings: { output_format_json_quote_64bit_integers: 0 },
  })
  return (await answer.json()) as unknown as Rows
}

async function numbersOfPersons(client: ClickHouseClient, { person }: Layout): Promise<PersonNumbers> {
  const rows = await rowsOf(client, `SELECT toString(${person}) AS id, any(distinct_id) FROM events GROUP BY id`)
  return rows as readonly (readonly [string, string])[]
}

/** ClickHouse in this process, with one table of events. */
export const clickhouse = (table: ClickHouseTable): Contender => ({
  name: table.name,
  layout: table.layout,
  missing: hasClickHouse ? undefined : `ClickHouse is not installed. ${howToInstallClickHouse}`,
  load: (events, resources, onProgress) =>
    load(table, events, resources, (files) => onProgress((events.data.events * files) / events.files.length)),
  async open(_, resources) {
    const client = await openIn(resources)
    const [[version]] = (await rowsOf(client, 'SELECT version()')) as [[string]]
    return {
      version: `ClickHouse ${version}`,
      async prepare(question) {
        const query = question.clickhouse(table.columns)
        return {
          ask: () => rowsOf(client, query),
          rows: async (answer) => inNumbers(answer as Rows, question, () => numbersOfPersons(client, table.columns)),
        }
      },
      close: () => client.close(),
    }
  },
})
