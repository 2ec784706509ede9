import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { type Check, Failed, mustEqual } from './checks.ts'
import { byLease, Load, recount, settled } from './faults.ts'
import { type Cluster, personalKey, type Server } from './parts.ts'
import { capture, eventOf, sql } from './together.ts'

// Plugins with several servers: events pass them as they are when an event is acknowledged, at whichever server they were changed; what they keep and write is the same
// everywhere; and stored events reach them although servers are killed.

const key = personalKey
const configs = '/api/projects/1/plugin_configs'

async function called(server: Server, method: string, path: string, body: unknown, status: number) {
  const answer = await server.call(method, path, { key, body })
  mustEqual(answer.status, status, `${method} ${path}: ${JSON.stringify(answer.body)}`)
  return answer.body
}

/** Returns the id of its config. */
export async function installed(server: Server, name: string, source: string, config: object = {}): Promise<number> {
  const plugin = await called(server, 'POST', '/api/organizations/@current/plugins/', { plugin_type: 'source', name }, 201)
  const manifest = { name, config: Object.keys(config).map((one) => ({ key: one, name: one, type: 'string', required: false })) }
  const files = { 'index.ts': source, 'plugin.json': JSON.stringify(manifest) }
  await called(server, 'PATCH', `/api/organizations/@current/plugins/${plugin.id}/update_source/`, files, 200)
  const made = await called(server, 'POST', `${configs}/`, { plugin: plugin.id, enabled: true, order: 0, config }, 201)
  return made.id
}

const switched = (server: Server, id: number, change: object) => called(server, 'PATCH', `${configs}/${id}/`, change, 200)
const disabled = (server: Server, id: number) => switched(server, id, { enabled: false })
const logOf = async (server: Server, id: number): Promise<string[]> =>
  (await called(server, 'GET', `${configs}/${id}/logs/?limit=500`, undefined, 200)).results.map((line: { message: string }) => line.message)

export async function until(what: string, isSo: () => Promise<boolean> | boolean, seconds = 30): Promise<void> {
  const end = performance.now() + seconds * 1000
  while (!(await isSo())) {
    if (performance.now() > end) throw new Failed(`${what}: not within ${seconds} s`)
    await pause(50)
  }
}

const mark = 'export function processEvent(event, { config }) { event.properties.mark = config.mark; return event }'
const markOf = async (server: Server, event: string) =>
  (await sql(server, `select properties.mark from events where event = '${event}'`)) as [string | null][]

/** What a plugin sends. */
export async function startListener() {
  const bodies: string[] = []
  let isDown = false
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const part of request) body += part
    if (!isDown) bodies.push(body)
    response.writeHead(isDown ? 503 : 200).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    bodies,
    setDown: (down: boolean) => {
      isDown = down
    },
    close: () => new Promise((resolve) => server.close(resolve)),
  }
}

async function changedAnywhere([a, b]: readonly [Server, Server]): Promise<void> {
  const id = await installed(a, 'marker', mark, { mark: 'first' })
  for (let round = 0; round < 12; round++) {
    const [changing, sending] = round % 2 ? [a, b] : [b, a]
    await switched(changing, id, { config: { mark: `m${round}` } })
    await capture(sending, [eventOf(`marked ${round}`, 'ann')])
    await capture(changing, [eventOf(`marked ${round}`, 'bob')])
    // What waits to be applied passes the plugins as they are by then.
    mustEqual(await markOf(sending, `marked ${round}`), [[`m${round}`], [`m${round}`]], `round ${round}`)
  }
  await disabled(b, id)
  await capture(a, [eventOf('unmarked', 'ann')])
  mustEqual(await markOf(b, 'unmarked'), [[null]], 'after it was disabled')
}

export const counting = `
  export async function processEvent(event, { storage, utils }) {
    event.properties.n = await utils.cursor.increment('events')
    console.log('saw ' + event.event)
    await storage.set('last', event.event)
    return event
  }
  export const jobs = { async more(_, { utils }) { await utils.cursor.increment('jobs') } }
`

async function sharedState(cluster: Cluster, servers: readonly [Server, Server]): Promise<void> {
  const [a, b] = servers
  const id = await installed(a, 'counter', counting)
  for (let i = 0; i < 5; i++) await capture(i % 2 ? a : b, [eventOf('counted', 'ann')])
  await sql(a, 'select 1')
  const [holder, other] = await byLease(cluster, servers)
  await holder.stop()
  for (let i = 0; i < 5; i++) await capture(other, [eventOf('counted', 'ann')])
  await holder.start()
  const found = (await sql(holder, "select properties.n from events where event = 'counted'")) as [string][]
  mustEqual(
    found.map(([n]) => Number(n)).sort((x, y) => x - y),
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
    'counted across servers',
  )
  const lines = (await logOf(other, id)).filter((line) => line === 'saw counted')
  mustEqual(lines.length, 10, 'lines of the log at the other server')
  mustEqual((await logOf(holder, id)).filter((line) => line === 'saw counted').length, 10, 'and at the one that began anew')
  // Both count at the same time.
  await Promise.all(
    Array.from({ length: 20 }, (_, i) =>
      called(i % 2 ? a : b, 'POST', `${configs}/${id}/job/`, { job: { type: 'more', operation: 'start', payload: {} } }, 200),
    ),
  )
  await until('twenty jobs', async () => {
    const [row] = await cluster.postgres.sql.rows<{ json: string }>(
      `SELECT json FROM waymark.cluster_plugin_storage WHERE scope = '1/${id}' AND key = '"jobs"'`,
    )
    return row?.json === '20'
  })
  await disabled(a, id)
}

const everyMinute = "export async function runEveryMinute({ utils }) { await utils.cursor.increment('minutes') }"

/** The clock of the test would have to move: the period of the last run is what it looks at. */
async function oncePerPeriod(cluster: Cluster, [a]: readonly [Server, Server]): Promise<void> {
  const id = await installed(a, 'minutes', everyMinute)
  const task = '1/runEveryMinute'
  const { sql: rows } = cluster.postgres
  await until(
    'the task is known',
    async () => (await rows.rows(`SELECT 1 FROM waymark.plugin_tasks WHERE id = '${task}'`)).length === 1,
    70,
  )
  const counted = async () => {
    const [row] = await rows.rows<{ json: string }>(
      `SELECT json FROM waymark.cluster_plugin_storage WHERE scope = '1/${id}' AND key = '"minutes"'`,
    )
    return Number(row?.json ?? 0)
  }
  const before = await counted()
  await until('the next minute', async () => (await counted()) > before, 70)
  const period = async () =>
    Number((await rows.rows<{ period: number }>(`SELECT period FROM waymark.plugin_tasks WHERE id = '${task}'`))[0]!.period)
  const [first, ran] = [await period(), await counted()]
  await until('one more', async () => (await period()) > first && (await counted()) > ran, 75)
  mustEqual((await counted()) - ran, (await period()) - first, 'runs and minutes')
  await disabled(a, id)
}

/** Those of one transaction of the deliverer. */
const eventsOfStep = 200

export const sending = `
  export async function onEvent(event, { config }) {
    if (event.event !== config.event) return
    const answer = await fetch(config.url, { method: 'POST', body: event.uuid })
    if (!answer.ok) throw new RetryError('not now')
  }
`

async function deliveredThroughKills(cluster: Cluster, servers: readonly [Server, Server]): Promise<void> {
  const listener = await startListener()
  let load: Load | null = null
  try {
    const id = await installed(servers[1], 'sender', sending, { url: listener.url, event: 'delivered' })
    const marker = await installed(servers[0], 'marker of load', mark, { mark: 'passed' })
    load = new Load(servers, 'delivered')
    for (let i = 0; i < 3; i++) {
      await pause(1_000)
      // Twice, so that the server has applied what was there when it took over: events that end two servers pass no plugin.
      for (let n = 0; n < 2; n++) await settled(servers[0], 'delivered')
      const [holder] = await byLease(cluster, servers)
      await holder.kill()
      await pause(1_500)
      await holder.start()
    }
    listener.setDown(true)
    await pause(500)
    listener.setDown(false)
    await load.stop()
    const count = await settled(servers[0], 'delivered')
    mustEqual(count, load.acknowledged.size, 'events')
    await recount(cluster, load, 'delivered')
    const [[passed]] = (await sql(servers[1], "select count() from events where event = 'delivered' and properties.mark = 'passed'")) as [
      [number],
    ]
    if (passed !== count) {
      const others = await sql(
        servers[1],
        `select count(), properties.$plugins_failed, properties.$plugins_deferred from events
         where event = 'delivered' and coalesce(properties.mark, '') != 'passed' group by 2, 3`,
      )
      throw new Failed(`events that did not pass the plugin: ${JSON.stringify(others)} of ${count}`)
    }
    // A lease of work lasts two minutes.
    await cluster.postgres.sql.run("UPDATE waymark.leases SET until = until - interval '121 seconds' WHERE kind = 'event delivery'")
    const { acknowledged } = load
    const seen = () => new Set(listener.bodies)
    const isDelivered = () => {
      const known = seen()
      return [...acknowledged].every((uuid) => known.has(uuid))
    }
    await until('all events are delivered', isDelivered, 180).catch((error: Failed) => {
      throw new Failed(`${error.message}; ${seen().size} of ${acknowledged.size}`)
    })
    mustEqual(
      [...seen()].every((uuid) => acknowledged.has(uuid)),
      true,
      'nothing else',
    )
    const again = listener.bodies.length - seen().size
    mustEqual(again <= 4 * eventsOfStep, true, `${again} events came again: at most a step for each kill`)
    // Servers that begin anew go on where the others were.
    const before = listener.bodies.length
    for (const server of servers) {
      await server.stop()
      await server.start()
    }
    const last = eventOf('delivered', 'last')
    await capture(servers[1], [last])
    await until('the next event is delivered', () => listener.bodies.includes(last.uuid))
    mustEqual(listener.bodies.length, before + 1, 'deliveries after both have begun anew')
    await disabled(servers[0], id)
    await disabled(servers[1], marker)
  } finally {
    await load?.stop()
    await listener.close()
  }
}

const endless = 'export function processEvent(event) { if (event.properties.isEndless) for (;;) {} return event }'

async function stoppedEverywhere([a, b]: readonly [Server, Server]): Promise<void> {
  const id = await installed(a, 'endless', endless)
  const uuid = randomUUID()
  await capture(b, [{ ...eventOf('endless', 'ann', { isEndless: true }), uuid }, eventOf('endless', 'ann')])
  mustEqual(await sql(a, "select count() from events where event = 'endless'"), [[2]], 'both are stored')
  const [[failed]] = (await sql(b, `select properties.$plugins_failed from events where uuid = '${uuid}'`)) as [[string]]
  mustEqual(failed.includes('endless'), true, 'and say so')
  await disabled(b, id)
}

const receiver = `export function onRequest({ json }) { return [{ id: json.id, event: 'hooked', distinct_id: 'ann' }] }`

async function addressEverywhere([a, b]: readonly [Server, Server]): Promise<void> {
  const id = await installed(a, 'receiver', receiver)
  const made = async (server: Server): Promise<string> =>
    new URL((await called(server, 'POST', `${configs}/${id}/webhook/`, undefined, 200)).webhook_url, server.url).pathname
  const send = async (server: Server, path: string, delivery: string) =>
    (await server.call('POST', path, { body: { id: delivery } })).status
  const first = await made(a)
  mustEqual(await send(b, first, 'd1'), 200, 'at once at the other server')
  for (const server of [a, b, a]) mustEqual(await send(server, first, 'd1'), 200, `sent to ${server.name}`)
  mustEqual(await send(b, first, 'd2'), 200, 'another delivery')
  for (const server of [a, b]) mustEqual(await sql(server, "select count() from events where event = 'hooked'"), [[2]], server.name)
  const second = await made(b)
  for (const server of [a, b]) mustEqual(await send(server, first, 'd3'), 404, `the old address at ${server.name}`)
  mustEqual(await send(a, second, 'd3'), 200, 'the new address')
  await called(a, 'DELETE', `${configs}/${id}/webhook/`, undefined, 204)
  for (const server of [b, a]) mustEqual(await send(server, second, 'd4'), 404, `turned off at ${server.name}`)
  mustEqual(await sql(b, "select count() from events where event = 'hooked'"), [[3]], 'nothing else is stored')
  await disabled(b, id)
}

export async function pluginChecks(cluster: Cluster, servers: readonly [Server, Server], check: Check): Promise<void> {
  await check('a change of plugins at one server holds for the next event at each', () => changedAnywhere(servers))
  await check('what plugins keep and write is the same everywhere', () => sharedState(cluster, servers))
  await check('a plugin that does not end is stopped wherever events are applied', () => stoppedEverywhere(servers))
  await check('a webhook address leads to its plugin at each server, and ends at once at each', () => addressEverywhere(servers))
  await check('a task runs once in its period', () => oncePerPeriod(cluster, servers))
  await check('events pass plugins and are delivered although servers are killed', () => deliveredThroughKills(cluster, servers))
}
