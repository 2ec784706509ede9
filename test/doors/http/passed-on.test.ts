import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { brotliDecompressSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createHandler, type Handler } from '../../../src/doors/http/server/create-handler.ts'
import { toNodeHandler } from '../../../src/doors/http/server/node-handler.ts'
import { type LocalWaymark, open } from '../../../src/engine.ts'
import { startServe } from '../../clients/served.ts'

// Answers that a framework passes on. Next.js removes three headers of what a route returns, because its own `fetch` may have decoded the body
// (server/send-response.js, 15.5.29): bytes that arrive compressed could not be read.

const removed = new Set(['content-length', 'content-encoding', 'transfer-encoding'])
const ofChromium = { 'accept-encoding': 'gzip, deflate, br, zstd' }

let waymark: LocalWaymark
let key: string
const servers: ReturnType<typeof createServer>[] = []
const listen = async (server: ReturnType<typeof createServer>): Promise<string> => {
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
/** A route of Next.js. */
const route = (handler: Handler) =>
  listen(
    createServer(async ({ url, method, headers }, response) => {
      const answer = await handler(
        new Request(`http://${headers.host}${url}`, { method: method!, headers: headers as Record<string, string> }),
      )
      response.statusCode = answer.status
      answer.headers.forEach((value, name) => void (removed.has(name) || response.appendHeader(name, value)))
      response.end(Buffer.from(await answer.arrayBuffer()))
    }),
  )
beforeAll(async () => {
  waymark = await open({ dataDir: ':memory:' })
  key = (await waymark.createProject({ name: 'Shop' })).token
})
afterAll(async () => {
  for (const server of servers) server.closeAllConnections()
  for (const server of servers) server.close()
  await waymark.close()
})
const paths = ['/static/array.js', '/static/web-vitals.js', '/array/KEY/array.js']

describe.each(['', '/analytics'])('mounted at “%s”', (at) => {
  test.each(paths)('%s can be read where nothing says that it is compressed', async (path) => {
    const url = `${await route(createHandler(waymark, { at }))}${at}${path.replace('KEY', key)}`
    const [plain, asked] = await Promise.all([
      fetch(url, { headers: { 'accept-encoding': 'identity' } }),
      fetch(url, { headers: ofChromium }),
    ])
    expect([asked.status, asked.headers.get('content-encoding'), asked.headers.get('vary')]).toEqual([200, null, 'accept-encoding'])
    expect(Buffer.from(await asked.arrayBuffer()).equals(Buffer.from(await plain.arrayBuffer()))).toBe(true)
  })
})

test('a user is known by the request as it was sent', async () => {
  let seen: string | null = null
  const handler = createHandler(waymark, {
    takesCommands: false,
    authenticate: ({ headers }) => {
      seen = headers.get('accept-encoding')
      return null
    },
  })
  await handler(new Request('http://localhost/api/users/@me/', { headers: ofChromium }))
  expect(seen).toBe(ofChromium['accept-encoding'])
})

test.each<[string, string, () => Promise<Response>]>([
  [
    'createHandler with `sendsCompressed`',
    'br',
    () => createHandler(waymark, { sendsCompressed: true })(new Request('http://localhost/static/array.js', { headers: ofChromium })),
  ],
  [
    'toNodeHandler',
    'br',
    async () => fetch(`${await listen(createServer(toNodeHandler(waymark)))}/static/array.js`, { headers: ofChromium }),
  ],
])('%s sends them as %s', async (_, encoding, ask) => {
  const answer = await ask()
  expect(answer.headers.get('content-encoding')).toBe(encoding)
  const sent = Buffer.from(await answer.arrayBuffer())
  // `fetch` of Node decodes it.
  const text = (answer.url === '' ? brotliDecompressSync(sent) : sent).toString()
  expect(text).toContain('posthog')
})

test('`waymark serve` sends its interface compressed', async () => {
  const served = await startServe()
  try {
    const front = await (await fetch(`${served.url}/`, { headers: { accept: 'text/html' } })).text()
    const files = [...front.matchAll(/"\.\/(assets\/[^"]+\.(?:js|css))"/g)].map(([, path]) => path!)
    expect(files.length).toBeGreaterThan(1)
    for (const path of files) {
      const file = await fetch(`${served.url}/${path}`, { headers: ofChromium })
      expect([path, file.status, file.headers.get('content-encoding')]).toEqual([path, 200, 'br'])
    }
  } finally {
    await served.stop()
  }
})
