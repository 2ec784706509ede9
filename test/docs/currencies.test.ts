import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type LocalWaymark, open } from '../../src/engine.ts'
import type { LocalProject } from '../../src/project.ts'

// The examples of docs/currencies.md, with the rates and the events of the page.

const page = readFileSync(join(import.meta.dirname, '../../docs/currencies.md'), 'utf8')
const [rates, events, trend] = [...page.matchAll(/```json\n([\s\S]*?)```/g)].map(([, json = '']) => JSON.parse(json))
const statements = [...page.matchAll(/```sql\n([\s\S]*?)\n-- (.*)\n```/g)].map(
  ([, query = '', rows = '']) => [query, JSON.parse(rows)] as const,
)

let waymark: LocalWaymark
let project: LocalProject
beforeAll(async () => {
  waymark = await open({ dataDir: ':memory:', currencyRates: rates, clock: () => new Date('2026-03-01T00:00:00Z') })
  project = await waymark.createProject({ name: 'Shop' })
  await project.ingest({ batch: events })
})
afterAll(() => waymark.close())

test('the page has its examples', () => {
  expect([statements.length, trend.kind]).toEqual([3, 'TrendsQuery'])
})

test.each(statements)('%s', async (query, rows) => {
  expect((await project.query({ kind: 'SqlLikeQuery', query })).results).toEqual(rows)
})

test('the trend', async () => {
  const { results } = (await project.query(trend)) as unknown as { results: { data: number[] }[] }
  expect(results[0]!.data.map((one) => Math.round(one * 1e6) / 1e6)).toEqual([10, 110])
})
