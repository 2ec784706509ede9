import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { startRecipe } from './recipe.ts'

// The recipes of docs/embedding.md as they stand there, each with its framework: events come in and queries are answered under the path it is mounted at.

const isInstalled = existsSync(join(import.meta.dirname, 'node_modules'))
if (!isInstalled) console.warn('\n  SKIPPED: the recipes of docs/embedding.md. `npm run setup:recipes` installs their frameworks.\n')

const start = async (name: string) => {
  const page = await readFile(join(import.meta.dirname, '../../docs/embedding.md'), 'utf8')
  const recipe = await startRecipe(page, name)
  return { ...recipe, url: `${recipe.url}/analytics` }
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
