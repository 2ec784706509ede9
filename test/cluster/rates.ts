import { randomUUID } from 'node:crypto'
import type { Cluster, Server } from './parts.ts'
import { capture, countOf, eventOf } from './together.ts'

// Figures of this machine, not checks: ClickHouse behind its front runs one statement at a time here, and all parts share the cores.

const seconds = 15
const batchEvents = 200

async function rate(servers: readonly Server[], event: string): Promise<object> {
  const until = performance.now() + seconds * 1000
  let sent = 0
  const lane = async (i: number) => {
    for (let n = i; performance.now() < until; n++) {
      const batch = Array.from({ length: batchEvents }, (_, k) =>
        eventOf(event, `r${(n * batchEvents + k) % 10_000}`, { page: `/p${k % 20}`, n: k }),
      )
      if ((await capture(servers[n % servers.length]!, batch)).status === 200) sent += batchEvents
    }
  }
  await Promise.all(Array.from({ length: 4 }, (_, i) => lane(i)))
  const began = performance.now()
  const [[count]] = (await countOf(servers[0]!, event)) as [[number]]
  return {
    servers: servers.length,
    acknowledged_per_second: Math.round(sent / seconds),
    seconds_until_all_are_visible: Number(((performance.now() - began) / 1000).toFixed(1)),
    all_there: count === sent,
  }
}

/** From the acknowledgement at one server to the answer of another that has the event. */
async function latency([a, b]: readonly Server[]): Promise<object> {
  const times: number[] = []
  for (let i = 0; i < 20; i++) {
    const event = `latency_${randomUUID()}`
    await capture(a!, [eventOf(event, 'l')])
    const began = performance.now()
    await countOf(b!, event)
    times.push(performance.now() - began)
  }
  times.sort((x, y) => x - y)
  return { acknowledged_to_visible_ms: { median: Math.round(times[10]!), slowest: Math.round(times[19]!) } }
}

export async function printRates(_cluster: Cluster, servers: readonly Server[]): Promise<void> {
  for (const some of [servers.slice(0, 1), servers]) console.log(JSON.stringify(await rate(some, `rate_${some.length}`)))
  console.log(JSON.stringify(await latency(servers)))
}
