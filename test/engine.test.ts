import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { DuckDBInstance } from '@duckdb/node-api'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type LocalWaymark, type OpenOptions, open } from '../src/engine.ts'
import { program } from './harness/programs.ts'

let dataDir: string
const opened: LocalWaymark[] = []
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'waymark-engine-'))
})
afterEach(async () => {
  for (const waymark of opened.splice(0)) await waymark.close()
  rmSync(dataDir, { recursive: true, force: true })
})
const start = async (options: Partial<OpenOptions> = {}): Promise<LocalWaymark> => {
  const waymark = await open({ dataDir, memoryLimit: '256MB', minFreeBytes: 0, ...options })
  opened.push(waymark)
  return waymark
}

describe('opening', () => {
  test('a directory is made when it is not there, and its projects are found again', async () => {
    const inner = join(dataDir, 'a', 'b')
    let waymark = await start({ dataDir: inner })
    const { id } = await waymark.createProject({ name: 'Shop' })
    await waymark.close()
    expect(readdirSync(inner).sort()).toEqual(['control.duckdb', 'projects'])
    waymark = await start({ dataDir: inner })
    expect((await waymark.project(id)).id).toBe(id)
    expect((await waymark.createProject()).id).toBe(id + 1)
  })

  test('the same project is one object, however often and at once it is asked for', async () => {
    const waymark = await start({ dataDir: ':memory:' })
    const { id } = await waymark.createProject()
    const [a, b] = await Promise.all([waymark.project(id), waymark.project(id)])
    expect(a).toBe(b)
  })

  test('twice is refused, after closing it is not', async () => {
    const first = await start()
    await expect(start()).rejects.toMatchObject({ code: 'directory-locked', data: { pid: process.pid } })
    await first.close()
    await start()
  })

  test('a folder that a removed project left behind is swept, one that is not known to be removed stays', async () => {
    let waymark = await start()
    const kept = await waymark.createProject({ name: 'Kept' })
    const gone = await waymark.createProject({ name: 'Gone' })
    await gone.ingest({ batch: [{ event: 'x', distinct_id: 'a' }] })
    // The rows go; what dies here is the process that would have removed the files.
    await waymark.accounts.context.store.write((tables) => tables.projects.remove({ id: gone.id }))
    await waymark.close()
    const folders = join(dataDir, 'projects')
    const later = String(gone.id + 1)
    for (const name of [later, 'notes', `0${gone.id}`]) mkdirSync(join(folders, name))
    expect(readdirSync(folders)).toContain(String(gone.id))
    waymark = await start()
    expect(readdirSync(folders).sort()).toEqual([String(kept.id), later, 'notes', `0${gone.id}`].sort())
    expect((await waymark.project(kept.id)).id).toBe(kept.id)
  })

  test('an owner that was killed leaves a directory that opens', async () => {
    const script = `import('${pathToFileURL(program('engine'))}').then(async ({ open }) => {
      const waymark = await open({ dataDir: process.argv[1], minFreeBytes: 0 }); await waymark.createProject({}); console.log('ready'); setInterval(() => {}, 1000) })`
    const child = spawn(process.execPath, ['-e', script, dataDir], { stdio: ['ignore', 'pipe', 'inherit'] })
    await once(child.stdout, 'data')
    await expect(start()).rejects.toMatchObject({ code: 'directory-locked', data: { pid: child.pid } })
    child.kill('SIGKILL')
    await once(child, 'exit')
    const waymark = await start()
    expect((await waymark.project(1)).recoveryReports()).toEqual([])
  })

  test('a store damaged after a clean end is rescued when its rows are first looked at', async () => {
    const batch = Array.from({ length: 5000 }, (_, i) => ({
      event: `event ${i}`,
      distinct_id: `user ${i}`,
      properties: { $set: { text: `${i}`.repeat(20) } },
    }))
    let waymark = await start()
    await (await waymark.createProject()).ingest({ batch })
    await waymark.close()
    const store = join(dataDir, 'projects', '1', 'store.duckdb')
    const handle = openSync(store, 'r+')
    for (let at = 12_288 + 100_000; at < statSync(store).size - 1000; at += 262_144) writeSync(handle, Buffer.alloc(500, 0x5a), 0, 500, at)
    closeSync(handle)
    waymark = await start()
    const project = await waymark.project(1)
    expect(project.recoveryReports().map((report) => report.kind)).toEqual(['store-rebuilt'])
    await waymark.close()
    const instance = await DuckDBInstance.create(store, { access_mode: 'READ_ONLY' })
    const connection = await instance.connect()
    const [row] = (
      await connection.runAndReadAll('SELECT count(*)::INTEGER AS n, count(DISTINCT distinct_id)::INTEGER AS ids FROM events')
    ).getRowObjectsJS()
    expect(row).toEqual({ n: 5000, ids: 5000 })
    connection.closeSync()
    instance.closeSync()
  })

  test(':memory: can be opened many times, each for itself', async () => {
    const [a, b] = [await start({ dataDir: ':memory:' }), await start({ dataDir: ':memory:' })]
    await a.createProject()
    await expect(b.project(1)).rejects.toMatchObject({ code: 'not-found' })
    expect(existsSync(':memory:')).toBe(false)
  })

  test(':memory: keeps each project when the memory is short for a query', async () => {
    const waymark = await start({ dataDir: ':memory:' })
    const made = async () => waymark.project((await waymark.createProject()).id)
    const [shop, other] = [await made(), await made()]
    for (const project of [shop, other]) await project.ingest({ batch: [{ event: 'buy', distinct_id: 'd1' }] })
    const ask = async (project: typeof shop, query: string) => (await project.query({ kind: 'SqlLikeQuery', query })).results
    expect(await ask(shop, 'select count() from events')).toEqual([[1]])
    const large = 'select length(groupArray(repeat(toString(number), 20))) from numbers(20000000)'
    await expect(ask(other, large)).rejects.toMatchObject({ code: 'query-memory' })
    expect(await ask(shop, 'select count() from events')).toEqual([[1]])
  })
})

describe('who may read a directory', () => {
  const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)
  const modes = (directory: string): Record<string, string> => {
    const found: Record<string, string> = { '.': modeOf(directory) }
    for (const name of readdirSync(directory, { recursive: true, encoding: 'utf8' })) found[name] = modeOf(join(directory, name))
    return found
  }
  const fill = async (waymark: LocalWaymark) => {
    const project = await waymark.createProject({ name: 'Shop' })
    await project.ingest({ batch: [{ event: 'seen', distinct_id: 'u1' }] })
    await waymark.close()
  }

  test('its owner alone, also when it was open to all before', async () => {
    await fill(await start())
    const before = modes(dataDir)
    for (const name of Object.keys(before)) chmodSync(join(dataDir, name), statSync(join(dataDir, name)).isDirectory() ? 0o755 : 0o644)
    const waymark = await start()
    await waymark.project(1)
    const wrong = Object.entries(modes(dataDir)).filter(([, mode]) => mode !== '600' && mode !== '700')
    // What DuckDB makes while it runs has the rights that the process gives: nobody reaches it through the folder.
    expect(wrong.filter(([name]) => !name.endsWith('.wal'))).toEqual([])
    expect(before).toMatchObject({ '.': '700', 'control.duckdb': '600', projects: '700', 'projects/1': '700', 'projects/1/log': '700' })
  })

  test('a directory that holds other things too keeps its own rights, and what is made in it is private', async () => {
    writeFileSync(join(dataDir, 'README'), 'of somebody else', { mode: 0o644 })
    chmodSync(dataDir, 0o755)
    await fill(await start())
    expect(modes(dataDir)).toMatchObject({ '.': '755', README: '644', 'control.duckdb': '600', projects: '700' })
  })
})

describe('misuse is told apart and told clearly', () => {
  const wrongOptions: readonly [string, unknown, string][] = [
    ['nothing', undefined, 'dataDir'],
    ['no directory', {}, 'dataDir'],
    ['an empty path', { dataDir: '' }, 'dataDir'],
    ['a clock that is a date', { clock: new Date() }, 'clock'],
    ['an unknown durability', { durability: 'maybe' }, 'durability'],
    ['an unknown recovery', { recovery: 'best' }, 'recovery'],
    ['too little memory', { memoryLimit: '1MB' }, 'memoryLimit'],
    ['half a thread', { threads: 0.5 }, 'threads'],
    ['a negative floor', { minFreeBytes: -1 }, 'minFreeBytes'],
    ['days as text', { logRetention: { days: '7' } }, 'logRetention'],
    ['a size of the log without a unit', { logRetention: { bytes: '7' } }, 'logRetention.bytes'],
    ['less than nothing of the log', { logRetention: { bytes: -1 } }, 'logRetention.bytes'],
  ]
  test.each(wrongOptions)('%s', async (_, wrong, attr) => {
    const options = attr === 'dataDir' ? wrong : { dataDir, ...(wrong as object) }
    await expect(open(options as OpenOptions)).rejects.toMatchObject({ name: 'WaymarkError', code: 'validation-failed', attr })
    await start() // and nothing is left locked
  })

  test('a directory that is a file', async () => {
    const file = join(dataDir, 'file')
    writeFileSync(file, '')
    for (const path of [file, join(file, 'below')]) {
      await expect(open({ dataDir: path })).rejects.toMatchObject({ code: 'unusable-directory', data: { dataDir: path } })
    }
  })

  test('a control file that is damaged, which nothing can rebuild', async () => {
    await (await start()).close()
    truncateSync(join(dataDir, 'control.duckdb'), 5000)
    await expect(start()).rejects.toMatchObject({ code: 'unusable-directory', message: expect.stringContaining('control.duckdb') })
    expect(existsSync(join(dataDir, 'waymark.lock'))).toBe(false)
  })

  test('projects without a control file, which would be given to whoever makes the next one', async () => {
    const waymark = await start()
    await waymark.createProject()
    await waymark.close()
    rmSync(join(dataDir, 'control.duckdb'))
    await expect(start()).rejects.toMatchObject({
      code: 'unusable-directory',
      message: expect.stringContaining('control.duckdb is missing'),
    })
    expect(readdirSync(dataDir)).toEqual(['projects'])
  })

  test('projects that are not there', async () => {
    const waymark = await start()
    for (const id of [1, -1, 1.5, Number.NaN, '1; DROP TABLE projects']) {
      await expect(waymark.project(id as number)).rejects.toMatchObject({ code: 'not-found', status: 404 })
    }
  })

  test('use after closing', async () => {
    const waymark = await start()
    await waymark.createProject()
    await Promise.all([waymark.close(), waymark.close()])
    await expect(waymark.createProject()).rejects.toMatchObject({ code: 'closed' })
    await expect(waymark.project(1)).rejects.toMatchObject({ code: 'closed' })
  })
})
