import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, test } from 'vitest'
import { toNodeHandler } from '../../../../src/doors/http/server/node-handler.ts'
import { namesOf, sender, withSending } from './sending.ts'
import { type PluginServer, pluginServer } from './server.ts'
import { startSink } from './sink.ts'

// Plugins that send stored events on, end to end: installed and enabled over the API, run in the sandbox, received by a server.

const held = withSending()

describe('what is sent', () => {
  test('the bundled webhook sends each event with its person', async () => {
    const { server, sink } = held
    const config = await held.byWebhook()
    const sent = (await server.send(25)).sort()
    await sink.until('accepted', 25)
    await server.delivered(config)
    expect(namesOf(sink.accepted)).toEqual(sent)
    const one = sink.accepted.find(({ event }) => event === 'event 4')!
    expect(one).toMatchObject({
      distinct_id: 'u1',
      team_id: server.project.id,
      properties: { i: 4 },
      person: { properties: { email: 'u1@example.com' } },
    })
    const { body } = await server.call('GET', server.configPath(config))
    expect(body.delivery_rate_24h).toBe(1)
    expect(await held.failed(config)).toEqual([])
  })

  test('onEvent gets what the facts promise', async () => {
    const { server, sink } = held
    await held.bySource()
    const chain =
      'a.button.primary:attr__data-x="1"href="/pay?a=1;b"nth-child="2"nth-of-type="1"text="Pay \\"now\\"";div:attr_id="main"nth-child="1"nth-of-type="1"'
    const uuid = '01900000-0000-7000-8000-0000000000aa'
    await server.project.ingest({
      batch: [
        {
          uuid,
          event: '$autocapture',
          distinct_id: 'u1',
          timestamp: '2026-01-05T10:00:00.123Z',
          properties: { $elements_chain: chain, $set: { a: 1 }, $set_once: { b: 2 }, n: null },
        },
      ],
    })
    await sink.until('accepted', 1)
    expect(sink.accepted[0]).toEqual({
      uuid,
      event: '$autocapture',
      distinct_id: 'u1',
      team_id: server.project.id,
      timestamp: '2026-01-05T10:00:00.123Z',
      ip: null,
      properties: expect.objectContaining({ n: null }),
      $set: expect.objectContaining({ a: 1 }),
      $set_once: expect.objectContaining({ b: 2 }),
      elements: [
        {
          tag_name: 'a',
          attr_class: ['button', 'primary'],
          href: '/pay?a=1;b',
          text: 'Pay "now"',
          nth_child: 2,
          nth_of_type: 1,
          order: 0,
          attributes: { 'data-x': '1' },
        },
        { tag_name: 'div', attr_id: 'main', nth_child: 1, nth_of_type: 1, order: 1, attributes: {} },
      ],
    })
  })

  test('what a transformation has changed is sent as it is stored; what it dropped is not', async () => {
    const { server, sink } = held
    await server.use({
      'index.ts': "export const processEvent = (event) => (event.event === 'event 1' ? null : { ...event, event: event.event + '!' })",
    })
    const config = await held.byWebhook()
    await server.send(3)
    await server.delivered(config)
    expect(namesOf(sink.accepted)).toEqual(['event 0!', 'event 2!'])
  })

  test('the mirror fills another server with the same events', async () => {
    const { server } = held
    const other = await pluginServer()
    const listener = createServer(toNodeHandler(other.waymark))
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
    const host = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`
    const config = await server.useBundled('Mirror', { host, apiKey: other.project.token, except: 'event 3' })
    const sent = await server.send(12)
    await server.delivered(config)
    const of = async ({ project }: PluginServer) =>
      (
        await project.query({
          kind: 'SqlLikeQuery',
          query: "select toString(uuid), event, timestamp, distinct_id from events where event != 'event 3' order by uuid",
        })
      ).results
    expect(await of(other)).toEqual(await of(server))
    expect((await of(other)).length).toBe(sent.length - 1)
    listener.closeAllConnections()
    listener.close()
    await other.close()
  })
})

describe('others are not affected', () => {
  test('by a destination that never answers', async () => {
    const { server, sink } = held
    sink.answer = () => 'hang'
    const stuck = await held.bySource()
    const fine = await startSink()
    const config = await server.use({ 'index.ts': sender }, { url: fine.url })
    const other = held.whole.of(await held.whole.waymark.createProject({ name: 'Other' }))
    const elsewhere = await other.use({ 'index.ts': sender }, { url: fine.url })
    const sent = [...(await server.send(30)), ...(await other.send(30))]
    await Promise.all([server.delivered(config), other.delivered(elsewhere)])
    expect(namesOf(fine.accepted)).toEqual([...sent].sort())
    expect(sink.accepted).toEqual([])
    expect(sink.tried.length).toBeLessThanOrEqual(10)
    expect(await held.failed(stuck)).toEqual([])
    await fine.close()
  })

  test('and what is disabled, removed or uninstalled is not sent any more', async () => {
    const { server, sink } = held
    const config = await held.bySource()
    const [first] = await server.send(1)
    await server.delivered(config)
    await server.call('PATCH', server.configPath(config), { enabled: false })
    await server.send(3)
    await server.call('PATCH', server.configPath(config), { enabled: true })
    const [last] = await server.send(1)
    await server.delivered(config)
    expect(namesOf(sink.accepted)).toEqual([first, last])
    const { body } = await server.call('GET', server.configPath(config))
    const plugins = `/api/organizations/${body.plugin_info.organization_id}/plugins/${body.plugin}/`
    expect((await server.call('DELETE', plugins)).status).toBe(204)
    expect(await server.waymark.accounts.context.store.read.plugin_deliveries.count({ plugin_config_id: config })).toBe(0)
  })

  test('a change of the code keeps the place in the log', async () => {
    const { server, sink } = held
    const config = await held.bySource()
    const { body } = await server.call('GET', server.configPath(config))
    const path = `/api/organizations/${body.plugin_info.organization_id}/plugins/${body.plugin}/update_source/`
    sink.answer = () => 500
    const sent = await server.send(3)
    await sink.until('tried', 3)
    sink.answer = () => 200
    await server.call('PATCH', path, { 'index.ts': `${sender} // newer` })
    const more = await server.send(3)
    await server.delivered(config)
    while ((await held.failed(config)).length > 0) server.later(60)
    expect(new Set(namesOf(sink.accepted))).toEqual(new Set([...sent, ...more]))
  })
})
