import { setTimeout as pause } from 'node:timers/promises'
import { type Check, Failed, mustEqual } from './checks.ts'
import type { Cluster, Server } from './parts.ts'
import { capture, countOf, eventOf, sql } from './together.ts'

// Servers, ClickHouse and PostgreSQL are killed, cut off and stopped while events come. Afterwards every acknowledged event is stored, once.

/** Sends events to all servers until it is stopped, and repeats what was not acknowledged, with the same uuids. */
/** Those that a failed check has left. */
const loads = new Set<Load>()
export const stopLoads = () => Promise.all([...loads].map((load) => load.stop()))

export class Load {
  readonly acknowledged = new Set<string>()
  refusals = 0
  private isOver = false
  private readonly senders: Promise<void>[]
  constructor(servers: readonly Server[], eventName: string, lanes = 2) {
    this.senders = Array.from({ length: lanes }, (_, lane) => this.send(servers, eventName, lane))
    loads.add(this)
  }

  async stop(): Promise<void> {
    this.isOver = true
    loads.delete(this)
    await Promise.all(this.senders)
  }

  private async send(servers: readonly Server[], eventName: string, lane: number): Promise<void> {
    for (let i = lane; !this.isOver; i++) {
      const batch = Array.from({ length: 1 + (i % 7) }, (_, n) => eventOf(eventName, `d${(i * 7 + n) % 50}`, { n: i }))
      for (let attempt = 0; ; attempt++) {
        const answer = await capture(servers[(i + attempt) % servers.length]!, batch, 15_000).catch(() => null)
        if (answer?.status === 200) break
        if (this.isOver && attempt > 100) return // a failed check has left it
        this.refusals++
        await pause(100)
      }
      for (const { uuid } of batch) this.acknowledged.add(uuid)
    }
  }
}

/** All rows of the table as they are, without FINAL or DISTINCT. */
export async function recount({ clickhouse }: Cluster, load: Load, eventName: string): Promise<void> {
  const stored = await clickhouse.rows<[string, number]>(
    `SELECT toString(uuid), count() FROM events WHERE event = '${eventName}' GROUP BY uuid`,
  )
  const twice = stored.filter(([, count]) => count !== 1)
  const there = new Set(stored.map(([uuid]) => uuid))
  const lost = [...load.acknowledged].filter((uuid) => !there.has(uuid))
  mustEqual([lost.length, twice.length], [0, 0], `lost and doubled of ${load.acknowledged.size}`)
}

/** A query that answers shows that everything acknowledged is applied. */
export async function settled(server: Server, eventName: string, seconds = 90): Promise<number> {
  const until = performance.now() + seconds * 1000
  for (;;) {
    try {
      const [[count]] = (await countOf(server, eventName)) as [[number]]
      return count
    } catch (error) {
      if (performance.now() > until) throw new Failed(`no answer after ${seconds} s: ${String(error)}\n${server.said().slice(-2_000)}`)
      await pause(250)
    }
  }
}

const holderOf = async ({ postgres }: Cluster, project = 1): Promise<string> => {
  const [row] = await postgres.sql.rows<{ holder: string }>(
    `SELECT coalesce(holder, '') AS holder FROM waymark.cluster_partitions WHERE project = ${project}`,
  )
  return row?.holder ?? ''
}

/** The server that applies the project, and another one. */
export async function byLease(cluster: Cluster, servers: readonly Server[]): Promise<readonly [holder: Server, other: Server]> {
  const name = await holderOf(cluster)
  const holder = servers.find(({ pid }) => name.split(' ')[1] === String(pid))
  if (!holder) throw new Failed(`no server has the lease: ${name}`)
  return [holder, servers.find((one) => one !== holder)!]
}

export async function faultChecks(cluster: Cluster, servers: readonly Server[], check: Check): Promise<void> {
  await check('the server that applies events is killed under load: another takes over', async () => {
    const load = new Load(servers, 'killed')
    await pause(1_500)
    const [holder, other] = await byLease(cluster, servers)
    await holder.kill()
    await pause(2_000)
    const count = await settled(other, 'killed')
    mustEqual(count > 0, true, 'events')
    mustEqual(await holderOf(cluster).then((name) => name.includes(` ${other.pid} `)), true, 'the other one has the lease')
    await holder.start()
    await load.stop()
    mustEqual(await settled(holder, 'killed'), load.acknowledged.size, 'count')
    await recount(cluster, load, 'killed')
  })

  await check('servers are stopped and started one after the other under load: each ends soon, and the other answers', async () => {
    const load = new Load(servers, 'rolling')
    for (let i = 0; i < 6; i++) {
      const [server, other] = i % 2 ? servers : [...servers].reverse()
      await pause(500)
      const began = performance.now()
      await server!.stop()
      mustEqual(performance.now() - began < 10_000, true, `${server!.name} has ended after ${Math.round(performance.now() - began)} ms`)
      await settled(other!, 'rolling', 10)
      await server!.start()
    }
    await load.stop()
    mustEqual(await settled(servers[0]!, 'rolling'), load.acknowledged.size, 'count')
    await recount(cluster, load, 'rolling')
  })

  await check('a server that is stopped gives its lease back', async () => {
    await sql(servers[0]!, 'select 1')
    const [holder, other] = await byLease(cluster, servers)
    await holder.stop()
    await capture(other, [eventOf('handed', 'h')])
    const began = performance.now()
    mustEqual(await countOf(other, 'handed'), [[1, 1]], 'count')
    mustEqual(performance.now() - began < 5_000, true, 'sooner than a lease ends')
    await holder.start()
  })

  await check('ClickHouse is killed and started again: captures are acknowledged meanwhile, and queries answer afterwards', async () => {
    const load = new Load(servers, 'without')
    await pause(1_000)
    await cluster.clickhouse.kill()
    const before = load.acknowledged.size
    await pause(3_000)
    mustEqual(load.acknowledged.size > before, true, 'events are acknowledged')
    await cluster.clickhouse.start()
    await load.stop()
    mustEqual(await settled(servers[1]!, 'without'), load.acknowledged.size, 'count')
    await recount(cluster, load, 'without')
  })

  await check('PostgreSQL is killed and started again: nothing acknowledged is lost', async () => {
    const load = new Load(servers, 'unlogged')
    await pause(1_000)
    await cluster.postgres.kill()
    await pause(3_000)
    await cluster.postgres.startAgain()
    await pause(2_000)
    await load.stop()
    mustEqual(await settled(servers[0]!, 'unlogged'), load.acknowledged.size, 'count')
    await recount(cluster, load, 'unlogged')
  })

  await check('the server that applies events is paused for longer than its lease, and wakes', async () => {
    const load = new Load(servers, 'paused')
    await pause(1_000)
    const [holder, other] = await byLease(cluster, servers)
    holder.pause()
    await pause(9_000)
    await settled(other, 'paused')
    mustEqual(await holderOf(cluster).then((name) => name.includes(` ${other.pid} `)), true, 'the other one has the lease')
    holder.wake()
    await load.stop()
    mustEqual(await settled(holder, 'paused'), load.acknowledged.size, 'count at the one that woke')
    mustEqual(await settled(other, 'paused'), load.acknowledged.size, 'count at the other one')
    await recount(cluster, load, 'paused')
  })
}

const randomFrom = (seed: number) => () => {
  seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
  return seed / 2_147_483_648
}

/** One random fault after the other under load, with a recount after each. */
export async function faultRounds(cluster: Cluster, servers: readonly Server[], rounds: number, seed: number, check: Check): Promise<void> {
  const random = randomFrom(seed)
  const one = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!
  const faults: Readonly<Record<string, () => Promise<void>>> = {
    'a server is killed': async () => {
      const server = one(servers)
      await server.kill()
      await pause(random() * 3_000)
      await server.start()
    },
    'a server is stopped and started': async () => {
      const server = one(servers)
      await server.stop()
      await server.start()
    },
    'a server is paused': async () => {
      const server = one(servers)
      server.pause()
      await pause(random() * 10_000)
      server.wake()
    },
    'ClickHouse is killed': async () => {
      await cluster.clickhouse.kill()
      await pause(random() * 2_000)
      await cluster.clickhouse.start()
    },
    'PostgreSQL is killed': async () => {
      await cluster.postgres.kill()
      await pause(random() * 2_000)
      await cluster.postgres.startAgain()
    },
    'all servers are killed': async () => {
      await Promise.all(servers.map((server) => server.kill()))
      await Promise.all(servers.map((server) => server.start()))
    },
  }
  for (let round = 1; round <= rounds; round++) {
    const name = one(Object.keys(faults))
    await check(`round ${round}: ${name}`, async () => {
      const event = `round_${round}`
      const load = new Load(servers, event)
      await pause(random() * 1_500)
      await faults[name]!()
      await pause(random() * 1_000)
      await load.stop()
      for (const server of servers) mustEqual(await settled(server, event), load.acknowledged.size, `count at ${server.name}`)
      await recount(cluster, load, event)
    })
  }
}
