import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { build } from 'esbuild'
import { preludeText } from '../../build/prelude.mjs'
import type { EngineChoice } from '../../src/engine.ts'
import { twoShards } from '../clickhouse/chdb.ts'
import { freePort } from '../harness/free-port.ts'
import { type Postgres, startPostgres } from '../harness/postgres.ts'

// The parts of a cluster, each a process of its own on this machine: PostgreSQL, ClickHouse, and any number of servers.

const repository = resolve(import.meta.dirname, '../..')
const programs = join(repository, '.tmp/cluster')
export const programOf = (name: 'waymark'): string => join(programs, `${name}.mjs`)

/** One file each, so that a start does not read all sources. */
export async function buildPrograms(): Promise<void> {
  mkdirSync(programs, { recursive: true })
  await build({
    absWorkingDir: repository,
    entryPoints: {
      waymark: 'src/doors/cli/main.ts',
      // Of a server that has a directory.
      'engine-process': 'src/engine/isolation/engine-process.ts',
      'fold-worker': 'src/core/folds/fold-worker.ts',
      'answer-worker': 'src/engine/isolation/answer-worker.ts',
      'plugin-worker': 'src/service/plugins/sandbox/plugin-worker.ts',
    },
    outdir: programs,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    external: ['@duckdb/node-bindings*', 'nodemailer', 'pg', '@aws-sdk/*'],
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
    logLevel: 'warning',
  })
  writeFileSync(join(programs, 'plugin-prelude.js'), await preludeText())
}

const ended = (child: ChildProcess) => (child.exitCode !== null || child.signalCode !== null ? Promise.resolve() : once(child, 'exit'))

/** The first line that the program prints, as JSON. */
async function firstLine(child: ChildProcess, said: () => string): Promise<Record<string, string>> {
  const lines = createInterface({ input: child.stdout! })
  const gone = once(child, 'exit').then(([code]) => Promise.reject(new Error(`ended with ${code}: ${said()}`)))
  gone.catch(() => undefined)
  const [line] = (await Promise.race([once(lines, 'line'), gone])) as [string]
  return JSON.parse(line) as Record<string, string>
}

const mostSaid = 20_000
function listened(child: ChildProcess): () => string {
  let text = ''
  child.stderr!.on('data', (bytes: Buffer) => {
    text = (text + bytes.toString()).slice(-mostSaid)
  })
  return () => text
}

export interface ClickHouse {
  readonly url: string
  /** How servers are told of it: the address with the database and how the tables lie. */
  readonly address: string
  kill(): Promise<void>
  start(): Promise<void>
  /** The rows of a statement, without the settings of Waymark. */
  rows<T extends readonly unknown[]>(query: string, database?: string): Promise<T[]>
}

async function startClickHouse(folder: string, isSharded: boolean): Promise<ClickHouse> {
  const port = await freePort()
  const path = join(folder, 'clickhouse')
  let child: ChildProcess | null = null
  let url = ''
  const start = async () => {
    const program = join(import.meta.dirname, 'clickhouse-process.ts')
    child = spawn(process.execPath, ['--import', 'tsx', program, path, String(port), ...(isSharded ? ['shards'] : [])], {
      stdio: ['ignore', 'pipe', 'pipe'],
      cwd: repository,
    })
    const said = listened(child)
    url = (await firstLine(child, said)).url!
  }
  await start()
  return {
    get url() {
      return url
    },
    get address() {
      return `${url}/waymark${isSharded ? `?cluster=${twoShards.cluster}&sharded=true` : ''}`
    },
    start,
    async kill() {
      child!.kill('SIGKILL')
      await ended(child!)
    },
    async rows<T extends readonly unknown[]>(query: string, database = 'waymark') {
      const { origin, username, password } = new URL(url)
      const authorization = `Basic ${Buffer.from(`${username}:${decodeURIComponent(password)}`).toString('base64')}`
      const response = await fetch(`${origin}/?database=${database}&output_format_json_quote_64bit_integers=0`, {
        method: 'POST',
        headers: { authorization },
        body: `${query} FORMAT JSONCompactEachRow`,
      })
      const text = await response.text()
      if (!response.ok) throw new Error(text)
      return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as T]))
    },
  }
}

export interface Answered {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: the body of any route
  readonly body: any
}

/** A server of the cluster. */
export class Server {
  private child: ChildProcess | null = null
  url = ''
  said: () => string = () => ''
  constructor(
    readonly name: string,
    private readonly args: readonly string[],
    private readonly env: Readonly<Record<string, string>>,
  ) {}

  async start(): Promise<Record<string, string>> {
    const env = { ...process.env, ...this.env }
    const args = [join(programs, 'waymark.mjs'), 'serve', '--json', '--port', '0', '--log', 'quiet', ...this.args]
    this.child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'], env, cwd: repository })
    this.said = listened(this.child)
    const facts = await firstLine(this.child, this.said)
    this.url = facts.url!
    return facts
  }

  get pid(): number {
    return this.child!.pid!
  }

  get hasEnded(): boolean {
    return this.child!.exitCode !== null || this.child!.signalCode !== null
  }

  async kill(): Promise<void> {
    this.child!.kill('SIGKILL')
    await ended(this.child!)
  }

  async stop(): Promise<void> {
    this.child!.kill('SIGTERM')
    await ended(this.child!)
  }

  pause(): void {
    this.child!.kill('SIGSTOP')
  }

  wake(): void {
    this.child!.kill('SIGCONT')
  }

  async call(
    method: string,
    path: string,
    { key, body, ms = 60_000 }: { key?: string; body?: unknown; ms?: number } = {},
  ): Promise<Answered> {
    const response = await fetch(`${this.url}${path}`, {
      method,
      headers: { 'content-type': 'application/json', ...(key ? { authorization: `Bearer ${key}` } : {}) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(ms),
    })
    const text = await response.text()
    return { status: response.status, body: text === '' ? null : JSON.parse(text) }
  }
}

export const personalKey = 'phx_cluster_0123456789abcdefghijklmnopqrstuvwxyz'
export const projectKey = 'phc_cluster_0123456789abcdefghijklmnopqrstuvwxyz'

/** Runs one command of the cluster, as an operator does. */
export function command(
  cluster: Cluster,
  words: readonly string[],
  env: Readonly<Record<string, string>> = {},
): { readonly status: number | null; readonly out: string; readonly err: string } {
  const where = ['--clickhouse', cluster.clickhouse.address, '--postgres', cluster.postgresUrl]
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(programs, 'waymark.mjs'), ...words, ...where], {
    encoding: 'utf8',
    cwd: repository,
    env: { ...process.env, ...env },
  })
  return { status, out: stdout, err: stderr }
}

export interface Cluster {
  readonly postgres: Postgres
  readonly postgresUrl: string
  readonly clickhouse: ClickHouse
  readonly folder: string
  /** Where all servers write local files. */
  readonly exportFolder: string
  server(name: string): Server
  close(): Promise<void>
}

export const engineOf = ({ clickhouse, postgresUrl }: Pick<Cluster, 'clickhouse' | 'postgresUrl'>): EngineChoice => {
  const { origin, username, password, searchParams } = new URL(clickhouse.address)
  const cluster = searchParams.get('cluster')
  const layout = cluster === null ? {} : { cluster, sharded: true }
  const server = { url: origin, database: 'waymark', username, password: decodeURIComponent(password) }
  return { clickhouse: { ...server, ...layout }, postgres: postgresUrl }
}

/** `options`: further ones of each server. `isSharded`: events are divided among two shards. */
export async function startCluster(options: readonly string[] = [], isSharded = false): Promise<Cluster> {
  const folder = mkdtempSync(join(tmpdir(), 'waymark-cluster-'))
  const postgres = await startPostgres()
  const clickhouse = await startClickHouse(folder, isSharded)
  const postgresUrl = `postgres://waymark@127.0.0.1:${postgres.port}/postgres`
  const servers: Server[] = []
  const exportFolder = join(folder, 'exports')
  return {
    postgres,
    postgresUrl,
    clickhouse,
    folder,
    exportFolder,
    server(name) {
      const shared = [
        '--private-plugin-requests',
        '--clickhouse',
        clickhouse.address,
        '--postgres',
        postgresUrl,
        '--export-folder',
        exportFolder,
      ]
      const args = [...shared, '--data', join(folder, name), ...options]
      const env = {
        WAYMARK_BOOTSTRAP_PERSONAL_API_KEY: personalKey,
        WAYMARK_BOOTSTRAP_PROJECT_API_KEY: projectKey,
        WAYMARK_SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
      }
      const server = new Server(name, args, env)
      servers.push(server)
      return server
    },
    async close() {
      for (const server of servers) await server.kill().catch(() => undefined)
      await clickhouse.kill()
      await postgres.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
