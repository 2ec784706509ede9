import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { DuckDBDataChunk, DuckDBInstance, DuckDBTimestampValue, DuckDBUUIDValue, type DuckDBValue } from '@duckdb/node-api'
import { storeTables } from '../src/engine/storage/duckdb/schema.ts'
import { open } from '../src/engine.ts'
import { decodeBatch } from '../src/events/ingestion/decoding/decode-batch.ts'
import { hasClickHouse, howToInstallClickHouse } from '../test/clickhouse/chdb.ts'
import { makeEvents } from './events.ts'
import { type Loaded, loadClickHouse } from './ingest/clickhouse-load.ts'
import { type Growth, naked, product } from './ingest/growth.ts'
import { type Shape, shapes } from './ingest/shapes.ts'
import { inOwnProcess, type Measured, machine, measured, median, rounded } from './measure.ts'

// How many events per second go in, durable and applied, and does the rate stay flat as the store grows?
// Beside it: DuckDB's own appender with the same rows and nothing else to do (and, as a bare lower bound, with the properties as they were sent and
// no column for any of them), and JSON.parse of the same bytes.

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '1000000' },
    runs: { type: 'string', default: '3' },
    /** The engine's budget, as `open` takes it. */
    memory: { type: 'string' },
    /** A shape of events instead, over so many persons: how the rate holds. */
    shape: { type: 'string' },
    persons: { type: 'string', default: '1000000' },
    measure: { type: 'string' },
  },
})
const events = Number(values.events)
const batchSize = 1000
const inFlight = 8
const people = 100_000
const poolBatches = 10

const pool = () => Array.from({ length: poolBatches }, (_, i) => makeEvents(batchSize, people, i + 1))
const withDirectory = async <T>(work: (directory: string) => Promise<T>): Promise<T> => {
  const directory = mkdtempSync(join(tmpdir(), 'waymark-bench-'))
  try {
    return await work(directory)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}
const countEvents = async (file: string, table: string): Promise<number> => {
  const instance = await DuckDBInstance.create(file, { access_mode: 'READ_ONLY' })
  const connection = await instance.connect()
  const [row] = (
    await connection.runAndReadAll(`SELECT count(*)::INTEGER AS n, count(DISTINCT uuid)::INTEGER AS uuids FROM ${table}`)
  ).getRowObjectsJS()
  connection.closeSync()
  instance.closeSync()
  if (row?.n !== row?.uuids) throw new Error('events share uuids')
  return Number(row?.n)
}

/** The keys of the events with the columns that the store keeps their values in. */
const slotsOf = (properties: Readonly<Record<string, unknown>>): readonly (readonly [column: string, key: string])[] => {
  const used = { string: 0, number: 0, boolean: 0 }
  return Object.keys(properties).map((key) => {
    const type = typeof properties[key] as keyof typeof used
    return [`${type[0]}${++used[type]}`, key] as const
  })
}

/** The rows by DuckDB's own appender: as the store keeps them, or without slots and with the properties as they were sent. */
const append = ({ asStored }: { asStored: boolean }) =>
  withDirectory(async (directory) => {
    const batches = pool()
    const slots = asStored ? slotsOf(batches[0]![0]!.properties) : []
    const isColumn = (column: string) => !/^[snbt]\d+ /.test(column) || slots.some(([slot]) => column.startsWith(`${slot} `))
    const columns = storeTables.events!.filter(isColumn)
    const file = join(directory, 'raw.duckdb')
    const rows = batches
      .flat()
      .map((event, i) => ({ event, time: new DuckDBTimestampValue(BigInt(Date.parse(event.timestamp)) * 1000n), no: i % people }))
    const receipt = { receivedAt: Date.now(), ip: null, anonymizeIps: false, newUuid: () => crypto.randomUUID() }
    const texts = asStored
      ? batches.flatMap((batch) => {
          const { events, payloads } = decodeBatch({ batch }, receipt)
          return events.map(({ propertiesFrom, propertiesTo }) =>
            Buffer.from(payloads.bytes).toString('utf8', propertiesFrom, propertiesTo),
          )
        })
      : rows.map(({ event }) => JSON.stringify(event.properties))
    const nothing = ''
    await measured(async () => {
      const instance = await DuckDBInstance.create(file)
      const connection = await instance.connect()
      await connection.run(`CREATE TABLE events (${columns.join(', ')})`)
      const appender = await connection.createAppender('events')
      const types = columns.map((_, i) => appender.columnType(i))
      const chunk = DuckDBDataChunk.create(types)
      const chunkSize = 2048
      for (let first = 0; first < events; first += chunkSize) {
        const count = Math.min(chunkSize, events - first)
        const at = Array.from({ length: count }, (_, i) => (first + i) % rows.length)
        const uuids = randomBytes(16 * count)
        const same = (value: DuckDBValue) => at.map(() => value)
        const bySlot = slots.map(([slot, key]) => [slot, () => at.map((row) => rows[row]!.event.properties[key]!)] as const)
        const byName: Readonly<Record<string, () => DuckDBValue[]>> = {
          uuid: () =>
            at.map((_, i) => DuckDBUUIDValue.fromUint128(uuids.readBigUInt64LE(16 * i) | (uuids.readBigUInt64LE(16 * i + 8) << 64n))),
          event_id: () => at.map((row) => row % 7),
          timestamp: () => at.map((row) => rows[row]!.time),
          person_no: () => at.map((row) => rows[row]!.no),
          distinct_id: () => at.map((row) => rows[row]!.event.distinct_id),
          session_id: () => at.map((row) => String(rows[row]!.event.properties.$session_id)),
          created_at: () => at.map((row) => rows[row]!.time),
          log_seq: () => at.map((_, i) => BigInt(first + i)),
          person_mode: () => same(0),
          properties: () => at.map((row) => texts[row]!),
          ...Object.fromEntries(bySlot),
        }
        chunk.reset()
        chunk.rowCount = count
        for (const [i, column] of columns.entries()) chunk.setColumnValues(i, byName[column.split(' ')[0]!]?.() ?? same(nothing))
        appender.appendDataChunk(chunk)
        if (first % (64 * chunkSize) === 0) appender.flushSync()
      }
      appender.closeSync()
      await connection.run('CHECKPOINT')
      connection.closeSync()
      instance.closeSync()
      return { answer: await countEvents(file, 'events') }
    })
  })

const measurements: Readonly<Record<string, () => Promise<void>>> = {
  /** From objects to rows in the store's file; batches are acknowledged after their fsync. */
  ingest: () =>
    withDirectory(async (dataDir) => {
      const batches = pool()
      await measured(async () => {
        const waymark = await open({ dataDir, ...(values.memory && { memoryLimit: values.memory }) })
        const project = await waymark.createProject()
        const marks = [performance.now()]
        let sent = 0
        const client = async () => {
          while (sent < events) {
            const batch = batches[(sent / batchSize) % poolBatches]!
            sent += batchSize
            const upTo = sent
            await project.ingest({ batch })
            if (upTo % 1_000_000 === 0) marks.push(performance.now())
          }
        }
        await Promise.all(Array.from({ length: inFlight }, client))
        await waymark.close()
        const spans = marks.slice(1).map((mark, i) => mark - marks[i]!)
        const flatness: Record<string, number> =
          spans.length > 1 ? Object.fromEntries(spans.map((span, i) => [`million_${i + 1}`, rounded(span / 1000)])) : {}
        return { answer: await countEvents(join(dataDir, 'projects', '1', 'store.duckdb'), 'events'), figures: flatness }
      })
    }),

  appender: () => append({ asStored: true }),
  bareAppender: () => append({ asStored: false }),

  parse: async () => {
    const bodies = pool().map((batch) => JSON.stringify({ batch }))
    await measured(async () => {
      let answer = 0
      for (let i = 0; i < events / batchSize; i++) answer += (JSON.parse(bodies[i % poolBatches]!) as { batch: unknown[] }).batch.length
      return { answer }
    })
  },
}

async function compare(): Promise<void> {
  const runs: Record<string, Measured[]> = {}
  for (let run = 0; run < Number(values.runs); run++) {
    for (const name of Object.keys(measurements)) {
      const result = await inOwnProcess(import.meta.filename, [
        '--measure',
        name,
        '--events',
        String(events),
        ...(values.memory ? ['--memory', values.memory] : []),
      ])
      if (result.answer !== events) throw new Error(`${name}: ${result.answer} events instead of ${events}`)
      runs[name] = [...(runs[name] ?? []), result]
    }
  }
  const seconds = (name: string) => median(runs[name]!.map((run) => run.seconds))
  const times = runs.ingest!.map((run) => run.seconds)
  const millions = Object.values(runs.ingest!.at(-1)!.figures ?? {})
  console.log(
    JSON.stringify({
      bench: 'ingest',
      events,
      memory: values.memory ?? 'default',
      seconds: rounded(seconds('ingest')),
      spread: [rounded(Math.min(...times)), rounded(Math.max(...times))],
      events_per_second: Math.round(events / seconds('ingest')),
      peak_mb: Math.round(median(runs.ingest!.map((run) => run.peakMb))),
      ...(millions.length > 0 ? { seconds_of_each_million: millions } : {}),
      yardsticks: {
        appender: { seconds: rounded(seconds('appender')), rate_against_it: rounded(seconds('appender') / seconds('ingest')) },
        bare_appender: { seconds: rounded(seconds('bareAppender')), rate_against_it: rounded(seconds('bareAppender') / seconds('ingest')) },
        json_parse: { seconds: rounded(seconds('parse')), rate_against_it: rounded(seconds('parse') / seconds('ingest')) },
      },
      runs: Number(values.runs),
      machine: machine(),
    }),
  )
}

/** One run each: ten spans of it say what several runs would not. */
async function grow(shape: string): Promise<void> {
  if (!shapes.includes(shape as Shape)) throw new Error(`There is no shape ${shape}. There are: ${shapes.join(', ')}.`)
  const persons = Number(values.persons)
  const args = [
    '--shape',
    shape,
    '--persons',
    values.persons,
    '--events',
    String(events),
    ...(values.memory ? ['--memory', values.memory] : []),
  ]
  const run = async <T = Growth>(measure: string) => {
    const { stdout } = await promisify(execFile)(process.execPath, [import.meta.filename, ...args, '--measure', measure], {
      maxBuffer: 1 << 24,
    })
    return JSON.parse(stdout.trim().split('\n').at(-1)!) as T
  }
  const [ours, least] = [await run('product'), await run('naked')]
  const loaded = hasClickHouse ? await run<Loaded>('clickhouse') : howToInstallClickHouse
  const { tenths } = ours
  console.log(
    JSON.stringify({
      bench: 'ingest',
      shape,
      persons,
      events,
      memory: values.memory ?? 'default',
      events_per_second: Math.round(events / ours.seconds),
      tenths,
      last_to_first: rounded(tenths.at(-1)! / tenths[0]!),
      backlogs: { records: ours.backlogs!.map(({ records }) => records), log_mb: ours.backlogs!.map(({ logMb }) => logMb) },
      cpu_us_per_event: ours.cpuMicros,
      peak_mb: ours.peakMb,
      bytes_per_event: ours.bytesPerEvent,
      yardsticks: {
        naked: {
          events_per_second: Math.round(events / least.seconds),
          tenths: least.tenths,
          cpu_us_per_event: least.cpuMicros,
          cpu_against_it: rounded(ours.cpuMicros / least.cpuMicros),
        },
        clickhouse_from_files: loaded,
      },
      machine: machine(),
    }),
  )
}

const wanted = { shape: values.shape as Shape, persons: Number(values.persons), events, memory: values.memory }
const ofShape = { product, naked, clickhouse: loadClickHouse }
if (values.shape && values.measure) {
  console.log(JSON.stringify(await ofShape[values.measure as keyof typeof ofShape](wanted)))
  process.exit() // ClickHouse keeps its threads
}
if (values.shape) await grow(values.shape)
else if (values.measure) await measurements[values.measure]!()
else await compare()
