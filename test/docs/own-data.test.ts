import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { loadCommand, readValues } from '../../src/doors/cli/command.ts'
import { commands } from '../../src/doors/cli/commands.ts'
import { attachOf } from '../../src/doors/cli/options/attach.ts'
import { type LocalWaymark, open } from '../../src/engine.ts'
import type { LocalProject } from '../../src/project.ts'

// The examples of docs/own-data.md, with the files and the events of the page.

const page = readFileSync(join(import.meta.dirname, '../../docs/own-data.md'), 'utf8')
const [events, trend] = [...page.matchAll(/```json\n([\s\S]*?)```/g)].map(([, json = '']) => JSON.parse(json))
const files = [...page.matchAll(/file as `billing\/(.*?)`|one as `billing\/(.*?)`/g)].map(([, first, other]) => first ?? other!)
const contents = [...page.matchAll(/```csv\n([\s\S]*?)```/g)].map(([, csv = '']) => csv)
const statements = [...page.matchAll(/```sql\n([\s\S]*?)\n-- (.*)\n```/g)].map(
  ([, query = '', rows = '']) => [query, JSON.parse(rows)] as const,
)

let folder: string
let waymark: LocalWaymark
let project: LocalProject
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'waymark-own-data-'))
  for (const [i, name] of files.entries()) await writeFile(join(folder, name), contents[i]!)
  const properties = { 'plans.company': 'company', 'people.email': 'person.email' }
  expect(page).toContain(
    `properties: ${JSON.stringify(properties).replaceAll('"', "'").replace('{', '{ ').replace('}', ' }').replaceAll(':', ': ').replace(',', ', ')}`,
  )
  const attach = { billing: { from: folder, properties } }
  waymark = await open({ dataDir: ':memory:', attach, clock: () => new Date('2026-03-02T00:00:00Z') })
  project = await waymark.createProject({ name: 'Shop' })
  await project.ingest({ batch: events })
})
afterAll(async () => {
  await waymark.close()
  await rm(folder, { recursive: true })
})

test('the page has its examples', () => {
  expect([files, contents.length, statements.length, trend.kind]).toEqual([['plans.csv', 'people.csv'], 2, 3, 'TrendsQuery'])
})

test.each(statements)('%s', async (query, rows) => {
  expect((await project.query({ kind: 'SqlLikeQuery', query })).results).toEqual(rows)
})

test('the trend', async () => {
  const { results } = (await project.query(trend)) as unknown as { results: { count: number }[] }
  expect(results.map(({ count }) => count)).toEqual([1])
})

test('the options of the page mean what it says', async () => {
  const serve = await loadCommand(commands.find(({ name }) => name === 'serve')!)
  const optionsOf = (args: readonly string[], env = {}) => attachOf(readValues(serve, args, env))
  const [, line = ''] = /waymark serve (.*)/.exec(page)!
  expect(optionsOf(line.replaceAll("'", '').split(' '))).toEqual({
    attach: {
      billing: { from: './billing' },
      crm: { from: 'postgres://reader:secret@db.internal/shop' },
      ads: { from: 's3://reports/ads?region=eu-central-1' },
    },
    attachEveryMinutes: 60,
  })
  const properties = ['billing.plans.company=company', 'billing.people.email=person.email'].flatMap((one) => ['--attach-properties', one])
  expect(optionsOf(['--attach', 'billing@1,2=./billing', '--attach-every', '15m', ...properties])).toEqual({
    attach: {
      billing: { from: './billing', projects: [1, 2], properties: { 'plans.company': 'company', 'people.email': 'person.email' } },
    },
    attachEveryMinutes: 15,
  })
  expect(optionsOf([], { WAYMARK_ATTACH: 'a=./a b=./b' })).toMatchObject({ attach: { a: { from: './a' }, b: { from: './b' } } })
  expect(optionsOf([])).toEqual({})
  for (const args of [['billing'], ['billing@x=.'], ['a=.', '--attach', 'a=.'], ['a=.', '--attach-properties', 'b.plans.company=company']])
    expect(() => optionsOf(['--attach', ...args])).toThrow(/--attach/)
  expect(() => optionsOf(['--attach', 'postgres://me:secret@host/db'])).not.toThrow(/secret/)
})
