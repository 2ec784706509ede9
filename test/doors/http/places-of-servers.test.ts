import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { random } from '../../../bench/random.ts'
import { createPlaces, type PlacesOfServers, placesOfServers } from '../../../src/doors/http/queries/places-of-servers.ts'
import { sharedStates } from '../../../src/engine/storage/postgres/states.ts'
import type { States } from '../../../src/lib/flow/states.ts'
import { stateRowsInMemory } from '../../harness/state-rows.ts'

// Queries of one user or project at several servers.

let ms = 0
const { store, removeAll } = stateRowsInMemory()
/** A state that another server has changed meanwhile is always looked at. */
const statesOfServer = (): States => sharedStates(store, () => (ms += 1_000))

let now = 0
const server = (states = statesOfServer()): PlacesOfServers => placesOfServers(states, () => now)
const limit = (owner: string, most: number) => ({ owner, most, refusal: () => new Error(`${owner}: at most ${most}`) })
const taken = (places: PlacesOfServers, ...limits: ReturnType<typeof limit>[]) => places.take(limits)

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  await removeAll()
  now = 0
})
afterEach(() => {
  vi.useRealTimers()
})
/** What was not waited for is done. */
const settled = async () => {
  for (let i = 0; i < 200; i++) await new Promise((resolve) => setImmediate(resolve))
}

test.each([1, 2, 3])('drawn takes and returns at three servers never pass the limits, and reach them: seed %i', async (seed) => {
  const draw = random(seed)
  const servers = [server(), server(), server()]
  const most = { 'user 1': 5, 'user 2': 3, keys: 4 } as const
  const held: { owners: readonly (keyof typeof most)[]; give: () => void }[] = []
  const heldBy = (owner: keyof typeof most) => held.filter(({ owners }) => owners.includes(owner)).length
  let refused = 0
  for (let round = 0; round < 60; round++) {
    while (held.length > 0 && draw() < 0.6) held.splice(Math.floor(draw() * held.length), 1)[0]!.give()
    await settled()
    const asks = Array.from({ length: 1 + Math.floor(draw() * 6) }, () => {
      const user = draw() < 0.5 ? ('user 1' as const) : ('user 2' as const)
      const owners = draw() < 0.5 ? [user, 'keys' as const] : [user]
      const where = servers[Math.floor(draw() * servers.length)]!
      return taken(where, ...owners.map((owner) => limit(owner, most[owner]))).then(
        (give) => void held.push({ owners, give }),
        () => void refused++,
      )
    })
    await Promise.all(asks)
    await settled()
    for (const owner of Object.keys(most) as (keyof typeof most)[]) expect(heldBy(owner)).toBeLessThanOrEqual(most[owner])
  }
  expect(refused).toBeGreaterThan(10)
  for (const { give } of held) give()
  await settled()
  for (let i = 0; i < 5; i++) await taken(servers[i % 3]!, limit('user 1', 5))
  await expect(taken(servers[0]!, limit('user 1', 5))).rejects.toThrow('user 1: at most 5')
})

test('who is refused under one limit holds nothing under the other', async () => {
  const [a, b] = [server(), server()]
  await taken(a, limit('keys', 1))
  for (let i = 0; i < 3; i++) await expect(taken(b, limit('user', 2), limit('keys', 1))).rejects.toThrow('keys: at most 1')
  await settled()
  await taken(a, limit('user', 2))
  await taken(b, limit('user', 2))
})

describe('the places of a server', () => {
  test('count as long as it holds them, however long that is', async () => {
    const [a, b] = [server(), server()]
    await taken(a, limit('user', 1))
    for (let i = 0; i < 20; i++) {
      now += 20_000
      vi.advanceTimersByTime(20_000)
      await settled()
      await expect(taken(b, limit('user', 1))).rejects.toThrow('user: at most 1')
    }
  })

  test('are free a minute after it has ended', async () => {
    const [a, b] = [server(), server()]
    await taken(a, limit('user', 1))
    vi.clearAllTimers() // it is killed
    now = 59_000
    await expect(taken(b, limit('user', 1))).rejects.toThrow('user: at most 1')
    now = 61_000
    await taken(b, limit('user', 1))
  })

  test('are given back later when the database is away', async () => {
    const states = statesOfServer()
    let isAway = false
    const a = server({ change: (name, next) => (isAway ? Promise.reject(new Error('away')) : states.change(name, next)) })
    const b = server()
    const give = await taken(a, limit('user', 2))
    const keep = await taken(a, limit('user', 2))
    isAway = true
    give()
    await settled()
    isAway = false
    await expect(taken(b, limit('user', 2))).rejects.toThrow('user: at most 2')
    vi.advanceTimersByTime(20_000)
    await settled()
    await taken(b, limit('user', 2))
    await expect(taken(b, limit('user', 2)), 'once').rejects.toThrow('user: at most 2')
    keep()
  })
})

test('a place that is refused by all servers together is free at the one that was asked', async () => {
  const limits = { perProject: 3, perUser: 50, perOrganization: 200, inAll: 1 }
  const [a, b] = [createPlaces(() => limits, server()), createPlaces(() => limits, server())]
  const asks = (userId: number) => ({ projectId: 1, organizationId: 'one', userId, via: 'key' as const })
  const gives = [await a.take(asks(1))]
  await expect(a.take(asks(2)), 'the memory of this server').rejects.toMatchObject({ status: 503 })
  limits.inAll = 2
  gives.push(await a.take(asks(2)))
  limits.inAll = 9
  gives.push(await b.take(asks(3)))
  await expect(b.take(asks(4))).rejects.toMatchObject({ status: 429 })
  limits.inAll = 1
  gives.pop()!()
  await settled()
  gives.push(await b.take(asks(4)))
  for (const give of [...gives, ...gives]) give()
  await settled()
  limits.inAll = 9
  for (let i = 0; i < 3; i++) await (i % 2 ? a : b).take(asks(i))
  await expect(a.take(asks(9))).rejects.toMatchObject({ status: 429 })
})
