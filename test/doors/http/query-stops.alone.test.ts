import { DuckDBConnection } from '@duckdb/node-api'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type Deferred, deferred } from '../../../src/lib/flow/deferred.ts'
import { processorTime } from '../../harness/processor-time.ts'
import { refused, withHome } from './conversation.ts'

// A query that nobody waits for any more must not keep the engine busy. What is watched is the engine's own statement: when it begins and when it ends.

const held = withHome()
const path = '/api/projects/@current/query/'
/** Runs for days. */
const heavy = {
  kind: 'SqlLikeQuery',
  query: 'select count() as heavy from numbers(100000000) a cross join numbers(100000000) b where modulo(a.number * b.number, 7) = 8',
}

let began: Deferred<void>
let ended: Deferred<void>
beforeEach(() => {
  began = deferred()
  ended = deferred()
  const original = DuckDBConnection.prototype.prepare
  vi.spyOn(DuckDBConnection.prototype, 'prepare').mockImplementation(async function (this: DuckDBConnection, sql: string) {
    const prepared = await original.call(this, sql)
    if (!sql.includes('heavy')) return prepared
    for (const name of ['run', 'stream'] as const) {
      const start = prepared[name].bind(prepared)
      prepared[name] = (async () => {
        began.resolve()
        try {
          return await start()
        } finally {
          ended.resolve()
        }
      }) as never
    }
    return prepared
  })
})
afterEach(() => {
  vi.restoreAllMocks()
})

const post = async (body: object, headers: Record<string, string> = {}, signal?: AbortSignal) => {
  const { world, member } = held.home
  const all = { ...(await world.login(member)), 'content-type': 'application/json', ...headers }
  return fetch(world.url + path, {
    method: 'POST',
    headers: all,
    body: JSON.stringify({ query: heavy, ...body }),
    ...(signal ? { signal } : {}),
  })
}
/** From the word to stop until the engine has stopped. */
const stopsSoonAfter = async (stop: () => unknown) => {
  await began.promise
  const worked = processorTime()
  await Promise.all([stop(), ended.promise])
  expect(worked()).toBeLessThan(250)
  const quick = await held.home.call('POST', path, { as: held.home.member, body: { query: { kind: 'SqlLikeQuery', query: 'select 1' } } })
  expect(quick.body.results).toEqual([[1]])
}
const cancel = (id: string) => held.home.call('DELETE', `${path}${id}/`, { as: held.home.member })

test('cancelled by its id, while its caller waits', async () => {
  const answer = post({ client_query_id: 'waited' })
  await stopsSoonAfter(() => cancel('waited'))
  const { status } = await answer
  expect({ status, body: await (await answer).json() }).toMatchObject(refused(400, 'invalid_input', 'The query was cancelled.'))
})

test('cancelled by its id, in the background', async () => {
  const answer = await post({ client_query_id: 'alone', async: true })
  expect(((await answer.json()) as { query_status: object }).query_status).toMatchObject({ id: 'alone', complete: false })
  await stopsSoonAfter(() => cancel('alone'))
  expect((await held.home.call('GET', `${path}alone/`, { as: held.home.member })).status).toBe(404)
})

test.each(['application/json', 'text/csv', 'application/vnd.apache.arrow.stream'])(
  'its client leaves, having asked for %s',
  async (accept) => {
    const client = new AbortController()
    const answer = post({}, { accept }, client.signal).catch((error: unknown) => error)
    await stopsSoonAfter(() => client.abort())
    expect(await answer).toMatchObject({ name: 'AbortError' })
  },
)
