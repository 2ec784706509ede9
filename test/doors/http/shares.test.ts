import { afterAll, beforeAll, expect, test } from 'vitest'
import { createHandler } from '../../../src/doors/http/server/create-handler.ts'
import type { LocalWaymark } from '../../../src/engine.ts'
import { open } from '../../../src/engine.ts'

// Heavy statements of one project on a real engine: what another project asks meanwhile is answered while they run.

/** Runs for days. Another text is another query, of which nothing is known yet. */
const endless = (n: number) =>
  `select count() from numbers(100000000) a cross join numbers(100000000) b where modulo(a.number * b.number, 7) = ${n}`

let waymark: LocalWaymark
let personalKey: string
let projects: readonly [busy: number, quiet: number]
beforeAll(async () => {
  waymark = await open({ dataDir: ':memory:', threads: 2 })
  const start = await waymark.accounts.firstStart({})
  const quiet = await waymark.createProject({ name: 'Quiet' })
  const events = Array.from({ length: 1000 }, (_, i) => ({ event: 'seen', distinct_id: `u${i}`, properties: {} }))
  await quiet.ingest({ batch: events })
  personalKey = start.personalKey!
  projects = [start.project.id, quiet.id]
})
afterAll(() => waymark.close())

const post = async (project: number, body: object, headers: Record<string, string> = {}, signal?: AbortSignal) => {
  const answer = await createHandler(waymark)(
    new Request(`http://localhost/api/projects/${project}/query/`, {
      method: 'POST',
      headers: { authorization: `Bearer ${personalKey}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
      ...(signal ? { signal } : {}),
    }),
  )
  return { status: answer.status, text: await answer.text() }
}
const sql = (query: string) => ({ kind: 'SqlLikeQuery', query })
const counted = sql('select count() from events')

test.each([
  ['waited for', 8],
  ['in the background', 9],
])('three heavy queries %s keep nobody else waiting', async (way, n) => {
  const [busy, quiet] = projects
  const left = new AbortController()
  const ids = [1, 2, 3].map((n) => `${way} ${n}`)
  const ended: string[] = []
  const heavy = ids.map((client_query_id) =>
    way === 'waited for'
      ? post(busy, { query: sql(endless(n)), client_query_id }, {}, left.signal).finally(() => ended.push(client_query_id))
      : post(busy, { query: sql(endless(n)), client_query_id, async: true }),
  )
  while (waymark.asking.load().waiting === 0) await new Promise((resume) => setImmediate(resume))
  const answers = [await post(quiet, { query: counted }), await post(quiet, { query: counted }, { accept: 'text/csv' })]
  expect(answers.map(({ status }) => status)).toEqual([200, 200])
  expect(JSON.parse(answers[0]!.text).results).toEqual([[1000]])
  expect(answers[1]!.text).toContain('1000')
  const statuses = await Promise.all(ids.map((id) => waymark.asking.runs.poll(busy, id)))
  expect(statuses.filter(({ run }) => run.is_complete)).toEqual([])
  expect(ended).toEqual([])
  left.abort()
  await Promise.all(heavy)
  for (const id of ids) await waymark.asking.runs.cancel(busy, id)
})
