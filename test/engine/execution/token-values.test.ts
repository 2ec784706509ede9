import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { EarlyAnswers } from '../../../src/engine/backend/early-answers.ts'
import { open } from '../../../src/engine.ts'
import type { LocalProject } from '../../../src/project.ts'

// Values of new events come from memory where the question allows it: the engine is asked for none of them, however many different ones there are.

const dateRange = { date_from: '2026-03-01', date_to: '2026-03-09' }
const trend = (series: object, more: object = {}) => ({
  kind: 'TrendsQuery',
  series: [{ kind: 'EventsNode', event: 'buy', ...series }],
  dateRange,
  ...more,
})
const where = (key: string, operator: string, value: unknown) => trend({ properties: [{ key, operator, value, type: 'event' }] })

let waymark: Awaited<ReturnType<typeof open>>
let project: LocalProject
let sent = 0
const arrive = async (events: number) => {
  const batch = Array.from({ length: events }, () => ({
    event: 'buy',
    distinct_id: `d${++sent % 20}`,
    timestamp: new Date(Date.UTC(2026, 2, 1 + (sent % 8))).toISOString(),
    properties: { amount: sent * 1.25, url: `https://shop.example/p/${sent}?q=Ä`, text: `Text ${sent}`, $set: { url: 'x' } },
  }))
  await project.ingest({ batch } as never)
}
const ask = async (query: object) => (await project.answer(query as never)) as unknown as { results: unknown }

beforeAll(async () => {
  waymark = await open({ dataDir: ':memory:', clock: () => new Date('2026-03-10T12:00:00Z'), threads: 1 })
  project = await waymark.createProject()
  await arrive(200)
})
afterAll(() => waymark.close())

test.each<[string, object, isEarly: boolean]>([
  ['a sum', trend({ math: 'sum', math_property: 'amount' }), true],
  ['a quantile', trend({ math: 'p95', math_property: 'amount' }), true],
  ['a breakdown of many values', trend({}, { breakdownFilter: { breakdown: 'url', breakdown_type: 'event' } }), true],
  [
    'ranges of a number',
    trend({}, { breakdownFilter: { breakdown: 'amount', breakdown_type: 'event', breakdown_histogram_bin_count: 3 } }),
    true,
  ],
  ['greater than', where('amount', 'gt', 100), true],
  ['one of some texts', where('text', 'exact', ['Text 205', 'Text 3']), true],
  ['a part of a text', where('text', 'icontains', 'EXT 20'), true],
  ['a part of a text with other letters than those of ASCII', where('url', 'icontains', 'p/20'), false],
  ['a pattern', where('text', 'regex', '^Text 2'), false],
])('%s', async (_, query, isEarly) => {
  for (let times = 0; times < 3; times++) await ask(query)
  await arrive(5)
  const found = await ask(query)
  expect(project.lag > 0).toBe(isEarly)
  expect(found.results).toEqual((await ask({ ...query, modifiers: { road: 'sql' } })).results)
})

test('statements that group events do not wait either', async () => {
  const query = {
    kind: 'SqlLikeQuery',
    query: 'select event, count(), sum(properties.amount) from events group by event',
    modifiers: { road: 'core' },
  }
  for (let times = 0; times < 2; times++) {
    await ask(query)
    await arrive(5)
  }
  const early = vi.spyOn(EarlyAnswers.prototype, 'answer')
  const found = await ask(query)
  expect(await early.mock.results[0]?.value).not.toBeNull()
  early.mockRestore()
  expect(found.results).toEqual((await ask({ ...query, modifiers: { road: 'sql' } })).results)
})
