import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ClickHouseClient, onReplicas } from '../../src/engine/storage/clickhouse/client.ts'
import { clickHouseTables, createClickHouseTables, knowInsertsAgain } from '../../src/engine/storage/clickhouse/schema.ts'
import { hasClickHouse, openChdb } from './chdb.ts'

// Replicas need a server with Keeper, which is not here: ClickHouse's own parser reads the statements, and nothing executes them.

type Request = Parameters<ClickHouseClient['exec']>[0]

describe.skipIf(!hasClickHouse)('statements for a cluster of replicas', () => {
  let client: ClickHouseClient
  beforeAll(async () => {
    client = await openChdb()
  })
  afterAll(() => client.close())

  const formatted = async (statement: string): Promise<string> => {
    const text = `unhex('${Buffer.from(statement).toString('hex')}')` // as it is, also where statements are changed on their way
    const { stream } = await client.exec({ query: `SELECT formatQuerySingleLine(${text}) FORMAT TabSeparatedRaw` })
    let read = ''
    for await (const chunk of stream) read += Buffer.from(chunk).toString()
    return read.trim()
  }

  test('every table is replicated, on every replica', async () => {
    const statements = createClickHouseTables({ cluster: 'my `own` cluster', isSharded: false })
    const tables = statements.filter((statement) => statement.startsWith('CREATE'))
    expect(tables).toHaveLength(Object.keys(clickHouseTables).length)
    for (const statement of tables) {
      const read = await formatted(statement)
      expect(read).toContain('ON CLUSTER `my \\`own\\` cluster`')
      expect(read).toMatch(/ENGINE = Replicated(Replacing)?MergeTree/)
    }
    for (const statement of statements) await formatted(statement)
  })

  test('inserts are known again by replicated tables', async () => {
    const read = await formatted(knowInsertsAgain(7, { cluster: 'main', isSharded: false }))
    expect(read).toMatch(
      /^ALTER TABLE events ON CLUSTER .*replicated_deduplication_window = 7, replicated_deduplication_window_seconds = \d+/,
    )
    expect(read).not.toContain('non_replicated')
  })

  test('one server has plain tables', () => {
    for (const statement of createClickHouseTables()) expect(statement).not.toMatch(/Replicated|ON CLUSTER/)
  })

  test('a majority has what is acknowledged, queries wait for it, and statements are stopped wherever they run', async () => {
    const sent: Request[] = []
    const listening: ClickHouseClient = {
      exec: async (request) => {
        sent.push(request)
        return { stream: (async function* () {})() }
      },
      command: async (request) => void sent.push(request),
      close: async () => undefined,
    }
    const replicas = onReplicas(listening, 'main')
    await replicas.exec({ query: 'SELECT 1', clickhouse_settings: { max_threads: 2 } })
    await replicas.command({ query: "KILL QUERY WHERE query_id = 'KILL QUERY ' ASYNC" })
    expect(sent[0]!.clickhouse_settings).toMatchObject({
      insert_quorum: 'auto',
      insert_quorum_parallel: 0,
      select_sequential_consistency: 1,
      max_threads: 2,
    })
    expect(sent[1]!.query).toBe("KILL QUERY ON CLUSTER `main` WHERE query_id = 'KILL QUERY ' ASYNC")
    await formatted(sent[1]!.query)
  })
})
