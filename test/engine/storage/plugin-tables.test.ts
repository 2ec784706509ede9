import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Postgres as Connected } from '../../../src/engine/storage/postgres/client.ts'
import type { Lease } from '../../../src/engine/storage/postgres/partitions.ts'
import { openPluginChanges } from '../../../src/engine/storage/postgres/plugin-changes.ts'
import {
  linesInPostgres,
  putStorage,
  readStorage,
  storageInPostgres,
  sweepPlugins,
} from '../../../src/engine/storage/postgres/plugin-storage.ts'
import { sharedTransformFile } from '../../../src/engine/storage/postgres/transformed.ts'
import { deferred } from '../../../src/lib/flow/deferred.ts'
import { logsInLines } from '../../../src/service/plugins/kept-logs.ts'
import { createMemoryStorage } from '../../../src/service/plugins/memory-storage.ts'
import { startClusterTables } from '../../harness/cluster-tables.ts'
import { whyNoPostgres } from '../../harness/postgres.ts'
import { type ClusterPlace, placeInMemory, placeInPostgres, project } from './cluster-places.ts'

const missing = whyNoPostgres()
if (missing) console.log(`Plugins of several servers, on a real PostgreSQL: skipped, ${missing}. The same changes in memory are not.`)

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

const fail = (error: unknown) => {
  throw error
}

const casesOf = (at: () => ClusterPlace) => {
  const lost = () => new Error('lost')
  const fileOf = (lease: Lease) => sharedTransformFile(at().transformed(lease), lost)

  test('what an earlier server made of events is found by the next one, which keeps the earlier one from adding to it', async () => {
    const place = at()
    await place.clear()
    const first = (await place.take('first'))!
    const one = await fileOf(first)
    expect([one.begun, one.results]).toEqual([[], []])
    await one.begin([
      { firstSeq: 1, count: 2 },
      { firstSeq: 3, count: 4 },
    ])
    await one.write([{ firstSeq: 1, payloads: ['{"a":1}', ''] }])
    await place.giveBack(first)
    const second = (await place.take('second'))!
    const two = await fileOf(second)
    expect(two.begun).toEqual([
      { firstSeq: 1, count: 2 },
      { firstSeq: 3, count: 4 },
    ])
    expect(two.results).toEqual([{ firstSeq: 1, payloads: ['{"a":1}', ''] }])
    await expect(one.begin([{ firstSeq: 9, count: 1 }])).rejects.toThrow('lost')
    await two.write([{ firstSeq: 3, payloads: ['b', 'c', 'd', 'e'] }])
    await two.forget(2)
    expect(await place.transformedCount()).toBe(2)
    await two.forget(6)
    expect([await place.transformedCount(), two.begun, two.results]).toEqual([0, [], []])
  })

  test('a server that loses the lease and goes on takes back what it had begun, and leaves results', async () => {
    const place = at()
    await place.clear()
    const file = await fileOf((await place.take('first'))!)
    await file.begin(Array.from({ length: 450 }, (_, i) => ({ firstSeq: i + 1, count: 1 })))
    await file.write([{ firstSeq: 7, payloads: ['x'] }])
    await place.expire()
    await file.release()
    const next = await fileOf((await place.take('next'))!)
    expect(next.begun).toEqual([{ firstSeq: 7, count: 1 }])
    expect(next.results).toEqual([{ firstSeq: 7, payloads: ['x'] }])
  })

  test('a change is over when the server that applies the project has read it', async () => {
    const place = at()
    await place.clear()
    await place.take('holder')
    const problems: unknown[] = []
    const [changing, holder] = [
      await openPluginChanges(place.versions('changing'), (error) => problems.push(error), 200),
      await openPluginChanges(place.versions('holder'), fail),
    ]
    const read: string[] = []
    const gate = deferred<void>()
    changing.follow(async (projects) => void read.push(`changing ${projects}`))
    holder.follow(async (projects) => {
      await gate.promise
      read.push(`holder ${projects.toSorted()}`)
    })
    let isOver = false
    const made = changing.made([project, 8], [project, 8]).then(() => {
      isOver = true
    })
    await expect.poll(async () => (await place.versions('any').read()).length).toBe(2)
    const looked = holder.look()
    expect(isOver).toBe(false)
    gate.resolve()
    await looked
    await made
    expect([read, problems]).toEqual([[`holder ${project},8`], []])
    // A server that reads nothing any more is not waited for without end.
    await changing.made([project], [project])
    expect(String(problems)).toContain(
      `The plugins of project ${project} were changed, and the server that applies the events has not read that within 0.2 s`,
    )
    // After its lease it is not waited for at all, and has lost it.
    await place.expire()
    await changing.made([project], [project])
    expect(problems.length).toBe(1)
    expect(await place.state()).toMatchObject({ holder: null })
    await place.take('next')
    expect((await place.state()).deaths, 'that it was not given back stays known').toBe(1)
  })

  test('a change that could not be counted is counted later', async () => {
    const place = at()
    await place.clear()
    const versions = place.versions('a')
    let isOut = true
    const sometimes = {
      ...versions,
      countUp: async (ids: readonly number[]) => (isOut ? Promise.reject(new Error('out')) : versions.countUp(ids)),
    }
    const changes = await openPluginChanges(sometimes, fail)
    changes.follow(async () => undefined)
    await expect(changes.made([project], [project])).rejects.toThrow('out')
    await expect(changes.look()).rejects.toThrow('out')
    isOut = false
    await changes.look()
    await changes.look()
    expect(await versions.read()).toEqual([{ project, version: 1 }])
  })

  test('plugins that could not be read are read at the next look', async () => {
    const place = at()
    await place.clear()
    const [a, b] = [await openPluginChanges(place.versions('a'), fail), await openPluginChanges(place.versions('b'), fail)]
    a.follow(async () => undefined)
    let reads = 0
    b.follow(async () => {
      if (++reads === 1) throw new Error('out')
    })
    await a.made([project], [project])
    await expect(b.look()).rejects.toThrow('out')
    await b.look()
    await b.look()
    expect(reads).toBe(2)
  })

  test('a server that begins to apply a project reads its plugins first, and changes at two servers reach both', async () => {
    const place = at()
    await place.clear()
    const [a, b] = [await openPluginChanges(place.versions('a'), fail), await openPluginChanges(place.versions('b'), fail)]
    const seen: Record<'a' | 'b', number[]> = { a: [], b: [] }
    const ending = new AbortController()
    const begun = a.begin(project, ending.signal)
    a.follow(async (projects) => void seen.a.push(...projects))
    b.follow(async (projects) => void seen.b.push(...projects))
    await begun
    expect(seen.a).toEqual([project])
    await Promise.all([a.made([project], [project]), b.made([project], [])])
    await Promise.all([a.look(), b.look()])
    expect(await place.versions('any').read(project)).toEqual([{ project, version: 2 }])
    // Each has read the other's change: one of them as the one who came second.
    expect([seen.a.length > 1, seen.b.length > 0]).toEqual([true, true])
    const never = (await openPluginChanges(place.versions('c'), fail)).begin(project, ending.signal)
    ending.abort(new Error('closed'))
    await expect(never).rejects.toThrow('closed')
  })
}

describe('plugins of several servers, in memory', () => {
  const place = placeInMemory()
  casesOf(() => place)
})

describe.skipIf(missing !== null)('plugins of several servers, on PostgreSQL', () => {
  let postgres: Connected
  let tables: Awaited<ReturnType<typeof startClusterTables>>
  beforeAll(async () => {
    tables = await startClusterTables()
    postgres = tables.postgres
  })
  afterAll(() => tables?.stop())
  casesOf(() => placeInPostgres(postgres))

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
})
