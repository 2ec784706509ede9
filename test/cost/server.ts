import { type ChildProcess, spawn } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { Agent, type ClientRequest, request } from 'node:http'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'
import { afterLeavingSeconds, type Budget, watch } from './budgets.ts'
import { keys } from './keys.ts'
import type { Figures, HttpInput } from './probe.ts'
import { ProcessTree } from './process-tree.ts'
import { bytesOn } from './processes.ts'
import type { Template } from './template.ts'

// A server in processes of its own on loopback, which is asked and watched from here, ended when it passes the limits, and started anew.

const lookEveryMs = 10
/** A light request every so often: how long it waits is how long the event loop was held. */
const lightEveryMs = 15
const smallEveryMs = 100
const cores = availableParallelism()
/** A copy of the directory, and the memory that a process holds on to, are renewed beyond these. */
const grownMb = 300
const grownDisk = 400 * 1024 * 1024

export interface Server {
  measure(input: HttpInput, size: number, budget: Budget): Promise<Figures>
  /** A fresh process with a fresh directory. */
  renew(): Promise<void>
  close(): Promise<void>
  readonly starts: number
}

/** How often is of no interest here, and what a proxy says of its clients counts, so that it costs what it may cost. */
const settings = ['--api-limit', '0', '--trusted-proxies', '127.0.0.0/8']

interface Running {
  readonly child: ChildProcess
  readonly tree: ProcessTree
  readonly url: URL
  readonly dataDir: string
  readonly idleMb: number
  readonly idleDisk: number
  readonly light: Agent
  exit: string | null
  /** Why the door has ended its engine last. */
  engineEnd: string | null
}

export async function startServer(script: string, template: Template, isOneProcess: boolean): Promise<Server> {
  let running: Running | null = null
  let starts = 0

  const start = async (): Promise<Running> => {
    starts++
    const dataDir = mkdtempSync(join(tmpdir(), 'waymark-cost-'))
    cpSync(template.dataDir, dataDir, { recursive: true })
    const command = [
      'node',
      script,
      'serve',
      '--data',
      dataDir,
      '--port',
      '0',
      '--json',
      '--memory',
      '256MB',
      ...(isOneProcess ? ['--one-process'] : []),
      ...settings,
    ]
    const child = spawn('sh', ['-c', `ulimit -c 0; ulimit -d ${watch.dataKb}; exec "$0" "$@"`, ...command], {
      env: { PATH: process.env.PATH },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const orphaned = () => {
      child.kill('SIGKILL')
      rmSync(dataDir, { recursive: true, force: true })
    }
    process.once('exit', orphaned)
    child.once('exit', () => process.off('exit', orphaned))
    let said = ''
    child.stderr!.on('data', (text) => {
      said = (said + text).slice(-2_000)
    })
    const line = await new Promise<string>((resolve, reject) => {
      createInterface({ input: child.stdout! }).once('line', resolve)
      child.once('exit', (code) => reject(new Error(`the server ended with ${code}: ${said}`)))
    })
    const light = new Agent({ keepAlive: true, maxSockets: 1 })
    const url = new URL((JSON.parse(line) as { url: string }).url)
    const tree = new ProcessTree(child.pid!)
    const made: Running = { child, tree, url, dataDir, idleMb: 0, idleDisk: 0, light, exit: null, engineEnd: null }
    child.stderr!.on('data', (text) => {
      made.engineEnd = /The engine (?:is )?ended[^"]*/.exec(String(text))?.[0] ?? made.engineEnd
    })
    child.once('exit', (code, signal) => {
      const words = said.split('\n').find((line) => /abort|memory|Error|assert/i.test(line)) ?? ''
      made.exit = `the process ended with ${signal ?? code}${words && `: ${words.slice(0, 200)}`}`
    })
    // The first query reads the modules and opens the store; what that takes is nobody's cost.
    for (let i = 0; i < 3; i++) await once(made, flush, null)
    // So it is with the thread that answers long queries.
    for (let i = 0; i < 3; i++) {
      const { status, error } = await once(made, longQuery, null)
      if (status !== 200) throw new Error(`the server did not take the first long query: ${status} ${error}`)
    }
    await idle(made)
    return Object.assign(made, { idleMb: tree.residentMb(), idleDisk: bytesOn(dataDir) })
  }
  const stop = async () => {
    const old = running
    running = null
    if (!old) return
    old.light.destroy()
    if (old.exit === null) {
      const ended = new Promise((resolve) => old.child.once('exit', resolve))
      old.child.kill('SIGKILL')
      await ended
    }
    rmSync(old.dataDir, { recursive: true, force: true })
  }
  const renew = async () => {
    await stop()
    running = await start()
  }
  const ready = async (): Promise<Running> => {
    if (running && running.exit === null) {
      const isGrown = running.tree.residentMb() > running.idleMb + grownMb || bytesOn(running.dataDir) > running.idleDisk + grownDisk
      if (!isGrown) return running
    }
    await renew()
    return running!
  }

  /** One request; the status is 0 when the client left, the bytes are those of the answer. */
  const once = (of: Running, input: HttpInput, leave: Promise<void> | null, body = bytesOf(input)) =>
    new Promise<{ status: number; bytes: number; error: string }>((resolve) => {
      const { hostname, port } = of.url
      const headers = { ...credentials(input, template), ...(body ? { 'content-length': String(body.length) } : {}), ...input.headers }
      let [status, bytes, error] = [0, 0, '']
      const done = () => resolve({ status, bytes, error })
      let sent: ClientRequest
      try {
        sent = request({ hostname, port, method: input.method, path: input.path, headers, agent: false }, (answer) => {
          status = answer.statusCode ?? 0
          answer.on('data', (part: Buffer) => {
            bytes += part.length
            if (status >= 500 && error.length < longestError) error += String(part)
          })
          answer.on('end', done).on('error', done).on('close', done)
        })
      } catch {
        return done() // a header that no client could send
      }
      sent.on('error', done).on('close', done)
      leave?.then(() => {
        status = 0
        sent.destroy()
      })
      if (body && input.isHeldBack) {
        sent.write(body.subarray(0, -1))
        wait(1_000).then(() => sent.end(body.subarray(-1)))
      } else sent.end(body ?? undefined)
    })

  const measure = async (input: HttpInput, size: number, budget: Budget): Promise<Figures> => {
    const of = await ready()
    const { tree } = of
    for (const first of input.before ?? []) if (of.exit === null) await once(of, first, null)
    if (input.before && of.exit === null) await once(of, flush, null)
    await idle(of)
    tree.forget()
    const [cpuBefore, mbBefore, diskBefore, begun] = [tree.ms(), tree.residentMb(), bytesOn(of.dataDir), performance.now()]
    of.engineEnd = null
    const cpu = () => tree.ms() - cpuBefore
    let end: string | null = null
    let holdMs = 0
    let isOver = false

    const kill = (why: string) => {
      if (end !== null) return
      end = why
      of.child.kill('SIGKILL')
    }
    let left = () => {}
    const leave = new Promise<void>((resolve) => {
      left = resolve
    })
    let hasLeftAt: number | null = null
    let lastCpu = 0
    let peak = mbBefore
    const look = setInterval(() => {
      if (of.exit !== null) return
      const now = tree.residentMb()
      peak = Math.max(peak, now)
      lastCpu = Math.max(lastCpu, cpu())
      if (now > watch.residentMb) kill(`ended at ${Math.round(now)} MB of resident memory`)
      if (lastCpu > Math.max(watch.cpuSeconds, budget.cpuSeconds) * 1000)
        kill(`ended after ${Math.round(lastCpu / 1000)} s of processor time`)
      if (performance.now() - begun > watch.wallSeconds * 1000) kill(`ended after ${watch.wallSeconds} s`)
      const seconds = budget.leavesAfter
      if (seconds !== null && hasLeftAt === null && !isAnswered && lastCpu > seconds * 1000) {
        hasLeftAt = lastCpu
        left()
      }
      if (hasLeftAt !== null && !isOver && lastCpu - hasLeftAt > afterLeavingSeconds * 1000)
        kill(`still at work ${afterLeavingSeconds} s of processor time after its client had left`)
    }, lookEveryMs)
    const lightRequests = (async () => {
      while (!isOver && of.exit === null) {
        const before = tree.mainThreadMs()
        await lightRequest(of)
        if (of.exit === null) holdMs = Math.max(holdMs, tree.mainThreadMs() - before)
        await wait(lightEveryMs)
      }
    })()
    let othersMs = 0
    let refusedOthers: string | null = null
    const smallRequests =
      budget.othersMs === null
        ? []
        : others(template).map(async (small) => {
            while (!isOver && of.exit === null) {
              const before = tree.ms()
              const since = performance.now()
              const { status } = await once(of, small, null)
              if (status >= 500 && of.exit === null && !isOver)
                refusedOthers ??= `a small request of another project is answered with ${status}`
              // With all the cores to itself the server would have been done in this time.
              const used = (tree.ms() - before) / cores
              if (of.exit === null) othersMs = Math.max(othersMs, Math.min(used, performance.now() - since))
              await wait(smallEveryMs)
            }
          })
    let isAnswered = false
    const body = bytesOf(input)
    const one = (i: number) => {
      const own = input.each?.[i]
      const sent = own ? { ...input, path: own.path, headers: { ...input.headers, authorization: own.authorization } } : input
      return once(of, sent, leave, body)
    }
    const answers: Awaited<ReturnType<typeof once>>[] = []
    const connections = Array.from({ length: input.connections ?? 1 }, (_, i) => i)
    if (input.inTurn) for (const i of connections) answers.push(await one(i))
    else answers.push(...(await Promise.all(connections.map(one))))
    isAnswered = true
    if (input.after && of.exit === null) {
      const { status } = await once(of, input.after, null)
      if (status >= 500) refusedOthers ??= `a small request afterwards is answered with ${status}`
    }
    // Events wait for some seconds before they are stored, unless somebody asks for them.
    if (of.exit === null && storing.test(input.path) && answers.some(({ status }) => status === 200)) await once(of, flush, null)
    if (input.isEndless) while (of.exit === null && cpu() < endlessMs) await wait(lookEveryMs)
    else if (of.exit === null) await idle(of)
    isOver = true
    await Promise.all([lightRequests, ...smallRequests])
    clearInterval(look)
    const isToldOf = budget.mayEndEngine && answers.some(({ error }) => toldOf.test(error))
    const engineEnd = tree.ended > 0 && !isToldOf ? (of.engineEnd ?? 'the engine ended') : null
    const ended = end ?? of.exit ?? engineEnd ?? refusedOthers
    if (ended === null) lastCpu = cpu()
    const figures: Figures = {
      size,
      bytes: input.bytes * (input.connections ?? 1),
      cpuMs: round(lastCpu),
      wallMs: Math.round(performance.now() - begun),
      holdMs: round(Math.min(holdMs, lastCpu)),
      othersMs: round(othersMs),
      residentMb: Math.round(Math.max(peak, of.exit === null && tree.ended === 0 ? tree.peakMb() : 0) - mbBefore),
      diskBytes: Math.max(0, bytesOn(of.dataDir) - diskBefore),
      answerBytes: answers.reduce((sum, { bytes }) => sum + bytes, 0),
      status: answers[0]!.status,
      end: ended,
    }
    if (ended !== null || input.isEndless) await stop()
    return figures
  }

  /** Some requests change the keys that the others come with: those are sent again to a server that knows them. */
  const measureKnown = async (input: HttpInput, size: number, budget: Budget): Promise<Figures> => {
    const figures = await measure(input, size, budget)
    if (figures.status !== 401 || (input.as !== 'key' && input.as !== 'session')) return figures
    await renew()
    return measure(input, size, budget)
  }

  await renew()
  return {
    measure: measureKnown,
    renew,
    close: stop,
    get starts() {
      return starts
    },
  }
}

const bytesOf = ({ body }: HttpInput): Buffer | null => {
  if (body === null) return null
  return typeof body === 'string' ? Buffer.from(body) : Buffer.from(body.buffer, body.byteOffset, body.byteLength)
}
/** Processor time for what goes on in the background, before it is ended. */
const endlessMs = 24_000
const longestError = 4_096
/** An engine that is ended for what a statement does is no finding when whoever sent it learns it. */
const toldOf = /engine's process ended|more memory than it may use|took longer than/
const round = (ms: number) => Math.round(ms * 10) / 10
const storing = /^\/(batch|i\/v|capture|e\b|track|engage)/

const statement = (query: string): HttpInput => ({
  to: 'server',
  method: 'POST',
  path: '/api/projects/1/query/',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ query: { kind: 'SqlLikeQuery', query } }),
  bytes: 0,
  as: 'key',
})
const flush = statement('select 1 from events limit 1')
const longQuery = statement(`select ${Array.from({ length: 1_000 }, (_, i) => `count(1 + ${i}) + 1`)} from events limit 1`)

/** What somebody else with a project of their own asks for meanwhile. */
const others = ({ other }: Template): HttpInput[] => {
  const small = { to: 'server', method: 'POST', bytes: 0, as: 'nobody' } as const
  const headers = { 'content-type': 'application/json' }
  const query = JSON.stringify({ query: { kind: 'SqlLikeQuery', query: 'select 1' } })
  return [
    { ...small, path: '/e/', headers, body: JSON.stringify({ api_key: other.token, event: 'e', distinct_id: 'd' }) },
    { ...small, path: `/api/projects/${other.project}/query/`, headers: { ...headers, authorization: `Bearer ${other.key}` }, body: query },
  ]
}

const credentials = ({ as }: HttpInput, { session, viewer }: Template): Record<string, string> => {
  if (as === 'key') return { authorization: `Bearer ${keys.personal}` }
  if (as === 'viewer') return { authorization: `Bearer ${viewer}` }
  if (as === 'token') return { authorization: `Bearer ${keys.project}` }
  return as === 'session' ? { cookie: `waymark_session=${session}` } : {}
}

const lightRequest = ({ url, light }: Running) =>
  new Promise<void>((resolve) => {
    request({ hostname: url.hostname, port: url.port, path: '/_livez', agent: light }, (answer) => {
      answer.resume().once('close', resolve)
    })
      .once('error', () => resolve())
      .end()
  })

const quietMs = 2
/** Until the process has next to nothing to do, for a while at the most. */
async function idle(of: Running): Promise<void> {
  let quiet = 0
  for (let i = 0, last = of.tree.ms(); i < 2_000 && quiet < 2 && of.exit === null; i++) {
    await wait(20)
    const now = of.tree.ms()
    quiet = now - last < quietMs ? quiet + 1 : 0
    last = now
  }
}
