import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openStoreInspector, type StoreInspector } from '../../src/engine/storage/duckdb/inspect-store.ts'
import { type Instance, openInstance, projectDatabase } from '../../src/engine/storage/duckdb/instance.ts'
import { inspectProject, openProjectStorage } from '../../src/engine/storage/project-storage.ts'
import type { RecoveryReport } from '../../src/engine/storage/recovery/recovery-report.ts'
import { open } from '../../src/engine.ts'
import { run } from '../doors/cli/shell.ts'
import {
  damageProject,
  events,
  findPlaces,
  fingerprint,
  type LogDamage,
  logDamages,
  makeKilledDirectory,
  type Places,
  projectOf,
  type StoreDamage,
  storeDamages,
  writeStaleLock,
} from './directory.ts'
import { damageTable, type Expected, expectations } from './expectations.ts'

// Every damage of the log with every damage of the store: what is decided of it. Some of them through the whole of Waymark; `npm run test:damage` has all
// of them with every command, in real processes.

type Row = readonly [log: LogDamage, store: StoreDamage]
const rows = (Object.keys(logDamages) as LogDamage[]).flatMap((log) =>
  (Object.keys(storeDamages) as StoreDamage[]).map((store): Row => [log, store]),
)
const expectedOf = ([log, store]: Row): Expected => expectations[log][store]

let folder: string
let base: string
let places: Places
const isPossible = existsSync('/proc/self/stat')
beforeAll(async () => {
  if (!isPossible) return
  folder = mkdtempSync(join(tmpdir(), 'waymark-damage-'))
  base = join(folder, 'base')
  await makeKilledDirectory(base)
  places = await findPlaces(projectOf(base))
})
afterAll(() => {
  if (folder) rmSync(folder, { recursive: true, force: true })
})

const lostOf = (reports: readonly RecoveryReport[]) => reports.filter(({ kind }) => kind === 'records-lost')

describe.skipIf(!isPossible)('what is decided', () => {
  let dataDir: string
  let instance: Instance
  let inspector: StoreInspector
  let id = 0
  beforeAll(async () => {
    dataDir = join(folder, 'decided')
    instance = await openInstance({ dataDir, memoryLimit: '256MB', threads: 1 })
    inspector = await openStoreInspector(dataDir)
  })
  afterAll(async () => {
    await inspector.close()
    await instance.close()
  })
  const openStorage = (recovery: 'complete' | 'partial') =>
    openProjectStorage(instance, id, { log: { minFreeBytes: 0 }, recovery, isThorough: false }, true)
  /** Opens, and answers how many records there are in all, and what is said of the others. */
  const take = async (recovery: 'complete' | 'partial') => {
    const storage = await openStorage(recovery)
    const database = projectDatabase(id)
    const [meta] = await instance.rows<{ value: string }>(`SELECT value FROM ${database}.main.meta WHERE key = 'applied_seq'`)
    const [stored] = await instance.rows<{ n: number }>(`SELECT count(*)::INTEGER AS n FROM ${database}.main.events`)
    let records = stored!.n
    for await (const batch of storage.log.read(Number(meta!.value) + 1)) records += batch.uuids.length
    await storage.abandon()
    return { records, reports: storage.reports, recovery: storage.recovery }
  }

  test.each(rows)('log %s, store %s', async (...row) => {
    const expected = expectedOf(row)
    const project = projectOf(dataDir, ++id)
    cpSync(projectOf(base), project, { recursive: true })
    damageProject(project, places, ...row)
    const before = fingerprint(project)
    const { plan } = await inspectProject(inspector, id, 'killed', true)
    expect(fingerprint(project), 'looking changes nothing').toEqual(before)
    if (expected.is === 'whole') {
      expect([plan.refusal, plan.lost]).toEqual([null, []])
      const { records, reports, recovery } = await take('complete')
      expect([records, lostOf(reports)]).toEqual([events.all, []])
      const [, store] = row
      const kind = store === 'sound' ? undefined : store === 'with a damaged write-ahead log' ? 'store-rolled-back' : 'store-rebuilt'
      expect(recovery?.kind).toBe(kind)
      return
    }
    const [fromSeq, toSeq] = expected.lost
    expect(plan).toMatchObject({ lost: [{ fromSeq, toSeq }], refusal: { code: expected.code } })
    for (const _ of ['once', 'again']) {
      const refused = await openStorage('complete').catch((error: unknown) => error)
      expect(refused).toMatchObject({ code: expected.code, message: plan.refusal!.message })
      expect(fingerprint(project), 'a refusal leaves every file as it was').toEqual(before)
    }
    const { records, reports } = await take('partial')
    expect([records, lostOf(reports)]).toMatchObject([expected.left, [{ fromSeq, toSeq }]])
  })
})

const whole: readonly Row[] = [
  ['sound', 'sound'],
  ['sound', 'flipped in a block'],
  ['flipped where nothing else has it', 'sound'],
  ['cut below the store', 'with a damaged write-ahead log'],
  ['gone', 'flipped in its header'],
  ['gone', 'gone'],
]

describe.skipIf(!isPossible)('a directory of damaged projects', () => {
  const counted = { kind: 'SqlLikeQuery', query: 'select count(), uniq(uuid) from events' }
  let dataDir: string
  const openAll = async (recovery: 'complete' | 'partial') => {
    const options = { dataDir, memoryLimit: '256MB', threads: 1, minFreeBytes: 0, recovery }
    const waymark = await open({ ...options, onError: () => undefined, onRecovery: () => undefined })
    const found: { count?: number; code?: string }[] = []
    for (const i of whole.keys()) {
      try {
        const { results } = (await (await waymark.project(i + 1)).answer(counted)) as { results: number[][] }
        expect(results[0]![0]).toBe(results[0]![1])
        found.push({ count: results[0]![0]! })
      } catch (error) {
        found.push({ code: (error as { code: string }).code })
      }
    }
    await waymark.close()
    return found
  }

  test('is described by doctor, opened as far as it goes, and goes on with what `partial` left', async () => {
    dataDir = join(folder, 'whole')
    const waymark = await open({ dataDir, memoryLimit: '256MB', threads: 1 })
    for (const row of whole) {
      const { id } = await waymark.accounts.createProject({ name: row.join(', ') })
      await waymark.accounts.projects.noteFirstEvents(id)
    }
    await waymark.close()
    for (const [i, row] of whole.entries()) {
      cpSync(projectOf(base), projectOf(dataDir, i + 1), { recursive: true })
      damageProject(projectOf(dataDir, i + 1), places, ...row)
    }
    writeStaleLock(dataDir)

    const before = fingerprint(dataDir)
    const doctor = await run(['doctor', '--data', dataDir])
    const partialDoctor = await run(['doctor', '--data', dataDir, '--recovery', 'partial'])
    expect(fingerprint(dataDir), 'doctor changes nothing').toEqual(before)
    expect([doctor.code, doctor.err]).toEqual([1, 'waymark: 5 things need attention.\n'])
    expect(doctor.out).toMatch(/^Project 1 +60 events, store [^\n]+\n {2}30 records of the log are not applied yet[^\n]+\nProject 2 /m)
    expect(doctor.out.match(/^ {2}opening is refused: /gm)).toHaveLength(4)
    expect(partialDoctor.out.match(/^ {2}opening with --recovery partial skips them$/gm)).toHaveLength(4)

    const [all, refused] = [{ count: events.all }, whole.map(expectedOf)]
    const complete = refused.map((expected) => (expected.is === 'whole' ? all : { code: expected.code }))
    const partial = refused.map((expected) => (expected.is === 'whole' ? all : { count: expected.left }))
    expect(await openAll('complete')).toEqual(complete)
    expect(await openAll('complete')).toEqual(complete)
    expect(await openAll('partial')).toEqual(partial)
    expect(await openAll('complete')).toEqual(partial)
    expect((await run(['doctor', '--data', dataDir])).out).not.toContain('refused')
  })
})

test('docs/reliability.md says what is expected here', () => {
  expect(readFileSync(join(import.meta.dirname, '../../docs/reliability.md'), 'utf8')).toContain(`${damageTable()}\n`)
})
