import { closeSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import type { EventFiles } from './contender.ts'
import { type DataSet, productEvents } from './generator.ts'

const eventsPerFile = 250_000
const bytesPerWrite = 1 << 20

const columns = "uuid: 'UUID', event: 'VARCHAR', timestamp: 'TIMESTAMP', distinct_id: 'VARCHAR', person: 'UINTEGER', properties: 'JSON'"

/** The events as Parquet, a file at a time: uuid, event, timestamp, distinct_id, the number of the person after all merges, properties as JSON text. */
export async function writeEventFiles(data: DataSet, directory: string, onProgress: (events: number) => void): Promise<EventFiles> {
  const instance = await DuckDBInstance.create(':memory:', { memory_limit: '300MB', threads: '2' })
  const connection = await instance.connect()
  const files: string[] = []
  const lines = join(directory, 'events.jsonl')
  const events = productEvents(data)
  for (let written = 0; written < data.events; ) {
    const inFile = writeLines(lines, events, Math.min(eventsPerFile, data.events - written))
    const file = join(directory, `events-${String(files.length + 1).padStart(4, '0')}.parquet`)
    await connection.run(
      `COPY (SELECT * REPLACE (properties::VARCHAR AS properties) FROM read_json('${lines}', format = 'newline_delimited', columns = {${columns}}))
        TO '${file}' (FORMAT parquet, COMPRESSION zstd)`,
    )
    files.push(file)
    written += inFile
    onProgress(written)
  }
  rmSync(lines, { force: true })
  connection.closeSync()
  instance.closeSync()
  return { data, files }
}

function writeLines(file: string, events: ReturnType<typeof productEvents>, count: number): number {
  const out = openSync(file, 'w')
  let text = ''
  for (let i = 0; i < count; i++) {
    const { event, person } = events.next().value!
    text += `${JSON.stringify({ ...event, person })}\n`
    if (text.length > bytesPerWrite) {
      writeSync(out, text)
      text = ''
    }
  }
  writeSync(out, text)
  closeSync(out)
  return count
}
