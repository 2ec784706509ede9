import { parseArgs } from 'node:util'
import { openInstance } from '../src/storage/duckdb/instance.ts'
import { runStatement } from '../src/storage/duckdb/run.ts'
import { machine, median, rounded } from './measure.ts'

// How much faster do the rows of a statement leave as Arrow than as JSON objects?

const { values } = parseArgs({ options: { events: { type: 'string', default: '1000000' }, runs: { type: 'string', default: '3' } } })
const rows = Number(values.events)
const runs = Number(values.runs)

const instance = await openInstance({ dataDir: ':memory:' })
await instance.run(`CREATE TABLE t AS SELECT i, 'name ' || i % 50 AS name, i / 7.0 AS price, TIMESTAMP '2024-01-01' + to_seconds(i) AS moment,
  CASE WHEN i % 10 = 0 THEN NULL ELSE 'user' || i % 30000 END AS who, 'https://example.com/page/' || i % 3000 AS url FROM range(${rows}) r(i)`)

const arrow = async (sql: string) =>
  (await instance.use((connection) => runStatement(connection, { sql, params: [], columns: [] }))).numRows
const objects = async (sql: string) =>
  JSON.stringify(await instance.use(async (connection) => (await connection.runAndReadAll(sql)).getRowObjectsJson())).length

const seconds = async (work: (sql: string) => Promise<number>, sql: string) => {
  const times: number[] = []
  for (let i = 0; i < runs; i++) {
    const start = performance.now()
    if ((await work(sql)) < rows) throw new Error('rows are missing')
    times.push((performance.now() - start) / 1000)
  }
  return median(times)
}

for (const [what, last] of [
  ['short texts', 'who'],
  ['a long text', 'url'],
] as const) {
  const sql = `SELECT i, name, price::DOUBLE AS price, moment, ${last} FROM t`
  const [asArrow, asObjects] = [await seconds(arrow, sql), await seconds(objects, sql)]
  console.log(
    JSON.stringify({
      bench: 'arrow',
      what: `${rows} rows of 5 columns, ${what}`,
      arrow_s: rounded(asArrow),
      json_objects_s: rounded(asObjects),
      times_faster: rounded(asObjects / asArrow),
      ...machine(),
    }),
  )
}
await instance.close()
