import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { open } from '../../src/engine.ts'
import { buildPrograms, type Cluster, personalKey, projectKey, type Server, startCluster } from '../../test/cluster/parts.ts'
import { machine, median, rounded } from '../measure.ts'
import { cpuOfEvent, cpuOfParts } from './cpu.ts'
import { questions } from './questions.ts'

// PostgreSQL, ClickHouse and servers are processes of this machine, which share its cores. ClickHouse is the library chdb behind a front that runs one statement
// at a time: the rates are those of that front.

const { values } = parseArgs({ options: { events: { type: 'string', default: '200000' }, runs: { type: 'string', default: '5' } } })
const events = Number(values.events)
const runs = Number(values.runs)
const batchSize = 200
const senders = 6

const day = 86_400_000
const start = Date.UTC(2026, 2, 1)
const plans = ['free', 'pro', 'team']
const batchOf = (from: number) =>
  Array.from({ length: batchSize }, (_, k) => {
    const i = from + k
    const timestamp = new Date(start + (i % 30) * day + ((i * 7919) % 80_000) * 1000).toISOString()
    const properties = {
      plan: plans[i % 3],
      amount: i % 100,
      $current_url: `https://shop.example/p/${i % 50}`,
      $browser: 'Firefox',
      $lib: 'web',
    }
    return {
      event: i % 4 === 0 ? 'buy' : 'visit',
      distinct_id: `u${(i * 31) % Math.max(100, Math.floor(events / 40))}`,
      timestamp,
      properties,
    }
  })

async function ok(answer: Promise<{ status: number; body: unknown }>): Promise<unknown> {
  const { status, body } = await answer
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`)
  return body
}
const ask = (server: Server, project: number, query: object): Promise<unknown> =>
  ok(server.call('POST', `/api/projects/${project}/query/`, { key: personalKey, body: { query, refresh: 'force_blocking' }, ms: 600_000 }))
const countOf = async (server: Server, project: number): Promise<number> =>
  ((await ask(server, project, { kind: 'SqlLikeQuery', query: 'select count() from events' })) as { results: [[number]] }).results[0][0]

/** Until all are acknowledged, and until a query has counted them. */
async function load(servers: readonly Server[], project: number, from: number, count: number) {
  let next = from
  const cpu = cpuOfParts()
  const began = performance.now()
  const send = async (server: Server) => {
    while (next < from + count) {
      const first = next
      next += batchSize
      await ok(server.call('POST', '/batch/', { body: { api_key: projectKey, batch: batchOf(first) } }))
    }
  }
  await Promise.all(Array.from({ length: senders }, (_, i) => send(servers[i % servers.length]!)))
  const acknowledged = (performance.now() - began) / 1000
  const counted = await countOf(servers[0]!, project)
  const visible = (performance.now() - began) / 1000
  if (counted !== from + count) throw new Error(`${counted} of ${from + count} events are there`)
  const cpu_micros_of_an_event = cpuOfEvent(cpu, cpuOfParts(), count)
  return {
    acknowledged_per_second: Math.round(count / acknowledged),
    visible_per_second: Math.round(count / visible),
    cpu_micros_of_an_event,
  }
}

/** So many events fit beside the others that wait: a server takes no more than 16 MB that are not applied. */
const waitingOfServer = 20_000

/** What a server spends on an event that it acknowledges, and what the one that applies it spends on it, each alone. */
async function stages({ postgres }: Cluster, servers: readonly Server[], project: number, from: number) {
  const lease = (change: string) => postgres.sql.run(`UPDATE waymark.cluster_partitions SET ${change} WHERE project = ${project}`)
  const waiting = async () => {
    const [row] = await postgres.sql.rows<{ left: number }>(
      `SELECT (e.last_seq - p.applied_seq)::integer AS left FROM waymark.cluster_log_ends e JOIN waymark.cluster_partitions p USING (project) WHERE project = ${project}`,
    )
    return row!.left
  }
  await countOf(servers[0]!, project)
  // Somebody who does nothing has the lease.
  await lease("holder = 'nobody', epoch = epoch + 1, until = clock_timestamp() + interval '1 hour'")
  const count = waitingOfServer * servers.length
  const cpu = cpuOfParts()
  const began = performance.now()
  await Promise.all(servers.map((server, i) => sendAll(server, from + i * waitingOfServer, waitingOfServer)))
  const seconds = (performance.now() - began) / 1000
  const between = cpuOfParts()
  await lease('until = clock_timestamp()')
  let left = count
  while (left === count) left = await polled(waiting) // until a server has taken the lease, and knows the uuids that were there before
  const [first, begin] = [left, performance.now()]
  while (left > 0) left = await polled(waiting)
  const until = (performance.now() - begin) / 1000
  return {
    events: count,
    acknowledged_per_second: Math.round(count / seconds),
    cpu_micros_to_acknowledge: cpuOfEvent(cpu, between, count),
    applied_per_second: Math.round(first / until),
    cpu_micros_to_apply: cpuOfEvent(between, cpuOfParts(), count),
  }
}

const polled = async (look: () => Promise<number>): Promise<number> => {
  await pause(20)
  return look()
}

async function sendAll(server: Server, from: number, count: number): Promise<void> {
  let next = from
  const lane = async () => {
    while (next < from + count) {
      const first = next
      next += batchSize
      await ok(server.call('POST', '/batch/', { body: { api_key: projectKey, batch: batchOf(first) } }))
    }
  }
  await Promise.all(Array.from({ length: senders / 2 }, lane))
}

/** From the acknowledgement of one event at a server to the answer of another one that has it. */
async function visibility(a: Server, b: Server, project: number) {
  const times: number[] = []
  for (let i = 0; i < 20; i++) {
    const before = await countOf(b, project)
    await ok(a.call('POST', '/batch/', { body: { api_key: projectKey, batch: batchOf(0).slice(0, 1) } }))
    const began = performance.now()
    const counted = await countOf(b, project)
    times.push(performance.now() - began)
    if (counted !== before + 1) throw new Error('an acknowledged event is not in the answer')
  }
  const rest: number[] = []
  for (let i = 0; i < 20; i++) {
    const began = performance.now()
    await countOf(b, project)
    rest.push(performance.now() - began)
  }
  return { ms_to_answer: rounded(median(times)), ms_of_the_same_answer_at_rest: rounded(median(rest)) }
}

/** Bytes of an event where it is kept: of the log until it is too old, of all tables in ClickHouse for good. */
async function bytesOfEvent({ postgres, clickhouse }: Cluster) {
  const [log] = await postgres.sql.rows<{ bytes: number }>("SELECT pg_total_relation_size('waymark.cluster_log')::float8 AS bytes")
  const [[table]] = (await clickhouse.rows<[number]>(
    "SELECT sum(bytes_on_disk) FROM system.parts WHERE database = 'waymark' AND active",
  )) as [[number]]
  return { log_bytes_of_an_event: Math.round(Number(log!.bytes) / events), clickhouse_bytes_of_an_event: Math.round(table / events) }
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const times: number[] = []
  for (let i = 0; i <= runs; i++) {
    const began = performance.now()
    await work()
    if (i > 0) times.push(performance.now() - began) // the first one warms up
  }
  return median(times)
}

async function askAll(cluster: Cluster, server: Server, project: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'waymark-bench-cluster-'))
  const waymark = await open({ dataDir: join(folder, 'data') })
  try {
    const embedded = await waymark.createProject({ name: 'Bench' })
    for (let from = 0; from < events; from += batchSize) await embedded.ingest({ batch: batchOf(from) as never })
    for (const { name, query, sql } of questions) {
      const own = await timed(() => ask(server, project, query))
      const byHand = await timed(() => cluster.clickhouse.rows(sql.replaceAll('{project}', String(project))))
      const here = await timed(() => embedded.query(query as never, { refresh: 'force_blocking' }))
      const figures = { ms: rounded(own), by_hand_ms: rounded(byHand), embedded_ms: rounded(here), ratio_to_by_hand: rounded(own / byHand) }
      console.log(JSON.stringify({ bench: 'cluster', question: name, events, ...figures, aim: 1.3 }))
    }
  } finally {
    await waymark.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

await buildPrograms()
const cluster = await startCluster(['--events-per-day', '0'])
try {
  const [a, b] = [cluster.server('a'), cluster.server('b')]
  const project = Number((await a.start()).project_id)
  console.log(JSON.stringify({ bench: 'cluster', ...machine(), limit: 'the front of ClickHouse runs one statement at a time' }))
  const half = Math.ceil(events / 2 / batchSize) * batchSize
  console.log(JSON.stringify({ bench: 'cluster', what: 'one server', events: half, ...(await load([a], project, 0, half)) }))
  await b.start()
  console.log(JSON.stringify({ bench: 'cluster', what: 'two servers', events: half, ...(await load([a, b], project, half, half)) }))
  console.log(JSON.stringify({ bench: 'cluster', what: 'on disk', ...(await bytesOfEvent(cluster)) }))
  await askAll(cluster, a, project)
  console.log(JSON.stringify({ bench: 'cluster', what: 'each stage alone', ...(await stages(cluster, [a, b], project, 2 * half)) }))
  console.log(JSON.stringify({ bench: 'cluster', what: 'from acknowledged to visible', ...(await visibility(a, b, project)) }))
} finally {
  await cluster.close()
}
