import { copyFile, cp, mkdir, mkdtemp, open as openFile, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { tornPart } from '../../../../../src/engine/storage/duckdb/file/block-notes.ts'
import { headBytes } from '../../../../../src/engine/storage/duckdb/file/database-file.ts'
import { openInstance } from '../../../../../src/engine/storage/instance.ts'

// Copies of a database file that is written to: what is of one moment is whole, and what mixes moments is torn. DuckDB opens most of them.

let root: string
let instance: Awaited<ReturnType<typeof openInstance>>
let count = 0
const format = {
  version: 1,
  create: (name: string) => [
    `CREATE TABLE "${name}".main.meta (key VARCHAR, value VARCHAR)`,
    `INSERT INTO "${name}".main.meta VALUES ('format', '1')`,
  ],
  migrations: [],
}

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'waymark-torn-'))
  await mkdir(join(root, 'data'))
  instance = await openInstance({ dataDir: join(root, 'data') })
  await instance.attach('t', 't.duckdb', format)
  await instance.run('CREATE TABLE t.main.rows (n INTEGER, text VARCHAR)')
  await settled()
})
afterEach(async () => {
  await instance.close()
  await rm(root, { recursive: true, force: true })
})

const file = () => join(root, 'data', 't.duckdb')
/** Its own transaction, as accounts are written. */
const insert = (rows: number) =>
  instance.transaction(
    async (sql) => void (await sql.run(`INSERT INTO t.main.rows SELECT range, md5(random()::VARCHAR) FROM range(${rows})`)),
  )
/** After a checkpoint, with its notes. */
const settled = () => instance.settle('t')
/** After a commit, with the notes about the write-ahead log. */
const noted = () => expect.poll(async () => JSON.parse((await readFile(`${file()}.blocks`, 'utf8')).split('\n')[1]!).log).not.toBeNull()
/** At this moment: nothing is written meanwhile. */
const snapshot = async (): Promise<string> => {
  const folder = join(root, `copy-${++count}`)
  await cp(join(root, 'data'), folder, { recursive: true })
  return join(folder, 't.duckdb')
}

test('a copy of one moment is whole: after a checkpoint, after later commits, and after more checkpoints', async () => {
  for (let i = 0; i < 4; i++) {
    await insert(20_000)
    await noted()
    expect(await tornPart(await snapshot())).toBeNull()
    await insert(10)
    expect(await tornPart(await snapshot())).toBeNull()
    await settled()
    expect(await tornPart(await snapshot())).toBeNull()
  }
})

test('a file with blocks of a later checkpoint is torn', async () => {
  await insert(60_000)
  await settled()
  const early = await snapshot()
  // Rewritten rows free the blocks that later ones take.
  for (let i = 0; i < 3; i++) {
    await instance.run('DELETE FROM t.main.rows WHERE n % 2 = 0')
    await insert(60_000)
    await settled()
  }
  const late = await readFile(file())
  const mixed = await openFile(early, 'r+')
  const { size } = await stat(early)
  // The first half was copied early, the rest late.
  await mixed.write(late, headBytes + 262_144, size - headBytes - 262_144, headBytes + 262_144)
  await mixed.close()
  expect(await tornPart(early)).toMatch(/^block \d+ was written while it was copied$/)
})

test('a file whose notes were copied before or after a checkpoint is torn', async () => {
  await insert(1_000)
  await settled()
  const early = await snapshot()
  await insert(1_000)
  await settled()
  const late = await snapshot()
  await copyFile(`${early}.blocks`, `${late}.blocks`)
  expect(await tornPart(late)).toBe('a checkpoint was done while it was copied')
})

test('a file with the write-ahead log of another checkpoint is torn', async () => {
  await insert(100)
  await settled()
  await insert(100)
  await noted()
  const early = await snapshot()
  expect(await tornPart(early)).toBeNull()
  await settled()
  await insert(50)
  await noted()
  await copyFile(`${file()}.wal`, `${early}.wal`)
  expect(await tornPart(early)).toBe('its write-ahead log is that of another checkpoint')
})

test('the end of a write-ahead log that was cut off is not the concern of the notes: commits are whole or not there', async () => {
  await insert(100)
  await noted()
  await insert(5_000)
  const copy = await snapshot()
  const { size } = await stat(`${copy}.wal`)
  const log = await openFile(`${copy}.wal`, 'r+')
  await log.truncate(size - 100)
  await log.close()
  expect(await tornPart(copy)).toBeNull()
})

test.each(['', 'waymark blocks 1 00000000\n{}', 'nonsense'])('notes that cannot be read say nothing: %j', async (text) => {
  await insert(10)
  await settled()
  const copy = await snapshot()
  await writeFile(`${copy}.blocks`, text)
  expect(await tornPart(copy)).toBeNull()
  await rm(`${copy}.blocks`)
  expect(await tornPart(copy)).toBeNull()
})
