import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Postgres as Connected, connectToPostgres } from '../../../src/engine/storage/postgres/client.ts'
import { openPartitions } from '../../../src/engine/storage/postgres/partitions.ts'
import { openPluginChanges } from '../../../src/engine/storage/postgres/plugin-changes.ts'
import {
  linesInPostgres,
  putStorage,
  readStorage,
  storageInPostgres,
  sweepPlugins,
} from '../../../src/engine/storage/postgres/plugin-storage.ts'
import { prepareTables } from '../../../src/engine/storage/postgres/tables.ts'
import { transformedInPostgres } from '../../../src/engine/storage/postgres/transformed.ts'
import { deferred } from '../../../src/lib/flow/deferred.ts'
import { logsInLines } from '../../../src/service/plugins/kept-logs.ts'
import { createMemoryStorage } from '../../../src/service/plugins/memory-storage.ts'
import { type Postgres, startPostgres, whyNoPostgres } from '../../harness/postgres.ts'

const missing = whyNoPostgres()
if (missing) console.log(`Plugins of several servers: skipped, ${missing}.`)

const line = (config: number, message: string) => ({
  id: message,
  team_id: 1,
  plugin_id: 1,
  plugin_config_id: config,
  timestamp: new Date('2026-01-01T00:00:00Z'),
  source: 'CONSOLE' as const,
  type: 'LOG' as const,
  message,
  instance_id: 'x',
})

describe.skipIf(missing !== null)('plugins of several servers', () => {
  let server: Postgres
  let postgres: Connected
  beforeAll(async () => {
    server = await startPostgres()
    postgres = await connectToPostgres({ url: `postgres://waymark@127.0.0.1:${server.port}/postgres` })
    await prepareTables(postgres, async () => undefined)
  })
  afterAll(async () => {
    await postgres?.close()
    await server?.stop()
  })
  beforeEach(async () => {
    for (const name of ['plugins', 'plugin_storage', 'plugin_lines', 'transformed', 'partitions'])
      await postgres.run(`DELETE FROM waymark.cluster_${name}`)
  })
  const fail = (error: unknown) => {
    throw error
  }

  test('the storage keeps what memory keeps, with any keys and values', async () => {
    const storage = storageInPostgres(postgres)
    const name = fc.constantFrom('a', '__proto__', '', 'é"\n\0', '\ud800', 'x'.repeat(400), '\u0001'.repeat(400))
    const json = fc.json().map((text) => JSON.stringify(JSON.parse(text)))
    const change = fc.record({
      scope: fc.constantFrom('1/1', '1/2'),
      key: name,
      json: fc.option(json, { nil: null }),
      isReplace: fc.boolean(),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 20 }), async (changes) => {
        await postgres.run('DELETE FROM waymark.cluster_plugin_storage')
        const model = createMemoryStorage()
        for (const { scope, key, json, isReplace } of changes) {
          const before = await model.get(scope, key)
          expect(await storage.get(scope, key)).toBe(before)
          if (isReplace && json !== null) {
            expect(await storage.replace(scope, key, '"something else"', json)).toBe(
              await model.replace(scope, key, '"something else"', json),
            )
            expect(await storage.replace(scope, key, before, json)).toBe(await model.replace(scope, key, before, json))
          } else await Promise.all([storage.set(scope, key, json), model.set(scope, key, json)])
        }
        for (const scope of ['1/1', '1/2', '1/3']) {
          expect(await storage.list(scope)).toEqual(await model.list(scope))
          expect((await storage.size(scope)).keys).toBe((await model.size(scope)).keys)
        }
        const all = await readStorage(postgres)
        await putStorage(postgres, all)
        expect(await readStorage(postgres)).toEqual(all)
      }),
      { numRuns: 30 },
    )
  })

  test('of changes of one key at the same time each is made of the one before', async () => {
    const storage = storageInPostgres(postgres)
    const increase = async () => {
      for (;;) {
        const before = await storage.get('1/1', 'n')
        if (await storage.replace('1/1', 'n', before, String(Number(before ?? 0) + 1))) return
      }
    }
    await Promise.all(Array.from({ length: 8 }, async () => Promise.all([increase(), increase(), increase()])))
    expect(await storage.get('1/1', 'n')).toBe('24')
  })

  test('of a log the newest lines are kept, and those of other configs are not', async () => {
    const all = { after: null, before: null, search: '', types: [] }
    const servers = [1, 2].map(() => linesInPostgres(postgres, 20))
    for (let i = 0; i < 50; i++) {
      const logs = logsInLines(servers[i % 2]!, fail)
      logs.add(line(i < 45 ? 1 : 2, `\0 ${i}`))
      await logs.close() // it is written
    }
    const reader = logsInLines(servers[0]!, fail)
    const messages = async (config: number) => (await reader.find(config, all)).map(({ message }) => Number(message.slice(2)))
    expect(await messages(1)).toEqual(Array.from({ length: 20 }, (_, i) => 44 - i))
    expect(await messages(2)).toEqual([49, 48, 47, 46, 45])
    const kept = await postgres.rows<{ n: string }>('SELECT count(*) AS n FROM waymark.cluster_plugin_lines WHERE config = 1')
    expect(Number(kept[0]!.n)).toBeLessThan(24)
    // Few lines may be long.
    for (let i = 0; i < 5; i++) await servers[0]!.add([[3, `"${'x'.repeat(600_000)}${i}"`]])
    expect((await servers[0]!.of(3)).map((text) => text.at(-2))).toEqual(['2', '3', '4'])
    await postgres.run('CREATE TABLE waymark.plugin_configs (id integer, project_id integer)')
    await postgres.run('CREATE TABLE waymark.projects (id integer)')
    await postgres.run('INSERT INTO waymark.plugin_configs VALUES (2, 7)')
    const storage = storageInPostgres(postgres)
    await storage.set('7/2', 'k', '1')
    await storage.set('7/1', 'k', '1')
    await sweepPlugins(postgres)
    expect([await messages(1), (await messages(2)).length, await storage.get('7/1', 'k'), await storage.get('7/2', 'k')]).toEqual([
      [],
      5,
      null,
      '1',
    ])
  })

  test('lines that cannot be written wait, of one config so many that others have room, and are reported once', async () => {
    let isBroken = true
    const written: string[] = []
    const reports: unknown[] = []
    const lines = {
      async add(some: readonly (readonly [number, string])[]) {
        if (isBroken) throw new Error('gone')
        written.push(...some.map(([, text]) => text))
      },
      of: async () => [],
    }
    const logs = logsInLines(lines, (error) => reports.push(error))
    for (let i = 0; i < 2_000; i++) logs.add(line(1, 'noise'))
    logs.add(line(2, 'news'))
    await expect.poll(() => reports.length).toBe(1)
    isBroken = false
    await expect.poll(() => written.length, { timeout: 10_000 }).toBe(501)
    expect(written.some((text) => text.includes('news'))).toBe(true)
    expect(reports).toHaveLength(1)
    await logs.close()
  })

  test('what an earlier server made of events is found by the next one, which keeps the earlier one from adding to it', async () => {
    const partitions = openPartitions(postgres)
    const lost = () => new Error('lost')
    const first = (await partitions.take(7, 'first', 60_000))!
    const one = await transformedInPostgres(postgres, first, lost)
    expect([one.begun, one.results]).toEqual([[], []])
    await one.begin([
      { firstSeq: 1, count: 2 },
      { firstSeq: 3, count: 4 },
    ])
    await one.write([{ firstSeq: 1, payloads: ['{"a":1}', ''] }])
    await partitions.giveBack(first)
    const second = (await partitions.take(7, 'second', 60_000))!
    const two = await transformedInPostgres(postgres, second, lost)
    expect(two.begun).toEqual([
      { firstSeq: 1, count: 2 },
      { firstSeq: 3, count: 4 },
    ])
    expect(two.results).toEqual([{ firstSeq: 1, payloads: ['{"a":1}', ''] }])
    await expect(one.begin([{ firstSeq: 9, count: 1 }])).rejects.toThrow('lost')
    await two.write([{ firstSeq: 3, payloads: ['b', 'c', 'd', 'e'] }])
    await two.forget(2)
    const rows = async () => Number((await postgres.rows<{ n: string }>('SELECT count(*) AS n FROM waymark.cluster_transformed'))[0]!.n)
    expect(await rows()).toBe(2)
    await two.forget(6)
    expect([await rows(), two.begun, two.results]).toEqual([0, [], []])
  })

  test('a change is over when the server that applies the project has read it', async () => {
    const partitions = openPartitions(postgres)
    await partitions.take(1, 'holder', 60_000)
    const problems: unknown[] = []
    const [changing, holder] = [
      await openPluginChanges(postgres, 'changing', (error) => problems.push(error), 200),
      await openPluginChanges(postgres, 'holder', fail),
    ]
    const read: string[] = []
    const gate = deferred<void>()
    changing.follow(async (projects) => void read.push(`changing ${projects}`))
    holder.follow(async (projects) => {
      await gate.promise
      read.push(`holder ${projects}`)
    })
    let isOver = false
    const made = changing.made([1, 2], [1, 2]).then(() => {
      isOver = true
    })
    const versions = async () => (await postgres.rows('SELECT 1 FROM waymark.cluster_plugins')).length
    await expect.poll(versions).toBe(2)
    const looked = holder.look()
    expect(isOver).toBe(false)
    gate.resolve()
    await looked
    await made
    expect([read, problems]).toEqual([['holder 1,2'], []])
    // A server that reads nothing any more is not waited for without end; and not at all once its lease has ended.
    await changing.made([1], [1])
    expect(String(problems)).toContain('has not taken over a change of plugins within 0.2 s')
    await postgres.run("UPDATE waymark.cluster_partitions SET until = clock_timestamp() - interval '1 second'")
    await changing.made([1], [1])
    expect(problems.length).toBe(1)
  })

  test('a server that begins to apply a project reads its plugins first, and changes at two servers reach both', async () => {
    const [a, b] = [await openPluginChanges(postgres, 'a', fail), await openPluginChanges(postgres, 'b', fail)]
    const seen: Record<'a' | 'b', number[]> = { a: [], b: [] }
    const ending = new AbortController()
    const begun = a.begin(5, ending.signal)
    a.follow(async (projects) => void seen.a.push(...projects))
    b.follow(async (projects) => void seen.b.push(...projects))
    await begun
    expect(seen.a).toEqual([5])
    await Promise.all([a.made([5], [5]), b.made([5], [])])
    await Promise.all([a.look(), b.look()])
    const [row] = await postgres.rows<{ version: string }>('SELECT version FROM waymark.cluster_plugins WHERE project = 5')
    expect(row?.version).toBe('2')
    // Each has read the other's change: one of them as the one who came second.
    expect([seen.a.length > 1, seen.b.length > 0]).toEqual([true, true])
    const never = (await openPluginChanges(postgres, 'c', fail)).begin(5, ending.signal)
    ending.abort(new Error('closed'))
    await expect(never).rejects.toThrow('closed')
  })
})
