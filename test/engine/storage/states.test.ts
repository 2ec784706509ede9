import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Postgres as Connected, connectToPostgres } from '../../../src/engine/storage/postgres/client.ts'
import { statesInPostgres } from '../../../src/engine/storage/postgres/states.ts'
import { prepareTables } from '../../../src/engine/storage/postgres/tables.ts'
import { type States, statesInMemory } from '../../../src/lib/flow/states.ts'
import { type Postgres, startPostgres, whyNoPostgres } from '../../harness/postgres.ts'

const missing = whyNoPostgres()
if (missing) console.log(`States on PostgreSQL: skipped, ${missing}.`)

const increased =
  (by = 1) =>
  (state: unknown) => ({ state: { n: ((state as { n: number } | null)?.n ?? 0) + by }, keptMs: 60_000 })
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

describe.skipIf(missing !== null)('of several servers', () => {
  let server: Postgres
  const connections: Connected[] = []
  const two = () => [statesInPostgres(connections[0]!), statesInPostgres(connections[1]!)] as const
  beforeAll(async () => {
    server = await startPostgres()
    for (let i = 0; i < 3; i++) connections.push(await connectToPostgres({ url: `postgres://waymark@127.0.0.1:${server.port}/postgres` }))
    await prepareTables(connections[0]!, async () => undefined)
  })
  afterAll(async () => {
    for (const one of connections) await one.close()
    await server?.stop()
  })

  test('no change is lost, whichever servers make them at once', async () => {
    const servers = connections.map(statesInPostgres)
    const names = ['one', 'other', 'x'.repeat(5_000)]
    await Promise.all(
      servers.flatMap((states) => Array.from({ length: 60 }, (_, i) => states.change(names[i % names.length]!, increased()))),
    )
    for (const states of servers) for (const name of names) expect(await look(states, name)).toEqual({ n: 60 })
  })

  test('what looks like a refusal is looked at again: another server may have taken something back', async () => {
    const [a, b] = two()
    const upTo = (most: number) => (state: unknown) => (((state as { n: number } | null)?.n ?? 0) < most ? increased()(state) : null)
    await a.change('bounded', upTo(1))
    await b.change('bounded', increased(-1))
    await a.change('bounded', upTo(1))
    expect(await look(b, 'bounded')).toEqual({ n: 1 })
  })

  test('one that was removed begins anew, also for a server that knew it', async () => {
    const [a, b] = two()
    await a.change('gone', increased(5))
    await connections[2]!.run('DELETE FROM waymark.cluster_states')
    await a.change('gone', increased())
    expect(await look(b, 'gone')).toEqual({ n: 1 })
  })

  test('a change that fails leaves the next one its turn', async () => {
    const [a] = two()
    const failed = a.change('turns', () => {
      throw new Error('no')
    })
    const next = a.change('turns', increased())
    await expect(failed).rejects.toThrow('no')
    await next
    expect(await look(a, 'turns')).toEqual({ n: 1 })
  })
})
