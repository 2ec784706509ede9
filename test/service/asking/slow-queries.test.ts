import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createClient } from '../../../src/doors/library/client.ts'
import { type LocalWaymark, open } from '../../../src/engine.ts'
import { deferred } from '../../../src/lib/flow/deferred.ts'
import type { LocalProject } from '../../../src/project.ts'
import { level, type Membership } from '../../../src/service/accounts/records.ts'
import { createObservedQueries } from '../../../src/service/asking/observed-queries.ts'

// Queries of a real project, every one of which counts as slow.

const folder = mkdtempSync(join(tmpdir(), 'waymark-slow-'))
const clock = { now: new Date('2026-03-02T10:00:00Z') }
let waymark: LocalWaymark
let project: LocalProject
const start = (seconds: number) =>
  open({ dataDir: folder, threads: 1, clock: () => clock.now, slowQueries: { seconds }, notifications: { runs: false } })
const secret = 'ada@shop.test'
const statement = { kind: 'SqlLikeQuery', query: `select event, distinct_id from events where distinct_id = '${secret}'` } as const

beforeAll(async () => {
  waymark = await start(1e-9)
  project = await waymark.createProject({ name: 'Shop' })
  await project.ingest({ batch: Array.from({ length: 3 }, () => ({ event: 'view', distinct_id: secret })) })
})
afterAll(async () => {
  await waymark.close()
  rmSync(folder, { recursive: true, force: true })
})

const member = (change: Partial<Membership>) => ({ level: level.member, user_id: 77, ...change }) as Membership
const listed = async (as: Partial<Membership>) => {
  const record = (await waymark.accounts.projects.byId(project.id))!
  return waymark.slowQueries.list(record, member(as), { limit: 10, offset: 0 })
}

test('an answered, a failed and a cancelled query are logged with what each took', async () => {
  await project.query(statement)
  await expect(project.query({ kind: 'SqlLikeQuery', query: 'select nothing_known from events' })).rejects.toThrow()
  const stop = new AbortController()
  stop.abort()
  await expect(project.query({ kind: 'SqlLikeQuery', query: 'select count() from events' }, { signal: stop.signal })).rejects.toThrow()
  await project.queryArrow(statement)
  const { rows, count } = await listed({ level: level.admin })
  expect(count).toBe(4)
  const facts = rows.map(({ form, outcome, error, rows: counted, caller }) => ({ form, outcome, error, rows: counted, caller }))
  const about = { caller: 'library', rows: null, error: null }
  expect(facts).toEqual(
    expect.arrayContaining([
      { ...about, form: 'answer', outcome: 'answered', rows: 3 },
      { ...about, form: 'answer', outcome: 'failed', error: expect.stringMatching(/^unknown-/) },
      { ...about, form: 'answer', outcome: 'cancelled', error: 'query-cancelled' },
      { ...about, form: 'rows', outcome: 'answered' },
    ]),
  )
  const answered = rows.find(({ outcome, form }) => outcome === 'answered' && form === 'answer')!
  expect(answered.steps).toEqual([{ label: expect.any(String), seconds: expect.any(Number) }])
})

test('values are for administrators and for those who asked', async () => {
  for (const [as, sees] of [
    [{ level: level.member }, false],
    [{ level: level.admin }, true],
    [{ level: level.owner }, true],
  ] as const) {
    const text = JSON.stringify((await listed(as)).rows)
    expect(text.includes(secret), JSON.stringify(as)).toBe(sees)
    expect(text).toContain('distinct_id = ?')
  }
  await waymark.accounts.context.store.write((tables) =>
    tables.slow_queries.update({ form: 'answer', outcome: 'answered' }, { user_id: 77 }),
  )
  const own = (await listed({ level: level.member })).rows
  expect(own.filter(({ query }) => query !== null).map(({ user_id }) => user_id)).toEqual([77])
})

test('one is asked again, with its plan', async () => {
  const client = createClient(waymark)
  const { results } = await client.slowQueries.list(project)
  const { id } = results.find(({ outcome, form }) => outcome === 'answered' && form === 'answer')!
  const { explain, timings } = await client.slowQueries.explain(project, id)
  expect(explain).toMatchObject([{ label: expect.any(String), sql: expect.stringMatching(/select/i) }])
  expect(timings.at(-1)).toMatchObject({ k: '.' })
})

test('they survive a restart, leave after thirty days, and 0 logs none', async () => {
  await waymark.close()
  waymark = await start(0)
  project = await waymark.project('Shop')
  const { count } = await listed({})
  expect(count).toBeGreaterThan(4)
  await project.query(statement)
  expect((await listed({})).count).toBe(count)
  expect(waymark.slowQueries.count).toBe(0)
  clock.now = new Date(clock.now.getTime() + 31 * 86_400_000)
  expect(await listed({})).toEqual({ rows: [], count: 0 })
  expect(await waymark.accounts.context.store.read.slow_queries.count({}), 'they are removed').toBe(0)
})

test('queries that run are known until they end', async () => {
  const observed = createObservedQueries()
  const ended: string[] = []
  observed.whenEnded(({ kind, outcome }) => void ended.push(`${kind} ${outcome}`))
  const hold = deferred<number>()
  const about = { project: 3, form: 'answer', caller: 'user 5' } as const
  const first = observed.run({ ...about, query: { kind: 'TrendsQuery' } }, () => hold.promise)
  const second = observed.run({ ...about, query: { kind: 'no such kind' } }, () => Promise.reject(new Error('no')))
  await expect(second).rejects.toThrow('no')
  expect(observed.running).toMatchObject([{ project: 3, kind: 'TrendsQuery', caller: 'user 5' }])
  hold.resolve(7)
  expect(await first).toBe(7)
  expect(observed.running).toEqual([])
  expect(ended).toEqual(['other failed', 'TrendsQuery answered'])
  expect(observed.timings.outcomes).toEqual({ answered: 1, failed: 1, cancelled: 0 })
  expect(observed.timings.kinds.get('TrendsQuery')).toMatchObject({ count: 1 })
  expect([...observed.timings.projects.keys()]).toEqual(['3'])
})
