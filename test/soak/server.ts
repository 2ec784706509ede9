import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, readFileSync, type WriteStream } from 'node:fs'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout } from 'node:timers/promises'
import { processesOf } from './measure.ts'

export const cli = join(import.meta.dirname, '../../dist/cli.js')

export interface Answer {
  readonly status: number
  readonly text: string
}

const isAlive = (pid: number): boolean => {
  try {
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ')
  } catch {
    return false
  }
}

/** The built server. It comes back on the same port after a kill. */
export class Server {
  private child: ChildProcess
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 64 })
  /** Odd while there is no server. */
  private life = 0

  private constructor(
    private readonly args: readonly string[],
    private readonly log: WriteStream,
    child: ChildProcess,
    readonly url: string,
    readonly projectId: number,
    readonly token: string,
    readonly key: string,
  ) {
    this.child = child
  }

  static async start(args: readonly string[], logFile: string): Promise<Server> {
    const log = createWriteStream(logFile, { flags: 'a' })
    const { child, facts } = await launch([...args, '--port', '0'], log)
    return new Server(args, log, child, facts.url, facts.project_id, facts.project_api_key, facts.personal_api_key!)
  }

  get pid(): number {
    return this.child.pid!
  }

  /** Kills every process of the server at once, and starts another one. */
  async kill(): Promise<void> {
    this.life++
    const before = processesOf(this.pid)
    for (const pid of before)
      try {
        process.kill(pid, 'SIGKILL')
      } catch {
        // it has ended by itself
      }
    while (before.some(isAlive)) await setTimeout(20)
    this.child = (await launch([...this.args, '--port', new URL(this.url).port], this.log)).child
    this.life++
  }

  get isUp(): boolean {
    return this.life % 2 === 0
  }

  /** Says whether there was a server from now on, the same one: what was under way while it was killed may fail, and has no time. */
  undisturbed(): () => boolean {
    const { life, isUp } = this
    return () => isUp && life === this.life
  }

  async stop(): Promise<number | null> {
    this.child.kill('SIGTERM')
    if (this.child.exitCode === null) await once(this.child, 'exit')
    this.agent.destroy()
    return this.child.exitCode
  }

  /** A status of 0: there was no answer. */
  async call(method: string, path: string, body?: unknown, more: Readonly<Record<string, string>> = {}): Promise<Answer> {
    const isRaw = typeof body === 'string' || body instanceof Uint8Array
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${this.key}`, ...more }
    return new Promise((resolve) => {
      const asked = request(new URL(path, this.url), { method, agent: this.agent, headers }, (answer) => {
        const parts: Buffer[] = []
        answer.on('data', (part: Buffer) => parts.push(part))
        answer.on('end', () => resolve({ status: answer.statusCode!, text: Buffer.concat(parts).toString() }))
        answer.on('error', (error) => resolve({ status: 0, text: String(error) }))
      })
      asked.on('error', (error) => resolve({ status: 0, text: String(error) }))
      asked.end(body === undefined || isRaw ? body : JSON.stringify(body))
    })
  }

  /** The JSON of an answer that must be a success. */
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  async api(method: string, path: string, body?: unknown): Promise<any> {
    const { status, text } = await this.call(method, path, body)
    if (status < 200 || status > 299) throw new Error(`${method} ${path}: ${status} ${text.slice(0, 500)}`)
    return text === '' ? null : JSON.parse(text)
  }
}

interface Facts {
  readonly url: string
  readonly project_id: number
  readonly project_api_key: string
  readonly personal_api_key?: string
}

async function launch(args: readonly string[], log: WriteStream): Promise<{ readonly child: ChildProcess; readonly facts: Facts }> {
  const child = spawn(process.execPath, [cli, 'serve', ...args, '--json', '--log', 'quiet'], { stdio: ['ignore', 'pipe', 'pipe'] })
  child.stderr!.pipe(log, { end: false })
  const lines = createInterface({ input: child.stdout! })
  const [line] = (await Promise.race([
    once(lines, 'line'),
    once(child, 'exit').then(([code]) => {
      throw new Error(`The server ended with ${code} before it was ready: see ${log.path}`)
    }),
  ])) as [string]
  lines.on('line', () => undefined)
  return { child, facts: JSON.parse(line) as Facts }
}
