import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import nodeModule from 'node:module'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { createHandler, type HostUser, open, toNodeHandler } from '../../src/index.ts'

// An application of each framework, with Waymark at /analytics and users of its own: the cookie `user` says who is signed in.   mounted-app FRAMEWORK ROOT

const [framework, root] = process.argv.slice(2) as [string, string]
const load = async (name: string) => {
  const from = nodeModule.createRequire(join(root, name.startsWith('@hono/') ? 'package.json' : 'test/recipes/package.json'))
  return (await import(pathToFileURL(from.resolve(name)).href)) as Record<string, never>
}

const waymark = await open({ dataDir: ':memory:' })
const project = await waymark.createProject({ name: 'Shop' })
const { id: organization } = await waymark.defaultOrganization()
const userOf = (cookie: string | null | undefined): HostUser | null => {
  const name = /(?:^|; )user=(\w+)/.exec(cookie ?? '')?.[1]
  return name === undefined ? null : { issuer: 'shop', subject: name, name, email: `${name}@example.com`, organization, level: 'admin' }
}
type Listener = (request: IncomingMessage, response: ServerResponse) => void
const listen = async (listener: Listener): Promise<string> => {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
const ofNode = (at?: string) => toNodeHandler(waymark, { at, authenticate: ({ headers }) => userOf(headers.cookie) })

const starts: Readonly<Record<string, () => Promise<string>>> = {
  async express() {
    const express = (
      (await load('express')) as unknown as {
        default: (() => Listener & { use(...given: unknown[]): void }) & Record<'json' | 'urlencoded', (given?: object) => unknown>
      }
    ).default
    const app = express()
    app.use(express.json({ limit: '10mb' }), express.urlencoded({ extended: true }))
    app.use('/analytics', ofNode())
    return listen(app)
  },
  async fastify() {
    interface Scope {
      removeAllContentTypeParsers(): void
      addContentTypeParser(type: string, parse: (request: unknown, body: unknown, done: (error: null) => void) => void): void
      all(path: string, handle: (request: { raw: IncomingMessage }, reply: { raw: ServerResponse; hijack(): void }) => void): void
    }
    const fastify = (
      (await load('fastify')) as unknown as {
        default: () => { register(plugin: (scope: Scope) => Promise<void>): Promise<void>; listen(at: object): Promise<string> }
      }
    ).default
    const analytics = ofNode('/analytics')
    const app = fastify()
    await app.register(async (scope) => {
      scope.removeAllContentTypeParsers()
      scope.addContentTypeParser('*', (_request, _body, done) => done(null))
      for (const path of ['/analytics', '/analytics/*'])
        scope.all(path, (request, reply) => {
          reply.hijack()
          void analytics(request.raw, reply.raw)
        })
    })
    return app.listen({ port: 0, host: '127.0.0.1' })
  },
  async hono() {
    interface App {
      all(path: string, handle: (c: { req: { raw: Request } }) => Promise<Response>): void
      readonly fetch: (request: Request) => Promise<Response>
    }
    const { Hono } = (await load('hono')) as unknown as { Hono: new () => App }
    const { getRequestListener } = (await load('@hono/node-server')) as unknown as { getRequestListener(fetch: App['fetch']): Listener }
    const analytics = createHandler(waymark, {
      at: '/analytics',
      sendsCompressed: true,
      authenticate: ({ headers }) => userOf(headers.get('cookie')),
    })
    const app = new Hono()
    app.all('/analytics/*', (c) => analytics(c.req.raw))
    return listen(getRequestListener(app.fetch))
  },
}
console.log(JSON.stringify({ url: await starts[framework]!(), token: project.token, project: project.id }))
