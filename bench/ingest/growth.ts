import { closeSync, fdatasyncSync, mkdtempSync, openSync, readdirSync, readSync, rmSync, statSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { DuckDBDataChunk, DuckDBInstance, DuckDBTimestampValue, type DuckDBType, type DuckDBValue } from '@duckdb/node-api'
import { open } from '../../src/engine.ts'
import { rounded } from '../measure.ts'
import { EventMaker, type MadeEvent, type Shape } from './shapes.ts'

// Does the rate hold while events and persons become many? Ten spans of one run, beside the least that such events cost: parsed, their ids resolved, written to
// a log with fsync and appended to DuckDB, without any of the rules (`naked`). Making the events is not counted.

const batchSize = 500
const inFlight = 8
const spans = 10

/** What is left to do. */
interface Backlog {
  /** Durable, and not applied to the store. */
  readonly records: number
  /** Of segments of the log that will be compressed. */
  readonly logMb: number
}

export interface Growth {
  /** Events a second in each tenth of the run. */
  readonly tenths: readonly number[]
  /** At the end of each tenth but the last, which ends when nothing is left. */
  readonly backlogs?: readonly Backlog[]
  /** Of all threads. */
  readonly cpuMicros: number
  readonly peakMb: number
  readonly bytesPerEvent: number
  readonly seconds: number
}

const bytesIn = (folder: string): number =>
  readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0)

async function inSpans(
  { shape, persons, events }: { shape: Shape; persons: number; events: number },
  take: (batch: readonly MadeEvent[]) => Promise<void>,
  finish: () => Promise<void>,
  backlog?: () => Backlog,
): Promise<Omit<Growth, 'peakMb' | 'bytesPerEvent'>> {
  const maker = new EventMaker(shape, persons, events)
  const begun = performance.now()
  const cpuBegun = process.cpuUsage()
  let making = 0
  let makingBefore = 0
  let last = begun
  let sent = 0
  const tenths: number[] = []
  const backlogs: Backlog[] = []
  const client = async () => {
    while (sent < events) {
      sent += batchSize
      const upTo = sent
      const before = performance.now()
      const batch = maker.batch(batchSize)
      making += performance.now() - before
      await take(batch)
      if (tenths.length >= spans - 1 || upTo < ((tenths.length + 1) * events) / spans) continue
      const now = performance.now()
      tenths.push(Math.round(events / spans / ((now - last - (making - makingBefore)) / 1_000)))
      if (backlog) backlogs.push(backlog())
      last = now
      makingBefore = making
    }
  }
  await Promise.all(Array.from({ length: inFlight }, client))
  await finish()
  const now = performance.now()
  tenths.push(Math.round(events / spans / ((now - last - (making - makingBefore)) / 1_000)))
  const { user, system } = process.cpuUsage(cpuBegun)
  return {
    tenths,
    ...(backlog && { backlogs }),
    cpuMicros: rounded((user + system - making * 1_000) / events),
    seconds: rounded((now - begun - making) / 1_000),
  }
}

async function inFolder(work: (folder: string) => Promise<Omit<Growth, 'peakMb' | 'bytesPerEvent'>>, events: number): Promise<Growth> {
  const folder = mkdtempSync(join(tmpdir(), 'waymark-growth-'))
  try {
    const found = await work(folder)
    return { ...found, peakMb: Math.round(process.resourceUsage().maxRSS / 1024), bytesPerEvent: Math.round(bytesIn(folder) / events) }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

interface Wanted {
  readonly shape: Shape
  readonly persons: number
  readonly events: number
  readonly memory?: string | undefined
}

/** Bytes of closed segments that are not compressed yet. */
function plainBytes(log: string): number {
  const closed = readdirSync(log)
    .filter((name) => name.endsWith('.arrow'))
    .sort()
    .slice(0, -1)
  return closed.reduce((sum, name) => {
    const head = Buffer.alloc(2)
    const file = openSync(join(log, name), 'r')
    readSync(file, head)
    closeSync(file)
    return head[0] === 0x1f && head[1] === 0x8b ? sum : sum + statSync(join(log, name)).size
  }, 0)
}

const lookMs = 20

/** Until everything is applied, the closed segments of the log are compressed, and the directory is closed. */
export const product = (wanted: Wanted): Promise<Growth> =>
  inFolder(async (dataDir) => {
    const waymark = await open({ dataDir, ...(wanted.memory && { memoryLimit: wanted.memory }) })
    const project = await waymark.createProject()
    const log = join(dataDir, 'projects', String(project.id), 'log')
    return inSpans(
      wanted,
      async (batch) => void (await project.ingest({ batch })),
      async () => {
        const { results } = await project.query<[number]>({ kind: 'SqlLikeQuery', query: 'select count() from events' })
        if (results[0]?.[0] !== wanted.events) throw new Error(`${results[0]?.[0]} events instead of ${wanted.events}`)
        while (plainBytes(log) > 0) await setTimeout(lookMs)
        await waymark.close()
      },
      () => ({ records: project.lag, logMb: Math.round(plainBytes(log) / 1024 ** 2) }),
    )
  }, wanted.events)

const lasting = ['$browser', '$browser_version', '$os', '$device_type', '$current_url', '$pathname', '$referrer']

/** The least: see above. */
export const naked = (wanted: Wanted): Promise<Growth> =>
  inFolder(async (folder) => {
    const log = openSync(join(folder, 'log'), 'w')
    const instance = await DuckDBInstance.create(join(folder, 'naked.duckdb'), { memory_limit: '2GB' })
    const connection = await instance.connect()
    await connection.run(
      'CREATE TABLE events (id BIGINT, event INTEGER, moment TIMESTAMP, person INTEGER, distinct_id VARCHAR, properties VARCHAR)',
    )
    await connection.run('CREATE TABLE changes (person INTEGER, moment TIMESTAMP, properties VARCHAR)')
    const numbers = new Map<string, number>()
    const names = new Map<string, number>()
    const numberOf = (map: Map<string, number>, text: string): number => {
      const known = map.get(text)
      if (known !== undefined) return known
      map.set(text, map.size + 1)
      return map.size
    }
    let rows: DuckDBValue[][] = []
    let changes: DuckDBValue[][] = []
    let written = 0
    let id = 0n
    const append = async (table: string, all: readonly DuckDBValue[][]) => {
      if (all.length === 0) return
      const appender = await connection.createAppender(table)
      const types: DuckDBType[] = all[0]!.map((_, i) => appender.columnType(i))
      for (let from = 0; from < all.length; from += 2_048) {
        const chunk = DuckDBDataChunk.create(types)
        chunk.setRows(all.slice(from, from + 2_048))
        appender.appendDataChunk(chunk)
      }
      appender.closeSync()
    }
    const commit = async () => {
      await connection.run('BEGIN')
      await append('events', rows)
      await append('changes', changes)
      await connection.run('COMMIT')
      rows = []
      changes = []
    }
    const take = async (made: readonly MadeEvent[]) => {
      const text = JSON.stringify(made)
      writeSync(log, text)
      if (++written % inFlight === 0) fdatasyncSync(log)
      for (const event of JSON.parse(text) as MadeEvent[]) {
        const person = numberOf(numbers, event.distinct_id)
        const moment = new DuckDBTimestampValue(BigInt(Date.parse(event.timestamp)) * 1_000n)
        rows.push([id++, numberOf(names, event.event), moment, person, event.distinct_id, JSON.stringify(event.properties)])
        const set = Object.fromEntries(lasting.flatMap((name) => (name in event.properties ? [[name, event.properties[name]]] : [])))
        if (Object.keys(set).length > 0) changes.push([person, moment, JSON.stringify(set)])
      }
      if (rows.length >= 61_440) await commit()
    }
    let turn = Promise.resolve()
    return inSpans(
      wanted,
      (batch) => {
        turn = turn.then(() => take(batch))
        return turn
      },
      async () => {
        await commit()
        connection.closeSync()
        instance.closeSync()
        closeSync(log)
      },
    )
  }, wanted.events)
