import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { type RecordBatch, Table } from 'apache-arrow'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type Instance, openInstance } from '../../../../src/engine/storage/duckdb/instance.ts'
import { statementRunner, streamStatement } from '../../../../src/engine/storage/duckdb/run.ts'
import { unscheduled } from '../../../../src/lib/flow/statement-scheduler.ts'
import { tableRows } from '../../../../src/queries/answers/rows.ts'

const nativeReads = vi.hoisted(() => vi.fn())
vi.mock('@duckdb/node-bindings', async (importOriginal) => {
  const { default: bindings } = await importOriginal<{ default: typeof import('@duckdb/node-bindings') }>()
  const get_data_from_pointer: typeof bindings.get_data_from_pointer = (...place) => {
    nativeReads()
    return bindings.get_data_from_pointer(...place)
  }
  return { default: { ...bindings, get_data_from_pointer } }
})

let instance: Instance
beforeAll(async () => {
  instance = await openInstance({ dataDir: ':memory:', threads: 2, memoryLimit: '200MB', connections: 2 })
})
afterAll(() => instance.close())

const runner = () => statementRunner(instance, unscheduled())
const statementOf = (sql: string) => ({ sql, params: [], columns: [] })
const gather = (sql: string) => runner().gather(statementOf(sql))
const coded = (sql: string) => runner().run(statementOf(sql))

describe('texts of all lengths, with nulls between them', () => {
  const texts = (count: number) =>
    Array.from({ length: count }, (_, i) => (i % 11 === 0 ? null : i % 5 === 0 ? 'é😀'.repeat(i % 40) : `${'x'.repeat(i % 30)}${i % 900}`))
  const sql = (
    count: number,
  ) => `CASE WHEN i % 11 = 0 THEN NULL WHEN i % 5 = 0 THEN repeat('é😀', i % 40) ELSE repeat('x', i % 30) || i % 900 END
    FROM range(${count}) t(i) ORDER BY i`
  const read = (table: Table) => tableRows(table, 'UTC').map(([value]) => value)

  test('each as it is', async () => {
    const table = await gather(`SELECT ${sql(100_000)}`)
    expect(String(table.schema.fields[0]!.type)).toBe('Utf8')
    expect(table.batches.length).toBeGreaterThan(1)
    expect(read(table)).toEqual(texts(100_000))
  })

  test('each different one once', async () => {
    const table = await coded(`SELECT ${sql(20_000)}`)
    expect(read(table)).toEqual(texts(20_000))
    const dictionary = table.getChildAt(0)!.data[0]!.dictionary!
    expect(dictionary.length).toBe(new Set(texts(20_000).filter((text) => text !== null)).size)
  })

  test('in arrays', async () => {
    const table = await gather(`SELECT list(t) FROM (SELECT i // 7 AS g, ${sql(7000).replace('END', 'END AS t')}) GROUP BY g ORDER BY g`)
    const all = texts(7000)
    expect(read(table)).toEqual(Array.from({ length: 1000 }, (_, g) => all.slice(7 * g, 7 * g + 7)))
  })

  test('from a file whose texts the engine has compressed', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'waymark-texts-'))
    const file = await DuckDBInstance.create(join(folder, 'texts.duckdb'))
    const connection = await file.connect()
    await connection.run(`CREATE TABLE t AS SELECT i, ${sql(50_000).replace('END', 'END AS few')}`)
    await connection.run("ALTER TABLE t ADD COLUMN many VARCHAR; UPDATE t SET many = 'https://example.com/page/' || i")
    await connection.run('CHECKPOINT')
    const batches: RecordBatch[] = []
    for await (const batch of streamStatement(connection, statementOf('SELECT few, many FROM t ORDER BY i'))) batches.push(batch)
    const many = texts(50_000).map((_, i) => `https://example.com/page/${i}`)
    expect(tableRows(new Table(batches), 'UTC')).toEqual(texts(50_000).map((few, i) => [few, many[i]]))
    connection.closeSync()
    file.closeSync()
    await rm(folder, { recursive: true })
  })

  test('long ones take a few native calls for a vector, not one for each', async () => {
    const query = "SELECT 'https://example.com/page/' || i, i::VARCHAR || repeat(' of many', i % 2) FROM range(40960) t(i)"
    for (const read of [gather, coded]) {
      nativeReads.mockClear()
      expect((await read(query)).numRows).toBe(40_960)
      expect(nativeReads.mock.calls.length).toBeGreaterThan(0)
      expect(nativeReads.mock.calls.length).toBeLessThan(40_960 / 50)
    }
  })
})
