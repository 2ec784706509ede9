import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Served, startServe } from './served.ts'

// The clients of Segment and RudderStack for Node, unmodified, against a server.

const names = ['@segment/analytics-node', 'analytics-node', '@rudderstack/rudder-sdk-node'] as const
const areThere = names.every((name) => existsSync(join(import.meta.dirname, 'node_modules', name)))
if (!areThere) console.warn('\n  SKIPPED: the clients of Segment and RudderStack. `npm run setup:clients` installs them.\n')

let served: Served
beforeAll(async () => {
  served = await startServe()
})
afterAll(async () => {
  await served.stop()
  expect(served.complaints, 'what the server complained of').toEqual([])
})

/** They are installed apart, so their types may not be there. */
const load = async <T>(name: (typeof names)[number]): Promise<T> => (await import(name)) as T

interface Calls {
  track(call: object, done?: () => void): unknown
  identify(call: object, done?: () => void): unknown
  page(call: object, done?: () => void): unknown
  group(call: object, done?: () => void): unknown
}

/** What an application calls, for one of its people. */
const calls = (client: Calls, name: string) => {
  client.track({ anonymousId: `${name}-visitor`, event: 'Looked', properties: { sum: 1 } })
  client.identify({ userId: name, anonymousId: `${name}-visitor`, traits: { plan: 'pro' } })
  client.track({ userId: name, event: 'Paid', properties: { sum: 2.5 }, timestamp: new Date('2026-01-05T10:00:00Z') })
  client.page({ userId: name, name: 'Home', properties: { url: 'https://x.test/home' } })
  client.group({ userId: name, groupId: `${name}-inc`, traits: { size: 3 } })
}

const stored = async (name: string) => {
  const rows = await served.rows(
    `select event, toString(properties.sum), toString(person.properties.plan) from events where person_id in (select person_id from person_distinct_ids where distinct_id = '${name}') order by event`,
  )
  const groups = await served.rows(`select key, toString(properties.size) from groups where key = '${name}-inc'`)
  return { rows, groups }
}
const expected = (name: string) => ({
  rows: [
    ['$groupidentify', null, 'pro'],
    ['$identify', null, 'pro'],
    ['$pageview', null, 'pro'],
    ['Looked', '1', 'pro'],
    ['Paid', '2.5', 'pro'],
  ],
  groups: [[`${name}-inc`, '3']],
})

describe.skipIf(!areThere)('unmodified', () => {
  test('@segment/analytics-node', async () => {
    interface Client extends Calls {
      on(name: 'error', listener: (error: unknown) => void): void
      closeAndFlush(): Promise<void>
    }
    const { Analytics } = await load<{ Analytics: new (options: object) => Client }>('@segment/analytics-node')
    const client = new Analytics({ writeKey: served.projectKey, host: served.url, flushAt: 20 })
    const failures: unknown[] = []
    client.on('error', (error) => failures.push(error))
    calls(client, 'segment')
    await client.closeAndFlush()
    expect(failures).toEqual([])
    expect(await stored('segment')).toEqual(expected('segment'))
  })

  test('analytics-node, the older one', async () => {
    type Client = Calls & { flush(): Promise<unknown> }
    const { default: Older } = await load<{ default: new (key: string, options: object) => Client }>('analytics-node')
    const client = new Older(served.projectKey, { host: served.url })
    calls(client, 'older')
    await client.flush()
    expect(await stored('older')).toEqual(expected('older'))
  })

  test('@rudderstack/rudder-sdk-node', async () => {
    type Client = Calls & { flush(done: () => void): void }
    const { default: Rudder } = await load<{ default: new (key: string, options: object) => Client }>('@rudderstack/rudder-sdk-node')
    const client = new Rudder(served.projectKey, { dataPlaneUrl: served.url })
    calls(client, 'rudder')
    await new Promise<void>((resolve) => client.flush(resolve))
    expect(await stored('rudder')).toEqual(expected('rudder'))
  })
})
