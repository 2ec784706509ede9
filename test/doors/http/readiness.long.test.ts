import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createHandler } from '../../../src/doors/http/server/create-handler.ts'
import { type LocalWaymark, type OpenOptions, open } from '../../../src/engine.ts'

// What the probes of a server say while something of it does not work.

let dataDir: string
let waymark: LocalWaymark
const errors: unknown[] = []
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'waymark-ready-'))
  errors.length = 0
})
afterEach(async () => {
  await waymark.close().catch(() => undefined)
  rmSync(dataDir, { recursive: true, force: true })
})
const start = async (options: Partial<OpenOptions> = {}) => {
  waymark = await open({ dataDir, minFreeBytes: 0, memoryLimit: '128MB', onError: (error) => errors.push(error), ...options })
  return createHandler(waymark)
}
const segment = () => join(dataDir, 'projects', '1', 'log', '000000000001.arrow')
const probe = async (handler: ReturnType<typeof createHandler>, path = '/_readyz') => {
  const response = await handler(new Request(`http://localhost${path}`))
  return { status: response.status, text: await response.text() }
}
const batchOf = (token: string) =>
  new Request('http://localhost/batch/', {
    method: 'POST',
    body: JSON.stringify({ api_key: token, batch: [{ event: 'x', distinct_id: 'u' }] }),
  })

test('a project that cannot be opened: not ready with the reason, until it is mended; the others go on', async () => {
  await start()
  const broken = await waymark.createProject({ name: 'Broken' })
  const sound = await waymark.createProject({ name: 'Sound' })
  for (const project of [broken, sound]) await project.ingest({ batch: [{ event: 'x', distinct_id: 'u' }] })
  const tokenOf = async (id: number) => (await waymark.accounts.projects.byId(id))!.api_token
  const tokens = [await tokenOf(broken.id), await tokenOf(sound.id)] as const
  await waymark.close()
  const log = readFileSync(segment())
  rmSync(join(dataDir, 'projects', '1', 'store.duckdb'))
  writeFileSync(segment(), log.subarray(0, log.length - 20))

  const handler = await start()
  expect((await probe(handler)).status, 'nobody has asked for it yet').toBe(200)
  const answers = await Promise.all(Array.from({ length: 20 }, () => handler(batchOf(tokens[0]))))
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([503]))
  const said = await answers[0]!.text()
  expect(said).toContain('store-broken')
  expect(said, 'where files are is not for strangers').not.toContain(dataDir)
  expect(errors, 'one attempt for all of them').toHaveLength(1)
  expect(errors[0]).toMatchObject({ code: 'store-broken', message: expect.stringContaining(dataDir) })

  const { status, text } = await probe(handler)
  expect(status).toBe(503)
  expect(JSON.parse(text)).toMatchObject({
    ready: false,
    checks: { projects_failed: { isOk: false, detail: 1, reasons: ['project 1 cannot be opened: store-broken'] } },
  })
  expect((await probe(handler, '/metrics')).text).toContain('waymark_projects_failed 1\n')
  expect((await probe(handler, '/_livez')).status).toBe(200)
  expect((await probe(handler, '/_readyz?exclude=projects_failed')).status, 'for a balancer: the others can be asked').toBe(200)
  expect(await probe(handler, '/_readyz?exclude=projects')).toMatchObject({ status: 400, text: expect.stringContaining('projects_failed') })
  expect((await handler(batchOf(tokens[1]))).status).toBe(200)

  writeFileSync(segment(), log)
  while ((await probe(handler)).status !== 200) await setTimeout(50) // the probe tries again, after the pause
  expect((await handler(batchOf(tokens[0]))).status).toBe(200)
})

test('an applier that has given up: not ready with the reason, until it gets on', async () => {
  const handler = await start({ dataDir: ':memory:' })
  const project = await waymark.createProject()
  const { instance } = (waymark as unknown as { parts: { instance: { run(sql: string): Promise<unknown> } } }).parts
  await instance.run('ALTER TABLE p1.main.events RENAME TO away')
  await project.ingest({ batch: [{ event: 'x', distinct_id: 'u' }] })
  await expect(project.query({ kind: 'SqlLikeQuery', query: 'select 1' })).rejects.toThrow('cannot be written')
  expect(JSON.parse((await probe(handler)).text)).toMatchObject({
    ready: false,
    checks: { projects_failed: { isOk: false, reasons: ['project 1 does not apply its events to its store'] } },
  })
  await instance.run('ALTER TABLE p1.main.away RENAME TO events')
  while ((await probe(handler)).status !== 200) await setTimeout(50)
  expect(await project.query({ kind: 'SqlLikeQuery', query: 'select count() from events' })).toMatchObject({ results: [[1]] })
})
