import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Instance, openInstance, projectDatabase } from '../../../../src/engine/storage/duckdb/instance.ts'
import { storeFile } from '../../../../src/engine/storage/duckdb/migrations.ts'
import { storeTables } from '../../../../src/engine/storage/duckdb/schema.ts'
import type { FormatNotice } from '../../../../src/engine/storage/format.ts'
import { recoveryText } from '../../../../src/engine/storage/recovery/recovery-report.ts'
import { expectedKeys, keysOf, makeOldStore } from './old-store.ts'

const name = projectDatabase(1)
let root: string
const opened: Instance[] = []
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'waymark-migrations-'))
})
afterEach(async () => {
  for (const instance of opened.splice(0)) await instance.close()
  rmSync(root, { recursive: true, force: true })
})

const open = async (directory: string): Promise<Instance> => {
  const dataDir = join(root, directory)
  mkdirSync(join(dataDir, 'projects', '1'), { recursive: true })
  const instance = await openInstance({ dataDir, memoryLimit: '256MB', threads: 2 })
  opened.push(instance)
  return instance
}

/** A directory as the first format left it, with the file open under the name. */
async function oldStore(directory: string): Promise<Instance> {
  const instance = await open(directory)
  await makeOldStore(instance)
  return instance
}

describe('from format 1', () => {
  test('says how many of its steps are done while they run', async () => {
    await (await oldStore('old')).close()
    opened.length = 0
    const instance = await open('old')
    const notices: FormatNotice[] = []
    const path = join('projects', '1', 'store.duckdb')
    await instance.attach(name, path, storeFile, { progressMs: 1, notice: (notice) => notices.push(notice) })
    const progress = notices.flatMap((notice) => (notice.kind === 'store-migration-progress' ? [notice] : []))
    const steps = storeFile.migrations.length
    expect(progress.length).toBeGreaterThan(0)
    for (const one of progress) expect(one).toMatchObject({ file: join(root, 'old', path), from: 1, to: storeFile.version, steps })
    const done = progress.map((one) => one.done)
    expect(done).toEqual([...done].sort((a, b) => a - b))
    expect(recoveryText({ ...progress[0]!, done: 3, seconds: 12.4 })).toBe(
      `bringing the store from format 1 to ${storeFile.version}: 3 of ${steps} steps are done after 12 s`,
    )
    expect(notices.at(-1)?.kind).toBe('store-migrated')
  })

  test('types that were settled by counts are dropped, declared ones and slots stay, and texts that read as numbers are counted', async () => {
    await (await oldStore('old')).close()
    opened.length = 0
    const instance = await open('old')
    await instance.attachProject(1)
    expect(await keysOf(instance)).toEqual(expectedKeys)
    expect(await instance.rows(`SELECT name, slots FROM ${name}.main.property_keys WHERE name IN ('odd', 'late') ORDER BY name`)).toEqual([
      { name: 'late', slots: 's3' },
      { name: 'odd', slots: 'n2' },
    ])
  })

  test('the table is the one that a new store has', async () => {
    await (await oldStore('old')).close()
    opened.length = 0
    const instance = await open('old')
    await instance.attachProject(1)
    const columns = await instance.rows(
      `SELECT column_name || ' ' || data_type || CASE WHEN is_nullable THEN '' ELSE ' NOT NULL' END AS text
       FROM duckdb_columns() WHERE database_name = '${name}' AND table_name = 'property_keys' ORDER BY column_index`,
    )
    expect(columns.map(({ text }) => text)).toEqual(storeTables.property_keys)
  })

  test('a directory whose migration was interrupted opens, wherever that was', async () => {
    const instance = await oldStore('old')
    await instance.checkpoint(name)
    const copies: string[] = []
    const copy = () => {
      copies.push(`copy-${copies.length}`)
      cpSync(join(root, 'old'), join(root, copies.at(-1)!), { recursive: true })
    }
    copy()
    await instance.transaction(async (sql) => {
      for (const statement of storeFile.migrations[0]!.statements(name)) {
        await sql.run(statement)
        copy()
      }
      await sql.run(`UPDATE ${name}.main.meta SET value = '2' WHERE key = 'format'`)
    })
    copy() // everything is in the write-ahead log alone
    for (const directory of copies) {
      const reopened = await open(directory)
      await reopened.attachProject(1)
      expect([directory, await keysOf(reopened)]).toEqual([directory, expectedKeys])
    }
  })
})
