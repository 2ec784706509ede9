import { generateKeyPairSync } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net'
import type { Writable } from 'node:stream'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { deferred } from '../../../src/lib/flow/deferred.ts'
import { usualLimits } from '../../../src/service/exports/destinations/destination.ts'
import { type SchedulerWorld, schedulerWorld } from './scheduler-world.ts'

// Destinations that answer without an end: the run fails and says so, and neither memory nor a slot is theirs.

let world: SchedulerWorld
const sockets = new Set<Socket>()
const servers: Server[] = []
beforeEach(async () => {
  world = await schedulerWorld()
  world.now = new Date('2026-03-02T10:30:00Z')
})
afterEach(async () => {
  for (const socket of sockets) socket.destroy()
  for (const server of servers.splice(0)) server.close()
  expect(world.reports).toEqual([])
  await world.close()
})

const portOf = async (server: Server): Promise<number> => {
  servers.push(server)
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

const mebibyte = 1024 ** 2
/** Ends at some time, so that a test ends that fails. */
const most = 64 * mebibyte
const flood = (to: Writable, piece: Buffer = Buffer.alloc(mebibyte, 'A')) => {
  let sent = 0
  const go = (): void => {
    while (!to.destroyed && sent < most) {
      sent += piece.length
      if (!to.write(piece)) return void to.once('drain', go)
    }
    to.end()
  }
  go()
}

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const s3At = (port: number) => ({
  type: 'S3',
  config: {
    bucket_name: 'bucket',
    region: 'eu',
    prefix: 'p',
    aws_access_key_id: 'key',
    aws_secret_access_key: 'secret of the key',
    endpoint_url: `http://127.0.0.1:${port}`,
  },
})
const bigQueryAt = (port: number) => ({
  type: 'BigQuery',
  config: {
    project_id: 'project',
    dataset_id: 'dataset',
    private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    private_key_id: 'id of the key',
    client_email: 'exports@shop',
    token_uri: `http://127.0.0.1:${port}/token`,
  },
})
const postgresAt = (port: number) => ({
  type: 'Postgres',
  config: { user: 'waymark', password: 'any password', host: '127.0.0.1', port, database: 'postgres' },
})

const httpServer = (answer: (request: IncomingMessage, response: ServerResponse) => void) =>
  portOf(
    createServer((request, response) => {
      request.resume()
      answer(request, response)
    }),
  )

const message = (type: string, body: Buffer, length = body.length): Buffer => {
  const head = Buffer.alloc(5)
  head.write(type)
  head.writeInt32BE(4 + length, 1)
  return Buffer.concat([head, body])
}
const tlsRequest = 80_877_103
/** A server without TLS. `greet`: after the first message. */
const postgresServer = (greet: (socket: Socket) => void) =>
  portOf(
    createTcpServer((socket) => {
      let isGreeted = false
      socket.on('data', (bytes) => {
        if (bytes.length === 8 && bytes.readInt32BE(4) === tlsRequest) return void socket.write('N')
        if (!isGreeted) greet(socket)
        isGreeted = true
      })
    }),
  )

const runOf = async (destination: object) => {
  const id = await world.create({ destination })
  world.arrive(3)
  world.now = new Date(world.now.getTime() + 3_600_000)
  await world.drain()
  return (await world.read.batch_export_runs.find({ batch_export_id: id }))[0]!
}

describe('an answer without an end', () => {
  test.each([
    ['an object store', s3At, { 'content-type': 'application/xml' }, /^The S3 server at http:\S+ answered with more than 4 MiB\.$/],
    ['a server of tokens', bigQueryAt, {}, /^BigQuery answered with more than 4 MiB\.$/],
  ])('of %s', async (_, at, headers, said) => {
    const port = await httpServer((_, response) => {
      response.writeHead(400, headers)
      flood(response)
    })
    expect(await runOf(at(port))).toMatchObject({ status: 'Starting', latest_error: expect.stringMatching(said) })
  })

  test.each([
    [
      'one message',
      (socket: Socket) => {
        socket.write(message('E', Buffer.alloc(0), 2 ** 31 - 100))
        flood(socket)
      },
    ],
    [
      'rows',
      (socket: Socket) => {
        socket.write(Buffer.concat([message('R', Buffer.alloc(4)), message('Z', Buffer.from('I'))]))
        const column = Buffer.concat([Buffer.from([0, 1]), Buffer.from('name\0'), Buffer.alloc(18)])
        const row = Buffer.concat([Buffer.from([0, 1, 0, 0, 16, 0]), Buffer.alloc(4096, 'A')])
        socket.once('data', () => {
          socket.write(message('T', column))
          flood(socket, message('D', row))
        })
      },
    ],
  ])('of a database: %s', async (_, greet) => {
    const port = await postgresServer(greet)
    expect(await runOf(postgresAt(port))).toMatchObject({
      status: 'Starting',
      latest_error: `PostgreSQL at 127.0.0.1:${port} answered with more than 4 MiB.`,
    })
  })

  test('a few bytes at a time', async () => {
    const port = await httpServer((_, response) => {
      response.writeHead(200, { 'content-type': 'application/xml' })
      const drip = setInterval(() => response.write(' '), 5)
      response.on('close', () => clearInterval(drip))
    })
    world.limits = { ...usualLimits, silentMs: 300 }
    expect(await runOf(s3At(port))).toMatchObject({ status: 'Starting', latest_error: expect.stringContaining('did not answer') })
  })

  test('page after page of a list', async () => {
    let pages = 0
    const port = await httpServer(({ method, url }, response) => {
      const { searchParams } = new URL(url!, 'http://bucket')
      response.setHeader('content-type', 'application/xml')
      if (method === 'GET' && searchParams.has('list-type'))
        response.end(`<ListBucketResult><NextContinuationToken>${++pages}</NextContinuationToken></ListBucketResult>`)
      else if (method === 'POST' && searchParams.has('uploads'))
        response.end('<InitiateMultipartUploadResult><UploadId>1</UploadId></InitiateMultipartUploadResult>')
      else if (method === 'PUT') response.setHeader('etag', '"1"').end()
      else response.end('<Result></Result>')
    })
    expect(await runOf(s3At(port))).toMatchObject({ status: 'Failed', latest_error: expect.stringContaining('more than 100 pages') })
    expect(pages).toBeLessThan(110)
  })
})

test('a process that is closed does not wait for an object store that says nothing', async () => {
  const asked = deferred<void>()
  const port = await httpServer(() => asked.resolve())
  const id = await world.create({ destination: s3At(port) })
  world.arrive(1)
  world.now = new Date(world.now.getTime() + 3_600_000)
  for (let i = 0; i < 4; i++) await world.scheduler.tick()
  await asked.promise
  await world.scheduler.close()
  const [run] = await world.read.batch_export_runs.find({ batch_export_id: id })
  expect(run).toMatchObject({ status: 'Starting', failures: 0, latest_error: null })
})
