import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import type { AccountStore } from '../../../src/service/accounts/records.ts'
import { createEventRates, type Rates } from '../../../src/service/watching/event-rates.ts'
import { createSharedRates } from '../../../src/service/watching/shared-rates.ts'
import { watchWorld } from './world.ts'

// Two servers that share their accounts: together they count what one would have counted.

const world = await watchWorld()
afterAll(() => world.waymark.close())
const store = world.waymark.accounts.context.store
const project = 1
const fail = (error: unknown) => {
  throw error
}
const empty = (): Promise<unknown> => store.write((tables) => tables.event_hours.remove({}))
const plain = (rates: Rates | undefined) =>
  rates && { ...rates, newGap: rates.newGap ?? null, hours: { ...rates.hours, counts: [...rates.hours.counts] } }

describe('rates of several servers', () => {
  test('are those of one, however the events come to them', async () => {
    const piece = fc.record({ after: fc.constantFrom(1, 20, 61, 1_300, 3_700, 9_000, 90_000), events: fc.nat(30), server: fc.nat(1) })
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { minLength: 1, maxLength: 60 }), async (pieces) => {
        await empty()
        let now = Date.UTC(2026, 2, 2, 10)
        const clock = () => new Date(now)
        const servers = [createSharedRates(store, clock, fail), createSharedRates(store, clock, fail)]
        const alone = createEventRates(
          { ...store, read: { ...store.read, event_hours: { find: async () => [] } } } as unknown as AccountStore,
          clock,
          fail,
        )
        for (const { after, events, server } of pieces) {
          now += after * 1000
          servers[server]!.count(project, events)
          alone.count(project, events)
          await servers[server]!.flush() // as a minute later
        }
        const expected = plain((await alone.all()).get(project))
        for (const one of servers) expect(plain((await one.all()).get(project))).toEqual(expected)
      }),
      { numRuns: 60 },
    )
  })

  test('lose nothing when they cannot be stored for a while', async () => {
    await empty()
    let isBroken = true
    const now = new Date(Date.UTC(2026, 2, 2, 10))
    const broken: AccountStore = { ...store, write: (work) => (isBroken ? Promise.reject(new Error('gone')) : store.write(work)) }
    const rates = createSharedRates(broken, () => now, fail)
    rates.count(project, 3)
    await expect(rates.flush()).rejects.toThrow('gone')
    rates.count(project, 4)
    isBroken = false
    expect((await rates.all()).get(project)?.hours.counts).toEqual([7])
  })

  test('of a project that is gone are not kept', async () => {
    await empty()
    const rates = createSharedRates(store, () => new Date(), fail)
    rates.count(999, 3)
    expect((await rates.all()).size).toBe(0)
  })
})
