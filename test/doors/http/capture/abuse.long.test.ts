import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import lzString from 'lz-string'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createHandler } from '../../../../src/doors/http/server/create-handler.ts'
import { type RunningServer, startServer } from '../../../../src/doors/http/server/node-server.ts'
import { type LocalWaymark, open } from '../../../../src/engine.ts'

// Over real HTTP, what no good client does: bodies that are broken, huge or slow, connections that end half way, a full queue, a full disk. Every
// answer has the body of an error, nothing of a refused request is stored, and the server goes on.

let folder: string
let waymark: LocalWaymark
let server: RunningServer
let key: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'waymark-abuse-'))
  waymark = await open({ dataDir: join(folder, 'data') })
  key = (await waymark.accounts.firstStart({})).project.api_token
  server = await startServer(createHandler(waymark), { host: '127.0.0.1', port: 0 })
})
afterAll(async () => {
  await server.drain(1000)
  await waymark.close()
  await rm(folder, { recursive: true, force: true })
})

const event = (fields: object = {}) => ({ event: 'e', distinct_id: 'd', api_key: key, ...fields })
const stored = async (): Promise<number> => {
  const answer = await (await waymark.project(1)).answer({ kind: 'SqlLikeQuery', query: 'select count() from events' })
  return (answer as { results: number[][] }).results[0]![0]!
}
const post = async (path: string, body: string | Uint8Array, headers: Record<string, string> = {}, url = server.url) => {
  const response = await fetch(url + path, { method: 'POST', headers, body: body as string })
  return { status: response.status, headers: response.headers, body: (await response.json()) as Record<string, unknown> }
}
const refused = (status: number, code: string, detail?: string) => ({
  status,
  body: { type: expect.any(String), code, detail: detail ? expect.stringContaining(detail) : expect.any(String), attr: null },
})

describe('a body that cannot be read', () => {
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  const zipped = gzipSync(JSON.stringify(Array.from({ length: 200 }, () => ({ event: 'e', distinct_id: 'd' }))))
  const damaged = Uint8Array.from(zipped)
  damaged.fill(0xff, 30, 60)
  test.each<[string, string | Uint8Array, Record<string, string>, string]>([
    ['gzip that ends half way', zipped.subarray(0, zipped.length >> 1), {}, 'gzip body is corrupt'],
    ['gzip with damage inside', damaged, { 'content-encoding': 'gzip' }, 'gzip body is corrupt'],
    ['no gzip at all where it is said to be', new Uint8Array([1, 2, 3, 4]), { 'content-encoding': 'gzip' }, 'not gzip'],
    ['base64 that is none', 'data=%%%not-base64%%%', form, ''],
    ['base64 of nothing sensible', `data=${Buffer.from('hello').toString('base64')}`, form, ''],
    ['lz64 that is none', 'data=AAAA%3D%3Dgarbage&compression=lz64', form, ''],
    ['lz64 of no JSON', `data=${encodeURIComponent(lzString.compressToBase64('hello'))}&compression=lz64`, form, ''],
    ['bytes that are no UTF-8', new Uint8Array([0xff, 0xfe, 0x80, 0x81]), { 'content-type': 'application/json' }, ''],
    ['a word whose letters are those of base64', 'nonsense', {}, '"nonsense"'],
    ['JSON cut in two', '[{"event":"e","distinct_id":"d"', {}, ''],
    [
      'a multipart body without its end',
      '--b\r\nContent-Disposition: form-data; name="data"',
      { 'content-type': 'multipart/form-data; boundary=b' },
      '',
    ],
  ])('%s', async (_, body, headers, detail) => {
    const before = await stored()
    for (const path of ['/batch/', '/e/']) expect(await post(path, body, headers)).toMatchObject(refused(400, 'invalid_payload', detail))
    expect(await stored()).toBe(before)
  })

  test('a text that is no UTF-8 inside good JSON is stored with marks in its place', async () => {
    const [before, text] = [await stored(), JSON.stringify(event({ distinct_id: 'latin', properties: { name: 'M?' } }))]
    const body = Buffer.from(text)
    body[text.indexOf('M?') + 1] = 0xfc
    expect((await post('/e/', body)).status).toBe(200)
    expect(await stored()).toBe(before + 1)
    const rows = (await (
      await waymark.project(1)
    ).answer({
      kind: 'SqlLikeQuery',
      query: "select properties.name from events where distinct_id = 'latin'",
    })) as { results: unknown[][] }
    expect(rows.results).toEqual([['M\ufffd']])
  })
})

describe('a body that is too large', () => {
  test('is refused by its announced length before it is read, with the limit', async () => {
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
    socket.write(`POST /e/ HTTP/1.1\r\nhost: x\r\ncontent-length: ${3 * 1024 * 1024}\r\n\r\n`)
    expect(await firstAnswer(socket)).toMatch(/^HTTP\/1\.1 413 [\s\S]*exceeds 2097152 bytes/)
    socket.destroy()
  })

  test('is refused when it turns out to be, without an announced length', async () => {
    const piece = new TextEncoder().encode(' '.repeat(256 * 1024))
    const body = new ReadableStream({
      pull: (controller) => controller.enqueue(piece),
    })
    const response = await fetch(`${server.url}/e/`, { method: 'POST', body, duplex: 'half' } as RequestInit).catch(() => null)
    // The client may still be sending when it is answered; what matters is that the server did not wait for the end, of which there is none.
    if (response) expect(response.status).toBe(413)
    expect((await post('/e/', JSON.stringify(event()))).status).toBe(200)
  })

  test('a gzip bomb is not unpacked beyond the limit', async () => {
    const bomb = gzipSync(Buffer.alloc(200 * 1024 * 1024, 0x20))
    const before = process.memoryUsage().arrayBuffers
    const answers = await Promise.all(Array.from({ length: 4 }, () => post('/batch/', bomb)))
    for (const answer of answers) expect(answer).toMatchObject(refused(413, 'request_too_large', '20971520 bytes'))
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(150 * 1024 * 1024)
  })

  test('a list of half a million empty things is refused before it is parsed, a shorter one at its first, and one of events is taken', async () => {
    const empty = (length: number) => JSON.stringify({ api_key: key, batch: Array.from({ length }, () => ({})) })
    expect(await post('/batch/', empty(500_000))).toMatchObject(refused(413, 'request_too_large', 'exceeds 50000 events'))
    expect(await post('/batch/', gzipSync(empty(500_000)))).toMatchObject(refused(413, 'request_too_large', 'exceeds 50000 events'))
    expect(await post('/batch/', empty(50_000))).toMatchObject(refused(400, 'invalid_payload', 'event name'))
    const before = await stored()
    const batch = Array.from({ length: 20_000 }, () => ({ event: 'e', distinct_id: 'd' }))
    expect((await post('/batch/', JSON.stringify({ api_key: key, batch }))).status).toBe(200)
    expect(await stored()).toBe(before + 20_000)
  })

  test('an lz64 bomb is not unpacked beyond the limit', async () => {
    // "x" packed again and again: each code repeats what came before and one character more, so half a megabyte would be gigabytes.
    const bomb = lzBomb(12_000)
    const before = process.memoryUsage().arrayBuffers
    const answers = await Promise.all(Array.from({ length: 4 }, () => post('/batch/?compression=lz64', bomb)))
    for (const answer of answers) expect(answer).toMatchObject(refused(413, 'request_too_large', '20971520 bytes'))
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(150 * 1024 * 1024)
  })

  test('a form of a million fields is refused before it is read', async () => {
    const form = `data=x${'&a=1'.repeat(500_000)}`
    const type = { 'content-type': 'application/x-www-form-urlencoded' }
    expect(await post('/e/', form, type)).toMatchObject(refused(400, 'invalid_payload', 'more than 1000 fields'))
    expect(await post('/api/login/', form, type)).toMatchObject(refused(400, 'parse_error', 'more than 1000 fields'))
    const part = '--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n'
    const multipart = { 'content-type': 'multipart/form-data; boundary=b' }
    expect(await post('/batch/', `${part.repeat(100_000)}--b--\r\n`, multipart)).toMatchObject(
      refused(400, 'invalid_payload', 'more than 1000 fields'),
    )
  })

  test('an event of many megabytes is refused before it is parsed', async () => {
    const dense = `{"event":"e","distinct_id":"d","properties":{"a":[${'[],'.repeat(2_000_000)}[]]}}`
    for (const body of [`{"api_key":"${key}","batch":[${dense}]}`, dense])
      expect(await post('/batch/', body)).toMatchObject(refused(413, 'request_too_large', 'the limit is 4194304'))
  })

  test('JSON of too many values is refused by the other routes too', async () => {
    expect(await post('/api/login/', `{"a":[${'[],'.repeat(600_000)}[]]}`)).toMatchObject(
      refused(400, 'parse_error', 'more than 500000 values'),
    )
  })

  test('lists within lists beyond all measure are refused', async () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
    const body = `{"api_key":"${key}","event":"e","distinct_id":"d","properties":{"a":${deep}}}`
    expect((await post('/e/', body)).status).toBe(400)
  })
})

/** LZString of a text of one letter with so many codes: of n codes come n * n / 2 letters. */
function lzBomb(codes: number): string {
  const bits: number[] = []
  const write = (value: number, width: number) => {
    for (let i = 0; i < width; i++) bits.push((value >> i) & 1)
  }
  write(0, 2)
  write('x'.charCodeAt(0), 8)
  let width = 3
  let untilWider = 4
  for (let next = 4; next < codes; next++) {
    write(next, width) // the entry that is just being made
    if (--untilWider === 0) untilWider = 2 ** width++
  }
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
  let text = ''
  for (let i = 0; i < bits.length; i += 6)
    text += alphabet[Number.parseInt(Array.from({ length: 6 }, (_, j) => bits[i + j] ?? 0).join(''), 2)]
  return text
}

describe('what makes a reader look again and again', () => {
  test('NaN behind two megabytes of escaped quotes', async () => {
    const body = `{"api_key":"${key}","event":"e","distinct_id":"d","properties":{"a":NaN"${'\\"'.repeat(1_000_000)}`
    expect(await post('/capture/', body.slice(0, 2_000_000))).toMatchObject(refused(400, 'invalid_payload'))
  })

  test('NaN among a hundred thousand texts is read', async () => {
    const before = await stored()
    const body = `{"api_key":"${key}","event":"e","distinct_id":"d","properties":{"a":[${'"\\"NaN",NaN,-Infinity,'.repeat(50_000)}1]}}`
    expect((await post('/capture/', body)).status).toBe(200)
    expect(await stored()).toBe(before + 1)
  })

  test.each(['/batch/', '/capture/', '/api/login/', '/'.repeat(15_000)])(
    'blanks and slashes at the end of what is long: %.20s',
    async (path) => {
      const body = `{"a":"${' '.repeat(900_000)}"${' '.repeat(900_000)}x`
      expect((await post(path, body, { authorization: `Bearer ${' '.repeat(10_000)}x y` })).status).toBeGreaterThanOrEqual(400)
    },
  )

  test('a time and an address that are long', async () => {
    const before = await stored()
    const batch = Array.from({ length: 2_000 }, () => ({ event: 'e', distinct_id: 'd', timestamp: 'Z('.repeat(100) }))
    const body = JSON.stringify({ api_key: key, sent_at: 'Z('.repeat(50_000), batch })
    expect((await post('/batch/', body, { 'x-forwarded-for': '1'.repeat(15_000) })).status).toBe(200)
    expect(await stored()).toBe(before + 2_000)
  })

  test('one bad event beside each good one of the per-event protocol', async () => {
    const before = await stored()
    const properties = { text: 'x'.repeat(100) }
    const deep = JSON.parse(`${'['.repeat(300)}${']'.repeat(300)}`) as unknown
    const batch = Array.from({ length: 8_000 }, (_, i) => ({
      event: 'each',
      distinct_id: 'd',
      uuid: uuidOf(1_000_000 + i),
      properties: i % 2 === 0 ? properties : { deep },
    }))
    const answer = await post('/i/v1/analytics/events?summary=1', JSON.stringify({ batch }), { authorization: `Bearer ${key}` })
    const { results, summary } = answer.body as { results: Record<string, { result: string; details?: string }>; summary: object }
    expect([answer.status, Object.keys(results).length, summary]).toEqual([
      200,
      8_000,
      { accepted: 4_000, duplicates: 0, dropped: 4_000, warnings: [] },
    ])
    expect(results[uuidOf(1_000_000)]).toEqual({ result: 'ok' })
    expect(results[uuidOf(1_000_001)]).toEqual({ result: 'drop', details: expect.stringContaining('nested more than 200 levels') })
    expect(await stored()).toBe(before + 4_000)
  })
})

describe('a connection that does not do its part', () => {
  test('a body that comes too slowly is cut off', async () => {
    const before = await stored()
    const hasty = await startServer(createHandler(waymark), { host: '127.0.0.1', port: 0, bodyTimeoutMs: 300 })
    const body = JSON.stringify(event())
    const socket = connect(Number(new URL(hasty.url).port), '127.0.0.1')
    socket.write(`POST /e/ HTTP/1.1\r\nhost: x\r\ncontent-length: ${body.length}\r\n\r\n${body.slice(0, 10)}`)
    expect(await firstAnswer(socket)).toMatch(/^(HTTP\/1\.1 408 |$)/)
    await hasty.drain(100)
    expect(await stored()).toBe(before)
  })

  test('one that ends in the middle of a body leaves nothing behind', async () => {
    const before = await stored()
    const body = JSON.stringify(event())
    for (const end of ['end', 'destroy'] as const) {
      const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
      socket.resume()
      await once(socket, 'connect')
      socket.write(`POST /e/ HTTP/1.1\r\nhost: x\r\ncontent-length: ${body.length}\r\n\r\n${body.slice(0, -5)}`)
      socket[end]()
      await once(socket, 'close')
    }
    expect((await post('/e/', body)).status).toBe(200)
    expect(await stored()).toBe(before + 1)
  })
})

/** Until the server has said all and closed, or said the head and a body. */
const firstAnswer = (socket: Socket): Promise<string> =>
  new Promise((resolve) => {
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk
      if (/\r\n\r\n[\s\S]*\}/.test(text)) resolve(text)
    })
    socket.on('error', () => resolve(text))
    socket.on('close', () => resolve(text))
  })

test('a flood is held back with 503 and Retry-After, and whoever comes again is stored once', async () => {
  const [before, project] = [await stored(), await waymark.project(1)]
  const properties = { text: 'x'.repeat(950_000) }
  // Past events have half of the room that live ones have, so two of these at once are too many.
  const body = (i: number) =>
    JSON.stringify({
      api_key: key,
      historical_migration: true,
      batch: Array.from({ length: 18 }, (_, j) => ({ event: 'flood', distinct_id: 'd', uuid: uuidOf(i * 100 + j), properties })),
    })
  let refusals = 0
  const client = async (i: number) => {
    for (;;) {
      const answer = await post('/batch/', body(i))
      if (answer.status === 200) return
      expect(answer).toMatchObject(refused(503, 'server_error'))
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
      refusals++
      await project.query({ kind: 'SqlLikeQuery', query: 'select 1' }) // answered when what was taken so far is applied
    }
  }
  await Promise.all([0, 1, 2, 3, 4].map(client))
  expect(refusals).toBeGreaterThan(0)
  expect(await stored()).toBe(before + 90)
})
const uuidOf = (i: number) => `0190a000-0000-7000-8000-${i.toString(16).padStart(12, '0')}`

test('a full disk is 503 with Retry-After, as it is for each event of the newer protocol, and a probe says it', async () => {
  const full = await open({ dataDir: join(folder, 'full'), minFreeBytes: Number.MAX_SAFE_INTEGER })
  const token = (await full.accounts.firstStart({})).project.api_token
  const other = await startServer(createHandler(full), { host: '127.0.0.1', port: 0 })
  const one = { event: 'e', distinct_id: 'd', uuid: uuidOf(1) }
  const answer = await post('/batch/', JSON.stringify({ api_key: token, batch: [one] }), {}, other.url)
  expect(answer).toMatchObject(refused(503, 'server_error'))
  expect(answer.headers.get('retry-after')).toBe('1')
  const each = await post('/i/v1/analytics/events', JSON.stringify({ batch: [one] }), { authorization: `Bearer ${token}` }, other.url)
  expect(each).toMatchObject({ status: 200, body: { results: { [one.uuid]: { result: 'retry', details: 'disk-full' } } } })
  expect((await fetch(`${other.url}/_readyz`)).status).toBe(503)
  await other.drain(100)
  await full.close()
})
