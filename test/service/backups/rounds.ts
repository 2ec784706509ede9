import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, createReadStream, createWriteStream, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { pipeline } from 'node:stream/promises'
import { setImmediate, setTimeout } from 'node:timers/promises'
import { DuckDBInstance } from '@duckdb/node-api'
import { random } from '../../../bench/random.ts'
import { WaymarkError } from '../../../src/errors/errors.ts'
import { restore } from '../../../src/service/backups/restore-directory.ts'
import { bundle, inspect } from '../../crash/harness.ts'
import { clients, stepOf } from '../../crash/workload.ts'

// Copies of a directory whose process ingests: by a backup, by a snapshot at one moment (the process is stopped meanwhile), and file by file while it goes on. Each
// is opened as a user would open it and must have all that was acknowledged before it began, or say that it is torn.

export interface RoundsResult {
  readonly rounds: number
  readonly backups: number
  readonly snapshots: number
  /** Copies file by file that were refused, and those that opened and were whole. */
  readonly torn: number
  readonly whole: number
  readonly batches: number
}

interface Running {
  readonly child: ChildProcess
  /** The number of acknowledged steps of each client. */
  readonly next: number[]
  /** The first line after now that starts with a word. */
  line(word: string): Promise<string>
}

async function start(program: string, dataDir: string, next: number[]): Promise<Running> {
  const child = spawn(process.execPath, [program, dataDir, ...next.map(String)], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, SETTLE_MS: '30' },
  })
  const waiting = new Map<string, (line: string) => void>()
  createInterface({ input: child.stdout! }).on('line', (line) => {
    const [word, first, second] = line.split(' ')
    if (word === 'ack') next[Number(first)] = Number(second) + 1
    waiting.get(word!)?.(line)
    if (word === 'failed') throw new Error(line)
  })
  const running = {
    child,
    next,
    line: (word: string) =>
      new Promise<string>((resolve) =>
        waiting.set(word, (line) => {
          waiting.delete(word)
          resolve(line)
        }),
      ),
  }
  await running.line('ready')
  return running
}

/** A thread that is inside of a system call when the signal comes stops at its end. */
async function stopped(pid: number): Promise<void> {
  const tasks = `/proc/${pid}/task`
  const isStopped = (task: string) =>
    readFileSync(join(tasks, task, 'stat'), 'utf8')
      .split(') ')
      .at(-1)!
      .startsWith('T')
  while (!readdirSync(tasks).every(isStopped)) await setImmediate()
}

/** File by file, in any order, slowly: the process writes meanwhile. */
async function copySlowly(from: string, to: string, draw: () => number): Promise<void> {
  const files = readdirSync(from, { recursive: true, withFileTypes: true }).filter((one) => one.isFile())
  const order = files.map((file) => ({ file, at: draw() })).sort((a, b) => a.at - b.at)
  for (const { file } of order) {
    const source = join(file.parentPath, file.name)
    const target = join(to, source.slice(from.length))
    mkdirSync(join(target, '..'), { recursive: true })
    const slow = async function* (bytes: AsyncIterable<Uint8Array>) {
      for await (const piece of bytes) {
        yield piece
        if (draw() < 0.3) await setTimeout(draw() * 8)
      }
    }
    await pipeline(createReadStream(source), slow, createWriteStream(target)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error // removed meanwhile
    })
  }
}

/** How many steps of each client a copy has: those before it began, and of those that came meanwhile as many as their events tell. */
async function stepsIn(store: string, before: readonly number[]): Promise<number[]> {
  const instance = await DuckDBInstance.create(store, { access_mode: 'READ_ONLY' })
  const connection = await instance.connect()
  const found = new Set((await connection.runAndReadAll('SELECT uuid::VARCHAR FROM events')).getColumns()[0] as string[] | undefined)
  connection.closeSync()
  instance.closeSync()
  return before.map((count, client) => {
    let steps = count
    for (let step = count; step < count + 40; step++)
      if (stepOf(client, step).some((one) => 'uuid' in one && found.has(one.uuid))) steps = step + 1
    return steps
  })
}

/** Opened once, so that everything is in the store. */
async function bringIntoStore(dataDir: string): Promise<void> {
  const { open } = await import('../../../src/engine.ts')
  const waymark = await open({ dataDir, memoryLimit: '256MB', threads: 2, onRecovery: ignore, onError: ignore })
  try {
    await (await waymark.project(1)).warnings()
  } finally {
    await waymark.close()
  }
}

const ignore = () => undefined

async function check(dataDir: string, before: readonly number[], log: (line: string) => void): Promise<void> {
  const store = join(dataDir, 'projects', '1', 'store.duckdb')
  await bringIntoStore(dataDir).catch((error: unknown) => {
    // Once in about 1,300 copies DuckDB 1.5.6 gives up a checkpoint: "Free block … is already registered". The next start must set it right.
    if (!(error instanceof WaymarkError && error.code === 'unclean-close')) throw error
    log(error.message)
    return bringIntoStore(dataDir)
  })
  const steps = await stepsIn(store, before)
  // The last steps of a client may have left no event: a deletion, and what it deleted.
  for (let attempt = 1; ; attempt++) {
    try {
      return void (await inspect(dataDir, store, steps, ignore))
    } catch (error) {
      const client = /^client (\d): persons/.exec((error as Error).message)?.[1]
      if (client === undefined || attempt === mostSilentSteps) throw error
      steps[Number(client)]!++
    }
  }
}

/** Steps of all clients at the end of a copy of which no event tells. */
const mostSilentSteps = 12

/** Then another one begins: copies of a large directory take long. */
const roundsOfDirectory = 15

const roundKinds = ['backup', 'snapshot', 'slow copy'] as const
type RoundKind = (typeof roundKinds)[number]

/** Of a command: undefined draws the kind of each round. */
export function roundKind(text: string | undefined): RoundKind | undefined {
  const kind = roundKinds.find((one) => one === text)
  if (text !== undefined && !kind) throw new Error(`--only must be one of ${roundKinds.join(', ')}, but got ${text}`)
  return kind
}

export async function backupRounds(
  rounds: number,
  seed: number,
  log: (line: string) => void = () => undefined,
  only?: RoundKind,
): Promise<RoundsResult> {
  const draw = random(seed)
  const program = await bundle()
  const root = mkdtempSync(join(tmpdir(), 'waymark-rounds-'))
  const dataDir = join(root, 'data')
  const counts = { backups: 0, snapshots: 0, torn: 0, whole: 0 }
  const next = new Array<number>(clients).fill(0)
  let running: Running | null = null
  let batches = 0
  try {
    for (let round = 1; round <= rounds; round++) {
      if (round % roundsOfDirectory === 0) {
        running?.child.kill('SIGKILL')
        if (running) await once(running.child, 'exit')
        running = null
        batches += next.reduce((a, b) => a + b)
        next.fill(0)
        for (const name of [dataDir, join(root, 'place')]) rmSync(name, { recursive: true, force: true })
      }
      running ??= await start(program, dataDir, next)
      const { child } = running
      /** What is checked is copied already: the directory need not grow meanwhile. */
      const atRest = async <T>(work: () => Promise<T>): Promise<T> => {
        child.kill('SIGSTOP')
        try {
          return await work()
        } finally {
          child.kill('SIGCONT')
        }
      }
      await setTimeout(20 + draw() * 200)
      const copy = join(root, `copy-${round}`)
      const before = [...next]
      const drawn = draw()
      const kind = only ?? (drawn < 0.4 ? 'backup' : drawn < 0.7 ? 'snapshot' : 'slow copy')
      if (kind === 'backup') {
        const ended = running.line('backed-up')
        running.child.stdin!.write(`backup ${join(root, 'place')}\n`)
        await ended
        await restore(join(root, 'place'), copy)
        await atRest(() => check(copy, before, log))
        counts.backups++
      } else if (kind === 'snapshot') {
        running.child.kill('SIGSTOP')
        await stopped(running.child.pid!)
        const acknowledged = [...next]
        cpSync(dataDir, copy, { recursive: true })
        await atRest(() => check(copy, acknowledged, log))
        counts.snapshots++
      } else {
        await copySlowly(dataDir, copy, draw)
        const refusal = await atRest(() => check(copy, before, log)).then(
          () => null,
          (error: unknown) => error,
        )
        if (refusal === null) counts.whole++
        else if (refusal instanceof WaymarkError) {
          counts.torn++
          log(`round ${round}: ${refusal.code}: ${refusal.detail}`)
        } else throw refusal
      }
      rmSync(copy, { recursive: true, force: true })
      if (draw() < 0.1) {
        running.child.kill('SIGKILL')
        await once(running.child, 'exit')
        running = null
      }
      if (round % 5 === 0) log(`round ${round}: ${JSON.stringify(counts)}, ${next.reduce((a, b) => a + b)} acknowledged steps`)
    }
    return { rounds, ...counts, batches: batches + next.reduce((a, b) => a + b) }
  } finally {
    running?.child.kill('SIGKILL')
    rmSync(root, { recursive: true, force: true })
    rmSync(join(program, '..'), { recursive: true, force: true })
  }
}
