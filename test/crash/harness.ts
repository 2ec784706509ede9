import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout } from 'node:timers/promises'
import { DuckDBInstance } from '@duckdb/node-api'
import { build } from 'tsup'
import { random } from '../../bench/random.ts'
import { open } from '../../src/engine.ts'
import { type SmallerLimit, withSmallerLimits } from '../harness/smaller-limits.ts'
import { clients, type Deed, type SentEvent, stateAfter, stepOf } from './workload.ts'

export interface CrashResult {
  readonly rounds: number
  readonly killedWhileOpening: number
  readonly damages: number
  readonly rebuilt: number
  readonly rolledBack: number
  /** Segments of the log at the end. */
  readonly compressed: number
  readonly batches: number
  readonly events: number
  readonly persons: number
}

const root = resolve(import.meta.dirname, '../..')

/** Segments of the log are closed and compressed while a process runs. */
const smallerLimits: readonly SmallerLimit[] = [
  ['src/engine/storage/log/file-log.ts', 'segmentBytes: 64 * 1024 ** 2', 'segmentBytes: 64 * 1024'],
  ['src/engine/storage/log/compressed.ts', 'blockBytes = 256 * 1024', 'blockBytes = 8 * 1024'],
]

/** Starting from a bundle takes a third of the time that a start from TypeScript takes. */
export async function bundle(): Promise<string> {
  const outDir = join(root, '.tmp', `crash-${process.pid}`)
  await build({
    entry: { child: join(root, 'test/crash/child.ts') },
    outDir,
    format: 'esm',
    target: 'node20',
    config: false,
    silent: true,
    outExtension: () => ({ js: '.mjs' }),
    esbuildPlugins: [withSmallerLimits(root, smallerLimits)],
  })
  return join(outDir, 'child.mjs')
}

const damageKinds: readonly [string, (store: string, draw: () => number) => void][] = [
  ['cut', (store, draw) => truncateSync(store, Math.floor(draw() * statSync(store).size))],
  ['overwritten', (store, draw) => overwrite(store, draw)],
  ['its write-ahead log overwritten', (store, draw) => existsSync(`${store}.wal`) && overwrite(`${store}.wal`, draw)],
  ['gone', (store) => rmSync(store)],
]

const overwrite = (path: string, draw: () => number) => {
  const { size } = statSync(path)
  if (size === 0) return
  const at = Math.floor(draw() * size)
  const handle = openSync(path, 'r+')
  writeSync(handle, Buffer.alloc(Math.min(size - at, 1 + Math.floor(draw() * 20_000)), 0x5a), 0, undefined, at)
  closeSync(handle)
}

/** Kills a process that ingests at random moments, and looks at what is left. Throws at the first thing that is not as it must be. */
export async function crashRounds(rounds: number, seed: number, log: (line: string) => void = () => undefined): Promise<CrashResult> {
  const draw = random(seed)
  const child = await bundle()
  const dataDir = mkdtempSync(join(tmpdir(), 'waymark-crash-'))
  const store = join(dataDir, 'projects', '1', 'store.duckdb')
  const next = new Array<number>(clients).fill(0)
  const counts = { killedWhileOpening: 0, damages: 0, rebuilt: 0, rolledBack: 0 }
  const count = (report: string) => {
    if (report === 'store-rebuilt') counts.rebuilt++
    else if (report === 'store-rolled-back') counts.rolledBack++
    else throw new Error(`an unexpected report: ${report}`)
  }
  let seen = { events: 0, persons: 0 }
  /** The store was opened and not closed since: a crash may have damaged it, and the next start reads all of it. */
  let isInUse = false
  try {
    for (let round = 1; round <= rounds; round++) {
      const whileOpening = draw() < 0.15 && round > 1 // the first one makes the project
      const args = [child, dataDir, ...next.map(String)]
      const moment = whileOpening ? { afterStartMs: draw() * 400 } : { acknowledged: Math.floor(draw() * 8), thenMs: draw() * 60 }
      await runAndKill(args, moment, (line) => {
        const [word, first, second] = line.split(' ')
        if (word === 'ready') isInUse = true
        if (word === 'ack') next[Number(first)] = Number(second) + 1
        if (word === 'report') count(first!)
      })
      if (whileOpening) counts.killedWhileOpening++
      if (draw() < 0.25 && isInUse && existsSync(store)) {
        const [name, damage] = damageKinds[Math.floor(draw() * damageKinds.length)]!
        damage(store, draw)
        counts.damages++
        log(`round ${round}: store ${name}`)
      }
      if (round % 4 === 0 || round === rounds) {
        seen = await inspect(dataDir, store, next, count)
        isInUse = false
        log(
          `round ${round}: ${seen.events} events, ${seen.persons} persons, ${next.reduce((a, b) => a + b)} acknowledged batches: all as they must be`,
        )
      }
    }
    return {
      rounds,
      ...counts,
      compressed: compressedIn(join(dataDir, 'projects', '1', 'log')),
      batches: next.reduce((a, b) => a + b),
      ...seen,
    }
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
    rmSync(join(child, '..'), { recursive: true, force: true })
  }
}

/** Segments that are gzip files. */
const compressedIn = (log: string): number =>
  readdirSync(log).filter((name) =>
    readFileSync(join(log, name))
      .subarray(0, 2)
      .equals(Buffer.from([0x1f, 0x8b])),
  ).length

/** When the process is killed: so long after its start, or so long after so many acknowledged batches, however fast the machine is. */
type Moment = { readonly afterStartMs: number } | { readonly acknowledged: number; readonly thenMs: number }

async function runAndKill(args: readonly string[], moment: Moment, heard: (line: string) => void): Promise<void> {
  const child: ChildProcess = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let complaint = ''
  child.stderr!.on('data', (text) => {
    complaint += text
  })
  const lines = createInterface({ input: child.stdout! })
  const hasDone = new Promise<void>((resolve) => {
    let left = 'acknowledged' in moment ? moment.acknowledged : Number.POSITIVE_INFINITY
    lines.on('line', (line) => {
      heard(line)
      if (line.startsWith('ack')) left--
      if (left <= 0 && /^(ready|ack)/.test(line)) resolve()
    })
  })
  const over = once(child, 'exit')
  const drained = once(lines, 'close') // what was acknowledged just before the kill is still in the pipe
  await Promise.race(['thenMs' in moment ? hasDone.then(() => setTimeout(moment.thenMs)) : setTimeout(moment.afterStartMs), over])
  child.kill('SIGKILL')
  const [, signal] = await over
  await drained
  if (signal !== 'SIGKILL') throw new Error(`the process ended by itself:\n${complaint}`)
}

const same = (what: string, found: unknown, expected: unknown) => {
  const [a, b] = [JSON.stringify(found), JSON.stringify(expected)]
  if (a !== b) throw new Error(`${what}\nfound    ${a.slice(0, 2000)}\nexpected ${b.slice(0, 2000)}`)
}

/** Opens and closes the directory as a user would, then reads the store's file with DuckDB alone. */
export async function inspect(
  dataDir: string,
  store: string,
  next: readonly number[],
  count: (report: string) => void,
): Promise<{ events: number; persons: number }> {
  const waymark = await open({ dataDir, memoryLimit: '256MB', threads: 2 })
  for (const report of (await waymark.project(1)).recoveryReports()) count(report.kind)
  await waymark.close()
  const left = readdirSync(dataDir).filter(
    (name) => !['control.duckdb', 'projects', 'tmp', 'backups.json', 'control.duckdb.blocks'].includes(name),
  )
  same('files left behind by closing', left, [])

  const instance = await DuckDBInstance.create(store, { access_mode: 'READ_ONLY' })
  const connection = await instance.connect()
  const rows = async (sql: string) => (await connection.runAndReadAll(sql)).getRowObjectsJS()
  try {
    const stored = new Map(
      (await rows('SELECT uuid::VARCHAR AS uuid, count(*)::INTEGER AS n FROM events GROUP BY uuid')).map((row) => [
        row.uuid as string,
        row.n as number,
      ]),
    )
    const people = await rows(
      'SELECT p.person_no, p.properties, p.is_identified, list(d.distinct_id ORDER BY d.distinct_id)::VARCHAR[] AS ids FROM persons p JOIN distinct_ids d USING (person_no) WHERE p.has_record GROUP BY ALL',
    )
    const idsOf = (value: unknown): string[] =>
      (Array.isArray(value) ? value : ((value as { items: string[] }).items ?? [])).map(String).sort()
    const own = (properties: Record<string, unknown>) =>
      Object.entries(properties)
        .filter(([key]) => !key.startsWith('$'))
        .sort()
    const order = (list: unknown[][]) => list.map((one) => JSON.stringify(one)).sort()
    let expectedEvents = 0
    let expectedPersons = 0
    for (const [client, count] of next.entries()) {
      const steps: (SentEvent | Deed)[] = []
      for (let step = 0; step < count; step++) steps.push(...stepOf(client, step))
      // The step on its way was either done whole or not at all; nobody was told.
      const last = stepOf(client, count)
      const present = last.filter((step) => 'uuid' in step && stored.has(step.uuid)).length
      if (present !== 0) same(`client ${client}: events of batch ${count}, which was never acknowledged`, present, last.length)
      const isDeed = last.some((step) => 'what' in step)
      const ends = [stateAfter(present !== 0 ? [...steps, ...last] : steps), ...(isDeed ? [stateAfter([...steps, ...last])] : [])]
      const found = order(
        people
          .filter((row) => idsOf(row.ids)[0]!.split('-')[1] === String(client))
          .map((row) => [idsOf(row.ids), own(JSON.parse(row.properties as string)), row.is_identified]),
      )
      const modelOf = ({ persons }: (typeof ends)[number]) =>
        order([...persons].map((person) => [[...person.ids].sort(), own(person.properties), person.isIdentified]))
      const end = ends.find((one) => JSON.stringify(modelOf(one)) === JSON.stringify(found)) ?? ends[0]!
      same(`client ${client}: persons`, found, modelOf(end))
      const missing = end.events.filter((event) => !stored.has(event.uuid))
      same('acknowledged events that are not there', missing.slice(0, 5), [])
      expectedEvents += end.events.length
      expectedPersons += found.length
    }
    same('events that are there more than once', [...stored].filter(([, n]) => n !== 1).slice(0, 5), [])
    same('events in the store', stored.size, expectedEvents)
    same('persons', people.length, expectedPersons)

    const [astray] = await rows(`SELECT count(*)::INTEGER AS n FROM events e LEFT JOIN person_merges m ON m.merged = e.person_no
      LEFT JOIN distinct_ids d USING (distinct_id) WHERE coalesce(m.survivor, e.person_no) IS DISTINCT FROM d.person_no`)
    same('events of another person than their distinct id', astray, { n: 0 })
    return { events: stored.size, persons: people.length }
  } finally {
    connection.closeSync()
    instance.closeSync()
  }
}
