import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { open } from '../../src/engine.ts'
import { program } from '../harness/programs.ts'

// A server with two processes and little memory, and what its processes take.

const patienceMs = 600_000

export interface Answer {
  readonly status: number
  readonly text: string
}

export interface Served {
  readonly url: string
  call(method: string, path: string, body?: unknown): Promise<Answer>
  /** A statement's rows, or what was answered in their place. */
  rows(project: number, query: string): Promise<unknown>
  /** Whether its engine is still the first one. */
  hasFirstEngine(): boolean
  /** The most memory that the engine, and the door, have had, in bytes. */
  peaks(): { readonly engine: number; readonly door: number }
  /** The end of what it wrote to standard error. */
  log(): string
  /** Without a word to it. */
  kill(): Promise<void>
  stop(): Promise<void>
}

/** A directory with projects, their tokens, and a key for all of them. */
export async function makeProjects(dataDir: string, count: number) {
  const waymark = await open({ dataDir })
  try {
    const { key } = await waymark.createPersonalKey({ label: 'test', scopes: ['*'] })
    const projects: { readonly id: number; readonly token: string }[] = []
    for (let i = 0; i < count; i++) {
      const { id, api_token } = await waymark.accounts.createProject({ name: `Project ${i}`, ingested_event: true } as never)
      projects.push({ id, token: api_token })
    }
    return { key, projects }
  } finally {
    await waymark.close()
  }
}

const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
const isEngine = (pid: number) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('engine-process')
const peakOf = (pid: number) => Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024

/** `key`: null for the one that a first start prints. */
export async function serve(dataDir: string, memory: string, key: string | null, more: readonly string[] = []): Promise<Served> {
  const unlimited = ['--concurrent-queries', '--queries-per-user', '--api-limit'].flatMap((name) => [name, '0'])
  const args = [program('cli'), 'serve', '--data', dataDir, '--port', '0', '--json', '--memory', memory, ...unlimited, ...more]
  const child: ChildProcess = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let log = ''
  child.stderr!.on('data', (text) => {
    log = `${log}${text}`.slice(-20_000)
  })
  const over = once(child, 'exit')
  const lines = createInterface({ input: child.stdout! })
  const line = await Promise.race([once(lines, 'line').then(([line]) => line as string), over.then(() => null)])
  if (line === null) throw new Error(`The server ended by itself:\n${log}`)
  lines.on('line', () => undefined)
  const { url, personal_api_key: firstKey } = JSON.parse(line) as { url: string; personal_api_key?: string }
  const engines = () => childrenOf(child.pid!).filter(isEngine)
  const [first] = engines() // a spare one may come later
  const call = async (method: string, path: string, body?: unknown): Promise<Answer> => {
    const sent = body === undefined ? {} : { body: typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body) }
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${key ?? firstKey}` }
    const answer = await fetch(new URL(path, url), { method, headers, ...(sent as { body?: string }) })
    return { status: answer.status, text: await answer.text() }
  }
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal)
    await over
  }
  return {
    url,
    call,
    async rows(project, query) {
      const body = { query: { kind: 'SqlLikeQuery', query }, refresh: 'force_blocking' }
      let { status, text } = await call('POST', `/api/projects/${project}/query/`, body)
      // On a busy machine it takes longer until all that was sent is applied than a query waits for it.
      for (const until = performance.now() + patienceMs; status === 504 && text.includes('ran 0 s') && performance.now() < until; )
        ({ status, text } = await call('POST', `/api/projects/${project}/query/`, body))
      return status === 200 ? (JSON.parse(text) as { results: unknown }).results : `${status} ${text.slice(0, 500)}`
    },
    hasFirstEngine: () => first !== undefined && engines().includes(first),
    peaks() {
      const engine = engines()
      return { engine: Math.max(0, ...engine.map(peakOf)), door: peakOf(child.pid!) }
    },
    log: () => log,
    kill: () => end('SIGKILL'),
    stop: () => end('SIGTERM'),
  }
}
