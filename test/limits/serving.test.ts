import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { expect, test } from 'vitest'
import { asOne, createThrottle, defaultRateLimits } from '../../src/doors/http/access/rate-limits.ts'
import { countsInMemory } from '../../src/doors/http/access/request-counts.ts'
import { createMetrics } from '../../src/doors/http/server/metrics.ts'
import { startServer } from '../../src/doors/http/server/node-server.ts'
import { otherLimits } from '../../src/limits/limits.ts'
import { createMemoryStorage } from '../../src/service/plugins/memory-storage.ts'
import { refused, withHome } from '../doors/http/conversation.ts'

const held = withHome()

test('connections beyond the limit are closed at once, and others go on', async () => {
  const server = await startServer(async () => new Response('ok'), { host: '127.0.0.1', port: 0, connections: 3 })
  const port = Number(new URL(server.url).port)
  const sockets: Socket[] = []
  for (let i = 0; i < 3; i++) {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => undefined)
    sockets.push(socket)
    await once(socket, 'connect')
    socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
    await once(socket, 'data')
  }
  const further = connect(port, '127.0.0.1')
  further.on('error', () => undefined)
  await once(further, 'close')
  sockets[0]!.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
  expect(String((await once(sockets[0]!, 'data'))[0])).toContain('200 OK')
  for (const socket of sockets) socket.destroy()
  await server.drain(100)
})

test('metrics have a largest number of series, and count the others together', () => {
  const metrics = createMetrics()
  const most = otherLimits.metricSeries.number
  for (let i = 0; i < most + 500; i++) {
    metrics.begin()
    metrics.end('GET', `/route/${i}`, 200, 0.1)
  }
  const lines = metrics.text([]).split('\n')
  expect(lines.filter((line) => line.startsWith('waymark_http_requests_total{'))).toHaveLength(most + 1)
  expect(lines).toContain('waymark_http_requests_total{method="other",route="other",status="other"} 500')
})

test('somebody who is signed in has a limit of requests, whatever the browser', async () => {
  const [limit] = defaultRateLimits.session!
  const throttle = createThrottle(
    () => ({ api: [], query: [], draft: [] }),
    () => new Date('2024-05-01T00:00:00Z'),
    countsInMemory(),
  )
  const caller = asOne('1')
  for (let i = 0; i < limit!.count; i++) await throttle(['session'], caller)
  await expect(throttle(['session'], caller)).rejects.toThrow('Request was throttled')
  await throttle(['session'], { ...caller, session: '2' })
})

test('the limit of sessions holds over HTTP', async () => {
  const { world, call, owner, member } = held.home
  const usual = world.limits
  world.limits = { ...usual, session: [{ count: 5, seconds: 60 }] }
  for (let i = 0; i < 5; i++) expect((await call('GET', '/api/users/@me/', { as: owner })).status).toBe(200)
  expect(await call('GET', '/api/users/@me/', { as: owner })).toMatchObject(refused(429, 'throttled'))
  expect((await call('GET', '/api/users/@me/', { as: member })).status).toBe(200)
  world.limits = usual
})

test('storage of a plugin knows what it has', async () => {
  const storage = createMemoryStorage()
  await storage.set('a', 'key', '"value"')
  await storage.set('a', 'key', '1')
  await storage.set('a', 'other', '22')
  await storage.set('b', 'key', '1')
  expect(await storage.size('a')).toEqual({ keys: 2, characters: 11 })
  await storage.set('a', 'other', null)
  await storage.set('a', 'never', null)
  expect(await storage.size('a')).toEqual({ keys: 1, characters: 4 })
})
