import { createRequire } from 'node:module'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { createHandler } from '../../src/doors/http/server/create-handler.ts'
import { toNodeHandler } from '../../src/doors/http/server/node-handler.ts'
import { createClient } from '../../src/doors/library/client.ts'
import { type LocalWaymark, open } from '../../src/engine.ts'

// A recipe of a page of the documents, run as it stands there.

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

export interface Recipe {
  readonly url: string
  readonly waymark: LocalWaymark
  close(): Promise<void>
}

/** Runs the recipe with this name in memory on a free port; answers what it made. */
export async function startRecipe(page: string, name: string): Promise<Recipe> {
  const recipe = new RegExp(`\`\`\`js\\n// ${name}\\n([\\s\\S]*?)\`\`\``).exec(page)![1]!
  const port = await freePort()
  let waymark: LocalWaymark | undefined
  const ours: Record<string, unknown> = {
    open: async () => {
      waymark = await open({ dataDir: ':memory:' })
      return waymark
    },
    createClient,
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
    url: `http://127.0.0.1:${port}`,
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
