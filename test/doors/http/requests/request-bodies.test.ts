import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, test } from 'vitest'
import { RequestBodies, type RequestBodyLimits } from '../../../../src/doors/http/requests/request-bodies.ts'
import { createHandler } from '../../../../src/doors/http/server/create-handler.ts'
import { type RunningServer, startServer } from '../../../../src/doors/http/server/node-server.ts'
import { type LocalWaymark, open } from '../../../../src/engine.ts'
import { WaymarkError } from '../../../../src/errors/errors.ts'

// Bodies are counted while they come and while they are worked on; who brings too much or too slowly is told so.

const large = 100_000
const tooLarge = () => new Error('too large')
const posted = (body: string | ReadableStream<Uint8Array>, headers: Record<string, string> = {}) =>
  new Request('http://localhost/', { method: 'POST', body, headers, duplex: 'half' } as RequestInit)
/** A body that goes on when it is told to. */
const flowing = () => {
  let controller!: ReadableStreamDefaultController<Uint8Array>
  const stream = new ReadableStream<Uint8Array>({
    start: (given) => {
      controller = given
    },
  })
  return { stream, send: (bytes: number) => controller.enqueue(new Uint8Array(bytes)), end: () => controller.close() }
}
const statusOf = (reading: Promise<unknown>) =>
  reading.then(
    () => 200,
    (error: unknown) => (error instanceof WaymarkError ? error.status : error),
  )

describe('the budget of bytes', () => {
  test('counts what has come, what is unpacked besides, and is free again after', async () => {
    const intake = new RequestBodies({ bytes: 3 * large })
    const [first, second] = [flowing(), flowing()]
    const reading = intake.read(posted(first.stream), 10 * large, tooLarge)
    first.send(large)
    first.end()
    const body = await reading
    expect([body.bytes.length, intake.held]).toEqual([large, large])
    body.hold(large)
    const other = intake.read(posted(second.stream), 10 * large, tooLarge)
    second.send(large + 1)
    expect(await statusOf(other)).toBe(503)
    expect(intake.held).toBe(2 * large)
    expect(() => body.hold(large + 1)).toThrow('Try again shortly')
    body.release()
    expect(intake.held).toBe(0)
  })

  test('a small body is counted as it is announced', async () => {
    const intake = new RequestBodies({ bytes: 1_000 })
    const held = await intake.read(posted('x'.repeat(800), { 'content-length': '800' }), large, tooLarge)
    expect(await statusOf(intake.read(posted('x'.repeat(300), { 'content-length': '300' }), large, tooLarge))).toBe(503)
    held.release()
    expect(await statusOf(intake.read(posted('x'.repeat(300), { 'content-length': '300' }), large, tooLarge))).toBe(200)
  })

  test('more than the limit of its path is refused on the way', async () => {
    const intake = new RequestBodies()
    const { stream, send } = flowing()
    const reading = intake.read(posted(stream), large, tooLarge)
    send(large)
    send(1)
    expect(await statusOf(reading)).toEqual(new Error('too large'))
    expect(await statusOf(intake.read(posted('x', { 'content-length': `${large + 1}` }), large, tooLarge))).toEqual(new Error('too large'))
    expect(intake.held).toBe(0)
  })
})

describe('slow senders', () => {
  const quick: Partial<RequestBodyLimits> = { measuredMs: 80, bytesPerSecond: 1_000, longestMs: 60_000 }

  test('a body that stops coming is cut off', async () => {
    const { stream, send } = flowing()
    const intake = new RequestBodies(quick)
    const reading = intake.read(posted(stream), large, tooLarge)
    send(5_000)
    expect(await statusOf(reading)).toBe(408)
    expect(intake.held).toBe(0)
  })

  test('a small one that does not come is cut off', async () => {
    const { stream } = flowing()
    expect(await statusOf(new RequestBodies(quick).read(posted(stream, { 'content-length': '100' }), large, tooLarge))).toBe(408)
  })

  test('a body that goes on and on is cut off', async () => {
    const { stream, send } = flowing()
    const reading = new RequestBodies({ ...quick, longestMs: 200 }).read(posted(stream), large, tooLarge)
    const sending = setInterval(() => send(500), 5)
    expect(await statusOf(reading)).toBe(408)
    clearInterval(sending)
  })

  test('a slow one makes room for others before it is cut off', async () => {
    const intake = new RequestBodies({ bytes: 2 * large, patienceMs: 0 })
    const [slow, quicker] = [flowing(), flowing()]
    const waiting = intake.read(posted(slow.stream), 10 * large, tooLarge)
    slow.send(2 * large)
    await new Promise((resolve) => setImmediate(resolve))
    const reading = intake.read(posted(quicker.stream), 10 * large, tooLarge)
    quicker.send(large)
    quicker.end()
    expect((await reading).bytes.length).toBe(large)
    expect(await statusOf(waiting)).toBe(503)
  })
})

describe('over HTTP', () => {
  let waymark: LocalWaymark
  let server: RunningServer
  const start = async (intake: Partial<RequestBodyLimits>) => {
    waymark = await open({ dataDir: ':memory:' })
    server = await startServer(createHandler(waymark, { intake }), { host: '127.0.0.1', port: 0 })
    return (await waymark.accounts.firstStart({})).project.api_token
  }
  afterEach(async () => {
    await server.drain(500)
    await waymark.close()
  })
  const answered = (socket: Socket): Promise<string> =>
    new Promise((resolve) => {
      let text = ''
      socket.on('data', (chunk) => {
        text += chunk
        if (/\r\n\r\n[\s\S]*\}/.test(text)) resolve(text)
      })
      socket.on('error', () => resolve(text))
      socket.on('close', () => resolve(text))
    })
  const begin = async (path: string, length: number, piece: Uint8Array | string) => {
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
    await once(socket, 'connect')
    socket.write(`POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: ${length}\r\n\r\n`)
    socket.write(piece)
    return socket
  }

  test.each(['/batch/', '/e/', '/api/login/', '/flags/'])('a body that stops is answered with 408 on %s', async (path) => {
    await start({ measuredMs: 80, bytesPerSecond: 1_000 })
    for (const length of [500, 500_000]) {
      const socket = await begin(path, length, '{"a":')
      expect(await answered(socket)).toMatch(/^HTTP\/1\.1 408 [\s\S]*"request_timeout"[\s\S]*too slowly/)
      socket.destroy()
    }
  })

  test('where bytes are too many, clients are told to come again, and those who do are taken', async () => {
    const token = await start({ bytes: 1_000_000 })
    const event = { event: 'e', distinct_id: 'd', properties: { text: 'x'.repeat(600_000) } }
    const body = JSON.stringify({ api_key: token, batch: [event] })
    const held = await begin('/batch/', body.length, body.slice(0, 590_000))
    const sent = (text: string | Uint8Array<ArrayBuffer>) => fetch(`${server.url}/batch/`, { method: 'POST', body: text })
    const dropped = body.replace(token, 'phc_of_nobody')
    for (let answer = await sent(dropped); answer.status !== 503; answer = await sent(dropped)) expect(answer.status).toBe(401) // the held body is not counted yet
    const refused = await sent(body)
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
    // What is unpacked counts too.
    expect((await sent(new Uint8Array(gzipSync(body)))).status).toBe(503)
    held.write(body.slice(590_000))
    expect(await answered(held)).toMatch(/^HTTP\/1\.1 200 /)
    held.destroy()
    expect((await sent(body)).status).toBe(200)
    const answer = await (await waymark.project(1)).query({ kind: 'SqlLikeQuery', query: 'select count() from events' })
    expect(answer).toMatchObject({ results: [[2]] })
  })
})
