import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openInstance, projectDatabase } from '../../../../src/engine/storage/duckdb/instance.ts'
import { storeFormat } from '../../../../src/engine/storage/duckdb/schema.ts'
import { program } from '../../../harness/programs.ts'
import { expectedKeys, keysOf, makeOldStore } from './old-store.ts'

// A process is killed while it brings a store of the first format to that of today: the next one goes on, and the copy of the old file stays whole.

const name = projectDatabase(1)
const store = join('projects', '1', 'store.duckdb')
const many = 300_000
let root: string
beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'waymark-migration-kills-'))
  mkdirSync(join(root, 'old', 'projects', '1'), { recursive: true })
  const instance = await openInstance({ dataDir: join(root, 'old'), memoryLimit: '512MB', threads: 2 })
  await makeOldStore(instance)
  await instance.run(`INSERT INTO ${name}.main.persons (person_no, uuid, has_record, created_at, is_identified, version, updated_at, properties)
    SELECT i + 1, uuid(), true, TIMESTAMP '2024-05-01', true, 1, TIMESTAMP '2024-05-01', '{"plan":"p' || i || '"}' FROM range(1, ${many}) AS t(i)`)
  await instance.close()
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

const kills = [2, 3, 4, 5, 6, 7, 8].map((step) => ['step', step] as const)
const times = [0, 5, 15, 40, 80, 150, 250, 400].map((ms) => ['after', ms] as const)
test.each([...kills, ...times])('killed: %s %i', async (how, number) => {
  const dataDir = join(root, `${how}-${number}`)
  cpSync(join(root, 'old'), dataDir, { recursive: true })
  const before = readFileSync(join(dataDir, store))
  const run = (...args: string[]) => spawnSync(process.execPath, [program('migration-kills'), dataDir, ...args], { encoding: 'utf8' })
  const first = run(how, String(number))
  if (how === 'step') expect([first.signal, first.stderr]).toEqual(['SIGKILL', ''])
  const copy = join(dataDir, `${store}.format-1`)
  expect(readFileSync(copy).equals(before)).toBe(true)
  const second = run('whole')
  expect([second.status, second.stderr]).toEqual([0, ''])
  expect(second.stdout).toBe(first.signal === null ? '' : 'store-migrating\nstore-migrated\n')
  expect(readFileSync(copy).equals(before)).toBe(true)
  expect(existsSync(join(dataDir, `${store}.format-${number}`))).toBe(false) // of a step in between
  const instance = await openInstance({ dataDir, memoryLimit: '256MB', threads: 2 })
  try {
    await instance.attachProject(1)
    expect(await keysOf(instance)).toEqual(expectedKeys)
    const [row] = await instance.rows(
      `SELECT count(*)::INT AS n, count(*) FILTER (size = strlen(properties) + strlen(property_times))::INT AS sized FROM ${name}.main.persons`,
    )
    expect(row).toEqual({ n: many, sized: many })
    const meta = await instance.rows(
      `SELECT key, value FROM ${name}.main.meta WHERE key IN ('format', 'format_before', 'large') ORDER BY key`,
    )
    expect(meta.map(({ key }) => key)).toEqual(['format', 'large'])
    expect(meta[0]!.value).toBe(String(storeFormat))
  } finally {
    await instance.close()
  }
  rmSync(dataDir, { recursive: true })
})
