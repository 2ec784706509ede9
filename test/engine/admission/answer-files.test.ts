import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type LocalWaymark, open } from '../../../src/engine.ts'
import type { LocalProject } from '../../../src/project.ts'

let dataDir: string
let waymark: LocalWaymark
let project: LocalProject
let now: Date
const start = async () => {
  waymark = await open({ dataDir, minFreeBytes: 0, clock: () => now, onError: () => {} })
  project = await waymark.findOrCreateProject({ name: 'Shop' })
}
beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'waymark-answers-'))
  now = new Date('2026-02-01T12:00:00Z')
  await start()
})
afterEach(async () => {
  await waymark.close()
  rmSync(dataDir, { recursive: true, force: true })
})

const folder = () => join(dataDir, 'projects', String(project.id), 'answers')
const files = () => (existsSync(folder()) ? readdirSync(folder()) : [])
const ask = async (client_query_id: string, query = 'select 1') => {
  await project.query({ kind: 'SqlLikeQuery', query }, { refresh: 'force_async', client_query_id })
  for (;;) {
    const status = await project.queryStatus(client_query_id)
    if (status.complete || status.error) return status
    await new Promise((resolve) => setImmediate(resolve))
  }
}

test('an answer has one file, readable only by its owner, and survives a restart', async () => {
  const { results } = await ask('a')
  expect(results).toMatchObject({ results: [[1]] })
  expect(files()).toHaveLength(1)
  expect(statSync(join(folder(), files()[0]!)).mode & 0o077).toBe(0)
  await waymark.close()
  await start()
  expect((await project.queryStatus('a')).results).toEqual(results)
})

test('its file is removed when it is replaced, cancelled, expired, or removed with its project', async () => {
  await ask('a')
  const first = files()
  await ask('a', 'select 2')
  expect(files()).toHaveLength(1)
  expect(files()).not.toEqual(first)
  await project.cancelQuery('a')
  expect(files()).toEqual([])

  await ask('b')
  const [old] = files()
  now = new Date(now.getTime() + 11 * 60_000)
  await ask('c')
  expect(files()).toHaveLength(1)
  expect(files()).not.toContain(old)

  const record = await waymark.accounts.projects.byId(project.id)
  await waymark.accounts.projects.remove(null, record!)
  expect(files()).toEqual([])
})

test('a file without a run is removed at the next start', async () => {
  await ask('a')
  const known = files()
  writeFileSync(join(folder(), 'left.json'), '{}')
  await waymark.close()
  await start()
  await project.queryStatus('a')
  expect(files()).toEqual(known)
})

test('an answer whose file is gone is an error, not an empty answer', async () => {
  await ask('a')
  rmSync(folder(), { recursive: true })
  expect(await project.queryStatus('a')).toMatchObject({
    complete: false,
    error: true,
    error_message: expect.stringContaining('Run the query again'),
    results: null,
  })
})

test('an answer that cannot be written is an error', async () => {
  writeFileSync(folder(), 'no folder')
  expect(await ask('a')).toMatchObject({
    complete: false,
    error: true,
    error_message: expect.stringContaining('could not be written'),
    results: null,
  })
})
