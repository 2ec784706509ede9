import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { format } from 'node:util'
import { tableFromIPC } from 'apache-arrow'
import { expect, test } from 'vitest'
import { open } from '../../src/engine.ts'
import { createHandler } from '../../src/http/create-handler.ts'

// The examples of docs/arrow.md, one after the other: each prints what its comment says.

type Opened = Awaited<ReturnType<typeof open>>

test('the examples print what their comments say', async () => {
  const page = await readFile(join(import.meta.dirname, '../../docs/arrow.md'), 'utf8')
  const examples = [...page.matchAll(/```(?:ts|js)\n([\s\S]*?)```/g)].map((match) => match[1]!)
  const promised = examples.map((example) => /console\.log\(.*\) \/\/ (.*)/.exec(example)![1]!)
  const body = examples
    .join('\n')
    .replace(/^import .*\n/gm, '')
    .replace('await waymark.close()\n', '')
  const printed: string[] = []
  const given: Record<string, unknown> = {
    open: async () => {
      const waymark = await open({ dataDir: ':memory:' })
      const handler = createHandler(waymark)
      given.waymark = waymark
      given.fetch = (url: string, init: RequestInit) => handler(new Request(url, init))
      return waymark
    },
    ask: (url: string, init: RequestInit) => (given.fetch as (url: string, init: RequestInit) => Promise<Response>)(url, init),
    tableFromIPC,
    console: { log: (...values: unknown[]) => printed.push(format(...values)) },
  }
  const before = `const url = 'http://localhost'; const fetch = ask\n`
  const about = `const { key: personalKey } = await waymark.createPersonalKey({ label: 'docs', scopes: ['query:read'] }); const projectId = project.id\n`
  const last = examples.at(-1)!.replace(/^import .*\n/gm, '')
  const run = new Function(...Object.keys(given), `return (async () => {\n${before}${body.replace(last, about + last)}\n})()`) as (
    ...values: unknown[]
  ) => Promise<void>
  await run(...Object.values(given))
  expect(printed).toEqual(promised)
  await (given.waymark as Opened).close()
})
