import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { Agent } from 'node:http'
import { setTimeout } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { heaviestBodies } from './heaviest.ts'
import { startServer } from './storm-server.ts'

// `npm run test:isolation`: a built server under its five heaviest statements, whose engine is killed again and again. Captures go on, nothing acknowledged is
// lost or doubled, and small queries of another project are answered as long as there is an engine. `--kill-ms 0` kills nothing, and `--heavy 0` asks no
// heavy statements: what the small queries take then is the yardstick.

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    'kill-ms': { type: 'string', default: '1000' },
    rate: { type: 'string', default: '200' },
    heavy: { type: 'string', default: '5' },
  },
})
const lasts = Number(values.seconds) * 1000

const heaviest = heaviestBodies().slice(0, Number(values.heavy))

const { projectId, process: server, call, remove } = await startServer()
const agent = () => new Agent({ keepAlive: true })

const other = JSON.parse((await call(agent(), 'POST', '/api/projects/', { name: 'Quiet' })).text) as { id: number; api_token: string }
const engine = (): number | null => {
  const children = readFileSync(`/proc/${server.pid}/task/${server.pid}/children`, 'utf8').split(' ').filter(Boolean)
  return children.length > 0 ? Number(children[0]) : null
}
const small = { query: { kind: 'SqlLikeQuery', query: 'select count(), count(distinct uuid) from events' }, refresh: 'force_blocking' }

const begun = performance.now()
const isOver = () => performance.now() - begun > lasts
let kills = 0
let killedAt = 0

async function killer(): Promise<void> {
  const everyMs = Number(values['kill-ms'])
  for (let next = begun + everyMs; everyMs > 0 && !isOver(); next += everyMs) {
    await setTimeout(Math.max(0, Math.min(next, begun + lasts) - performance.now()))
    if (isOver()) return
    const pid = engine()
    if (pid === null) continue
    try {
      process.kill(pid, 'SIGKILL')
      kills++
      killedAt = performance.now()
    } catch {
      // the engine is restarting
    }
  }
}

const captured: { readonly ms: number; readonly status: number }[] = []
let acknowledged = 0
async function capturer(every: number): Promise<void> {
  const own = agent()
  for (let next = performance.now(); !isOver(); next += every) {
    await setTimeout(Math.max(0, next - performance.now()))
    const sentAt = performance.now()
    const { status } = await call(own, 'POST', '/capture/', {
      api_key: other.api_token,
      event: 'storm',
      distinct_id: `u${captured.length % 97}`,
      uuid: randomUUID(),
    }).catch(() => ({ status: 0 }))
    captured.push({ ms: performance.now() - sentAt, status })
    if (status === 200) acknowledged++
  }
}

const heavyAnswers = new Map<string, number>()
async function heavy(body: string): Promise<void> {
  const own = agent()
  while (!isOver()) {
    const { status, text } = await call(own, 'POST', `/api/projects/${projectId}/query/`, body).catch(() => ({ status: 0, text: '' }))
    const code = status === 200 ? 'answered' : `${status} ${/"detail":"([^"]{0,60})/.exec(text)?.[1] ?? ''}`
    heavyAnswers.set(code, (heavyAnswers.get(code) ?? 0) + 1)
    await setTimeout(50)
  }
}

/** Durations of queries that were not interrupted by a kill. */
const asked: number[] = []
/** From a kill to the first answer after it. */
const back: number[] = []
let failed = 0
async function asker(): Promise<void> {
  const own = agent()
  for (let lastPid = engine(); !isOver(); await setTimeout(50)) {
    const sentAt = performance.now()
    const pid = engine()
    const { status } = await call(own, 'POST', `/api/projects/${other.id}/query/`, small).catch(() => ({ status: 0 }))
    if (status !== 200) failed++
    else if (engine() !== lastPid) back.push(performance.now() - killedAt)
    else if (pid === lastPid) asked.push(performance.now() - sentAt)
    if (status === 200) lastPid = engine()
  }
}

const percentile = (all: readonly number[], share: number) =>
  Math.round([...all].sort((a, b) => a - b)[Math.min(all.length - 1, Math.floor(all.length * share))] ?? -1)

try {
  const clients = 8
  const queries = heaviest.map(heavy)
  await Promise.all([killer(), asker(), ...Array.from({ length: clients }, () => capturer((clients * 1000) / Number(values.rate)))])
  const since = performance.now()
  const { text } = await call(agent(), 'POST', `/api/projects/${other.id}/query/`, small)
  if (!text.includes('"results"')) console.log(text)
  const backMs = Math.round(performance.now() - since)
  const [[rows, different]] = (JSON.parse(text) as { results: [[number, number]] }).results
  const ms = captured.map((one) => one.ms)
  const refused = captured.filter(({ status }) => status !== 200).length
  console.log(
    JSON.stringify({
      seconds: Number(values.seconds),
      kills,
      captures: { sent: captured.length, refused, p50: percentile(ms, 0.5), p99: percentile(ms, 0.99), most: percentile(ms, 1) },
      events: { acknowledged, stored: rows, different },
      small_queries: {
        answered: asked.length + back.length,
        failed,
        while_the_engine_lives: { count: asked.length, p50: percentile(asked, 0.5), p99: percentile(asked, 0.99) },
        after_a_kill: { count: back.length, p50: percentile(back, 0.5), most: percentile(back, 1) },
      },
      heavy: Object.fromEntries(heavyAnswers),
      answered_after_ms: backMs,
    }),
  )
  if (rows !== acknowledged || different !== acknowledged || refused > 0 || failed > 0) process.exitCode = 1
  server.kill('SIGTERM')
  await once(server, 'exit')
  await Promise.allSettled(queries)
} finally {
  remove()
}
process.exit()
