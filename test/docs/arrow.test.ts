import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { format } from 'node:util'
import { tableFromIPC } from 'apache-arrow'
import { expect, test } from 'vitest'
import { createHandler } from '../../src/doors/http/server/create-handler.ts'
import { open } from '../../src/engine.ts'

// The examples of docs/arrow.md, one after the other: each prints what its comment says.

type Opened = Awaited<ReturnType<typeof open>>

const readPage = () => readFile(join(import.meta.dirname, '../../docs/arrow.md'), 'utf8')

test('values have the types of the table', async () => {
  const rows = (await readPage()).split('\n').flatMap((line) => {
    const [, , example, arrow, shown] = line.split('|').map((cell) => cell.trim())
    const code = (cell: string | undefined) => /^`(.*?)`/.exec(cell ?? '')?.[1]
    return code(example) && code(arrow) ? [{ example: code(example)!, arrow: code(arrow)!, shown: shown!.split(' ')[0]! }] : []
  })
  expect(rows.length).toBeGreaterThan(12)
  const waymark = await open({ dataDir: ':memory:' })
  const project = await waymark.createProject()
  const event = { event: 'purchase', distinct_id: 'u1', properties: { price: 20 } }
  await project.ingest({ batch: [event, event] })
  const typed = async ({ example }: { example: string }) => {
    const table = await project.queryArrow({ kind: 'SqlLikeQuery', query: `select ${example} from events` })
    const value: unknown = table.getChildAt(0)!.get(0)
    const arrow = String(table.schema.fields[0]!.type).replace(/[<[{].*/, '')
    return { example, arrow, shown: typeof value === 'object' ? 'object' : typeof value }
  }
  const plain = ['string', 'boolean', 'number', 'bigint']
  expect(await Promise.all(rows.map(typed))).toEqual(rows.map((row) => (plain.includes(row.shown) ? row : { ...row, shown: 'object' })))
  await waymark.close()
})

test('the examples print what their comments say', async () => {
  const page = await readPage()
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

test('the metadata of a field has its type in the language, but for JSON texts and charts', async () => {
  const waymark = await open({ dataDir: ':memory:' })
  const project = await waymark.createProject()
  await project.ingest({ batch: [{ event: 'purchase', distinct_id: 'u1', properties: { price: 20 } }] })
  const typesOf = async (query: Parameters<typeof project.queryArrow>[0]) =>
    (await project.queryArrow(query)).schema.fields.map(({ name, metadata }) => [name, metadata.get('waymark.type') ?? null])
  expect(await typesOf({ kind: 'SqlLikeQuery', query: 'select event, uuid, count() as n from events group by event, uuid' })).toEqual([
    ['event', 'String'],
    ['uuid', 'UUID'],
    ['n', 'UInt64'],
  ])
  expect(await typesOf({ kind: 'EventsQuery', select: ['*', 'event'] })).toEqual([
    ['*', null],
    ['event', 'String'],
  ])
  const chart = await typesOf({ kind: 'TrendsQuery', series: [{ kind: 'EventsNode', event: 'purchase' }] })
  expect(chart.map(([, type]) => type)).toEqual(chart.map(() => null))
  await waymark.close()
})
