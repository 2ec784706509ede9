import type { DuckDBConnection } from '@duckdb/node-api'
import { DataType, type RecordBatch, Table, tableFromIPC, tableToIPC } from 'apache-arrow'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { engineError } from '../../../../src/engine/storage/duckdb/engine-errors.ts'
import { type Instance, openInstance } from '../../../../src/engine/storage/duckdb/instance.ts'
import { runStatement, statementRunner, streamStatement } from '../../../../src/engine/storage/duckdb/run.ts'
import { InternalError, WaymarkError } from '../../../../src/errors/errors.ts'
import { unscheduled } from '../../../../src/lib/flow/statement-scheduler.ts'
import { tableRows } from '../../../../src/queries/answers/rows.ts'
import { processorTime } from '../../../harness/processor-time.ts'

let instance: Instance
beforeAll(async () => {
  instance = await openInstance({ dataDir: ':memory:', threads: 2, memoryLimit: '200MB', connections: 2 })
})
afterAll(() => instance.close())

const run = (sql: string, options = {}) => instance.use((connection) => runStatement(connection, { sql, params: [], columns: [] }, options))

describe('every type of DuckDB as Arrow and as JSON', () => {
  const cases: readonly (readonly [name: string, sql: string, is: (type: DataType) => boolean, json: readonly unknown[]])[] = [
    ['BOOLEAN', 'SELECT unnest([true, NULL, false])', DataType.isBool, [1, null, 0]],
    ['TINYINT', 'SELECT unnest([-128, NULL, 127])::TINYINT', DataType.isInt, [-128, null, 127]],
    ['UINTEGER', 'SELECT unnest([0, 4294967295])::UINTEGER', DataType.isInt, [0, 4294967295]],
    ['BIGINT beyond a double', 'SELECT unnest([9007199254740993, -5])::BIGINT', DataType.isInt, ['9007199254740993', -5]],
    ['HUGEINT that fits', 'SELECT sum(i) FROM range(3) t(i)', DataType.isInt, [3]],
    [
      'HUGEINT that does not fit',
      'SELECT unnest([170141183460469231731687303715884105727, -1])::HUGEINT',
      DataType.isDecimal,
      ['170141183460469231731687303715884105727', -1],
    ],
    ['DOUBLE', "SELECT unnest([1.5::DOUBLE, NULL, 'nan'::DOUBLE, 'inf'::DOUBLE])", DataType.isFloat, [1.5, null, null, null]],
    ['DECIMAL in each width', 'SELECT unnest([1.25, NULL, -3])::DECIMAL(4, 2)', DataType.isDecimal, [1.25, null, -3]],
    ['DECIMAL of 128 bits', 'SELECT unnest([1234567890.5, -0.5])::DECIMAL(30, 1)', DataType.isDecimal, [1234567890.5, -0.5]],
    [
      'VARCHAR',
      "SELECT unnest(['a', NULL, '', 'a', 'é😀', repeat('x', 300)])",
      DataType.isDictionary,
      ['a', null, '', 'a', 'é😀', 'x'.repeat(300)],
    ],
    [
      'UUID',
      "SELECT unnest(['018c27d3-2c14-7000-8000-000000000014', NULL, repeat('0', 32), repeat('f', 32)]::UUID[])",
      DataType.isUtf8,
      ['018c27d3-2c14-7000-8000-000000000014', null, '00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff'],
    ],
    ['DATE', "SELECT unnest([DATE '2024-02-29', NULL, DATE '1969-12-31'])", DataType.isDate, ['2024-02-29', null, '1969-12-31']],
    [
      'TIMESTAMP',
      "SELECT unnest([TIMESTAMP '2024-01-01 00:00:00.000001', NULL, TIMESTAMP '1969-12-31 23:59:59'])",
      DataType.isTimestamp,
      ['2024-01-01T00:00:00.000001Z', null, '1969-12-31T23:59:59Z'],
    ],
    ['LIST', 'SELECT unnest([[1, NULL], NULL, [], [3]])', DataType.isList, [[1, null], null, [], [3]]],
    ['LIST of LIST', "SELECT [['a'], [], NULL]", DataType.isList, [[['a'], [], null]]],
    ['STRUCT', "SELECT unnest([row(1, 'a'), NULL])", DataType.isStruct, [[1, 'a'], null]],
    ['LIST of STRUCT', "SELECT [{'a': 1, 'b': [true]}]", DataType.isList, [[[1, [1]]]]],
    ['MAP', "SELECT unnest([MAP {'a': 1, 'b': NULL}, NULL, MAP {}])", DataType.isMap, [{ a: 1, b: null }, null, {}]],
    ['INTERVAL as text', "SELECT INTERVAL '1 day'", DataType.isDictionary, ['1 day']],
    ['NULL', 'SELECT NULL', DataType.isInt, [null]],
  ]
  for (const [name, sql, is, json] of cases)
    test(name, async () => {
      const table = await run(sql)
      expect(is(table.schema.fields[0]!.type), String(table.schema.fields[0]!.type)).toBe(true)
      expect(tableRows(table, 'UTC').map(([value]) => value)).toEqual(json)
      const copy = tableFromIPC(tableToIPC(table))
      expect(tableRows(copy, 'UTC')).toEqual(tableRows(table, 'UTC'))
    })

  test('more rows than one chunk, with nulls across its edges', async () => {
    const table = await run(
      "SELECT CASE WHEN i % 3 = 0 THEN NULL ELSE i END, CASE WHEN i % 5 = 0 THEN NULL ELSE 'v' || i % 7 END, CASE WHEN i % 2 = 0 THEN [i, i + 1] END FROM range(5000) t(i)",
    )
    const rows = tableRows(table, 'UTC')
    expect(rows.length).toBe(5000)
    expect(
      rows.every(
        ([a, b, c], i) =>
          a === (i % 3 ? i : null) && b === (i % 5 ? `v${i % 7}` : null) && JSON.stringify(c) === (i % 2 ? 'null' : `[${i},${i + 1}]`),
      ),
    ).toBe(true)
    expect(table.getChildAt(1)!.data[0]!.dictionary!.length).toBe(7)
  })
})

test('a sum that fits in 64 bits in the first rows only is wide in all of them', async () => {
  const sql =
    'SELECT sum(i) OVER (ORDER BY i) FROM (SELECT CASE WHEN i = 99999 THEN 9223372036854775807 ELSE i END AS i FROM range(100000) t(i))'
  const statement = { sql, params: [], columns: [] }
  const table = await statementRunner(instance, unscheduled()).gather(statement)
  const rows = tableRows(table, 'UTC')
  expect([table.numRows, String(table.schema.fields[0]!.type)]).toEqual([100_000, 'Decimal[38e0]'])
  expect([rows[10], rows.at(-1)]).toEqual([[55], [String(9223372036854775807n + 4999850001n)]])
})

test('a stream has one schema and all rows', async () => {
  const batches: RecordBatch[] = []
  await instance.use(async (connection) => {
    const statement = { sql: "SELECT i, 'v' || i AS s, sum(i) OVER (ORDER BY i) FROM range(200000) t(i)", params: [], columns: [] }
    for await (const batch of streamStatement(connection, statement, { batchRows: 50_000 })) batches.push(batch)
  })
  expect(batches.length).toBeGreaterThan(3)
  expect(new Set(batches.map((batch) => String(batch.schema))).size).toBe(1)
  const table = tableFromIPC(tableToIPC(new Table(batches)))
  expect([table.numRows, table.getChildAt(1)!.get(199_999), table.getChildAt(0)!.get(123_456)]).toEqual([200_000, 'v199999', 123_456n])
})

test('a stream without rows still tells its columns', async () => {
  await instance.use(async (connection) => {
    const batches: RecordBatch[] = []
    for await (const batch of streamStatement(connection, { sql: "SELECT 1 AS a, 'x' AS b WHERE false", params: [], columns: [] }))
      batches.push(batch)
    expect(batches.map((batch) => [batch.numRows, batch.schema.names])).toEqual([[0, ['a', 'b']]])
  })
})

const endless = 'SELECT count(*) FROM range(100000000) a(i), range(100000000) b(j) WHERE hash(a.i) = hash(b.j + 1)'
const failure = async (work: Promise<unknown>) =>
  work.then(
    () => null,
    (error: unknown) => error as WaymarkError,
  )

describe('stopping', () => {
  test('after a cancel the engine works for less than 250 ms', async () => {
    const controller = new AbortController()
    const running = failure(run(endless, { signal: controller.signal }))
    await new Promise((resume) => setTimeout(resume, 100))
    const worked = processorTime()
    controller.abort()
    expect((await running)?.code).toBe('query-cancelled')
    expect((await run('SELECT 1')).numRows).toBe(1)
    expect(worked()).toBeLessThan(250)
  })

  test('a cancel before the start runs nothing', async () => {
    expect((await failure(run(endless, { signal: AbortSignal.abort() })))?.code).toBe('query-cancelled')
  })

  test('the reason of a stop is what the statement fails with', async () => {
    const limit = new AbortController()
    const running = failure(run(endless, { signal: limit.signal }))
    const over = new WaymarkError('query-timeout', { seconds: 60, waited: 0, ran: 60 })
    setImmediate(() => limit.abort(over))
    expect(await running).toBe(over)
  })

  test('a cancel in the middle of a stream', async () => {
    const controller = new AbortController()
    let batches = 0
    const read = instance.use(async (connection) => {
      const statement = { sql: 'SELECT * FROM range(1000000000)', params: [], columns: [] }
      for await (const _ of streamStatement(connection, statement, { signal: controller.signal })) if (++batches === 3) controller.abort()
    })
    expect((await failure(read))?.code).toBe('query-cancelled')
    expect(batches).toBe(3)
  })

  test('more memory than there is', async () => {
    expect((await failure(run("SELECT list(i::VARCHAR || repeat('x', 100)) FROM range(20000000) t(i)")))?.code).toBe('query-memory')
  })
})

describe('what the engine refuses', () => {
  const cases: readonly (readonly [sql: string, code: string, text: string])[] = [
    ["SELECT CAST('x' AS INTEGER)", 'engine-refused', "'x' is not a number"],
    ['SELECT 9223372036854775807 + 1', 'engine-refused', 'A number or a time in the statement is out of range'],
    ["SELECT 'a' + 1", 'engine-refused', 'Type mismatch: no function or operator takes a text, a number'],
    ["SELECT DATE '2024-01-01' + ['x']", 'engine-refused', 'Type mismatch: no function or operator takes a time, an array'],
    ["SELECT coalesce(x, 1) FROM (VALUES ('a')) t(x)", 'engine-refused', 'Type mismatch: cannot combine a text and a number'],
    ["SELECT CAST(UUID '00000000-0000-0000-0000-000000000000' AS DOUBLE)", 'engine-refused', 'Cannot convert a UUID to a number'],
    ["SELECT CAST('soon' AS TIMESTAMP)", 'engine-refused', "'soon' is not a time"],
    ["SELECT regexp_matches('a', x) FROM (VALUES ('(')) t(x)", 'engine-refused', 'Invalid regular expression'],
    ["SELECT error('Say this.')", 'engine-refused', 'Say this.'],
    ['SELECT i, count(*) FROM range(3) t(i)', 'engine-refused', 'The engine rejected this statement: check the types of its values'],
  ]
  for (const [sql, code, text] of cases)
    test(sql, async () => {
      const error = await failure(run(sql))
      expect([error?.code, error?.message]).toEqual([code, text])
    })

  test('anything else is our fault, and keeps the statement for the log', async () => {
    const error = await failure(run('SELECT * FROM no_such_table'))
    expect(error).toBeInstanceOf(InternalError)
    expect((error as unknown as InternalError).sql).toBe('SELECT * FROM no_such_table')
    expect(engineError(error, '')).toBe(error)
    expect(error).not.toBeInstanceOf(WaymarkError)
  })
})

describe('rows that are committed after a statement was planned', () => {
  // The plan of the conditions leaves one of them out, as no row has more than 1.
  const statement = { sql: 'SELECT x FROM late WHERE x > 0 AND x <= 1', params: [], columns: [] }
  const cases: Record<string, (connection: DuckDBConnection) => Promise<number>> = {
    'read whole': async (connection) => (await runStatement(connection, statement)).numRows,
    async streamed(connection) {
      let rows = 0
      for await (const batch of streamStatement(connection, statement)) rows += batch.numRows
      return rows
    },
  }
  test.each(Object.entries(cases))('are in no answer that is %s', async (_, rowsOf) => {
    const [reader, writer] = [await instance.connect(), await instance.connect()]
    try {
      await writer.run('CREATE OR REPLACE TABLE late AS SELECT 1 AS x')
      const prepare = reader.prepare.bind(reader)
      reader.prepare = async (sql) => {
        const prepared = await prepare(sql)
        await writer.run('INSERT INTO late VALUES (2)')
        return prepared
      }
      expect(await rowsOf(reader)).toBe(1)
      expect(await rowsOf(reader)).toBe(1)
    } finally {
      reader.closeSync()
      writer.closeSync()
    }
  })
})
