import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, utimesSync, writeFileSync } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { tableFromIPC } from 'apache-arrow'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ClosedSegments, mostWaiting } from '../../../../src/engine/storage/log/closed-segments.ts'
import { blockBytes } from '../../../../src/engine/storage/log/compressed.ts'
import { createBlockLimit } from '../../../../src/engine/storage/log/compressing.ts'
import { type Disk, disk } from '../../../../src/engine/storage/log/disk.ts'
import { FileLog, type LogSettings } from '../../../../src/engine/storage/log/file-log.ts'
import { findDamages, inspectLog } from '../../../../src/engine/storage/log/findings.ts'
import { headerFormat, segmentHeader } from '../../../../src/engine/storage/log/frame.ts'
import type { Log, LogBatch, LogDamage } from '../../../../src/engine/storage/log/log.ts'
import { cutLog } from '../../../../src/engine/storage/log/moment.ts'
import { listSegments, type Segment } from '../../../../src/engine/storage/log/segment.ts'
import { TailedLog } from '../../../../src/engine/storage/log/tailed-log.ts'
import { Texts } from '../../../../src/lib/text/texts.ts'
import { assertGenerated } from '../../../harness/assert-generated.ts'

// Closed segments in their compressed form: the same records from any position, the same damage, and one of both files whatever happens meanwhile.

let root: string
let directory: string
const opened: FileLog[] = []
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'waymark-compressed-'))
  directory = join(root, 'log')
})
afterEach(async () => {
  for (const log of opened.splice(0)) await log.close()
  rmSync(root, { recursive: true, force: true })
})

/** Text that compresses to a third, other for each number. */
const text = (bytes: number, number: number): string => {
  let state = number * 2_654_435_761 + 12_345
  const parts: string[] = []
  for (let length = 0; length < bytes; length += 16) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    parts.push(`${state.toString(36).padStart(7, '0')},"key":${number % 7}`.slice(0, 16))
  }
  return JSON.stringify({ number, text: parts.join('').slice(0, bytes) })
}
let time = 1_767_607_200_000
const batch = (...payloads: string[]): LogBatch => ({
  kind: 'event',
  receivedAt: time++,
  sentAt: null,
  historical: false,
  ip: null,
  uuids: payloads.map((_, i) => `00000000-0000-4000-8000-${String(i).padStart(12, '0')}`),
  payloads: Texts.of(payloads),
})
const open = async (settings: Partial<LogSettings> = {}, appliedSeq = 0, folder = directory): Promise<FileLog> => {
  const log = await FileLog.open(folder, { minFreeBytes: 0, durability: 'os', windowMs: 0, ...settings }, appliedSeq)
  opened.push(log)
  return log
}
const compressing = (settings: Partial<LogSettings> = {}): Partial<LogSettings> => ({ compression: createBlockLimit(), ...settings })
const close = async (log: FileLog) => {
  opened.splice(opened.indexOf(log), 1)
  await log.close()
}

interface Found {
  readonly seq: number
  readonly payload: string
}
async function read(log: Pick<Log, 'read'>, fromSeq = 1): Promise<Found[]> {
  const found: Found[] = []
  for await (const { firstSeq, payloads } of log.read(fromSeq))
    found.push(...[...payloads].map((payload, i) => ({ seq: firstSeq + i, payload })))
  return found
}
const names = (folder = directory) => readdirSync(folder).sort()
const pathOf = (name: string) => join(directory, name)
const isCompressed = (name: string, folder = directory) => readFileSync(join(folder, name)).readUInt16BE(0) === 0x1f8b
const compressedNames = (folder = directory) => names(folder).filter((name) => isCompressed(name, folder))
/** Segments of these batches, and a newest one of one short record. */
async function write(segments: readonly (readonly (readonly string[])[])[], folder = directory): Promise<number> {
  let last = 0
  const append = async (batches: readonly (readonly string[])[], segmentBytes: number) => {
    const log = await open({ segmentBytes }, 0, folder)
    for (const payloads of batches) last = (await log.append(batch(...payloads))).firstSeq + payloads.length - 1
    await close(log)
  }
  for (const [first, ...rest] of [...segments, [['"the end"']]]) {
    await append([first!], 1) // begins another one
    await append(rest, 1e9)
  }
  return last
}

/** Compresses what is closed. */
async function compress(last: number, settings: Partial<LogSettings> = {}, folder = directory): Promise<void> {
  const log = await open(compressing(settings), last, folder)
  await log.compressed()
  await close(log)
}

const large = (count: number, bytes = 100_000, from = 1) => Array.from({ length: count }, (_, i) => [text(bytes, from + i)])

describe('a closed segment', () => {
  test('is a gzip file of its plain form, of the same age, and any Arrow reader understands that', async () => {
    const last = await write([large(8)])
    const [first, newest] = names()
    const before = readFileSync(pathOf(first!))
    const old = new Date('2026-01-02T03:04:05Z')
    utimesSync(pathOf(first!), old, old)
    await compress(last, { retention: { maxAge: Number.POSITIVE_INFINITY, maxBytes: Number.POSITIVE_INFINITY } })
    expect(names()).toEqual([first, newest])
    expect(compressedNames()).toEqual([first])
    const after = readFileSync(pathOf(first!))
    expect(after.length).toBeLessThan(before.length * 0.75)
    expect(gunzipSync(after).equals(before)).toBe(true)
    expect(statSync(pathOf(first!)).mtime).toEqual(old)
    expect(statSync(pathOf(first!)).mode & 0o777).toBe(0o600)
    expect(tableFromIPC(gunzipSync(after)).numRows).toBe(8)
  })

  test('is compressed when it is applied, and not before; the newest one never', async () => {
    const log = await open(compressing({ segmentBytes: 4000 }))
    for (let i = 1; i <= 12; i++) await log.append(batch(text(1500, i)))
    await log.compressed()
    const all = names()
    expect([all.length > 3, compressedNames()]).toEqual([true, []])
    const [second, third] = all.slice(1, 3).map((name) => Number.parseInt(name, 10))
    log.markApplied(second! - 1)
    await log.compressed()
    expect(compressedNames()).toEqual(all.slice(0, 1))
    log.markApplied(third! - 2)
    await log.compressed()
    expect(compressedNames()).toEqual(all.slice(0, 1))
    log.markApplied(12)
    await log.compressed()
    expect(compressedNames()).toEqual(all.slice(0, -1))
    expect((await read(log)).map(({ seq }) => seq)).toEqual(Array.from({ length: 12 }, (_, i) => i + 1))
    // The newest one was not; an earlier version refuses the log because of its header.
    expect(headerFormat(readFileSync(pathOf(all.at(-1)!)))).toBe(2)
  })

  test('of what does not become much smaller stays plain', async () => {
    const noise = (bytes: number) =>
      JSON.stringify(Buffer.from(Array.from({ length: bytes }, () => Math.floor(Math.random() * 256))).toString('base64'))
    const last = await write([[[noise(200_000)], [noise(200_000)]], large(3)])
    await compress(last)
    expect(compressedNames()).toEqual([names()[1]])
  })

  test('is said to take what it takes on the disk, also by the log that compresses it', async () => {
    const last = await write([large(8)])
    const log = await open(compressing(), last)
    await log.compressed()
    expect(log.files().map(({ name, bytes }) => [name, bytes])).toEqual(names().map((name) => [name, statSync(pathOf(name)).size]))
  })
})

describe('records', () => {
  const sizes = fc.array(fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 40 })
  const bytes = fc.constantFrom(10, 3_000, 40_000, 150_000)

  test('from any position are those of the plain form, in the process and in another one', async () => {
    await assertGenerated(
      fc.asyncProperty(fc.array(fc.tuple(sizes, bytes), { minLength: 1, maxLength: 3 }), async (drawn) => {
        rmSync(root, { recursive: true, force: true })
        let number = 0
        const segments = drawn.map(([batches, size]) => {
          const most = Math.max(2, Math.ceil(1_500_000 / size / 10))
          return batches.slice(0, most).map((counts) => counts.map((count) => text(count * size, ++number)))
        })
        const last = await write(segments)
        const plain = join(root, 'plain')
        cpSync(directory, plain, { recursive: true })
        await compress(last)
        expect(compressedNames().length).toBeGreaterThan(0)
        const [packed, whole] = [await open({}, last), await open({}, last, plain)]
        const all = await read(whole)
        expect(all.map(({ seq }) => seq)).toEqual(Array.from({ length: last }, (_, i) => i + 1))
        expect(await read(packed)).toEqual(all)
        for (let seq = 1; seq <= last; seq += Math.max(1, Math.floor(last / 7))) {
          expect([seq, await read(packed, seq)]).toEqual([seq, all.slice(seq - 1)])
          expect([seq, await read(tail(last), seq)]).toEqual([seq, all.slice(seq - 1)])
        }
        await close(packed)
        await close(whole)
      }),
      { numRuns: 8 },
    )
  })

  test('one of many blocks is read like any other', async () => {
    const huge = text(3 * blockBytes, 1)
    const last = await write([[[huge], [text(10, 2)], [huge]]])
    await compress(last)
    expect(await read(await open({}, last), 2)).toHaveLength(last - 1)
    expect((await read(await open({}, last), 3))[0]!.payload).toBe(huge)
  })
})

const writer = { append: () => Promise.reject(new Error('nobody writes here')), taken: () => undefined, applied: () => undefined }
const tail = (lastSeq: number) => new TailedLog({ directory, lastSeq, writer, onDamage: 'refuse' })

describe('a reader in the middle of a segment that is replaced', () => {
  test('goes on with the plain one', async () => {
    const last = await write([large(12)])
    const log = await open(compressing(), 0)
    const reader = log.read(1)[Symbol.asyncIterator]()
    const first = await reader.next()
    log.markApplied(last)
    await log.compressed()
    expect(compressedNames()).toHaveLength(1)
    const met = [first.value!.firstSeq]
    for (let one = await reader.next(); !one.done; one = await reader.next()) met.push(one.value.firstSeq)
    expect(met).toEqual(Array.from({ length: last }, (_, i) => i + 1))
  })

  test('goes on in another process, and after its next start there', async () => {
    const last = await write([large(12)])
    const log = await open(compressing(), 0)
    const follower = tail(4)
    const met = (await read(follower)).map(({ seq }) => seq)
    const reader = follower.read(5)[Symbol.asyncIterator]()
    follower.reached(8)
    met.push((await reader.next()).value!.firstSeq)
    log.markApplied(last)
    await log.compressed()
    expect(compressedNames()).toHaveLength(1)
    for (let one = await reader.next(); !one.done; one = await reader.next()) met.push(one.value.firstSeq)
    follower.reached(last)
    met.push(...(await read(follower, 9)).map(({ seq }) => seq))
    expect(met).toEqual(Array.from({ length: last }, (_, i) => i + 1))
    expect((await read(tail(last), 3)).map(({ seq }) => seq)).toEqual(met.slice(2))
  })
})

describe('damage', () => {
  /** Two segments of several blocks each; returns the plain form of the first one. */
  const twoSegments = async () => {
    const last = await write([large(20), large(20, 100_000, 100)])
    const plain = readFileSync(pathOf(names()[0]!))
    await compress(last)
    expect(compressedNames()).toHaveLength(2)
    return { last, plain, path: pathOf(names()[0]!) }
  }
  const flip = (path: string, at: number, count = 1) => {
    const bytes = readFileSync(path)
    for (let i = at; i < at + count; i++) bytes[i] = bytes[i]! ^ 0x55
    writeFileSync(path, bytes)
  }
  /** Where the blocks of a file begin. */
  const blocksOf = (path: string) => {
    const bytes = readFileSync(path)
    const found: number[] = []
    for (let at = 0; at < bytes.length; at += bytes.readUInt32LE(at + 16)) found.push(at)
    return found
  }

  test.each([
    ['in the contents of a block', (path: string) => flip(path, blocksOf(path)[2]! + 500)],
    ['in the header of a block', (path: string) => flip(path, blocksOf(path)[2]! + 20)],
    ['in the checksum of a block', (path: string) => flip(path, blocksOf(path)[3]! - 6)],
    ['of a whole sector', (path: string) => flip(path, blocksOf(path)[2]! + 4096, 512)],
  ])('%s takes the records that touch the block, and no others', async (_, damage) => {
    const { last, path } = await twoSegments()
    damage(path)
    const met: LogDamage[] = []
    const log = await open({ onDamage: (one) => met.push(one) }, last)
    const left = (await read(log)).map(({ seq }) => seq)
    const lost = Array.from({ length: last }, (_, i) => i + 1).filter((seq) => !left.includes(seq))
    expect(lost.length).toBeGreaterThan(1)
    expect(lost.length).toBeLessThan(6) // a block has two and a half records
    expect(lost).toEqual(Array.from({ length: lost.length }, (_, i) => lost[0]! + i))
    expect(met).toEqual([{ file: path, offset: expect.any(Number), fromSeq: lost[0], toSeq: lost.at(-1) }])
    const findings = await inspectLog(directory)
    expect(await findDamages(findings, 1)).toEqual(met)
    await expect(read(await open({}, last))).rejects.toMatchObject({ code: 'log-damaged', data: met[0] })
    expect((await read(await open({}, last), lost.at(-1)! + 1)).length).toBe(last - lost.at(-1)!)
  })

  test('of its beginning leaves what follows', async () => {
    const { last, path } = await twoSegments()
    flip(path, 0, 3000)
    const met: LogDamage[] = []
    const log = await open({ onDamage: (one) => met.push(one) }, last)
    const left = (await read(log)).map(({ seq }) => seq)
    expect(left.slice(-30)).toEqual(Array.from({ length: 30 }, (_, i) => last - 29 + i))
    expect(met).toEqual([{ file: path, offset: expect.any(Number), fromSeq: 1, toSeq: left[0]! - 1 }])
    expect(left[0]).toBeLessThan(6)
  })

  test('of its end, cut off, is reported with the records that are missing', async () => {
    const { last, path } = await twoSegments()
    const cut = blocksOf(path)[4]! + 100
    truncateSync(path, cut)
    const met: LogDamage[] = []
    const log = await open({ onDamage: (one) => met.push(one) }, last)
    const left = (await read(log)).map(({ seq }) => seq)
    expect(met).toHaveLength(1)
    expect(left).toEqual(Array.from({ length: last }, (_, i) => i + 1).filter((seq) => seq < met[0]!.fromSeq || seq > met[0]!.toSeq!))
    expect(met[0]!.fromSeq).toBeGreaterThan(8)
    expect(met[0]!.toSeq).toBe(20)
  })

  test('in the plain form is kept as it is, and what surrounds it is read', async () => {
    const last = await write([large(20)])
    const path = pathOf(names()[0]!)
    flip(path, 350_000)
    const plain = readFileSync(path)
    await compress(last)
    expect(compressedNames()).toHaveLength(1)
    expect(gunzipSync(readFileSync(path)).equals(plain)).toBe(true)
    const met: LogDamage[] = []
    expect((await read(await open({ onDamage: (one) => met.push(one) }, last))).length).toBe(last - 1)
    expect(met.map(({ fromSeq, toSeq }) => [fromSeq, toSeq])).toEqual([[4, 4]])
  })

  test('of one that has become the newest is found without the position of the log', async () => {
    const { path, last } = await twoSegments()
    for (const name of names().slice(1)) rmSync(pathOf(name))
    const blocks = blocksOf(path)
    flip(path, blocks.at(-1)! + 60)
    const found = await inspectLog(directory)
    expect(found.damages).toEqual([{ file: path, offset: expect.any(Number), fromSeq: found.lastSeq + 1, toSeq: null }])
    expect(found.lastSeq).toBeGreaterThan(15)
    expect((await inspectLog(directory, last)).damages).toEqual([expect.objectContaining({ fromSeq: found.lastSeq + 1, toSeq: last })])
  })
})

describe('a machine that is never calm', () => {
  /** Compresses until it waits for others, and says what is compressed then. */
  async function compressedWhenItWaits(segments: Segment[], added: readonly Segment[], last: number): Promise<readonly string[]> {
    let waits = () => {}
    const waiting = new Promise<void>((resolve) => {
      waits = resolve
    })
    const closed = new ClosedSegments({
      segments,
      isMarked: () => true,
      appliedSeq: () => last,
      calm() {
        waits()
        return new Promise(() => {})
      },
      inTurn: (work) => work(),
      disk,
      minFreeBytes: 0,
      limit: createBlockLimit(),
      report(error) {
        throw error
      },
    })
    segments.push(...added)
    closed.wake()
    await waiting
    await closed.stop()
    return compressedNames()
  }

  test('keeps as many segments waiting as it may, and compresses the others without waiting; those of an earlier process wait', async () => {
    const last = await write(Array.from({ length: mostWaiting + 4 }, (_, i) => large(1, 20_000, i)))
    const all = (await listSegments(directory)).map(({ name, firstSeq }) => {
      const path = pathOf(name)
      return { path, firstSeq, bytes: statSync(path).size }
    })
    expect(all).toHaveLength(mostWaiting + 5)
    expect(await compressedWhenItWaits([...all], [], last)).toEqual([])
    expect(await compressedWhenItWaits(all.slice(0, 5), all.slice(5), last)).toEqual([])
    expect(await compressedWhenItWaits([], all, last)).toEqual(names().slice(mostWaiting, -1))
  })
})

describe('a directory', () => {
  test('of an earlier version opens as it is; its closed segments are compressed in the background, also by the next process', async () => {
    const last = await write([large(8), large(8, 100_000, 50), large(8, 100_000, 100)])
    for (const name of names()) {
      const bytes = readFileSync(pathOf(name))
      segmentHeader(1).copy(bytes)
      writeFileSync(pathOf(name), bytes)
    }
    const before = await read(await open({}, last))
    expect(compressedNames()).toEqual([])
    let blocks = 0
    const limit = createBlockLimit()
    let enough = () => {}
    const stopped = new Promise<void>((resolve) => {
      enough = resolve
    })
    const log = await open(
      {
        compression: (group, work) => {
          if (++blocks === 12) enough()
          return limit(group, work)
        },
      },
      last,
    )
    await stopped
    await close(log)
    expect(compressedNames().length).toBeLessThan(3)
    expect(names().filter((name) => name.endsWith('.new'))).toEqual([])
    expect(headerFormat(readFileSync(pathOf(names().at(-1)!)))).toBe(2)
    await compress(last)
    expect(compressedNames()).toEqual(names().slice(0, -1))
    expect(await read(await open({}, last))).toEqual(before)
  })

  test('whose newest segment is a compressed one goes on behind it, and an earlier version refuses it', async () => {
    await write([large(8)])
    await compress(9)
    rmSync(pathOf(names().at(-1)!))
    const [first] = names()
    const packed = readFileSync(pathOf(first!))
    const log = await open(compressing())
    expect(log.lastSeq).toBe(8)
    expect(headerFormat(readFileSync(pathOf(names().at(-1)!)))).toBe(2)
    expect(await log.append(batch('"next"'))).toEqual({ firstSeq: 9 })
    expect((await read(log)).map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9])
    expect(readFileSync(pathOf(first!)).equals(packed)).toBe(true)
  })

  test('without closed segments keeps the format that an earlier version reads', async () => {
    const log = await open(compressing())
    await log.append(batch('"1"'))
    await close(log)
    const again = await open(compressing(), 1)
    await again.append(batch('"2"'))
    expect(headerFormat(readFileSync(pathOf(names()[0]!)))).toBe(1)
  })

  test('is cut at any record of a compressed segment, as at one of a plain one', async () => {
    const last = await write([large(9), large(3, 1000, 50)])
    const plain = join(root, 'plain')
    cpSync(directory, plain, { recursive: true })
    await compress(last)
    for (let seq = 0; seq <= last; seq++) {
      const [one, other] = [join(root, `packed-${seq}`), join(root, `plain-${seq}`)]
      cpSync(directory, one, { recursive: true })
      cpSync(plain, other, { recursive: true })
      expect([seq, await cutLog(one, { seq })]).toEqual([seq, await cutLog(other, { seq })])
      const [packed, whole] = [await open({}, 0, one), await open({}, 0, other)]
      const found = await read(packed)
      expect(found).toEqual(await read(whole))
      expect(found).toHaveLength(seq)
      expect(names(one)).toEqual(names(other))
      expect(await packed.append(batch('"after"'))).toEqual({ firstSeq: seq + 1 })
      for (const log of [packed, whole]) await close(log)
      for (const folder of [one, other]) rmSync(folder, { recursive: true })
    }
  })
})

describe('retention', () => {
  const week = { maxAge: 7 * 86_400_000, maxBytes: Number.POSITIVE_INFINITY }
  const unlimited = { maxAge: Number.POSITIVE_INFINITY, maxBytes: Number.POSITIVE_INFINITY }

  test('by days counts from when a segment was written, not compressed', async () => {
    const last = await write([large(4), large(4, 100_000, 50)])
    const days = (n: number) => new Date(Date.now() - n * 86_400_000)
    utimesSync(pathOf(names()[0]!), days(6), days(6))
    await compress(last, { retention: week })
    const [first, second, newest] = names()
    expect(compressedNames()).toEqual([first, second])
    const { atime, mtime } = statSync(pathOf(first!))
    utimesSync(pathOf(first!), atime, new Date(mtime.getTime() - 2 * 86_400_000))
    await compress(last, { retention: week })
    expect(names()).toEqual([second, newest])
  })

  test('by bytes counts what is on the disk', async () => {
    const last = await write([large(4), large(4, 100_000, 50)])
    const plain = names().reduce((sum, name) => sum + statSync(pathOf(name)).size, 0)
    await compress(last, { retention: unlimited })
    const all = names()
    const packed = all.reduce((sum, name) => sum + statSync(pathOf(name)).size, 0)
    expect(packed).toBeLessThan(plain * 0.75)
    await compress(last, { retention: { ...unlimited, maxBytes: packed } })
    expect(names()).toEqual(all)
    await compress(last, { retention: { ...unlimited, maxBytes: packed - 1 } })
    expect(names()).toEqual(all.slice(1))
  })

  test('of a segment that is being compressed removes it, and its compressed form does not come back', async () => {
    const last = await write([large(4), large(4, 100_000, 50)])
    let reached = () => {}
    const inSync = new Promise<void>((resolve) => {
      reached = resolve
    })
    let goOn = () => {}
    const removed = new Promise<void>((resolve) => {
      goOn = resolve
    })
    let syncs = 0
    const slow: Disk = {
      ...disk,
      async sync(handle) {
        if (++syncs > 1) return disk.sync(handle)
        reached()
        await removed
      },
    }
    const retention = { ...unlimited }
    const reports: unknown[] = []
    const log = await open(compressing({ disk: slow, segmentBytes: 1, retention, report: (error) => reports.push(error) }), last)
    await inSync
    retention.maxBytes = 0
    await log.append(batch('"next"'))
    await expect.poll(() => log.firstSeq).toBe(last) // what was the newest one until now
    goOn()
    await log.compressed()
    expect([names(), reports]).toEqual([[last, last + 1].map((seq) => `${String(seq).padStart(12, '0')}.arrow`), []])
  })
})

describe('a disk', () => {
  const full = () => Object.assign(new Error('ENOSPC: on purpose'), { code: 'ENOSPC' })

  test.each([
    [
      'that would have less than its floor',
      (isFull: () => boolean): Partial<Disk> => ({ freeBytes: async () => (isFull() ? 1000 : 1e12) }),
    ],
    [
      'that is full',
      (isFull: () => boolean): Partial<Disk> => ({
        write: async (handle, bytes, position) => {
          if (!isFull() || position < 1000) return disk.write(handle, bytes, position)
          throw full()
        },
      }),
    ],
  ])('%s leaves the plain segments, and says so once; with space and the next segment they are compressed', async (_, faults) => {
    const last = await write([large(8), large(8, 100_000, 50)])
    let isFull = true
    const reports: unknown[] = []
    const settings = {
      disk: { ...disk, ...faults(() => isFull) },
      minFreeBytes: 10_000,
      segmentBytes: 1,
      report: (error: unknown) => reports.push(error),
    }
    const log = await open(compressing(settings), last)
    await log.compressed()
    log.markApplied(last)
    await log.compressed()
    const before = names()
    expect([compressedNames(), before.filter((name) => name.endsWith('.new'))]).toEqual([[], []])
    expect(reports).toEqual([
      expect.objectContaining({ code: 'log-not-compressed', data: { file: expect.any(String), reason: expect.any(String) } }),
    ])
    isFull = false
    await log.append(batch('"more"'))
    log.markApplied(last + 1)
    await log.compressed()
    expect(compressedNames()).toEqual(before)
    expect(reports).toHaveLength(1)
  })

  test.each(['sync', 'rename', 'syncDirectory'] as const)('whose %s fails leaves one of both forms, whole', async (step) => {
    const last = await write([large(8)])
    const broken: Disk = { ...disk, [step]: async () => Promise.reject(Object.assign(new Error('EIO: on purpose'), { code: 'EIO' })) }
    const reports: unknown[] = []
    const log = await open(compressing({ disk: broken, report: (error) => reports.push(error) }), last)
    await log.compressed()
    expect(reports).toHaveLength(1)
    expect(names()).toHaveLength(2)
    expect(compressedNames()).toHaveLength(step === 'syncDirectory' ? 1 : 0)
    expect(await read(log)).toHaveLength(last)
  })
})

describe('closing', () => {
  test('waits for no block, and leaves nothing beside the segments', async () => {
    const last = await write([large(8)])
    let begun = () => {}
    const inBlock = new Promise<void>((resolve) => {
      begun = resolve
    })
    let blocks = 0
    const stuck: LogSettings['compression'] = (_, work) => {
      if (++blocks < 3) return work()
      begun()
      return new Promise(() => undefined)
    }
    const log = await open({ compression: stuck }, last)
    await inBlock
    expect(names().filter((name) => name.endsWith('.new'))).toHaveLength(1)
    await close(log)
    expect(names().filter((name) => name.endsWith('.new'))).toEqual([])
    expect(compressedNames()).toEqual([])
  })

  test('waits for no sync of what is compressed', async () => {
    const last = await write([large(8)])
    let begun = () => {}
    const inSync = new Promise<void>((resolve) => {
      begun = resolve
    })
    const slow: Disk = {
      ...disk,
      sync: () => {
        begun()
        return new Promise(() => undefined)
      },
    }
    const log = await open(compressing({ disk: slow, segmentBytes: 1 }), last)
    await inSync
    await close(log)
    expect(names()).toHaveLength(2)
  })
})

test('a batch goes before the next block', async () => {
  const last = await write([large(8)])
  const limit = createBlockLimit()
  const order: string[] = []
  let log: FileLog | null = null
  let isWriting = false
  const noting: Disk = {
    ...disk,
    async write(handle: FileHandle, bytes, position) {
      const isBatch = position > 0 && isWriting
      await disk.write(handle, bytes, position)
      if (isBatch && bytes.some((one) => Buffer.from(one).includes('"urgent"'))) order.push('batch')
    },
  }
  const appended: Promise<unknown>[] = []
  log = await open(
    {
      disk: noting,
      compression: async (group, work) => {
        order.push('block')
        const done = await limit(group, work)
        if (appended.length === 0) {
          isWriting = true
          appended.push(log!.append(batch('"urgent"')))
        }
        return done
      },
    },
    last,
  )
  await log.compressed()
  await Promise.all(appended)
  expect(order.slice(0, 3)).toEqual(['block', 'batch', 'block'])
})

describe('a process that ends', () => {
  /** Stops before the call `step` of the disk, as one that is killed there. */
  function stopping(step: number) {
    let calls = 0
    let reached: (isReached: boolean) => void = () => undefined
    const over = new Promise<boolean>((resolve) => {
      reached = resolve
    })
    let release = () => {}
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    const stop = async <T>(work: () => Promise<T>): Promise<T> => {
      if (++calls !== step) return work()
      reached(true)
      await released
      throw new Error('on purpose')
    }
    const faulty: Disk = {
      open: (...args) => stop(() => disk.open(...args)),
      write: (...args) => stop(() => disk.write(...args)),
      sync: (...args) => stop(() => disk.sync(...args)),
      rename: (...args) => stop(() => disk.rename(...args)),
      syncDirectory: (...args) => stop(() => disk.syncDirectory(...args)),
      freeBytes: (...args) => stop(() => disk.freeBytes(...args)),
    }
    return { faulty, over, release, done: () => reached(false) }
  }

  test('before any step leaves a log with every record once, which the next one compresses', async () => {
    const last = await write([large(6)])
    const before = await read(await open({}, last))
    const original = directory
    for (let step = 1, isStopped = true; isStopped; step++) {
      directory = join(root, `at-${step}`)
      cpSync(original, directory, { recursive: true })
      const { faulty, over, release, done } = stopping(step)
      const stopped = await open(compressing({ disk: faulty, segmentBytes: 1 }), last)
      void stopped.compressed().then(done)
      isStopped = await over
      const left = join(root, `left-${step}`)
      cpSync(directory, left, { recursive: true })
      release()
      await close(stopped)
      directory = left
      const log = await open(compressing(), last)
      expect([step, await read(log)]).toEqual([step, before])
      await log.compressed()
      expect([step, names(), compressedNames()]).toEqual([step, names(original), names(original).slice(0, -1)])
      expect([step, await read(log), log.damages]).toEqual([step, before, []])
      await close(log)
      if (!isStopped) expect(step).toBeGreaterThan(8)
    }
  })
})
