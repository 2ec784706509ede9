import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { openInstance, projectDatabase } from '../../../../src/engine/storage/duckdb/instance.ts'
import { createStore } from '../../../../src/engine/storage/duckdb/schema.ts'

// The JSON of events is most of a store. Stores from before its compression was chosen stay as they are, and work, until they are compacted
// (`test/service/directory/compact.long.test.ts`).

let dataDir: string
let store: string
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'waymark-json-'))
  mkdirSync(join(dataDir, 'projects', '1'), { recursive: true })
  store = join(dataDir, 'projects', '1', 'store.duckdb')
})
afterEach(() => rmSync(dataDir, { recursive: true, force: true }))

const rows = 5_000
const insert = (main: string) =>
  `INSERT INTO ${main}.events (uuid, event_id, timestamp, person_no, distinct_id, created_at, log_seq, person_mode, properties)
   SELECT uuid(), 1, now()::TIMESTAMP, i % 7, 'u' || i % 7, now()::TIMESTAMP, i, 0, '{"$current_url":"https://example.org/' || i || '"}' FROM range(${rows}) t(i)`

const kindsOf = (main: string) =>
  `SELECT DISTINCT compression FROM pragma_storage_info('${main}.events') WHERE column_name = 'properties' AND segment_type = 'VARCHAR' ORDER BY ALL`

async function withStore<T>(work: (rows: (sql: string) => Promise<Record<string, unknown>[]>, database: string) => Promise<T>): Promise<T> {
  const instance = await openInstance({ dataDir, memoryLimit: 256e6, threads: 2 })
  try {
    const database = await instance.attachProject(1)
    return await work((sql) => instance.rows(sql), database)
  } finally {
    await instance.close()
  }
}

it('a new store compresses the JSON of its events', async () => {
  const kinds = await withStore(async (all, database) => {
    await all(insert(`${database}.main`))
    await all(`CHECKPOINT ${database}`)
    return all(kindsOf(database))
  })
  expect(kinds).toEqual([{ compression: 'ZSTD' }])
})

it('a store from before takes events, and keeps its own kind', async () => {
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  const name = projectDatabase(1)
  await connection.run(`ATTACH '${store}' AS ${name} (ROW_GROUP_SIZE 61440)`)
  for (const statement of createStore(name)) await connection.run(statement.replaceAll(' USING COMPRESSION zstd', ''))
  await connection.run(insert(`${name}.main`))
  await connection.run(`CHECKPOINT ${name}`)
  await connection.run(`DETACH ${name}`)
  connection.closeSync()
  instance.closeSync()
  const [counts, kinds] = await withStore(async (all, database) => {
    await all(insert(`${database}.main`))
    await all(`CHECKPOINT ${database}`)
    const counts = await all(
      `SELECT count(*)::INTEGER AS events, count(DISTINCT properties)::INTEGER AS texts FROM ${database}.main.events`,
    )
    return [counts, await all(kindsOf(database))]
  })
  expect(counts).toEqual([{ events: 2 * rows, texts: rows }])
  expect(kinds).not.toContainEqual({ compression: 'ZSTD' })
})
