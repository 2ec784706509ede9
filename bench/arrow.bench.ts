import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { DuckDBInstance } from '@duckdb/node-api'
import { queryArrow, queryArrowBatches } from '../src/engine/execution/arrow.ts'
import { inOwnProcess, type Measured, machine, measured, median, rounded } from './measure.ts'
import { fillBenchStore, openBenchProject } from './store.ts'

// How long do rows take as Arrow, and in how much memory, beside the engine's own fetch of the same rows, whose values nobody reads, and beside the
// same rows as JSON objects? Each in a fresh process, ours after a statement of one row.

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '1000000' },
    runs: { type: 'string', default: '3' },
    way: { type: 'string' },
    directory: { type: 'string', default: '' },
  },
})
const rows = Number(values.events)
const query = {
  kind: 'SqlLikeQuery',
  query: `select uuid, distinct_id, concat('https://example.com/', $session_id) as page, toFloat(properties.amount) as amount, timestamp,
    event = 'purchase' as bought from events`,
}
const sameRows = `SELECT uuid, distinct_id, 'https://example.com/' || session_id AS page, n1 AS amount, timestamp, event_id = 4 AS bought FROM main.events`

const residentMb = () => process.memoryUsage().rss / 1024 ** 2
const inMb = (bytes: number) => bytes / 1024 ** 2

async function ours(work: (project: Awaited<ReturnType<typeof openBenchProject>>['project']) => Promise<{ count: number; bytes: number }>) {
  const { project, close } = await openBenchProject(values.directory, 'UTC')
  await queryArrow({ ...query, query: `${query.query} limit 1` }, project) // the grammar is made for the first statement
  const baseMb = residentMb()
  await measured(async () => {
    const { count, bytes } = await work(project)
    return { answer: count, figures: { baseMb, tableMb: inMb(bytes) } }
  })
  await close()
}

async function engines(work: (engine: Awaited<ReturnType<DuckDBInstance['connect']>>) => Promise<number>) {
  const instance = await DuckDBInstance.create(join(values.directory, 'projects', '1', 'store.duckdb'))
  const connection = await instance.connect()
  await measured(async () => ({ answer: await work(connection) }))
  connection.closeSync()
  instance.closeSync()
}

const ways: Readonly<Record<string, () => Promise<void>>> = {
  table: () =>
    ours(async (project) => {
      const table = await queryArrow(query, project)
      return { count: table.numRows, bytes: table.data.reduce((sum, data) => sum + data.byteLength, 0) }
    }),
  batches: () =>
    ours(async (project) => {
      let count = 0
      for await (const batch of queryArrowBatches(query, project)) count += batch.numRows
      return { count, bytes: 0 }
    }),
  chunks: () =>
    engines(async (connection) => {
      const result = await connection.stream(sameRows)
      let count = 0
      for (let chunk = await result.fetchChunk(); chunk && chunk.rowCount > 0; chunk = await result.fetchChunk()) count += chunk.rowCount
      return count
    }),
  objects: () =>
    engines(async (connection) => {
      const result = await connection.stream(sameRows)
      let count = 0
      for await (const page of result.yieldRowObjectJson()) {
        JSON.stringify(page)
        count += page.length
      }
      return count
    }),
}

if (values.way) await ways[values.way]!()
else {
  const store = await fillBenchStore(rows, { isSlim: true })
  const of = new Map<string, Measured[]>(Object.keys(ways).map((way) => [way, []]))
  // In turns, so that whatever else the machine does meets them alike.
  for (let run = 0; run < Number(values.runs); run++)
    for (const [way, runs] of of) {
      const one = await inOwnProcess(import.meta.filename, ['--way', way, '--directory', store.directory])
      if (one.answer !== rows) throw new Error(`${way}: ${one.answer} rows instead of ${rows}`)
      runs.push(one)
    }
  store.remove()
  const seconds = (way: string) => median(of.get(way)!.map((one) => one.seconds))
  const figure = (way: string, name: string) => median(of.get(way)!.map((one) => one.figures?.[name] ?? 0))
  const peak = (way: string) => median(of.get(way)!.map((one) => one.peakMb))
  for (const way of ['table', 'batches'])
    console.log(
      JSON.stringify({
        bench: 'arrow',
        what: `${rows} rows of 6 columns (a uuid, two texts, a number, a time, a truth value) as ${way === 'table' ? 'one table' : 'batches'}`,
        seconds: rounded(seconds(way)),
        spread: of.get(way)!.map((one) => rounded(one.seconds)),
        times_fetch_of_chunks: rounded(seconds(way) / seconds('chunks')),
        times_faster_than_json_objects: rounded(seconds('objects') / seconds(way)),
        table_mb: rounded(figure(way, 'tableMb')),
        peak_mb: rounded(peak(way)),
        peak_above_start_and_table_mb: rounded(peak(way) - figure(way, 'baseMb') - figure(way, 'tableMb')),
        peak_above_table_mb: rounded(peak(way) - figure(way, 'tableMb')),
        peak_of_chunks_mb: rounded(peak('chunks')),
        ...machine(),
      }),
    )
}
