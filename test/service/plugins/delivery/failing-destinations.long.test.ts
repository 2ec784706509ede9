import { describe, expect, test } from 'vitest'
import { namesOf, withSending } from './sending.ts'
import type { Sink } from './sink.ts'

// Destinations that fail: every event arrives in the end, or is a dead letter.

const held = withSending()
const logged = async (configId: number): Promise<string[]> =>
  (await held.server.call('GET', `${held.server.configPath(configId)}logs/`)).body.results.map((one: { message: string }) => one.message)

describe.each([
  ['the bundled webhook', held.byWebhook],
  ['a plugin from source', held.bySource],
])('a destination that fails, for %s', (_, use) => {
  test.each<[string, Sink['answer']]>([
    ['500', (_, attempt) => (attempt < 3 ? 500 : 200)],
    ['closed connections', (_, attempt) => (attempt < 3 ? 'close' : 200)],
  ])('%s: every event arrives in the end', async (_, answer) => {
    const { server, sink } = held
    sink.answer = answer
    const config = await use()
    const sent = await server.send(12)
    await server.delivered(config)
    expect(await held.failed(config)).toHaveLength(12)
    while ((await held.failed(config)).length > 0) server.later(60)
    expect(sink.tried).toHaveLength(36)
    expect(namesOf(sink.accepted)).toEqual([...sent].sort())
  })

  test('400: the event is a dead letter at once, with its reason; retried over the API, it arrives', async () => {
    const { server, sink } = held
    sink.answer = ({ event }) => (event === 'event 2' ? 400 : 200)
    const config = await use()
    await server.send(5)
    await server.delivered(config)
    const [letter, ...others] = await held.failed(config)
    expect(letter).toMatchObject({
      status: 'dead',
      event: 'event 2',
      attempts: 1,
      latest_error: expect.stringMatching(/status 400/),
      next_attempt_at: null,
    })
    expect(others).toEqual([])
    expect(await logged(config)).toContainEqual(expect.stringMatching(/was not delivered and is a dead letter: .*status 400/))
    expect((await server.call('GET', server.configPath(config))).body.delivery_rate_24h).toBe(0.8)
    sink.answer = () => 200
    expect(await server.call('POST', `${server.configPath(config)}failed_deliveries/retry/`)).toMatchObject({
      status: 200,
      body: { count: 1 },
    })
    await sink.until('accepted', 5)
    while ((await held.failed(config)).length > 0) await new Promise(setImmediate)
    expect(sink.accepted.at(-1)).toMatchObject({ event: 'event 2', uuid: letter!.event_uuid })
  })
})
