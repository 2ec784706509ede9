import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { RecordBatchStreamWriter, Schema } from 'apache-arrow'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { storeFormat } from '../../../src/engine/storage/duckdb/schema.ts'
import { firstLine } from '../../../src/engine/storage/files/file-formats.ts'
import { keepCopy } from '../../../src/engine/storage/files/kept-copies.ts'
import { listFiles } from '../../../src/engine/storage/files/list-files.ts'
import { segmentHeader } from '../../../src/engine/storage/log/frame.ts'
import type { LocalWaymark } from '../../../src/engine.ts'
import { WaymarkError } from '../../../src/errors/errors.ts'
import { fileMedium, Run } from '../../../src/events/ingestion/uuids/run.ts'
import { UuidRuns } from '../../../src/events/ingestion/uuids/runs.ts'
import { crc32 } from '../../../src/lib/ids/crc32.ts'
import { type KeptDirectory, openKept } from '../../fixtures/directory.ts'
import { keptDirectories, unpack } from '../../fixtures/unpack.ts'
import { program } from '../../harness/programs.ts'

// What a newer version wrote is refused with one line that names the file and both versions, and nothing in the directory changes.

let root: string
let count = 0
let dataDir: string
const kept = `format-${storeFormat}`
const about = JSON.parse(readFileSync(join(keptDirectories, `${kept}/closed.json`), 'utf8')) as KeptDirectory
const project = about.projects.shop!.id
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'waymark-formats-'))
})
afterAll(() => rmSync(root, { recursive: true, force: true }))
beforeEach(() => {
  dataDir = unpack(kept, 'closed', join(root, String(++count)))
})
const path = (name: string) => join(dataDir, name)
const inProject = (name: string) => `projects/${project}/${name}`

async function change(file: string, statement: string): Promise<void> {
  const instance = await DuckDBInstance.create(path(file))
  const connection = await instance.connect()
  await connection.run(statement)
  await connection.run('CHECKPOINT')
  connection.closeSync()
  instance.closeSync()
}
const setFormat = (file: string, format: number) => change(file, `UPDATE meta SET value = '${format}' WHERE key = 'format'`)

/** The version of the layout of the database file, which its first header states with a checksum of the rest. */
function setLayout(file: string, version: number): void {
  const bytes = readFileSync(path(file))
  bytes.writeBigUInt64LE(BigInt(version), 12)
  let sum = 5381n
  for (let i = 8; i < 4096; i += 8) sum ^= BigInt.asUintN(64, bytes.readBigUInt64LE(i) * 0xbf58476d1ce4e5b9n)
  bytes.writeBigUInt64LE(sum, 0)
  writeFileSync(path(file), bytes)
}

/** The segment begins with another header; `extra` makes it longer. */
function setHeader(file: string, extra: string): void {
  const bytes = readFileSync(path(file))
  const old = segmentHeader()
  const writer = new RecordBatchStreamWriter()
  writer.reset(undefined, new Schema([], new Map([...(extra ? [['more', extra] as const] : []), ['waymark.log.format', '9']])))
  const header = Buffer.from(writer.toUint8Array(true))
  writeFileSync(path(file), Buffer.concat([header, bytes.subarray(old.length)]))
}

const segment = inProject('log/000000000001.arrow')
const write = (file: string, text: string) => {
  mkdirSync(join(path(file), '..'), { recursive: true })
  writeFileSync(path(file), text)
}

const cases: readonly (readonly [name: string, file: string, make: () => unknown, found: number, supported: number])[] = [
  ['accounts', 'control.duckdb', () => setFormat('control.duckdb', 99), 99, 2],
  ['accounts in a newer layout of DuckDB', 'control.duckdb', () => setLayout('control.duckdb', 99), 99, 68],
  ['a store', inProject('store.duckdb'), () => setFormat(inProject('store.duckdb'), 99), 99, storeFormat],
  ['a store in a newer layout of DuckDB', inProject('store.duckdb'), () => setLayout(inProject('store.duckdb'), 99), 99, 68],
  ['a log', segment, () => setHeader(segment, ''), 9, 2],
  ['a log with a longer header', segment, () => setHeader(segment, 'x'.repeat(20_000)), 9, 2],
  [
    'results of transformations',
    inProject('transformed.jsonl'),
    () => write(inProject('transformed.jsonl'), '{"format":2}\n{"begin":1,"count":2,"more":[]}\n'),
    2,
    1,
  ],
  ['salts', 'cookieless/salts.json', () => write('cookieless/salts.json', '{"format":2,"salts":{"20000":"AAAA"}}'), 2, 1],
  ['keys of secrets', 'secret.key', () => write('secret.key', '# format 2\nargon2 AAAA\n'), 2, 1],
  ['storage of plugins', 'plugins/storage.jsonl', () => write('plugins/storage.jsonl', '{"format":2}\n{"scope":"1","key":"a"}\n'), 2, 1],
]

/** The files of projects, or all of them. */
const contents = (file: string) =>
  Object.fromEntries(
    readdirSync(dataDir, { recursive: true, encoding: 'utf8' })
      .filter(
        (name) =>
          name.startsWith(file.startsWith('projects/') ? 'projects/' : '') &&
          statSync(path(name)).isFile() &&
          !/waymark\.lock|applying\.json|\.blocks/.test(name),
      )
      .sort()
      .map((name) => [
        name,
        createHash('sha256')
          .update(readFileSync(path(name)))
          .digest('hex'),
      ]),
  )
const quiet = { onError: () => undefined, onRecovery: () => undefined }

const isolated = new Set(['a store', 'a log'])
const rows = cases.flatMap(([name, ...rest]) => [
  [name, false, ...rest] as const,
  ...(isolated.has(name) ? [[name, true, ...rest] as const] : []),
])

describe('of a newer version, refused, and nothing changes', () => {
  test.each(rows)('%s (with an engine of its own: %s)', async (_, isolate, file, make, found, supported) => {
    await make()
    const before = contents(file)
    let waymark: LocalWaymark | null = null
    const error = await (async () => {
      waymark = await openKept(dataDir, about.now, { ...quiet, isolate })
      const store = await waymark.project(project)
      await store.query({ kind: 'SqlLikeQuery', query: 'select count() from events' })
    })().then(
      () => null,
      (reason: unknown) => reason as WaymarkError,
    )
    // Other projects go on.
    const others = file.startsWith('projects/') ? await (waymark as LocalWaymark | null)?.project(about.projects.app!.id) : null
    expect(await others?.query({ kind: 'SqlLikeQuery', query: 'select count() from events' })).toEqual(
      others ? expect.objectContaining({ results: [[200]] }) : undefined,
    )
    expect((await (waymark as LocalWaymark | null)?.condition())?.recentEnds ?? 0).toBe(0)
    await (waymark as LocalWaymark | null)?.close()
    expect(error).toBeInstanceOf(WaymarkError)
    expect(error).toMatchObject({ code: 'newer-format', data: { file: path(file), found, supported } })
    expect(error!.detail).toBe(
      `${path(file)} has format ${found}, but this version of Waymark reads formats up to ${supported}. Use the version of Waymark that wrote it, or a newer one.`,
    )
    expect(contents(file)).toEqual(before)
  })
})

test('lists of a newer version are not read', async () => {
  const lists = listFiles(path('lists'))
  const numbers = new Int32Array([1, 2, 3])
  await lists.write({ about: {}, arrays: [numbers] })
  const bytes = readFileSync(path('lists'))
  expect(bytes.toString('latin1', 0, 16)).toBe('waymark lists 1\n')
  bytes.write('waymark lists 2\n')
  writeFileSync(path('lists'), bytes)
  expect(await lists.read(() => [numbers])).toBe(false)
})

test('a run of uuids of a newer version is removed', async () => {
  const folder = path(inProject('uuids'))
  const range = { from: 1, to: 2 }
  const file = join(folder, '1-2.uuids')
  const written = async () => (await Run.write(fileMedium(file), range, 1, 7, [new Uint32Array([1, 2, 3, 4])])).close()
  await written()
  expect(UuidRuns.open(folder, 7, 2).toSeq).toBe(2)
  const bytes = readFileSync(file)
  const footer = bytes.subarray(bytes.length - 56)
  footer.writeUInt32LE(2, 44)
  footer.writeUInt32LE(crc32(footer.subarray(0, 48)), 48)
  writeFileSync(file, bytes)
  expect(UuidRuns.open(folder, 7, 2).toSeq).toBe(0)
  expect(existsSync(file)).toBe(false)
})

test('the command line exits with 1, and one line', async () => {
  await setFormat('control.duckdb', 99)
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [program('cli'), 'query', 'select 1', '--data', dataDir, '--project', String(project)],
    {
      encoding: 'utf8',
    },
  )
  expect([status, stdout, stderr.trim().split('\n')]).toEqual([
    1,
    '',
    [expect.stringMatching(/control\.duckdb has format 99, .* up to 2\. Use the version/)],
  ])
})

test('a copy that does not fit on the disk is not begun', async () => {
  const file = path('large')
  writeFileSync(file, '')
  const { free } = await statfs(dataDir).then(({ bavail, bsize }) => ({ free: bavail * bsize }))
  truncateSync(file, free + 2 ** 30) // has no blocks
  const outcome = await keepCopy(file, 6)
  if (!('keptAs' in outcome)) expect(outcome.needed).toBeGreaterThan(outcome.free) // else the file system shares blocks
  expect(readdirSync(dataDir).filter((name) => name.startsWith('large.'))).toEqual('keptAs' in outcome ? ['large.format-6'] : [])
})

describe('a store of an older format', () => {
  const toFormat6 = async () => {
    await change(
      inProject('store.duckdb'),
      `UPDATE meta SET value = '6' WHERE key = 'format'; DELETE FROM meta WHERE key = 'large'; UPDATE persons SET size = 0; UPDATE groups SET size = 0; DROP TABLE last_events`,
    )
  }
  const copy = () => path(inProject('store.duckdb.format-6'))
  const events = async (more: object = {}) => {
    const notices: { readonly kind: string; readonly project: number }[] = []
    const waymark = await openKept(dataDir, about.now, { ...quiet, onRecovery: (notice) => notices.push(notice), ...more })
    try {
      const store = await waymark.project(project)
      const { results } = await store.query({
        kind: 'SqlLikeQuery',
        query: 'select event, count() from events group by event order by event',
      })
      return { results, notices }
    } finally {
      await waymark.close()
    }
  }
  const [first] = about.questions.filter(({ name }) => name === 'sql: events by name')
  const expected = (first!.answer as { results: unknown[][] }).results.map(([event, n]) => [event, n])

  test.each([false, true])(
    'is copied, brought to the format of today, and answers the same; that is said (isolated: %s)',
    async (isolate) => {
      await toFormat6()
      const before = readFileSync(path(inProject('store.duckdb')))
      const { results, notices } = await events({ isolate })
      expect(results).toEqual(expected)
      const about = { file: path(inProject('store.duckdb')), from: 6, to: storeFormat, keptAs: copy(), project }
      expect(notices).toEqual([
        { kind: 'store-migrating', ...about },
        { kind: 'store-migrated', ...about, seconds: expect.any(Number) },
      ])
      expect(readFileSync(copy()).equals(before)).toBe(true)
      expect(statSync(copy()).mode & 0o777).toBe(0o600)
      // The copy takes the place of the store: it has the old format, and is brought to that of today once more.
      writeFileSync(path(inProject('store.duckdb')), readFileSync(copy()))
      expect((await events()).results).toEqual(expected)
    },
  )

  test('is not copied where that is turned off', async () => {
    await toFormat6()
    const { notices } = await events({ formatCopies: false })
    expect(notices[0]).toMatchObject({ kind: 'store-migrating', keptAs: null })
    expect(existsSync(copy())).toBe(false)
  })

  test('its copy is removed after two weeks, and what a killed process left of one at once', async () => {
    await toFormat6()
    await events()
    writeFileSync(`${copy()}.new`, 'half')
    const days = (n: number) => new Date(Date.now() - n * 86_400_000)
    utimesSync(copy(), days(13), days(13))
    await events()
    expect([existsSync(copy()), existsSync(`${copy()}.new`)]).toEqual([true, false])
    utimesSync(copy(), days(15), days(15))
    await events()
    expect(existsSync(copy())).toBe(false)
  })
})

describe('accounts of an older format', () => {
  const toFormat1 = async () => {
    await setFormat('control.duckdb', 1)
    return readFileSync(path('control.duckdb'))
  }
  const copy = () => path('control.duckdb.format-1')
  const opened = async (more: object = {}) => {
    const waymark = await openKept(dataDir, about.now, { ...quiet, ...more })
    try {
      return (await waymark.projects()).map(({ id, token }) => [id, token])
    } finally {
      await waymark.close()
    }
  }

  test('are copied, brought to the format of today, and have the same projects and keys; the copy opens in their place', async () => {
    const expected = await opened()
    const before = await toFormat1()
    expect(await opened()).toEqual(expected)
    expect(readFileSync(copy()).equals(before)).toBe(true)
    expect(statSync(copy()).mode & 0o777).toBe(0o600)
    writeFileSync(path('control.duckdb'), readFileSync(copy()))
    rmSync(copy())
    expect(await opened()).toEqual(expected)
    expect(readFileSync(copy()).equals(before)).toBe(true)
  })

  test('are not copied where that is turned off', async () => {
    await toFormat1()
    await opened({ formatCopies: false })
    expect(existsSync(copy())).toBe(false)
  })
})

test('the first line of a text', () => {
  expect([firstLine('{"format":2}\n[]'), firstLine(''), firstLine('a')]).toEqual(['{"format":2}', '', 'a'])
})
