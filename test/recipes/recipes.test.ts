import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { createHandler } from '../../src/doors/http/server/create-handler.ts'
import { toNodeHandler } from '../../src/doors/http/server/node-handler.ts'
import { type LocalWaymark, open } from '../../src/engine.ts'

// The recipes of docs/embedding.md as they stand there, each with its framework: events come in and queries are answered under the path it is mounted at.

const isInstalled = existsSync(join(import.meta.dirname, 'node_modules'))
if (!isInstalled) console.warn('\n  SKIPPED: the recipes of docs/embedding.md. `npm run setup:recipes` installs their frameworks.\n')

const packages = createRequire(join(import.meta.dirname, 'package.json'))
const load = async (name: string): Promise<Record<string, unknown>> => {
  const own = name.startsWith('@hono/') ? createRequire(import.meta.url) : packages
  return (await import(pathToFileURL(own.resolve(name)).href)) as Record<string, unknown>
}

const freePort = async (): Promise<number> => {
  const server: Server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

const AsyncFunction = (async () => {}).constructor as new (...parts: string[]) => (...given: unknown[]) => Promise<Record<string, unknown>>

/** Runs a recipe in memory on a free port; answers what it made. */
const start = async (name: string) => {
  const page = await readFile(join(import.meta.dirname, '../../docs/embedding.md'), 'utf8')
  const recipe = new RegExp(`\`\`\`js\\n// ${name}\\n([\\s\\S]*?)\`\`\``).exec(page)![1]!
  const port = await freePort()
  let waymark: LocalWaymark | undefined
  const ours: Record<string, unknown> = {
    open: async () => {
      waymark = await open({ dataDir: ':memory:' })
      return waymark
    },
    createHandler,
    toNodeHandler,
  }
  const names = new Map<string, unknown>()
  for (const [, what, from] of recipe.matchAll(/^import (.+) from '(.+)'$/gm)) {
    const module = from === 'waymark' ? ours : await load(from!)
    if (what!.startsWith('{')) for (const one of what!.replace(/[{} ]/g, '').split(',')) names.set(one, module[one])
    else names.set(what!, module.default)
  }
  const body = recipe.replace(/^import .*\n/gm, '').replaceAll('8000', String(port))
  const made = await new AsyncFunction(...names.keys(), `${body}\nreturn { app, server: typeof server === 'undefined' ? null : server }`)(
    ...names.values(),
  )
  const server = made.server as { close(done: () => void): void; closeAllConnections(): void } | null
  return {
    url: `http://127.0.0.1:${port}/analytics`,
    waymark: waymark!,
    close: async () => {
      if (server) {
        server.closeAllConnections()
        await new Promise<void>((resolve) => server.close(resolve))
      } else await (made.app as { close(): Promise<void> }).close()
      await waymark!.close()
    },
  }
}

describe.skipIf(!isInstalled).each(['express', 'fastify', 'hono'])('%s', (name) => {
  test('takes events in each form and answers queries under its path', async () => {
    const { url, waymark, close } = await start(name)
    try {
      const project = await waymark.createProject({ name: 'Shop' })
      const { key } = await waymark.createPersonalKey({ label: 'recipe', scopes: ['query:read'] })
      const event = (n: number) => ({ event: 'signup', distinct_id: `u${n}`, properties: { n } })
      const send = (body: string | Uint8Array<ArrayBuffer> | URLSearchParams, headers: Record<string, string> = {}) =>
        fetch(`${url}/batch/`, { method: 'POST', body, headers })
      const text = (n: number) => JSON.stringify({ api_key: project.token, batch: [event(n)] })
      const answers = [
        await send(text(1), { 'content-type': 'application/json' }),
        await send(new Uint8Array(gzipSync(text(2)))),
        await send(new URLSearchParams({ data: text(3) })),
      ]
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
      const query = { kind: 'SqlLikeQuery', query: "select count() from events where event = 'signup'" }
      const answer = await fetch(`${url}/api/projects/${project.id}/query/`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ query }),
      })
      expect([answer.status, ((await answer.json()) as { results: unknown }).results]).toEqual([200, [[3]]])
      expect((await fetch(`${url}/_livez`)).status).toBe(200)
      const front = await fetch(url, { headers: { accept: 'text/html' } })
      expect([front.status, front.url]).toEqual([200, `${url}/`])
      expect((await fetch(`${url}/array/${project.token}/array.js`)).status).toBe(200)
      expect((await fetch(`${url}/nothing/`)).status).toBe(404)
    } finally {
      await close()
    }
  })
})
