import { connect, type Socket } from 'node:net'
import { DuckDBConnection, DuckDBResult } from '@duckdb/node-api'
import { tableFromIPC } from 'apache-arrow'
import { afterEach, beforeAll, expect, test, vi } from 'vitest'
import { inForm, warningHeaders } from '../../../src/doors/http/queries/forms.ts'
import { pacedBody } from '../../../src/doors/http/queries/streamed.ts'
import { deferred } from '../../../src/lib/flow/deferred.ts'
import { withHome } from './conversation.ts'

// Rows that are larger than what fits between a server and a client: the engine makes no more than the client takes.

const held = withHome()
const path = '/api/projects/@current/query/'
const media = { csv: 'text/csv', arrow: 'application/vnd.apache.arrow.stream' } as const
/** Ten thousand rows of four kilobytes. */
const wide = { kind: 'SqlLikeQuery', query: "select number, repeat('x', 4000) as text from numbers(20000) limit 10000" }

const post = async (query: object, accept: string, signal?: AbortSignal) => {
  const { world, member } = held.home
  const headers = { ...(await world.login(member)), accept, 'content-type': 'application/json' }
  return fetch(world.url + path, { method: 'POST', headers, body: JSON.stringify({ query }), ...(signal ? { signal } : {}) })
}

/** A client that takes bytes only when told to. */
const slowClient = async (query: object, accept: string, id: string) => {
  const { world, member } = held.home
  const { hostname, port } = new URL(world.url)
  const body = JSON.stringify({ query, client_query_id: id })
  const socket: Socket = connect({ host: hostname, port: Number(port) })
  const { cookie } = await world.login(member)
  socket.write(
    `POST ${path} HTTP/1.1\r\nhost: x\r\ncookie: ${cookie}\r\naccept: ${accept}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  )
  const head = await new Promise<string>((resolve) => {
    socket.once('data', (data) => {
      socket.pause()
      resolve(data.toString('latin1'))
    })
  })
  return { socket, head }
}

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})
beforeAll(async () => {
  const batch = Array.from({ length: 30 }, (_, i) => ({
    event: 'signup',
    distinct_id: `u${i}`,
    timestamp: `2034-01-10T10:00:${String(i).padStart(2, '0')}Z`,
    properties: { note: `n"${i}`, $set: { plan: 'pro' } },
  }))
  const { call, project } = held.home
  await call('POST', '/batch/', { body: { api_key: project.api_token, batch } })
})

test.each(['csv', 'arrow'] as const)('%s: all rows up to the limit, however large they are', async (form) => {
  const answer = await post(wide, media[form])
  const head = [answer.status, answer.headers.get('x-row-limit'), answer.headers.get('x-has-more')]
  expect(head, '40 MB are too many to wait for the end').toEqual([200, '10000', 'unknown'])
  if (form === 'csv') {
    const lines = (await answer.text()).split('\r\n')
    expect([lines.length, lines[0], lines[10_000], lines[10_001]]).toEqual([10_002, 'number,text', `9999,${'x'.repeat(4000)}`, ''])
  } else {
    const table = tableFromIPC(new Uint8Array(await answer.arrayBuffer()))
    expect([table.numRows, Number(table.get(9_999)!.number)]).toEqual([10_000, 9_999])
  }
})

/** Ten megabytes of rows, of which `more` are left out. */
const large = (more: number) => ({
  kind: 'SqlLikeQuery',
  query: `select number, repeat('x', 1000) as text from numbers(${10_000 + more}) limit 10000`,
})
test.each(['csv', 'arrow'] as const)('%s: large answers say whether there is more, also while readers give up', async (form) => {
  const moreOf = async (query: object) => {
    const answer = await post(query, media[form])
    await answer.arrayBuffer()
    return answer.headers.get('x-has-more')
  }
  for (let i = 0; i < 8; i++) {
    const answer = await post(large(1), media[form])
    await answer.body!.cancel()
  }
  await expect.poll(() => moreOf(large(1)), { message: 'the rows of readers that left take no room' }).toBe('true')
  expect(await moreOf(large(0))).toBe('false')
})

test('small answers say whether there is more', async () => {
  const has = async (limit: number) =>
    (await post({ kind: 'SqlLikeQuery', query: `select event from events limit ${limit}` }, media.csv)).headers.get('x-has-more')
  expect([await has(29), await has(30), await has(31)]).toEqual(['true', 'false', 'false'])
})

const lists: [string, object, string][] = [
  [
    'events',
    { kind: 'EventsQuery', select: ['*', 'event', 'person', 'properties.note'], orderBy: ['timestamp'], limit: 3 },
    '*,event,person,properties.note',
  ],
  ['actors', { kind: 'ActorsQuery', select: ['person', 'id', 'properties.plan'], limit: 3 }, 'person,id,properties.plan'],
]
test.each(lists)('lists of %s have the values of their JSON answer', async (_, query, head) => {
  const { results } = (await (await post(query, 'application/json')).json()) as { results: unknown[][] }
  const table = tableFromIPC(new Uint8Array(await (await post(query, media.arrow)).arrayBuffer()))
  expect(table.schema.fields.map(({ name }) => name)).toEqual(head.split(','))
  const texts = results.map((row) => row.map((value) => (typeof value === 'object' ? JSON.stringify(value) : value)))
  expect(table.toArray().map((row) => table.schema.fields.map(({ name }) => row[name]))).toEqual(texts)
  const csv = await (await post(query, media.csv)).text()
  expect(csv.split('\r\n')[0]).toBe(head)
  expect(csv.split('\r\n')[1]).toMatch(/^"\{""(uuid|id)"":""/)
  const none = await post({ ...query, properties: [{ key: 'plan', value: 'none', operator: 'exact', type: 'person' }] }, media.arrow)
  const empty = tableFromIPC(new Uint8Array(await none.arrayBuffer()))
  expect([empty.numRows, empty.schema.fields.map(({ name }) => name)]).toEqual([0, head.split(',')])
})

const dated = `select toDate('2024-01-10') + number % 1 as day, toDateTime('2024-01-10 10:00:29') as last, cast(sum(1) as Decimal(10, 2)) as sum, 'x' as same, 2 as same
from numbers(30) group by day with totals order by day limit 5`
const shownAs = '2024-01-10,2024-01-10T10:00:29Z,30,x,2\r\n,2024-01-10T10:00:29Z,30,x,2\r\n'
test('totals have the values and headers of other rows', async () => {
  const asked = { kind: 'SqlLikeQuery', query: dated }
  const plain = await post({ kind: 'SqlLikeQuery', query: dated.replace('with totals', '') }, media.csv)
  const csv = await post(asked, media.csv)
  expect([csv.headers.get('x-row-limit'), csv.headers.get('x-has-more')]).toEqual(['5', 'false'])
  const text = await csv.text()
  expect(text).toContain((await plain.text()).split('\r\n')[1])
  expect(text).toBe(`day,last,sum,same,same\r\n${shownAs}`)
  const table = tableFromIPC(new Uint8Array(await (await post(asked, media.arrow)).arrayBuffer()))
  expect([table.numRows, table.getChildAt(3)?.get(1), Number(table.getChildAt(4)?.get(1))]).toEqual([2, 'x', 2])
})

test('an answer that is there as a whole has them too', () => {
  const answer = { columns: ['day', 'same', 'same'], results: [['2034-01-10', 'x', null]], hasMore: false, limit: 5 }
  const { body, headers } = inForm(answer, 'csv')
  expect(Buffer.from(body).toString()).toBe('day,same,same\r\n2034-01-10,x,\r\n')
  expect(headers).toMatchObject({ 'x-row-limit': '5', 'x-has-more': 'false' })
})

test.each(['csv', 'arrow'] as const)('%s: warnings stand in headers, without their messages', async (form) => {
  const warned = { kind: 'SqlLikeQuery', query: 'select sum(properties.note), any(properties.`nöte`) from events' }
  const { warnings } = (await (await post(warned, 'application/json')).json()) as { warnings: { message: string }[] }
  expect(warnings).toMatchObject([
    { code: 'not-numbers', property: 'note', count: 30 },
    { code: 'unknown-property', property: 'nöte' },
  ])
  const { headers } = await post(warned, media[form])
  const header = headers.get('x-warnings')!
  expect(header).toContain('"property":"n\\u00f6te"')
  expect(JSON.parse(header)).toEqual(warnings.map(({ message: _, ...facts }) => facts))
  expect(headers.get('x-warning-count')).toBe('2')
  const exposed = headers.get('access-control-expose-headers')!.toLowerCase().split(', ')
  const ofAnswer = [...headers.keys()].filter((name) => name.startsWith('x-') && !/^x-(frame|content-type)-options$/.test(name))
  expect(
    ofAnswer.filter((name) => !exposed.includes(name)),
    'headers that a page of another site cannot read',
  ).toEqual([])
  expect((await post({ kind: 'SqlLikeQuery', query: 'select 1' }, media[form])).headers.has('x-warnings')).toBe(false)
})

test('a header has as many warnings as it may hold, and the count of all', () => {
  const long = Array.from({ length: 40 }, (_, i) => ({
    code: 'not-numbers' as const,
    property: `${'x'.repeat(300)}${i}`,
    scope: 'event',
    type: 'Numeric' as const,
    count: 1,
    message: '',
  }))
  const headers = warningHeaders(long)
  expect(headers['x-warnings']!.length).toBeLessThan(4100)
  expect((JSON.parse(headers['x-warnings']!) as unknown[]).length).toBe(10)
  expect(headers['x-warning-count']).toBe('40')
})

/** What the engine makes, and when it lets go of a reader's connection. */
const watchEngine = () => {
  let chunks = 0
  const released = deferred<void>()
  const { fetchChunk } = DuckDBResult.prototype
  vi.spyOn(DuckDBResult.prototype, 'fetchChunk').mockImplementation(async function (this: DuckDBResult) {
    const chunk = await fetchChunk.call(this)
    if (chunk && chunk.rowCount > 1000) chunks++
    return chunk
  })
  const { closeSync } = DuckDBConnection.prototype
  vi.spyOn(DuckDBConnection.prototype, 'closeSync').mockImplementation(function (this: DuckDBConnection) {
    closeSync.call(this)
    released.resolve()
  })
  return { made: () => chunks, released: released.promise }
}
/** Others are served meanwhile: as many round trips as a few batches would have taken. */
const roundTrips = async () => {
  const { call, member } = held.home
  for (let i = 0; i < 5; i++)
    expect((await call('POST', path, { as: member, body: { query: { kind: 'SqlLikeQuery', query: 'select 1' } } })).body.results).toEqual([
      [1],
    ])
}

test.each(['csv', 'arrow'] as const)('%s: a client that takes nothing stops the engine, and its leaving ends it', async (form) => {
  const engine = watchEngine()
  const readers = await Promise.all(Array.from({ length: 6 }, (_, i) => slowClient(wide, media[form], `slow ${i}`)))
  for (const { head } of readers) expect(head).toContain('200 OK')
  await roundTrips()
  expect(engine.made(), 'at most three of five batches of 8 MB for each reader').toBeLessThanOrEqual(18)
  for (const { socket } of readers) socket.destroy()
  await engine.released
  await roundTrips()
  expect(engine.made()).toBeLessThanOrEqual(18)
})

test('it goes on when the client does, and can be cancelled by its id', async () => {
  const engine = watchEngine()
  const { socket } = await slowClient(wide, media.csv, 'mine')
  const made = engine.made()
  const ended = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  let bytes = 0
  let isCancelled = false
  const more = deferred<void>()
  socket.on('data', (data) => {
    bytes += data.length
    if (engine.made() <= made || bytes < 12_000_000 || isCancelled) return
    socket.pause()
    more.resolve()
  })
  socket.resume()
  await more.promise
  isCancelled = true
  expect((await held.home.call('DELETE', `${path}mine/`, { as: held.home.member })).status).toBe(204)
  socket.resume()
  await Promise.all([ended, engine.released])
  expect(bytes).toBeLessThan(40_000_000)
})

test.each(['csv', 'arrow'] as const)('%s: what goes wrong after the first byte ends the connection, not the answer', async (form) => {
  const { fetchChunk } = DuckDBResult.prototype
  let chunks = 0
  vi.spyOn(DuckDBResult.prototype, 'fetchChunk').mockImplementation(async function (this: DuckDBResult) {
    const chunk = await fetchChunk.call(this)
    if (chunk && chunk.rowCount > 1000 && ++chunks === 5) throw new Error('Out of Memory Error: no')
    return chunk
  })
  const { socket, head } = await slowClient(wide, media[form], 'late')
  expect(head).toContain('200 OK')
  let tail = ''
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  socket.on('data', (data) => {
    tail = (tail + data.toString('latin1')).slice(-1000)
  })
  socket.resume()
  await closed
  expect(tail, 'no end of the chunks').not.toMatch(/\r\n0\r\n\r\n$/)
  expect(tail, 'no words behind the rows').not.toMatch(/Error|Memory/)
})

const endless = async function* () {
  for (;;) yield new Uint8Array(10)
}
test('a client that takes nothing for too long is given up', async () => {
  vi.useFakeTimers()
  const [stop, ended, breakOff] = [vi.fn(), vi.fn(), vi.fn(() => true)]
  const reader = pacedBody(endless(), { stop, ended, breakOff, patience: 1000 }).getReader()
  for (let i = 0; i < 3; i++) {
    await vi.advanceTimersByTimeAsync(900)
    await reader.read()
  }
  expect(breakOff).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(1100)
  expect([stop, ended, breakOff].map((hook) => hook.mock.calls.length)).toEqual([1, 1, 1])
  await reader.cancel()
  expect(ended, 'once').toHaveBeenCalledTimes(1)
})

test('where nobody can cut the connection the stream itself fails', async () => {
  const broken = async function* () {
    yield new Uint8Array(1)
    throw new Error('broken')
  }
  const body = pacedBody(broken(), { stop: () => {}, ended: () => {}, breakOff: () => false })
  await expect(new Response(body).arrayBuffer()).rejects.toThrow('broken')
})
