import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Instance, openInstance } from '../../../src/engine/storage/duckdb/instance.ts'
import { openProjectStorage, type ProjectStorage, type StorageOptions } from '../../../src/engine/storage/project-storage.ts'
import { Texts } from '../../../src/lib/text/texts.ts'

// The apply stage of these tests: it counts records in one table, together with the place in the log.

let dataDir: string
let instance: Instance | null = null
let storage: ProjectStorage | null = null
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'waymark-project-'))
})
afterEach(async () => {
  await shut()
  rmSync(dataDir, { recursive: true, force: true })
})

const defaults: StorageOptions = { log: { minFreeBytes: 0, segmentBytes: 2000 }, recovery: 'complete', isThorough: true }
const shut = async () => {
  await storage?.close()
  await instance?.close()
  storage = null
  instance = null
}
const start = async (options: Partial<StorageOptions> = {}): Promise<ProjectStorage> => {
  instance = await openInstance({ dataDir, memoryLimit: '128MB', threads: 1 })
  storage = await openProjectStorage(instance, 7, { ...defaults, ...options })
  return storage
}
const reports = () => [...storage!.reports, ...(storage!.recovery ? [storage!.recovery] : [])]
const folder = () => join(dataDir, 'projects', '7')
const store = () => join(folder(), 'store.duckdb')
const append = async (count: number) => {
  for (let i = 0; i < count; i++) {
    const payloads = Texts.of([JSON.stringify({ pad: 'x'.repeat(300) })])
    await storage!.log.append({ kind: 'event', receivedAt: 0, sentAt: null, historical: false, ip: null, uuids: ['u'], payloads })
  }
}
const appliedSeq = async () =>
  Number((await instance!.rows<{ value: string }>("SELECT value FROM p7.main.meta WHERE key = 'applied_seq'"))[0]!.value)
const apply = async () => {
  for await (const batch of storage!.log.read((await appliedSeq()) + 1)) {
    await instance!.transaction(async (sql) => {
      for (let i = 0; i < batch.uuids.length; i++) {
        await sql.run('INSERT INTO p7.main.cohorts VALUES ($1, $2)', [batch.firstSeq + i, 'x'])
      }
      await sql.run("UPDATE p7.main.meta SET value = $1 WHERE key = 'applied_seq'", [String(batch.firstSeq + batch.uuids.length - 1)])
    })
    storage!.log.markApplied(batch.firstSeq + batch.uuids.length - 1)
  }
}
const applied = async () => (await instance!.rows<{ id: number }>('SELECT id FROM p7.main.cohorts ORDER BY id')).map((row) => row.id)
const upTo = (n: number, first = 1) => Array.from({ length: n - first + 1 }, (_, i) => first + i)
const overwrite = (path: string, at: number, length: number) => {
  const handle = openSync(path, 'r+')
  writeSync(handle, Buffer.alloc(length, 0x5a), 0, length, at)
  closeSync(handle)
}

/** 5 records in the file, 5 more in its write-ahead log, as a killed process leaves it. */
const crashed = async () => {
  await start()
  await append(5)
  await apply()
  await instance!.checkpoint('p7')
  await append(5)
  await apply()
  const files = [store(), `${store()}.wal`]
  for (const file of files) copyFileSync(file, `${file}.copy`)
  await shut()
  for (const file of files) {
    copyFileSync(`${file}.copy`, file)
    rmSync(`${file}.copy`)
  }
}

describe('a store that a crash or a hand has broken', () => {
  test('nothing is: the ordinary case after a crash', async () => {
    await crashed()
    await start()
    expect([reports(), await applied()]).toEqual([[], upTo(10)])
  })

  const wholeStore: readonly [string, () => void][] = [
    ['cut to nothing', () => truncateSync(store(), 0)],
    ['cut in its header', () => truncateSync(store(), 5000)],
    ['cut in the middle', () => truncateSync(store(), Math.floor(statSync(store()).size / 2))],
    ['overwritten from the start', () => overwrite(store(), 0, 20_000)],
    ['replaced by something else', () => writeFileSync(store(), 'not a database at all')],
    ['overwritten in its blocks', () => overwrite(store(), 12_288, statSync(store()).size - 12_288)],
  ]
  test.each(wholeStore)('%s: set aside and rebuilt from the log', async (_, damage) => {
    await crashed()
    damage()
    const broken = readFileSync(store())
    await start()
    expect(reports()).toEqual([expect.objectContaining({ kind: 'store-rebuilt', fromSeq: 1 })])
    const [report] = reports()
    expect(readFileSync((report as { keptAs: string }).keptAs).equals(broken)).toBe(true)
    await apply()
    expect(await applied()).toEqual(upTo(10))
    await shut()
    await start()
    expect([reports(), await applied()]).toEqual([[], upTo(10)])
  })

  test('one block that only some rows need: found by reading everything after a crash', async () => {
    await start()
    await instance!.run(
      "INSERT INTO p7.main.warnings SELECT 'k' || range, range, repeat(md5(range::VARCHAR), 20), now()::TIMESTAMP FROM range(20000)",
    )
    await shut()
    overwrite(store(), Math.floor(statSync(store()).size / 2), 4000)
    await start({ isThorough: false })
    expect(reports()).toEqual([])
    await shut()
    await start({ isThorough: true })
    expect(reports()).toEqual([expect.objectContaining({ kind: 'store-rebuilt' })])
  })

  test.each([
    ['inside of an entry, so its checksum is wrong; a wrong length would pass for a torn tail', 80],
    ['its first byte', 0],
    ['the kind of its first entry: without it the engine reads a log of old, and ends', 2],
  ])('a write-ahead log that does not replay (%s): back to the last checkpoint, the log has the rest', async (_, at) => {
    await crashed()
    overwrite(`${store()}.wal`, at, 2)
    await start()
    expect(reports()).toEqual([expect.objectContaining({ kind: 'store-rolled-back', fromSeq: 6 })])
    expect(await applied()).toEqual(upTo(5))
    await apply()
    expect(await applied()).toEqual(upTo(10))
  })

  test.each([
    ['cut', () => truncateSync(`${store()}.wal`, 60)],
    ['gone', () => rmSync(`${store()}.wal`)],
  ])('a write-ahead log that is %s', async (_, damage) => {
    await crashed()
    damage()
    await start()
    await apply()
    expect(await applied()).toEqual(upTo(10))
  })

  test('the file is gone: the log makes it again', async () => {
    await crashed()
    rmSync(store())
    rmSync(`${store()}.wal`)
    await start()
    expect(reports()).toEqual([expect.objectContaining({ kind: 'store-rebuilt', keptAs: null, fromSeq: 1, toSeq: 10 })])
    await apply()
    expect(await applied()).toEqual(upTo(10))
  })
})

describe('when the log no longer reaches back', () => {
  const broken = async () => {
    await crashed()
    rmSync(join(folder(), 'log', '000000000001.arrow'))
    writeFileSync(store(), 'not a database at all')
  }

  test('nothing is rebuilt by halves, and the files stay where they were', async () => {
    await broken()
    const before = readdirSync(folder()).sort()
    await expect(start()).rejects.toMatchObject({ code: 'store-broken', data: { file: store(), lostTo: expect.any(Number) } })
    expect(readdirSync(folder()).sort()).toEqual(before)
    expect(readFileSync(store(), 'utf8')).toBe('not a database at all')
  })

  test('on demand the rest is, with a report', async () => {
    await broken()
    await start({ recovery: 'partial' })
    const first = storage!.log.firstSeq
    expect(first).toBeGreaterThan(1)
    expect(reports()).toEqual([
      expect.objectContaining({ kind: 'records-lost', fromSeq: 1, toSeq: first - 1, reason: 'forgotten' }),
      expect.objectContaining({ kind: 'store-rebuilt', fromSeq: first }),
    ])
    await apply()
    expect(await applied()).toEqual(upTo(10, first))
  })
})

test('damage in the log is no matter while the store has what it held, and is reported', async () => {
  await crashed()
  const name = readdirSync(join(folder(), 'log')).sort().at(-1)!
  const path = join(folder(), 'log', name)
  overwrite(path, statSync(path).size - 40, 30)
  await start()
  expect(reports()).toEqual([expect.objectContaining({ kind: 'log-damaged', file: path, toSeq: 10 })])
  await append(1)
  await apply()
  expect(await applied()).toEqual(upTo(11))
})

test('a dropped project takes its log with it', async () => {
  await start()
  await append(1)
  await storage!.close()
  await instance!.dropProject(7)
  expect(existsSync(folder())).toBe(false)
})
