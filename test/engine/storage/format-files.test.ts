import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { LoadedLists } from '../../../src/core/lists/loaded-lists.ts'
import { type LocalWaymark, type OpenOptions, open } from '../../../src/engine.ts'
import { WaymarkError } from '../../../src/errors/errors.ts'
import { restore } from '../../../src/service/backups/restore-directory.ts'
import { keptDirectories, unpack } from '../../fixtures/unpack.ts'

// Each file of a directory has a row in docs/reliability.md. What is made from other files is made again when a newer version has written it, and a
// place of backups is refused; test/engine/storage/formats.test.ts has the files that a directory is refused for.

let root: string
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'waymark-format-files-'))
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

/** What the documentation calls a file, and which files are meant. */
const files: readonly (readonly [documented: string, pattern: RegExp])[] = [
  ['control.duckdb', /^control\.duckdb$/],
  ['projects/<id>/store.duckdb', /^projects\/\d+\/store\.duckdb$/],
  ['both, and their write-ahead logs', /\.duckdb\.wal$/],
  ['projects/<id>/log/*.arrow', /^projects\/\d+\/log\/\d{12}\.arrow$/],
  ['projects/<id>/transformed.jsonl', /^projects\/\d+\/transformed\.jsonl$/],
  ['cookieless/salts.json', /^cookieless\/(?:salts\.json|CACHEDIR\.TAG)$/],
  ['secret.key', /^secret\.key$/],
  ['plugins/storage.jsonl', /^plugins\/storage\.jsonl$/],
  ['projects/<id>/core/', /^projects\/\d+\/core\//],
  ['uuids/', /^projects\/\d+\/uuids\//],
  ['projects/<id>/ids/', /^projects\/\d+\/ids\//],
  ['projects/<id>/answers/', /^projects\/\d+\/answers\//],
  ['staging/', /^staging\//],
  ['tmp/', /^tmp\//],
  ['downloads/', /^downloads\//],
  ['attached/', /^attached\//],
  ['projects/<id>/log.position', /^projects\/\d+\/log\.position$/],
  ['backed-up', /^projects\/\d+\/backed-up$/],
  ['copied', /^projects\/\d+\/copied$/],
  ['applying.json', /^projects\/\d+\/applying\.json$/],
  ['imports/', /^imports\//],
  ['plugins/logs/', /^plugins\/logs\//],
  ['projects/<id>/set-aside/', /^projects\/\d+\/set-aside\//],
  ['exports/', /^exports\//],
  ['waymark.lock', /^waymark\.lock/],
  ['server.json', /^server\.json$/],
  ['owner.json', /^owner\.json$/],
  ['backups.json', /^backups\.json$/],
  ['clickhouse.id', /^clickhouse\.id$/],
  ['*.duckdb.blocks', /\.duckdb\.blocks$/],
  ['a place of backups', /^$/],
]
/** The first cells of the table of formats. */
const documented = (): readonly string[] => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/reliability.md'), 'utf8')
  const table = page.slice(page.indexOf('\n## Formats\n'), page.indexOf('**A change of format.**'))
  const cells = table.split('\n').flatMap((line) => /^\| ([^|]+) \|/.exec(line)?.[1] ?? [])
  return cells.slice(1).flatMap((cell) => (cell.includes('`') ? [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name!) : [cell]))
}

const filesIn = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => statSync(join(folder, name)).isFile())

const clock = () => new Date('2026-04-01T00:00:00Z')
const quiet = { clock, onError: () => undefined, onRecovery: () => undefined, durability: 'os' } satisfies Partial<OpenOptions>
const persons = 21_000

async function using<T>(dataDir: string, work: (waymark: LocalWaymark) => Promise<T>): Promise<T> {
  const waymark = await open({ dataDir, ...quiet })
  try {
    return await work(waymark)
  } finally {
    await waymark.close()
  }
}

/** A closed directory with an index of ids, which is kept of so many, and its backup. */
let made: string
let place: string
beforeAll(async () => {
  made = join(root, 'made')
  place = join(root, 'place')
  await using(made, async (waymark) => {
    const project = await waymark.createProject({ name: 'Shop' })
    for (let first = 0; first < persons; first += 3_000)
      await project.ingest({
        batch: Array.from({ length: 3_000 }, (_, i) => ({
          event: 'seen',
          distinct_id: `u${first + i}`,
          timestamp: '2026-03-01T00:00:00Z',
        })),
      })
    await waymark.backup(place)
  })
}, 120_000)

/** All events and persons, with one that was known and one that was not. */
const answers = (dataDir: string) =>
  using(dataDir, async (waymark) => {
    const project = await waymark.project('Shop')
    const batch = ['u7', 'somebody else'].map((distinct_id) => ({ event: 'seen', distinct_id, timestamp: '2026-03-02T00:00:00Z' }))
    await project.ingest({ batch })
    const { results } = await project.query({ kind: 'SqlLikeQuery', query: 'select count(), count(distinct person_id) from events' })
    return results
  })

test('each file has a row in the documentation, and each row has files', async () => {
  const names = documented()
  expect([...new Set(files.map(([name]) => name))].sort()).toEqual([...new Set(names)].sort())
  const folders = readdirSync(keptDirectories).flatMap((version) =>
    (['closed', 'killed'] as const).map((name) => unpack(version, name, join(root, version, name))),
  )
  for (const folder of [made, ...folders])
    for (const name of filesIn(folder)) expect([name, files.filter(([, pattern]) => pattern.test(name)).length]).toEqual([name, 1])
})

const derived: readonly (readonly [name: string, file: string, change: (bytes: Buffer) => Buffer])[] = [
  [
    'the index of ids',
    'projects/1/ids/known.ids',
    (bytes) => {
      const words = new Uint32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + 48))
      expect(words[1]).toBe(1)
      words[1] = 2
      // The header of a newer version is whole.
      words[11] = words.subarray(0, 11).reduce((sum, word) => Math.imul(sum ^ word, 0x9e3779b1) + ((sum >>> 15) | 0), 11) >>> 0
      return Buffer.concat([Buffer.from(words.buffer), bytes.subarray(48)])
    },
  ],
  [
    'notes of blocks',
    'projects/1/store.duckdb.blocks',
    (bytes) => Buffer.from(bytes.toString().replace('waymark blocks 1', 'waymark blocks 2')),
  ],
]

describe('made from other files, by a newer version', () => {
  test.each(derived)('%s: not read, and made again', async (_, file, change) => {
    const dataDir = join(root, file.replaceAll('/', '-'))
    cpSync(made, dataDir, { recursive: true })
    const path = join(dataDir, file)
    if (!existsSync(path)) {
      // A clean close removes it: the one that a running process has.
      mkdirSync(join(path, '..'), { recursive: true })
      writeFileSync(path, 'waymark blocks 1 00000000\n{}')
    }
    const newer = change(readFileSync(path))
    expect(newer.equals(readFileSync(path))).toBe(false)
    writeFileSync(path, newer)
    expect(await answers(dataDir)).toEqual([[persons + 2, persons + 1]])
    expect(existsSync(path) && readFileSync(path).equals(newer)).toBe(false)
  })

  test('lists: another version of what they contain', () => {
    const image = { fingerprint: '', seq: 1, changedSeq: 0, mark: '', merges: 0, shape: {}, pages: null, columns: [] }
    expect(LoadedLists.ofImage({ ...image, version: 1_000 })).toBeNull()
  })
})

describe('a place of backups of a newer version is refused, and nothing in it changes', () => {
  const newerAbout = (folder: string) => {
    const path = join(folder, 'waymark-backup.json')
    writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), format: 2 }))
  }
  const newerState = (folder: string) => {
    const path = join(folder, 'states', readdirSync(join(folder, 'states')).sort().at(-1)!)
    writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), format: 2 }))
  }
  test.each([
    ['the place', newerAbout],
    ['its newest state', newerState],
  ])('%s', async (name, change) => {
    const folder = join(root, `newer ${name}`)
    cpSync(place, folder, { recursive: true })
    change(folder)
    const before = filesIn(folder).map((file) => [file, readFileSync(join(folder, file), 'base64')])
    const refusal = (error: unknown) => (error instanceof WaymarkError ? error.detail : error)
    const expected = `${folder} has format 2, and this version of Waymark reads formats up to 1: use a newer version.`
    expect(await restore(folder, join(root, 'restored')).catch(refusal)).toBe(expected)
    expect(await using(made, (waymark) => waymark.backup(folder).catch(refusal))).toBe(expected)
    expect(filesIn(folder).map((file) => [file, readFileSync(join(folder, file), 'base64')])).toEqual(before)
  })
})
