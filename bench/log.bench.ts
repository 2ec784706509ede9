import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { brotliCompressSync, brotliDecompressSync, constants, gunzipSync, gzipSync } from 'node:zlib'
import { DuckDBInstance } from '@duckdb/node-api'
import { createBlockLimit } from '../src/engine/storage/log/compressing.ts'
import { FileLog } from '../src/engine/storage/log/file-log.ts'
import { decodeBatch } from '../src/events/ingestion/decoding/decode-batch.ts'
import { EventMaker, type Shape } from './ingest/shapes.ts'
import { machine, rounded } from './measure.ts'

// How many bytes of the log does an event take, in segments that are written to and in closed ones, and what does compressing them cost? Beside it: the ways to compress
// blocks of a segment, and DuckDB's Parquet files of its rows.

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '200000' },
    runs: { type: 'string' },
    /** All ways to compress, not only the one that is used. */
    ways: { type: 'boolean', default: false },
  },
})
const events = Number(values.events)
const persons = 100_000
const receipt = { receivedAt: Date.now(), ip: null, anonymizeIps: false, newUuid: () => crypto.randomUUID() }

const folders: string[] = []
const newFolder = () => {
  folders.push(mkdtempSync(join(tmpdir(), 'waymark-log-bench-')))
  return folders.at(-1)!
}
const segmentsIn = (folder: string) =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.arrow'))
    .map((name) => join(folder, name))
const bytesOf = (folder: string) => segmentsIn(folder).reduce((sum, path) => sum + statSync(path).size, 0)

interface Cost {
  readonly cpuMicros: number
  readonly seconds: number
}
async function costOf(work: () => unknown): Promise<Cost> {
  const [begun, cpu] = [performance.now(), process.cpuUsage()]
  await work()
  const { user, system } = process.cpuUsage(cpu)
  return { cpuMicros: (user + system) / events, seconds: (performance.now() - begun) / 1000 }
}

/** The log of so many events, in batches of `size`; the last segment is closed by one more event. */
async function writeLog(shape: Shape, size: number): Promise<string> {
  const folder = newFolder()
  const log = await FileLog.open(folder, { durability: 'os', windowMs: 0 })
  const maker = new EventMaker(shape, persons, events)
  for (let done = 0; done < events; done += size) {
    const { uuids, payloads } = decodeBatch({ batch: maker.batch(size) }, receipt)
    await log.append({ kind: 'event', receivedAt: receipt.receivedAt, sentAt: null, historical: false, ip: null, uuids, payloads })
  }
  await log.close()
  const closing = await FileLog.open(folder, { segmentBytes: 1 }, events)
  const { uuids, payloads } = decodeBatch({ batch: maker.batch(1) }, receipt)
  await closing.append({ kind: 'event', receivedAt: 0, sentAt: null, historical: false, ip: null, uuids, payloads })
  await closing.close()
  return folder
}

const pieceBytes = 256 * 1024
const ways: Readonly<Record<string, readonly [pack: (bytes: Buffer) => Buffer, unpack: (bytes: Buffer) => Buffer, pieceBytes: number]>> = {
  ...Object.fromEntries(
    [1, 2, 3, 4, 5, 6].map((level) => [
      `deflate ${level}`,
      [(bytes: Buffer) => gzipSync(bytes, { level }), gunzipSync, pieceBytes] as const,
    ]),
  ),
  'deflate 3, 64 KiB': [(bytes) => gzipSync(bytes, { level: 3 }), gunzipSync, 64 * 1024],
  'deflate 3, 1 MiB': [(bytes) => gzipSync(bytes, { level: 3 }), gunzipSync, 1024 ** 2],
  ...Object.fromEntries(
    [0, 1, 2, 3, 4, 5].map((quality) => {
      const pack = (bytes: Buffer) =>
        brotliCompressSync(bytes, {
          params: { [constants.BROTLI_PARAM_QUALITY]: quality, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
        })
      return [`brotli ${quality}`, [pack, brotliDecompressSync, pieceBytes] as const]
    }),
  ),
}

async function compareWays(folder: string, about: object): Promise<void> {
  const [path] = segmentsIn(folder)
  const whole = Buffer.concat(segmentsIn(folder).map((one) => readFileSync(one)))
  for (const [name, [pack, unpack, piece]] of Object.entries(ways)) {
    const packed: Buffer[] = []
    const packing = await costOf(() => {
      for (let at = 0; at < whole.length; at += piece) packed.push(pack(whole.subarray(at, at + piece)))
    })
    let again = 0
    const unpacking = await costOf(() => {
      for (const one of packed) again += unpack(one).length
    })
    if (again !== whole.length) throw new Error(`${name}: ${again} bytes instead of ${whole.length}`)
    print({
      ...about,
      way: name,
      bytes_per_event: Math.round(packed.reduce((sum, one) => sum + one.length, 0) / events),
      cpu_micros: rounded(packing.cpuMicros),
      mb_per_second: Math.round(whole.length / 1e6 / packing.seconds),
      unpacking_mb_per_second: Math.round(whole.length / 1e6 / unpacking.seconds),
    })
  }
  print({ ...about, ...(await parquet(path!, folder, 'zstd')) })
}

/** Not what a log could be: rows without their frames, in groups of 122,880. */
async function parquet(path: string, folder: string, codec: string) {
  const log = await FileLog.open(folder, { durability: 'os' }, events + 1)
  const instance = await DuckDBInstance.create(':memory:', { threads: '1' })
  const connection = await instance.connect()
  await connection.run('CREATE TABLE log (seq BIGINT, kind VARCHAR, received_at TIMESTAMP, historical BOOLEAN, uuid UUID, payload VARCHAR)')
  const appender = await connection.createAppender('log')
  for await (const { firstSeq, uuids, payloads } of log.read(1))
    for (const [i, uuid] of uuids.entries()) {
      appender.appendBigInt(BigInt(firstSeq + i))
      appender.appendVarchar('event')
      appender.appendNull()
      appender.appendBoolean(false)
      appender.appendVarchar(uuid)
      appender.appendVarchar(payloads.at(i))
      appender.endRow()
    }
  appender.closeSync()
  await log.close()
  const file = join(folder, 'log.parquet')
  const cost = await costOf(() => connection.run(`COPY log TO '${file}' (FORMAT parquet, COMPRESSION ${codec})`))
  const bytes = statSync(file).size
  connection.closeSync()
  instance.closeSync()
  rmSync(file)
  return {
    way: `DuckDB, Parquet with ${codec}`,
    bytes_per_event: Math.round(bytes / events),
    cpu_micros: rounded(cost.cpuMicros),
    mb_per_second: Math.round(statSync(path).size / 1e6 / cost.seconds),
  }
}

const print = (line: object) => console.log(JSON.stringify({ bench: 'log', events, ...line }))

/** Compressing keeps no process alive. */
const keepAlive = setInterval(() => undefined, 1000)
try {
  for (const shape of ['plain', 'web'] as const)
    for (const size of [500, 1]) {
      const folder = await writeLog(shape, size)
      const about = { shape, batch: size }
      const before = bytesOf(folder)
      if (values.ways) await compareWays(folder, about)
      const log = await FileLog.open(folder, { segmentBytes: 1, compression: createBlockLimit(), report: console.error }, events + 1)
      const compressing = await costOf(() => log.compressed())
      const reading = await costOf(async () => {
        let records = 0
        for await (const { uuids } of log.read(1)) records += uuids.length
        if (records !== events + 1) throw new Error(`${records} records instead of ${events + 1}`)
      })
      await log.close()
      print({
        ...about,
        way: 'closed segments',
        plain_bytes_per_event: Math.round(before / events),
        bytes_per_event: Math.round(bytesOf(folder) / events),
        cpu_micros: rounded(compressing.cpuMicros),
        mb_per_second: Math.round(before / 1e6 / compressing.seconds),
        reading_mb_per_second: Math.round(before / 1e6 / reading.seconds),
        machine: machine(),
      })
      rmSync(folder, { recursive: true })
    }
} finally {
  clearInterval(keepAlive)
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
}
