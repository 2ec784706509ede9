import { existsSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createHandler } from '../../../src/doors/http/server/create-handler.ts'
import { toNodeHandler } from '../../../src/doors/http/server/node-handler.ts'
import { type LocalWaymark, open } from '../../../src/engine.ts'

// Mounted at a path of an application: without the slash, behind body parsers, and with links that lead back.

let waymark: LocalWaymark
let key: string
let personal: string
let id: number
beforeAll(async () => {
  waymark = await open({ dataDir: ':memory:' })
  const project = await waymark.createProject({ name: 'Shop' })
  await waymark.createProject({ name: 'Another' })
  ;[key, id] = [project.token, project.id]
  personal = (await waymark.createPersonalKey({ label: 'x', scopes: ['*'] })).key
})
afterAll(() => waymark.close())

const servers: ReturnType<typeof createServer>[] = []
afterAll(() => {
  for (const server of servers) server.closeAllConnections()
  for (const server of servers) server.close()
})
const serve = async (listener: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> => {
  const server = createServer(listener)
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
const browser = { accept: 'text/html' }

describe.each<[string, () => Promise<string>]>([
  ['toNodeHandler', () => serve(toNodeHandler(waymark, { at: '/a/analytics/' }))],
  [
    'createHandler',
    async () => {
      const handler = createHandler(waymark, { at: '/a/analytics' })
      return serve(async (request, response) => {
        const answer = await handler(
          new Request(`http://${request.headers.host}${request.url}`, {
            method: request.method!,
            headers: request.headers as Record<string, string>,
          }),
        )
        response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(Buffer.from(await answer.arrayBuffer()))
      })
    },
  ],
])('%s', (_, start) => {
  let url: string
  beforeAll(async () => {
    url = await start()
  })

  test.each<[string, string]>([
    ['/a/analytics', '/a/analytics/'],
    ['/a/analytics?a=1?2&b', '/a/analytics/?a=1?2&b'],
  ])('%s leads to %s', async (path, target) => {
    const first = await fetch(url + path, { redirect: 'manual', headers: browser })
    expect(first.status).toBe(302)
    expect(new URL(first.headers.get('location')!, url + path).href).toBe(url + target)
    const page = await fetch(url + path, { headers: browser })
    expect([page.status, page.url]).toEqual([200, url + target])
    expect(await page.text()).toContain('Waymark')
  })

  test('other paths are not below it, and links lead back', async () => {
    expect((await fetch(`${url}/a/analytics/_livez`)).status).toBe(200)
    expect((await fetch(`${url}/a/analyticsx/_livez`)).status).toBe(404)
    const headers = { authorization: `Bearer ${personal}`, 'content-type': 'application/json' }
    const page = (await (await fetch(`${url}/a/analytics/api/projects/?limit=1`, { headers })).json()) as { next: string | null }
    expect(page.next).toContain(`${url}/a/analytics/api/`)
    expect((await fetch(page.next!, { headers })).status).toBe(200)
  })

  test('the library of browsers is there too', async () => {
    expect((await fetch(`${url}/a/analytics/array/${key}/array.js`)).status).toBe(200)
    expect((await fetch(`${url}/a/analytics/static/waymark.js`)).status).toBe(200)
  })
})

const express = join(import.meta.dirname, '../../recipes/node_modules/express')
describe.skipIf(!existsSync(express))('after body parsers of Express', () => {
  type App = ((request: IncomingMessage, response: ServerResponse) => void) & { use(...given: unknown[]): void }
  type Express = (() => App) & Record<'json' | 'urlencoded' | 'raw' | 'text', (options?: object) => unknown>
  let make: Express
  beforeAll(async () => {
    const { resolve } = createRequire(join(import.meta.dirname, '../../recipes/package.json'))
    make = ((await import(pathToFileURL(resolve('express')).href)) as { default: Express }).default
  })
  const withParsers = async (...parsers: unknown[]) => {
    const app = make()
    for (const parser of parsers) app.use(parser)
    app.use('/analytics', toNodeHandler(waymark))
    return serve(app)
  }
  const event = (name: string) =>
    JSON.stringify({ api_key: key, batch: [{ event: name, distinct_id: 'ü+1', properties: { n: 1.5, text: 'a&b=ü' } }] })
  const stored = async (name: string) => {
    const project = await waymark.project(id)
    const { results } = await project.query(
      { kind: 'SqlLikeQuery', query: `select distinct_id, properties.n, properties.text from events where event = '${name}'` } as const,
      { refresh: 'force_blocking' },
    )
    return results
  }
  const json = { 'content-type': 'application/json' }

  const usual = () => [make.json(), make.urlencoded({ extended: true })]
  test.each<[string, () => unknown[], () => RequestInit, string]>([
    ['JSON', usual, () => ({ headers: json, body: event('parsed 0') }), 'parsed 0'],
    [
      'JSON in gzip',
      usual,
      () => ({ headers: { ...json, 'content-encoding': 'gzip' }, body: new Uint8Array(gzipSync(event('parsed 1'))) }),
      'parsed 1',
    ],
    ['a form', usual, () => ({ body: new URLSearchParams({ data: event('parsed 2') }) }), 'parsed 2'],
    [
      'what the parsers leave alone',
      usual,
      () => ({ headers: { 'content-type': 'text/plain' }, body: new Uint8Array(gzipSync(event('parsed 3'))) }),
      'parsed 3',
    ],
    ['bytes', () => [make.raw({ type: '*/*' })], () => ({ headers: json, body: event('parsed 4') }), 'parsed 4'],
    ['text', () => [make.text({ type: '*/*' })], () => ({ headers: json, body: event('parsed 5') }), 'parsed 5'],
  ])('%s is taken', async (_, parsers, init, name) => {
    const url = await withParsers(...parsers())
    const answer = await fetch(`${url}/analytics/batch/`, { method: 'POST', ...init() })
    expect([answer.status, await answer.json()]).toEqual([200, { status: 1 }])
    expect(await stored(name)).toEqual([['ü+1', '1.5', 'a&b=ü']])
  })

  test('a query is answered', async () => {
    const url = await withParsers(...usual())
    const answer = await fetch(`${url}/analytics/api/projects/${id}/query/`, {
      method: 'POST',
      headers: { ...json, authorization: `Bearer ${personal}` },
      body: JSON.stringify({ query: { kind: 'SqlLikeQuery', query: 'select 1' } }),
    })
    expect([answer.status, ((await answer.json()) as { results: unknown }).results]).toEqual([200, [[1]]])
  })

  test.each<[string, RequestInit, ((request: IncomingMessage) => void) | null]>([
    [
      'JSON that was parsed as a form',
      { headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: '{"api_key":"x","a":"b=c&d"}' },
      null,
    ],
    ['files', { headers: { 'content-type': 'multipart/form-data; boundary=x' }, body: '--x--' }, (request) => void request.resume()],
    ['a stream that somebody has read', { headers: json, body: '{}' }, (request) => void request.resume()],
  ])('%s: the error says what to do', async (_, init, read) => {
    const url = await withParsers(
      ...(read
        ? [
            (request: IncomingMessage, _: unknown, next: () => void) => {
              request.once('end', next)
              read(request)
            },
          ]
        : usual()),
    )
    const answer = await fetch(`${url}/analytics/batch/`, { method: 'POST', ...init })
    expect([answer.status, await answer.json()]).toMatchObject([
      500,
      { code: 'body_already_read', detail: expect.stringContaining('Mount the handler before body parsers such as `express.json()`') },
    ])
  })

  test.each<[string, string]>([
    ['/analytics', '/analytics'],
    ['/a/analytics', '/a/analytics'],
    ['/shops/:shop/analytics', '/shops/7/analytics'],
    ['/', ''],
  ])('links of pages lead to %s, where Express has mounted the handler', async (path, at) => {
    const app = make()
    app.use(path, toNodeHandler(waymark))
    const url = await serve(app)
    const headers = { authorization: `Bearer ${personal}` }
    const page = (await (await fetch(`${url}${at}/api/projects/?limit=1`, { headers })).json()) as { next: string }
    expect(page.next).toBe(`${url}${at}/api/projects/?limit=1&offset=1`)
    expect((await fetch(page.next, { headers })).status).toBe(200)
  })

  test('no header says where the handler is mounted, and no path leads to another host', async () => {
    const app = make()
    app.use(/^\/+[a-z.]*\/?analytics/, toNodeHandler(waymark))
    const url = await serve(app)
    const next = async (path: string, more: Record<string, string> = {}) => {
      const headers = { authorization: `Bearer ${personal}`, ...more }
      return ((await (await fetch(`${url}${path}`, { headers })).json()) as { next: string }).next
    }
    const paths = { 'x-forwarded-prefix': '/evil', 'x-original-url': '/evil/analytics', baseurl: '/evil', forwarded: 'path=/evil' }
    expect(await next('/analytics/api/projects/?limit=1', paths)).toBe(`${url}/analytics/api/projects/?limit=1&offset=1`)
    // The host is unknown, so links are paths.
    const elsewhere = await next('//evil.test/analytics/api/projects/?limit=1', { host: 'analytics.example.com' })
    expect(elsewhere).toMatch(/^(http:\/\/127[^/]*)?\/[^/]/)
  })

  test('Express says where the handler is mounted', async () => {
    const url = await withParsers()
    const page = await fetch(`${url}/analytics`, { headers: browser })
    expect([page.status, page.url]).toEqual([200, `${url}/analytics/`])
  })
})

test('a web-standard request whose body was read: the error says what to do', async () => {
  const handler = createHandler(waymark)
  const request = new Request('http://localhost/batch/', { method: 'POST', body: '{}' })
  await request.text()
  const answer = await handler(request)
  expect([answer.status, await answer.json()]).toMatchObject([500, { code: 'body_already_read' }])
})
