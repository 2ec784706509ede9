import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { tableFromIPC } from 'apache-arrow'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Disk, disk } from '../../../../src/engine/storage/log/disk.ts'
import { FileLog, type LogSettings } from '../../../../src/engine/storage/log/file-log.ts'
import type { Log, LogBatch, LogDamage, StoredBatch } from '../../../../src/engine/storage/log/log.ts'
import { MemoryLog } from '../../../../src/engine/storage/log/memory-log.ts'
import { deferred } from '../../../../src/lib/flow/deferred.ts'
import { Texts } from '../../../../src/lib/text/texts.ts'
import { assertGenerated } from '../../../harness/assert-generated.ts'

let directory: string
const opened: Log[] = []
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'waymark-log-'))
})
afterEach(async () => {
  for (const log of opened.splice(0)) await log.close()
  rmSync(directory, { recursive: true, force: true })
})
const openLog = async (settings: Partial<LogSettings> = {}, appliedSeq = 0): Promise<FileLog> => {
  const log = await FileLog.open(directory, { minFreeBytes: 0, ...settings }, appliedSeq)
  opened.push(log)
  return log
}

const batch = (...payloads: string[]): LogBatch => ({
  kind: 'event',
  receivedAt: 1_767_607_200_123,
  sentAt: null,
  historical: false,
  ip: null,
  uuids: payloads.map((_, i) => `00000000-0000-4000-8000-${String(i).padStart(12, '0')}`),
  payloads: Texts.of(payloads),
})
const readAll = async (log: Log, fromSeq = 1): Promise<StoredBatch[]> => {
  const batches: StoredBatch[] = []
  for await (const found of log.read(fromSeq)) batches.push(found)
  return batches
}
const payloadsOf = (batches: readonly StoredBatch[]) => batches.flatMap((b) => [...b.payloads])
const segments = () => readdirSync(directory).filter((name) => name.endsWith('.arrow'))
const pathOf = (name: string) => join(directory, name)
const overwrite = (name: string, offset: number, length: number) => {
  const bytes = readFileSync(pathOf(name))
  bytes.fill(0x5a, offset, offset + length)
  writeFileSync(pathOf(name), bytes)
}

describe.each([
  ['files', () => openLog()],
  ['memory', async () => new MemoryLog()],
] as const)('a log in %s', (_, open) => {
  test('gives back what was appended, numbered without gaps in the order of the calls', async () => {
    const log = await open()
    const first = log.append({ ...batch('{"a":1}', '{"b":"ü😀\\u0000"}'), sentAt: '2026-01-05T10:00:00Z', ip: '::1', historical: true })
    const second = log.append({ ...batch('{}'), kind: 'persons' })
    expect(await Promise.all([first, second])).toEqual([{ firstSeq: 1 }, { firstSeq: 3 }])
    expect(log.lastSeq).toBe(3)
    expect(await readAll(log)).toEqual([
      { ...batch('{"a":1}', '{"b":"ü😀\\u0000"}'), firstSeq: 1, sentAt: '2026-01-05T10:00:00Z', ip: '::1', historical: true },
      { ...batch('{}'), firstSeq: 3, kind: 'persons' },
    ])
  })

  test('reading can start inside a batch, and past the end is nothing', async () => {
    const log = await open()
    await log.append(batch('1', '2', '3'))
    await log.append(batch('4'))
    expect((await readAll(log, 2)).map((b) => [b.firstSeq, [...b.payloads]])).toEqual([
      [2, ['2', '3']],
      [4, ['4']],
    ])
    expect(await readAll(log, 5)).toEqual([])
  })

  test('a reader meets what is appended while it reads', async () => {
    const log = await open()
    await log.append(batch('1'))
    const met: string[] = []
    for await (const found of log.read(1)) {
      met.push(...found.payloads)
      if (met.length < 4) await log.append(batch(String(met.length + 1)))
    }
    expect(met).toEqual(['1', '2', '3', '4'])
  })

  test('after closing nothing is taken', async () => {
    const log = await open()
    const pending = log.append(batch('1'))
    await log.close()
    await expect(pending).resolves.toEqual({ firstSeq: 1 })
    await expect(log.append(batch('2'))).rejects.toMatchObject({ code: 'closed' })
  })
})

test('a memory log keeps only what is not applied', async () => {
  const log = new MemoryLog()
  for (const payload of ['1', '2', '3']) await log.append(batch(payload))
  log.markApplied(2)
  expect([log.firstSeq, payloadsOf(await readAll(log, 3))]).toEqual([3, ['3']])
  log.markApplied(3)
  expect((await log.append(batch('4'))).firstSeq).toBe(4)
})

describe('files', () => {
  test('a segment is an Arrow stream that any Arrow reader understands', async () => {
    const log = await openLog()
    await log.append({ ...batch('{"a":1}', '{"b":2}'), ip: '10.0.0.1' })
    await log.append(batch('{"c":3}'))
    const table = tableFromIPC(readFileSync(pathOf('000000000001.arrow')))
    expect(table.schema.fields.map((field) => field.name)).toEqual([
      'seq',
      'kind',
      'received_at',
      'sent_at',
      'historical',
      'ip',
      'uuid',
      'payload',
    ])
    expect(table.toArray().map((row) => [row?.seq, row?.ip, row?.payload])).toEqual([
      [1n, '10.0.0.1', '{"a":1}'],
      [2n, null, '{"b":2}'], // what holds for a batch stands in its first row
      [3n, null, '{"c":3}'],
    ])
  })

  test('segments rotate by size, and all of them are read again', async () => {
    let log = await openLog({ segmentBytes: 4000 })
    const payloads = Array.from({ length: 40 }, (_, i) => `{"n":${i},"pad":"${'x'.repeat(300)}"}`)
    for (const payload of payloads) await log.append(batch(payload))
    log.markApplied(40)
    expect(segments().length).toBeGreaterThan(5)
    expect(payloadsOf(await readAll(log))).toEqual(payloads)
    await log.close()
    log = await openLog({ segmentBytes: 4000 })
    expect(log.lastSeq).toBe(40)
    expect(payloadsOf(await readAll(log, 17))).toEqual(payloads.slice(16))
    expect(await log.append(batch('next'))).toEqual({ firstSeq: 41 })
  })

  test('one fsync serves all batches that come while another one runs', async () => {
    let syncs = 0
    const counting: Disk = {
      ...disk,
      sync: (handle) => {
        syncs++
        return disk.sync(handle)
      },
    }
    const log = await openLog({ disk: counting })
    await Promise.all(Array.from({ length: 200 }, (_, i) => log.append(batch(String(i)))))
    expect(log.lastSeq).toBe(200)
    expect(syncs).toBeLessThan(5)
    syncs = 0
    for (let i = 0; i < 5; i++) await log.append(batch(String(i)))
    expect(syncs).toBe(5)
  })

  test("durability 'os' does not fsync", async () => {
    let syncs = 0
    const counting: Disk = {
      ...disk,
      sync: async () => {
        syncs++
      },
    }
    const log = await openLog({ disk: counting, durability: 'os' })
    await log.append(batch('1'))
    expect(syncs).toBe(0)
  })

  test('numbers that the store has are never given twice, even when the log lost its end', async () => {
    let log = await openLog()
    for (const payload of ['1', '2', '3']) await log.append(batch(payload))
    await log.close()
    const [name] = segments()
    truncateSync(pathOf(name!), statSync(pathOf(name!)).size - 5)
    log = await openLog({}, 3)
    expect(log.damages).toEqual([expect.objectContaining({ fromSeq: 3, toSeq: 3 })])
    expect(await log.append(batch('4'))).toEqual({ firstSeq: 4 })
    await log.close()
    log = await openLog({}, 3)
    expect(payloadsOf(await readAll(log, 4))).toEqual(['4'])
  })
})

describe('what a crash leaves', () => {
  test('a file cut at any byte keeps its whole batches, and goes on', async () => {
    let log = await openLog()
    const ends: number[] = []
    for (let i = 1; i <= 4; i++) {
      await log.append(batch(...Array.from({ length: i }, (_, k) => `{"batch":${i},"record":${k}}`)))
      ends.push(statSync(pathOf(segments()[0]!)).size)
    }
    await log.close()
    const whole = readFileSync(pathOf(segments()[0]!))
    const counts = [1, 3, 6, 10]
    for (let cut = 0; cut < whole.length; cut += cut % 7 === 0 ? 1 : 13) {
      rmSync(directory, { recursive: true })
      log = await openLog()
      await log.close()
      writeFileSync(pathOf('000000000001.arrow'), whole.subarray(0, cut))
      log = await openLog()
      const kept = counts.filter((_, i) => ends[i]! <= cut).at(-1) ?? 0
      expect([cut, log.lastSeq]).toEqual([cut, kept])
      expect(log.damages).toEqual([])
      await log.append(batch('"after"'))
      expect(payloadsOf(await readAll(log)).length).toBe(kept + 1)
      await log.close()
    }
  })

  test('garbage behind the last batch is cut off', async () => {
    await assertGenerated(
      fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 3000 }), async (garbage) => {
        rmSync(directory, { recursive: true, force: true })
        let log = await openLog()
        await log.append(batch('1', '2'))
        await log.close()
        const path = pathOf(segments()[0]!)
        writeFileSync(path, Buffer.concat([readFileSync(path), garbage]))
        log = await openLog()
        await log.append(batch('3'))
        await log.close()
        log = await openLog()
        expect([log.lastSeq, payloadsOf(await readAll(log))]).toEqual([3, ['1', '2', '3']])
        await log.close()
      }),
      { numRuns: 30 },
    )
  })

  test('a batch that did not reach the disk takes the rest of its group with it: none was acknowledged', async () => {
    let log = await openLog()
    await log.append(batch('1'))
    const before = statSync(pathOf(segments()[0]!)).size
    await Promise.all([log.append(batch('2')), log.append(batch('3'))]) // one group
    await log.close()
    overwrite(segments()[0]!, before + 20, 8)
    log = await openLog()
    expect([log.lastSeq, log.damages]).toEqual([1, []])
  })
})

describe('damage', () => {
  const threeBatches = async () => {
    const log = await openLog()
    const ends: number[] = []
    for (const payload of ['"1"', '"2"', '"3"']) {
      await log.append(batch(payload))
      ends.push(statSync(pathOf(segments()[0]!)).size)
    }
    await log.close()
    return ends
  }

  test('in front of acknowledged batches is reported, and reading over it is refused', async () => {
    const [first] = await threeBatches()
    overwrite(segments()[0]!, first! + 30, 4)
    const log = await openLog()
    expect(log.lastSeq).toBe(3)
    expect(log.damages).toEqual([{ file: pathOf('000000000001.arrow'), offset: first, fromSeq: 2, toSeq: 2 }])
    await expect(readAll(log)).rejects.toMatchObject({ code: 'log-damaged', data: { fromSeq: 2, toSeq: 2 } })
    expect(payloadsOf(await readAll(log, 3))).toEqual(['"3"'])
  })

  test('can be skipped on demand, with a report', async () => {
    const [first] = await threeBatches()
    overwrite(segments()[0]!, first! + 30, 4)
    const met: LogDamage[] = []
    const log = await openLog({ onDamage: (damage) => met.push(damage) })
    expect(payloadsOf(await readAll(log))).toEqual(['"1"', '"3"'])
    expect(met.map((damage) => [damage.fromSeq, damage.toSeq])).toEqual([[2, 2]])
  })

  test('of the header does not lose the batches behind it', async () => {
    await threeBatches()
    overwrite(segments()[0]!, 0, 100)
    const log = await openLog()
    expect(payloadsOf(await readAll(log))).toEqual(['"1"', '"2"', '"3"'])
    await log.close()
    expect(tableFromIPC(readFileSync(pathOf(segments()[0]!))).numRows).toBe(3)
  })

  test('of an older segment, or its loss, is found by reading', async () => {
    let log = await openLog({ segmentBytes: 1 })
    for (const payload of ['"1"', '"2"', '"3"', '"4"']) await log.append(batch(payload))
    await log.close()
    overwrite(segments()[1]!, statSync(pathOf(segments()[1]!)).size - 20, 20)
    rmSync(pathOf(segments()[2]!))
    const met: LogDamage[] = []
    log = await openLog({ segmentBytes: 1, onDamage: (damage) => met.push(damage) })
    expect(payloadsOf(await readAll(log))).toEqual(['"1"', '"4"'])
    expect(met.map((damage) => [damage.fromSeq, damage.toSeq])).toEqual([[2, 3]])
  })

  test('a segment of a newer version is refused', async () => {
    await threeBatches()
    const path = pathOf(segments()[0]!)
    const bytes = readFileSync(path)
    const at = bytes.indexOf('waymark.log.format')
    const value = bytes.lastIndexOf('1', at) >= 0 ? bytes.indexOf(Buffer.from([1, 0, 0, 0, 0x31])) : -1
    expect(value).toBeGreaterThan(0)
    bytes[value + 4] = 0x39
    writeFileSync(path, bytes)
    await expect(openLog()).rejects.toMatchObject({ code: 'newer-format', data: { found: 9 } })
  })
})

describe('a disk that fails', () => {
  const codeError = (code: string) => Object.assign(new Error(`${code}: on purpose`), { code })

  test('a floor of free space refuses before anything is written, and taking resumes by itself', async () => {
    let free = 1e9
    const log = await openLog({ minFreeBytes: 1e6, disk: { ...disk, freeBytes: async () => free } })
    await log.append(batch('1'))
    const size = statSync(pathOf(segments()[0]!)).size
    free = 1e6
    await expect(log.append(batch('2'))).rejects.toMatchObject({ code: 'disk-full', isRetryable: true, data: { free: 1e6, floor: 1e6 } })
    expect(statSync(pathOf(segments()[0]!)).size).toBe(size)
    free = 1e9
    expect(await log.append(batch('2'))).toEqual({ firstSeq: 2 })
  })

  const steps: readonly [string, string, (broken: () => boolean) => Partial<Disk>][] = [
    [
      'a write that ends half way',
      'disk-full',
      (broken) => ({
        write: async (handle, bytes, position) => {
          if (!broken()) return disk.write(handle, bytes, position)
          await disk.write(handle, [bytes[0]!.subarray(0, 50)], position)
          throw codeError('ENOSPC')
        },
      }),
    ],
    [
      'a failed fsync',
      'log-failed',
      (broken) => ({
        sync: async (handle) => {
          if (broken()) throw codeError('EIO')
          return disk.sync(handle)
        },
      }),
    ],
    [
      'a directory that cannot be made durable',
      'log-failed',
      (broken) => ({
        syncDirectory: async (path) => {
          if (broken()) throw codeError('EIO')
          return disk.syncDirectory(path)
        },
      }),
    ],
    [
      'a file that cannot be made',
      'disk-full',
      (broken) => ({
        open: async (path, flags) => {
          if (broken()) throw codeError('ENOSPC')
          return disk.open(path, flags)
        },
      }),
    ],
    [
      'free space that cannot be asked for',
      'log-failed',
      (broken) => ({
        freeBytes: async (path) => {
          if (broken()) throw codeError('EIO')
          return disk.freeBytes(path)
        },
      }),
    ],
  ]
  test.each(steps)('%s refuses the whole group, leaves nothing of it, and is forgotten when it is over', async (_, code, faults) => {
    let isBroken = false
    const faulty = { ...disk, ...faults(() => isBroken) }
    let log = await openLog({ disk: faulty, segmentBytes: 1 }) // a new segment for each batch, so that every step is taken
    await log.append(batch('1'))
    isBroken = true
    const failed = await Promise.allSettled([log.append(batch('lost', 'lost')), log.append(batch('lost too'))])
    expect(failed.map((result) => result.status === 'rejected' && result.reason.code)).toEqual([code, code])
    expect(log.lastSeq).toBe(1)
    isBroken = false
    expect(await log.append(batch('2'))).toEqual({ firstSeq: 2 })
    await log.close()
    log = await openLog()
    expect(payloadsOf(await readAll(log))).toEqual(['1', '2'])
    expect(log.damages).toEqual([])
  })

  test('what could not be cut off again is not read again', async () => {
    let isBroken = false
    const faulty: Disk = {
      ...disk,
      open: async (path, flags) => {
        const handle = await disk.open(path, flags)
        handle.truncate = async () => Promise.reject(codeError('EIO'))
        return handle
      },
      sync: async (handle) => (isBroken ? Promise.reject(codeError('EIO')) : disk.sync(handle)),
    }
    let log = await openLog({ disk: faulty })
    await log.append(batch('1'))
    isBroken = true
    await expect(log.append(batch('never acknowledged'))).rejects.toMatchObject({ code: 'log-failed' })
    isBroken = false
    await log.append(batch('2'))
    expect(segments()).toEqual(['000000000001.arrow', '000000000002.arrow'])
    await log.close()
    log = await openLog()
    expect(payloadsOf(await readAll(log))).toEqual(['1', '2'])
  })
})

describe('forgetting', () => {
  const rotate = async (settings: Partial<LogSettings>, applied: number) => {
    let log = await openLog({ segmentBytes: 1 })
    for (let i = 1; i <= 5; i++) await log.append(batch(`${i}`))
    await log.close()
    const old = new Date(Date.now() - 8 * 86_400_000)
    for (const name of segments().slice(0, 3)) utimesSync(pathOf(name), old, old)
    log = await openLog({ segmentBytes: 1, ...settings }, applied)
    await log.close()
    return segments().map((name) => Number.parseInt(name, 10))
  }

  test('applied segments go after seven days', async () => {
    expect(await rotate({}, 5)).toEqual([4, 5])
  })
  test('what is not applied stays, whatever its age', async () => {
    expect(await rotate({}, 2)).toEqual([3, 4, 5])
  })
  test('applied segments go when they are too many bytes', async () => {
    expect(await rotate({ retention: { maxAge: Number.POSITIVE_INFINITY, maxBytes: 0 } }, 5)).toEqual([5])
  })
  test('nothing goes when the store cannot be made safe first', async () => {
    const beforeDelete = async () => Promise.reject(new Error('on purpose'))
    expect(await rotate({ beforeDelete }, 5)).toEqual([1, 2, 3, 4, 5])
  })
  test.each([
    ['0', [1, 2, 3, 4, 5]],
    ['1', [2, 3, 4, 5]],
    ['3', [4, 5]],
    ['99', [4, 5]],
    ['nonsense', [1, 2, 3, 4, 5]],
    [null, [4, 5]],
  ])('where backups are made regularly, what none has stays: the last one has the records up to %j', async (text, left) => {
    const backedUpFile = join(directory, 'backed-up')
    if (text !== null) writeFileSync(backedUpFile, `${text}\n`)
    expect(await rotate({ backedUpFile }, 5)).toEqual(left)
  })
  test.each([
    ['before older segments go', true],
    ['after they went', false],
  ])('a segment that gets no record %s leaves a log that goes on', async (_when, isBefore) => {
    let isBroken = false
    let syncs = 0
    const [begun, deleting, deletion, sync] = [deferred<void>(), deferred<void>(), deferred<void>(), deferred<void>()]
    const faulty: Disk = {
      ...disk,
      async sync(handle) {
        if (!isBroken || syncs++ === 0) return disk.sync(handle) // of the header
        await sync.promise
        throw Object.assign(new Error('EIO: on purpose'), { code: 'EIO' })
      },
    }
    let deletions = 0
    const beforeDelete = async () => {
      if (++deletions === 1) return begun.promise
      deleting.resolve()
      await deletion.promise
    }
    const retention = { maxAge: Number.POSITIVE_INFINITY, maxBytes: 1 }
    const first = await openLog({ segmentBytes: 1 })
    await first.append(batch('1'))
    await first.append(batch('2'))
    await first.close()
    const log = await openLog({ disk: faulty, segmentBytes: 1, retention, beforeDelete }, 2)
    isBroken = true
    const failing = log.append(batch('never acknowledged'))
    failing.catch(() => undefined)
    await expect.poll(segments).toContain('000000000003.arrow')
    begun.resolve() // now there are three, of which the first two can go
    await deleting.promise
    if (!isBefore) deletion.resolve()
    else {
      sync.resolve()
      await expect(failing).rejects.toMatchObject({ code: 'log-failed' })
      deletion.resolve()
    }
    await expect.poll(segments).toHaveLength(1)
    sync.resolve()
    await expect(failing).rejects.toMatchObject({ code: 'log-failed' })
    await log.close()
    // The next attempt fails, too, and does not take the only segment with it.
    const open: Disk['open'] = async () => Promise.reject(Object.assign(new Error('ENOSPC: on purpose'), { code: 'ENOSPC' }))
    const failed = await openLog(
      { disk: { ...disk, open: async (path, flags) => (flags === 'wx' ? open(path, flags) : disk.open(path, flags)) }, segmentBytes: 1 },
      2,
    )
    await expect(failed.append(batch('never acknowledged'))).rejects.toMatchObject({ code: 'disk-full' })
    await failed.close()
    expect(segments()).toHaveLength(1)
    const again = await openLog({}, 2)
    expect(again.damages).toEqual([])
    expect(await again.append(batch('3'))).toEqual({ firstSeq: 3 })
    expect(payloadsOf(await readAll(again, 3))).toEqual(['3'])
  })
  test('the first record that is left is known', async () => {
    await rotate({}, 5)
    expect((await openLog({}, 5)).firstSeq).toBe(4)
  })
})

test('any sequence of batches, restarts and cuts keeps what was acknowledged before the cut', async () => {
  const steps = fc.array(
    fc.oneof(
      {
        weight: 5,
        arbitrary: fc.record({
          do: fc.constant('append' as const),
          payloads: fc.array(fc.string({ unit: 'grapheme' }), { minLength: 1, maxLength: 4 }),
        }),
      },
      { weight: 1, arbitrary: fc.record({ do: fc.constant('restart' as const) }) },
      { weight: 1, arbitrary: fc.record({ do: fc.constant('crash' as const), garbage: fc.uint8Array({ maxLength: 100 }) }) },
    ),
    { maxLength: 20 },
  )
  await assertGenerated(
    fc.asyncProperty(steps, fc.integer({ min: 1, max: 3000 }), async (todo, segmentBytes) => {
      rmSync(directory, { recursive: true, force: true })
      let log = await openLog({ segmentBytes, durability: 'os' })
      const model: string[] = []
      for (const step of todo) {
        if (step.do === 'append') {
          const { firstSeq } = await log.append(batch(...step.payloads.map((payload) => JSON.stringify(payload))))
          expect(firstSeq).toBe(model.length + 1)
          model.push(...step.payloads)
          continue
        }
        const copy = `${directory}-copy`
        if (step.do === 'crash' && segments().length > 0) {
          const name = segments().at(-1)!
          copyFileSync(pathOf(name), copy)
          await log.close()
          writeFileSync(pathOf(name), Buffer.concat([readFileSync(copy), step.garbage]))
          rmSync(copy)
        } else await log.close()
        log = await openLog({ segmentBytes, durability: 'os' })
      }
      expect(payloadsOf(await readAll(log)).map((payload) => JSON.parse(payload))).toEqual(model)
      await log.close()
    }),
    { numRuns: 60 },
  )
})
