import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Postgres as Connected, connectToPostgres } from '../../../src/engine/storage/postgres/client.ts'
import { sharedStates, statesInPostgres, sweepStates } from '../../../src/engine/storage/postgres/states.ts'
import { prepareTables, tablesVersion } from '../../../src/engine/storage/postgres/tables.ts'
import { type States, statesInMemory } from '../../../src/lib/flow/states.ts'
import { type Postgres, startPostgres, whyNoPostgres } from '../../harness/postgres.ts'
import { stateRowsInMemory } from '../../harness/state-rows.ts'

const missing = whyNoPostgres()
if (missing) console.log(`States on a real PostgreSQL: skipped, ${missing}. The same ones on rows in memory are not.`)

const increased =
  (by = 1) =>
  (state: unknown) => ({ state: { n: ((state as { n: number } | null)?.n ?? 0) + by }, keptMs: 60_000 })
const upTo = (most: number) => (state: unknown) => (((state as { n: number } | null)?.n ?? 0) < most ? increased()(state) : null)
/** Without changing it. */
const look = async (states: States, name: string): Promise<unknown> => {
  let found: unknown
  await states.change(name, (state) => {
    found = state
    return null
  })
  return found
}

test('in memory the least recently changed are forgotten', async () => {
  const states = statesInMemory(2)
  for (const name of ['a', 'b', 'a', 'c']) await states.change(name, increased())
  expect([await look(states, 'a'), await look(states, 'b'), await look(states, 'c')]).toEqual([{ n: 2 }, null, { n: 1 }])
})

interface Place {
  /** Of a further server. */
  server(): States
  removeAll(): Promise<void>
}

const changesOf = (place: () => Place) => {
  test('no change is lost, whichever servers make them at once', async () => {
    const servers = [place().server(), place().server(), place().server()]
    const names = ['one', 'other', 'x'.repeat(5_000)]
    await Promise.all(
      servers.flatMap((states) => Array.from({ length: 60 }, (_, i) => states.change(names[i % names.length]!, increased()))),
    )
    for (const _ of servers) for (const name of names) expect(await look(place().server(), name)).toEqual({ n: 60 })
  })

  test('a bound that several servers share is never passed, and reached', async () => {
    const servers = [place().server(), place().server(), place().server()]
    await Promise.all(servers.flatMap((states) => Array.from({ length: 20 }, () => states.change('bound', upTo(31)))))
    expect(await look(place().server(), 'bound')).toEqual({ n: 31 })
  })

  test('one that was removed begins anew, also for a server that knew it', async () => {
    const [a, b] = [place().server(), place().server()]
    await a.change('gone', increased(5))
    await place().removeAll()
    await a.change('gone', increased())
    expect(await look(b, 'gone')).toEqual({ n: 1 })
  })

  test('a change that fails leaves the next one its turn', async () => {
    const a = place().server()
    const failed = a.change('turns', () => {
      throw new Error('no')
    })
    const next = a.change('turns', increased())
    await expect(failed).rejects.toThrow('no')
    await next
    expect(await look(a, 'turns')).toEqual({ n: 1 })
  })
}

describe('of several servers, on rows in memory', () => {
  const { store, removeAll } = stateRowsInMemory()
  changesOf(() => ({ server: () => sharedStates(store), removeAll }))

  test('a refusal is looked at again if others may have changed the state since, but not for each of a flood', async () => {
    const rows = stateRowsInMemory()
    let ms = 0
    const a = sharedStates(rows.store, () => ms)
    const b = sharedStates(rows.store, () => ms)
    await a.change('bounded', upTo(1))
    const before = rows.statements()
    for (let i = 0; i < 1_000; i++) await a.change('bounded', upTo(1))
    expect(rows.statements()).toBe(before)
    await b.change('bounded', increased(-1))
    ms = 1_000
    await a.change('bounded', upTo(1))
    expect(await look(b, 'bounded')).toEqual({ n: 1 })
    await a.change('bounded', increased())
    expect(await look(b, 'bounded')).toEqual({ n: 1 }) // b has looked a moment ago
    ms = 1_300
    expect(await look(b, 'bounded')).toEqual({ n: 2 })
  })
})

describe.skipIf(missing !== null)('of several servers, on PostgreSQL', () => {
  let server: Postgres
  const connections: Connected[] = []
  beforeAll(async () => {
    server = await startPostgres()
    for (let i = 0; i < 3; i++) connections.push(await connectToPostgres({ url: `postgres://waymark@127.0.0.1:${server.port}/postgres` }))
    await prepareTables(connections[0]!, async () => undefined)
  })
  afterAll(async () => {
    for (const one of connections) await one.close()
    await server?.stop()
  })
  let next = 0
  changesOf(() => ({
    server: () => statesInPostgres(connections[next++ % connections.length]!),
    removeAll: async () => void (await connections[0]!.run('DELETE FROM waymark.cluster_states')),
  }))

  test('what is over is removed, and of too many those that end soonest', async () => {
    const [one] = connections as [Connected]
    await one.run('DELETE FROM waymark.cluster_states')
    const states = statesInPostgres(one)
    for (let i = 0; i < 10; i++) await states.change(`kept ${i}`, () => ({ state: i, keptMs: (i + 1) * 60_000 }))
    await states.change('over', () => ({ state: 'over', keptMs: 0 }))
    await sweepStates(one, 4)
    const left = await one.rows<{ state: string }>('SELECT state FROM waymark.cluster_states ORDER BY until')
    expect(left.map(({ state }) => JSON.parse(state))).toEqual([6, 7, 8, 9])
  })

  test('tables of the first format get what they lack, and keep their rows', async () => {
    const [one] = connections as [Connected]
    const later = ['states', 'plugins', 'plugin_storage', 'plugin_lines', 'transformed', 'set_aside']
    for (const name of later) await one.run(`DROP TABLE waymark.cluster_${name}`)
    await one.run('ALTER TABLE waymark.cluster_partitions DROP COLUMN deaths, DROP COLUMN attempt')
    await one.run("UPDATE waymark.cluster_facts SET value = '1' WHERE key = 'version'")
    await one.run('INSERT INTO waymark.cluster_log_ends (project, last_seq) VALUES (7, 70)')
    const id = await prepareTables(one, async () => undefined)
    expect(await prepareTables(connections[1]!, async () => undefined)).toBe(id)
    const facts = await one.rows<{ value: string }>("SELECT value FROM waymark.cluster_facts WHERE key = 'version'")
    expect(facts).toEqual([{ value: String(tablesVersion) }])
    await statesInPostgres(one).change('there', increased())
    expect(await one.rows('SELECT project, last_seq::integer AS last FROM waymark.cluster_log_ends')).toEqual([{ project: 7, last: 70 }])
  })
})
