import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readlinkSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { expect } from 'vitest'
import { program } from '../../harness/programs.ts'

// Servers that share one data directory, restarted and killed while events come in.

export interface Facts {
  readonly url: string
  readonly organization_id: string
  readonly project_id: number
  readonly project_api_key: string
  readonly personal_api_key?: string
}

export class Member {
  readonly facts: Facts
  private readonly process: ChildProcess
  private readonly ended: Promise<unknown>
  /** What it has said on stderr. */
  readonly said: string[]

  private constructor(process: ChildProcess, facts: Facts, said: string[]) {
    this.process = process
    this.facts = facts
    this.said = said
    this.ended = once(process, 'exit')
  }

  static start = (dataDir: string, ...options: string[]): Promise<Member> => Member.begin(dataDir, options).started

  /** While it starts, what it says is there already. */
  static begin(dataDir: string, options: readonly string[] = []): { readonly said: readonly string[]; readonly started: Promise<Member> } {
    const args = ['serve', '--data', dataDir, '--connect', '--port', '0', '--json', '--log', 'quiet', '--memory', '256MB', ...options]
    const child = spawn(process.execPath, [program('cli'), ...args], { stdio: ['ignore', 'pipe', 'pipe'], env: { PATH: process.env.PATH } })
    const said: string[] = []
    createInterface({ input: child.stderr! }).on('line', (line) => said.push(line))
    const line = new Promise<string>((resolve, reject) => {
      createInterface({ input: child.stdout! }).once('line', resolve)
      child.once('exit', (code) => reject(new Error(`The server ended with ${code}: ${said.join('\n')}`)))
    })
    return { said, started: line.then((text) => new Member(child, JSON.parse(text) as Facts, said)) }
  }

  async stop(): Promise<void> {
    this.process.kill('SIGTERM')
    expect(await this.ended).toEqual([0, null])
  }

  /** Its open connections, with those that wait for an answer of the owner. */
  get sockets(): number {
    const folder = `/proc/${this.process.pid}/fd`
    return readdirSync(folder).filter((name) => readlinkSync(`${folder}/${name}`).startsWith('socket:')).length
  }

  /** It neither answers nor ends. */
  pause(): void {
    this.process.kill('SIGSTOP')
  }

  wake(): void {
    this.process.kill('SIGCONT')
  }

  async kill(): Promise<void> {
    this.process.kill('SIGKILL')
    await this.ended
  }
}

/** Sends events to the members that are there, one request after another, until it is ended. All are answered, or the test fails. */
export class Load {
  private members: readonly Member[] = []
  private readonly wrong: string[] = []
  private sent = 0
  private running = 0
  private whenQuiet: (() => void) | null = null
  private isOver = false
  acknowledged = 0
  slowest = 0

  private readonly key: string
  constructor(key: string) {
    this.key = key
  }

  /** From now on only to these: resolves when nothing waits for another one. */
  async to(...members: Member[]): Promise<void> {
    this.members = []
    if (this.running > 0)
      await new Promise<void>((resolve) => {
        this.whenQuiet = resolve
      })
    this.members = members
    for (const member of members) void this.run(member)
  }

  /** Resolves when so many more are acknowledged. */
  async more(count: number): Promise<void> {
    const wanted = this.acknowledged + count
    while (this.acknowledged < wanted && this.wrong.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
    expect(this.wrong).toEqual([])
  }

  async end(): Promise<number> {
    await this.to()
    this.isOver = true
    expect(this.wrong).toEqual([])
    return this.acknowledged
  }

  private async run(member: Member): Promise<void> {
    this.running++
    try {
      while (!this.isOver && this.members.includes(member)) await this.send(member)
    } finally {
      if (--this.running === 0) this.whenQuiet?.()
    }
  }

  private async send(member: Member): Promise<void> {
    const number = this.sent++
    // Without uuids: a request that is sent twice would be stored twice.
    const batch = [0, 1].map((i) => ({ event: 'e', distinct_id: `u${number % 7}`, properties: { number: 2 * number + i } }))
    const began = performance.now()
    try {
      const response = await fetch(`${member.facts.url}/batch/`, { method: 'POST', body: JSON.stringify({ api_key: this.key, batch }) })
      if (response.status === 200) this.acknowledged += batch.length
      else this.wrong.push(`${response.status} ${await response.text()}`)
    } catch (error) {
      this.wrong.push(String((error as Error).cause ?? error))
    }
    this.slowest = Math.max(this.slowest, performance.now() - began)
  }
}

/** How many events there are, and how many different ones. */
export async function counts({ facts }: Member, { project_id, personal_api_key }: Facts): Promise<unknown> {
  const response = await fetch(`${facts.url}/api/projects/${project_id}/query/`, {
    method: 'POST',
    headers: { authorization: `Bearer ${personal_api_key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      query: { kind: 'SqlLikeQuery', query: 'select count(), uniq(properties.number) from events' },
      refresh: 'force_blocking',
    }),
  })
  return ((await response.json()) as { results?: unknown }).results
}
