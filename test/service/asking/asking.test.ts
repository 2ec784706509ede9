import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createHandler } from '../../../src/doors/http/server/create-handler.ts'
import { Answer } from '../../../src/engine/admission/answer.ts'
import { type LocalWaymark, open } from '../../../src/engine.ts'
import type { LocalProject } from '../../../src/project.ts'
import type { ProjectRecord } from '../../../src/service/accounts/records.ts'
import { type AskedRequest, createAsking, type Outcome, type Source } from '../../../src/service/asking/asking.ts'

// The library and the HTTP API of one directory share cached answers and running queries.

let waymark: LocalWaymark
let project: LocalProject
let record: ProjectRecord
let http: (method: string, path: string, body?: object) => Promise<{ status: number; body: Record<string, unknown> | null }>
beforeAll(async () => {
  waymark = await open({ dataDir: ':memory:', threads: 1, clock: () => new Date('2026-02-01T12:00:00Z') })
  const start = await waymark.accounts.firstStart({})
  project = await waymark.project(start.project.id)
  record = start.project
  const handler = createHandler(waymark)
  http = async (method, path, body) => {
    const answer = await handler(
      new Request(`http://localhost/api/projects/${project.id}/query/${path}`, {
        method,
        headers: { authorization: `Bearer ${start.personalKey}`, 'content-type': 'application/json' },
        ...(body ? { body: JSON.stringify(body) } : {}),
      }),
    )
    const text = await answer.text()
    return { status: answer.status, body: text === '' ? null : (JSON.parse(text) as Record<string, unknown>) }
  }
})
afterAll(() => waymark.close())

const trends = { kind: 'TrendsQuery', series: [{ kind: 'EventsNode', event: 'signup' }], dateRange: { date_from: '-7d' } }
const endless = {
  kind: 'SqlLikeQuery',
  query: 'select count() from numbers(100000000) a cross join numbers(100000000) b where modulo(a.number * b.number, 7) = 8',
}
const signup = (distinct_id: string) =>
  project.take({ batch: [{ event: 'signup', distinct_id, timestamp: '2026-01-30T10:00:00Z', properties: {} }] })
type Shown = { is_cached?: boolean; results?: { count: number }[]; complete?: boolean; id?: string }
const ask = async (query: unknown, options = {}): Promise<Shown> => (await project.answer(query, options)) as Shown
const settled = async (of: LocalProject, id: string) => {
  for (;;) {
    const status = await of.queryStatus(id)
    if (status.complete || status.error) return status
    await new Promise((resume) => setImmediate(resume))
  }
}

test('a cached answer serves the library and HTTP, until there are new events', async () => {
  await signup('a')
  expect(await ask(trends)).toMatchObject({ is_cached: false, results: [{ count: 1 }], cache_key: expect.any(String), timezone: 'UTC' })
  expect(await ask(trends)).toMatchObject({ is_cached: true, results: [{ count: 1 }] })
  expect((await http('POST', '', { query: trends })).body).toEqual(await ask(trends))
  expect(await ask(trends, { refresh: true })).toMatchObject({ is_cached: false })
  expect(await ask(trends, { refresh: 'async' })).toMatchObject({ is_cached: true })
  await signup('b')
  expect(await ask(trends, { refresh: 'lazy_async' })).toMatchObject({ is_cached: true, results: [{ count: 1 }] })
  expect((await http('POST', '', { query: trends })).body).toMatchObject({ is_cached: false, results: [{ count: 2 }] })
  expect(await ask(trends, { refresh: false })).toMatchObject({ is_cached: true, results: [{ count: 2 }] })
})

test('an async query is found by its id from the library and over HTTP, and runs once', async () => {
  const sql = { kind: 'SqlLikeQuery', query: 'select 40 + 2' }
  const options = { refresh: 'async', client_query_id: 'sum' }
  expect(await ask(sql, options)).toEqual({
    query_status: expect.objectContaining({ id: 'sum', complete: false, query_async: true }),
  })
  const status = await settled(project, 'sum')
  expect(status).toMatchObject({ error: false, results: { results: [[42]] } })
  expect(await ask(sql, options)).toMatchObject({ query_status: { task_id: status.task_id, complete: true } })
  expect((await http('GET', 'sum/')).body).toEqual({ query_status: status })
  const twice = await Promise.all([1, 2].map(() => ask(sql, { refresh: 'async', client_query_id: 'twice' })))
  expect(twice[0]).toEqual(twice[1])
  await expect(project.queryStatus('nobody')).rejects.toMatchObject({ code: 'no-record' })
})

test('an id that was used for another query runs the new one', async () => {
  const asked = (query: string) => ask({ kind: 'SqlLikeQuery', query }, { refresh: 'async', client_query_id: 'again' })
  await asked('select 1')
  const one = await settled(project, 'again')
  expect(await asked('select 1'), 'the same query is known').toMatchObject({ query_status: { task_id: one.task_id, complete: true } })
  expect(await asked('select 2')).toMatchObject({ query_status: { complete: false } })
  expect(await settled(project, 'again')).toMatchObject({ results: { results: [[2]] } })
  const slow = project.answer(endless, { refresh: 'async', client_query_id: 'again' })
  expect(await slow).toMatchObject({ query_status: { complete: false } })
  expect(await asked('select 3'), 'what runs under it is stopped').toMatchObject({ query_status: { complete: false } })
  expect(await settled(project, 'again')).toMatchObject({ error: false, results: { results: [[3]] } })
})

test('a query with a waiting client is cancelled by its id, also from the other interface', async () => {
  const waiting = project.answer(endless, { client_query_id: 'mine' })
  while ((await http('GET', 'mine/')).status !== 200) await new Promise((resume) => setImmediate(resume))
  const stopped = expect(waiting).rejects.toMatchObject({ code: 'query-cancelled' })
  expect((await http('DELETE', 'mine/')).status).toBe(204)
  await stopped
  const asked = http('POST', '', { query: endless, client_query_id: 'theirs' })
  while (!(await project.queryStatus('theirs').catch(() => null))) await new Promise((resume) => setImmediate(resume))
  await project.cancelQuery('theirs')
  expect((await asked).body).toMatchObject({ code: 'invalid_input', detail: 'The query was cancelled.' })
})

test('`dequeue_only` cancels a queued query, but not a running one', async () => {
  const ids: string[] = []
  while (waymark.asking.load().waiting === 0) {
    ids.push(`turn-${ids.length}`)
    await project.answer(endless, { refresh: 'force_async', client_query_id: ids.at(-1)! })
  }
  const [running, waiting] = [ids[0]!, ids.at(-1)!]
  for (const id of [running, waiting, 'nobody']) expect((await http('DELETE', `${id}/?dequeue_only=true`)).status).toBe(204)
  expect([(await http('GET', `${running}/`)).status, (await http('GET', `${waiting}/`)).status]).toEqual([200, 404])
  for (const id of ids) await project.cancelQuery(id)
  expect((await http('GET', `${running}/`)).status).toBe(404)
})

test('invalid options are refused', async () => {
  await expect(project.answer(trends, { refresh: 'sometimes' as never })).rejects.toMatchObject({
    code: 'validation-failed',
    attr: 'refresh',
  })
  for (const client_query_id of ['', 'x'.repeat(201)])
    await expect(project.answer(trends, { client_query_id })).rejects.toMatchObject({
      message: 'client_query_id must be a string of 1 to 200 characters',
      attr: 'client_query_id',
    })
  const gone = AbortSignal.abort()
  await expect(project.answer(trends, { signal: gone, refresh: true })).rejects.toMatchObject({ code: 'query-cancelled' })
})

test('closing a directory stores how its async queries ended', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'waymark-asking-'))
  try {
    const first = await open({ dataDir, threads: 1 })
    const made = await first.createProject({ name: 'Shop' })
    await made.answer(endless, { refresh: 'force_async', client_query_id: 'long' })
    await first.close()
    const second = await open({ dataDir, threads: 1 })
    expect(await (await second.project(made.id)).queryStatus('long')).toMatchObject({
      complete: false,
      error: true,
      error_message: 'The query was stopped because the server is shutting down.',
    })
    await second.close()
  } finally {
    await rm(dataDir, { recursive: true, force: true })
  }
})

describe('questions that are asked while their answer is being computed', () => {
  /** A source that answers when it is told to. */
  const sourceOf = () => {
    const computing: { readonly signal: AbortSignal | undefined; readonly end: (count: number | Error) => void }[] = []
    let position = 1
    const source: Source = {
      project: record,
      position: () => position,
      compute: (_, { wanted: { signal } }) =>
        new Promise((resolve, reject) => {
          if (signal?.aborted) return reject(signal.reason)
          signal?.addEventListener('abort', () => reject(signal.reason))
          const end = (count: number | Error) =>
            count instanceof Error ? reject(count) : resolve({ answer: Answer.of({ results: [{ count }] }), endsAt: null })
          computing.push({ signal, end })
        }),
    }
    return { source, computing, arrive: () => void position++ }
  }
  const asking = () => createAsking(waymark.accounts, {} as never, () => ({}) as never)
  const asked = (refresh: AskedRequest['refresh'] = 'blocking'): AskedRequest => ({
    query: trends,
    refresh,
    client_query_id: null,
    wantsStatus: false,
  })
  const countIn = async (outcome: Promise<Outcome>) => {
    const found = await outcome
    if (!('answer' in found)) throw new Error('A status')
    const { results, is_cached } = JSON.parse(await found.answer.text()) as Shown
    return [results![0]!.count, is_cached]
  }
  const turn = () => new Promise((resume) => setImmediate(resume))

  test('wait for it, and have it together', async () => {
    const [{ source, computing }, { ask: askOf }] = [sourceOf(), asking()]
    const all = Array.from({ length: 10 }, () => askOf(source, asked(), {}))
    await turn()
    expect(computing).toHaveLength(1)
    computing[0]!.end(7)
    expect(await Promise.all(all.map(countIn))).toEqual([[7, false], ...Array.from({ length: 9 }, () => [7, true])])
  })

  test('compute their own once there are further events, or where a new answer is asked for', async () => {
    const [{ source, computing, arrive }, { ask: askOf }] = [sourceOf(), asking()]
    const first = askOf(source, asked(), {})
    await turn()
    arrive()
    const second = askOf(source, asked(), {})
    const third = askOf(source, asked('force_blocking'), {})
    await turn()
    expect(computing).toHaveLength(3)
    for (const [i, { end }] of computing.entries()) end(i)
    expect(await Promise.all([first, second, third].map(countIn))).toEqual([
      [0, false],
      [1, false],
      [2, false],
    ])
  })

  test('do not fail with it, nor end with whoever asked first', async () => {
    const [{ source, computing }, { ask: askOf }] = [sourceOf(), asking()]
    const leaving = new AbortController()
    const first = askOf(source, asked(), { signal: leaving.signal })
    const second = askOf(source, asked(), {})
    await turn()
    expect(computing).toHaveLength(1)
    leaving.abort(new Error('left'))
    await expect(first).rejects.toThrow('left')
    await turn()
    expect(computing).toHaveLength(2)
    computing[1]!.end(3)
    expect(await countIn(second)).toEqual([3, false])
    const failing = askOf(source, asked('force_blocking'), {})
    await turn()
    computing[2]!.end(new Error('out of memory'))
    await expect(failing).rejects.toThrow('out of memory')
  })

  test('leave alone', async () => {
    const [{ source, computing }, { ask: askOf }] = [sourceOf(), asking()]
    const leaving = new AbortController()
    const first = askOf(source, asked(), {})
    const second = askOf(source, asked(), { signal: leaving.signal })
    await turn()
    leaving.abort(new Error('left'))
    await expect(second).rejects.toThrow('left')
    computing[0]!.end(5)
    expect(await countIn(first)).toEqual([5, false])
  })
})
