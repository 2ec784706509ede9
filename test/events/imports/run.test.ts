import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { DuckDBInstance } from '@duckdb/node-api'
import { afterAll, describe, expect, test } from 'vitest'
import { ImportFileError } from '../../../src/events/imports/format.ts'
import { readLines } from '../../../src/events/imports/lines.ts'
import { openSource, type TableReader } from '../../../src/events/imports/open.ts'
import type { FileRow, ImportedEvent } from '../../../src/events/imports/record.ts'
import { type BatchResult, type Checkpoints, runImport } from '../../../src/events/imports/run.ts'

const folder = mkdtempSync(join(tmpdir(), 'waymark-import-'))
afterAll(() => rmSync(folder, { recursive: true }))

const file = (name: string, content: string | Uint8Array) => {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}
const table = (rows: readonly FileRow[]): TableReader =>
  async function* () {
    yield { rows }
  }
const noTable = table([])
const line = (i: number) =>
  JSON.stringify({
    event: i % 2 ? 'a' : 'b',
    distinct_id: `u${i % 7}`,
    timestamp: new Date(1.7e12 + i * 1000).toISOString(),
    properties: { i },
  })
const lines = (count: number) => `${Array.from({ length: count }, (_, i) => line(i)).join('\n')}\n`

/** Real zstd frames of many compressed blocks, as DuckDB writes them. */
async function zstdOf(text: string): Promise<Uint8Array> {
  const [plain, packed] = [file('plain.txt', text), join(folder, 'packed.csv.zst')]
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  const whole = `read_csv('${plain}', header = false, columns = {'line': 'VARCHAR'}, delim = '\x01', quote = '', escape = '')`
  await connection.run(
    `COPY (SELECT line FROM ${whole}) TO '${packed}' (FORMAT csv, HEADER false, DELIMITER '\x01', QUOTE '', ESCAPE '', COMPRESSION zstd)`,
  )
  connection.closeSync()
  instance.closeSync()
  return readFileSync(packed)
}
const packedLines = { 3: await zstdOf(lines(3)), 5000: await zstdOf(lines(5000)) }

/** Stores by uuid, as ingestion does. */
class Store {
  readonly events = new Map<string, ImportedEvent>()
  sent = 0
  send = async (batch: readonly ImportedEvent[]): Promise<BatchResult> => {
    this.sent += batch.length
    let accepted = 0
    for (const event of batch) {
      if (this.events.has(event.uuid!)) continue
      this.events.set(event.uuid!, event)
      accepted++
    }
    return { accepted, duplicates: batch.length - accepted, dropped: 0, warnings: [] }
  }
}

class Memory implements Checkpoints {
  readonly rows = new Map<string, number>()
  read = async (fingerprint: string) => this.rows.get(fingerprint) ?? 0
  write = async (fingerprint: string, rows: number) => void this.rows.set(fingerprint, rows)
}

describe('a file is recognised by what is in it', () => {
  const mixpanel = '{"event":"x","properties":{"time":1,"distinct_id":"a"}}'
  const amplitude = '{"event_type":"x","user_id":"a","event_time":"2026-01-01 00:00:00"}'
  const log = '1.2.3.4 - - [17/May/2015:10:05:03 +0000] "GET / HTTP/1.1" 200 1'
  test.each<[string, string | Uint8Array, string]>([
    ['export.jsonl', lines(3), 'posthog'],
    ['export.jsonl.gz', gzipSync(lines(3)), 'posthog'],
    ['export.jsonl.zst', packedLines[3], 'posthog'],
    ['raw.json', mixpanel, 'mixpanel'],
    ['raw2.json', amplitude, 'amplitude'],
    ['access.log', log, 'access-log'],
    ['table.csv', 'user,event,time\na,b,c\n', 'csv'],
    ['table.parquet', 'PAR1....PAR1', 'parquet'],
    ['other.jsonl', '{"event":"x","user":"u","time":"2026-01-01"}', 'jsonl'],
  ])('%s', async (name, content, format) => {
    expect((await openSource(file(name, content), { readTable: noTable })).format).toBe(format)
  })

  test.each<[string, string | Uint8Array, RegExp]>([
    ['picture.png', Buffer.from('89504e470d0a1a0a0000000d49484452000000', 'hex'), /neither JSON lines, CSV.* \(it is a binary file\)/],
    ['empty.jsonl', '', /is empty/],
    ['half.gz', gzipSync(lines(500)).subarray(0, 100), /cannot be read/],
  ])('%s is refused', async (name, content, message) => {
    const opened = openSource(file(name, content), { readTable: noTable })
    await expect(opened).rejects.toThrow(message)
    await expect(opened).rejects.toBeInstanceOf(ImportFileError)
  })

  test('a missing file is named', async () => {
    await expect(openSource(join(folder, 'nowhere.csv'), { readTable: noTable })).rejects.toThrow('no such file')
  })
})

describe('a run', () => {
  const source = (name: string, content: string | Uint8Array) => openSource(file(name, content), { readTable: noTable })

  test('stores every row once, whatever the wrapping, and a second import nothing', async () => {
    const store = new Store()
    for (const [name, content] of [
      ['a.jsonl', lines(5000)],
      ['b.jsonl.gz', gzipSync(lines(5000))],
      ['c.jsonl.zst', packedLines[5000]],
    ] as const) {
      const summary = await runImport({ files: [await source(name, content)], send: store.send, batchSize: 700 })
      expect([summary.rows, summary.stored + summary.duplicates]).toEqual([5000, 5000])
    }
    expect(store.events.size).toBe(5000)
    expect(store.sent).toBe(15000)
  })

  test('a log that has grown adds only what is new', async () => {
    const store = new Store()
    await runImport({ files: [await source('grow.jsonl', lines(100))], send: store.send })
    const summary = await runImport({ files: [await source('grow.jsonl', lines(130))], send: store.send })
    expect([summary.stored, summary.duplicates]).toEqual([30, 100])
  })

  test('equal rows are separate events', async () => {
    const store = new Store()
    const summary = await runImport({ files: [await source('equal.jsonl', `${line(1)}\n`.repeat(3))], send: store.send })
    expect(summary.stored).toBe(3)
  })

  test('an interrupted run goes on where everything before is stored', async () => {
    const store = new Store()
    const checkpoints = new Memory()
    const abort = new AbortController()
    const files = [await source('stop.jsonl', lines(10_000))]
    const first = await runImport({
      files,
      checkpoints,
      signal: abort.signal,
      batchSize: 1000,
      send: async (batch) => {
        const result = await store.send(batch)
        if (store.events.size >= 4000) abort.abort()
        return result
      },
    })
    expect(first.isAborted).toBe(true)
    const stored = store.events.size
    expect([...checkpoints.rows.values()]).toEqual([stored])
    const second = await runImport({ files, checkpoints, send: store.send, batchSize: 1000 })
    expect([second.skipped, second.stored, second.duplicates]).toEqual([stored, 10_000 - stored, 0])
  })

  test('a batch that fails ends the run with its reason and leaves the checkpoint before it', async () => {
    const checkpoints = new Memory()
    let calls = 0
    const run = runImport({
      files: [await source('fail.jsonl', lines(5000))],
      checkpoints,
      batchSize: 1000,
      send: async (batch) => {
        if (++calls === 3) throw new Error('disk full')
        return { accepted: batch.length, duplicates: 0, dropped: 0, warnings: [] }
      },
    })
    await expect(run).rejects.toThrow('disk full')
    expect([...checkpoints.rows.values()]).toEqual([2000])
  })

  test('rows that cannot be read are counted, the first ones shown with their place', async () => {
    const store = new Store()
    const content = `${line(0)}\nnot json\n\n${line(1)}\n{"event":"x"}\n`
    const summary = await runImport({ files: [await source('bad.jsonl', content)], send: store.send })
    expect([summary.rows, summary.stored, summary.unreadable]).toEqual([4, 2, 2])
    expect(summary.problems.map((p) => [p.row, p.problem])).toEqual([
      [2, 'not a JSON object: not json'],
      [5, 'no distinct_id'],
    ])
  })

  test('a table is read through the reader that is given', async () => {
    const rows = [{ user: 'u', event: 'e', time: '2026-01-01 00:00:00', n: 1 }]
    const opened = await openSource(file('t.csv', 'user,event,time,n\n'), { readTable: table(rows) })
    const store = new Store()
    const summary = await runImport({ files: [opened], send: store.send })
    expect(summary.earliest).toBe('2026-01-01T00:00:00.000Z')
    expect([...store.events.values()][0]).toMatchObject({ event: 'e', distinct_id: 'u', properties: { n: 1 } })
  })
})

describe('zstd', () => {
  /** Frames of blocks that are one byte, repeated: four bytes for 128 KB. */
  const repeated = (byte: number, blocks: number, window = 0x58) => {
    const header = (isLast: boolean) => (131_072 << 3) | (1 << 1) | (isLast ? 1 : 0)
    const bytes = [0x28, 0xb5, 0x2f, 0xfd, 0x00, window]
    for (let i = 0; i < blocks; i++) {
      const size = header(i === blocks - 1)
      bytes.push(size & 0xff, (size >> 8) & 0xff, (size >> 16) & 0xff, byte)
    }
    return Uint8Array.from(bytes)
  }

  test('is unpacked as it is taken', async () => {
    const lines = readLines(file('repeated.zst', repeated(0x0a, 8_000)))
    const before = process.memoryUsage().arrayBuffers
    expect((await lines.next()).value).toHaveLength(131_072)
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(200_000_000) // of a gigabyte
    await lines.return()
  })

  test('whole, it is what was packed', async () => {
    let count = 0
    for await (const some of readLines(file('few.zst', repeated(0x0a, 20)))) count += some.length
    expect(count).toBe(20 * 131_072)
  })

  test('with a window of gigabytes it is refused', async () => {
    await expect(readLines(file('wide.zst', repeated(0x0a, 1, 0xa8))).next()).rejects.toThrow(
      /window of 2147483648 bytes.*the limit is 134217728/,
    )
  })
})

test('an import that is interrupted says how far it was', async () => {
  const stop = new AbortController()
  const source = await openSource(file('long.jsonl', lines(20_000)), { readTable: noTable })
  const shares: number[] = []
  await runImport({
    files: [source],
    send: new Store().send,
    signal: stop.signal,
    onProgress: ({ bytesRead, bytes }) => {
      shares.push(bytesRead / bytes)
      if (bytesRead / bytes > 0.2) stop.abort()
    },
  })
  expect(stop.signal.aborted).toBe(true)
  expect(shares.at(-1)).toBe(shares.at(-2))
  expect(shares.at(-1)).toBeLessThan(0.9)
})

test('the columns that were chosen are told, of lines and of tables', async () => {
  const row = { action: 'paid', user: 'u', time: '2026-01-01T00:00:00Z', price: 3 }
  const chosen = {
    event: { column: 'action' },
    distinct_id: { constant: 'me' },
    timestamp: { column: 'time' },
    uuid: null,
    properties: null,
  }
  const mapping = { distinct_id: { constant: 'me' } }
  const sources = [
    await openSource(file('rows.jsonl', `${JSON.stringify(row)}\n`), { readTable: noTable, mapping }),
    await openSource(file('rows.csv', 'action,user,time\n'), { readTable: table([row]), mapping }),
  ]
  const { files } = await runImport({ files: sources, send: new Store().send })
  expect(files).toEqual([
    { file: 'rows.jsonl', format: 'jsonl', columns: chosen },
    { file: 'rows.csv', format: 'csv', columns: chosen },
  ])
})
