import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { open } from '../../../src/engine.ts'

// The files of `core/`, as a user meets them: they change how fast the first answer is, and nothing else. The number of events is above the one from
// which lists are kept, and folded in threads.

const events = 250_000
const batchSize = 2_500
const start = Date.UTC(2026, 2, 1)
let dataDir = ''
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'waymark-kept-lists-'))
})
afterAll(() => rm(dataDir, { recursive: true, force: true }))

const batchOf = (from: number) => ({
  batch: Array.from({ length: batchSize }, (_, k) => {
    const i = from + k
    return {
      event: ['visit', 'sign up', 'buy'][(i * 7) % 3]!,
      distinct_id: `u${(i * 7919) % 9000}`,
      timestamp: new Date(start + ((i * 104_729) % 800_000) * 1000).toISOString(),
      properties: { plan: ['free', 'pro', 'team'][(i * 31) % 3]!, amount: (i * 17) % 1000 },
    }
  }),
})
const dateRange = { date_from: '2026-03-01', date_to: '2026-03-10' }
const series = ['visit', 'sign up', 'buy'].map((event) => ({ kind: 'EventsNode', event }) as const)
const byPlan = { breakdownFilter: { breakdown: 'plan', breakdown_type: 'event' } } as const
const questions = [
  { kind: 'TrendsQuery', series: [{ ...series[0]!, math: 'dau' }], dateRange },
  { kind: 'TrendsQuery', series: [{ ...series[0]!, math: 'p90', math_property: 'amount' }], dateRange, ...byPlan },
  { kind: 'FunnelsQuery', series, dateRange, ...byPlan },
] as const

const answers = async (road: 'core' | 'sql') => {
  const waymark = await open({ dataDir, clock: () => new Date('2026-03-11T00:00:00Z'), threads: 2 })
  try {
    const project = await waymark.project(1)
    const found: unknown[] = []
    for (const query of questions)
      found.push(((await project.query({ ...query, modifiers: { road } } as never)) as { results: unknown }).results)
    return found
  } finally {
    await waymark.close()
  }
}
const file = () => join(dataDir, 'projects', '1', 'core', 'lists')

test('answers do not depend on the files: without, with, with damaged and with older ones', async () => {
  const waymark = await open({ dataDir, clock: () => new Date('2026-03-11T00:00:00Z') })
  const project = await waymark.createProject()
  for (let from = 0; from < events; from += batchSize) await project.ingest(batchOf(from) as never)
  await waymark.close()
  await expect(stat(file())).rejects.toMatchObject({ code: 'ENOENT' })

  const expected = await answers('sql')
  await expect(stat(file())).rejects.toMatchObject({ code: 'ENOENT' }) // SQL makes no lists
  expect(await answers('core')).toEqual(expected)
  const written = await stat(file())
  expect(await answers('core')).toEqual(expected)
  expect((await stat(file())).mtimeMs).toBe(written.mtimeMs) // read, and still true

  const bytes = await readFile(file())
  bytes[bytes.length >> 1]! ^= 1
  await writeFile(file(), bytes)
  expect(await answers('core')).toEqual(expected)
  expect((await stat(file())).mtimeMs).not.toBe(written.mtimeMs) // rebuilt

  const again = await open({ dataDir, clock: () => new Date('2026-03-11T00:00:00Z') })
  await (await again.project(1)).ingest(batchOf(events) as never)
  await again.close()
  expect(await answers('core')).toEqual(await answers('sql'))
})

test('while the lists of a large project are loaded, statements answer; then the lists do, with the same numbers', async () => {
  const options = { dataDir, clock: () => new Date('2026-03-11T00:00:00Z'), threads: 2 } as const
  const filling = await open(options)
  const filled = await filling.project(1)
  for (let from = events; from < 2.2 * events; from += batchSize) await filled.ingest(batchOf(from) as never)
  await filling.close()
  await rm(file(), { force: true })
  const expected = await answers('sql')

  const waymark = await open(options)
  const project = await waymark.project(1)
  interface Explained {
    readonly results: unknown
    readonly explain: readonly { readonly road?: string; readonly reason?: string }[]
  }
  for (const [i, query] of questions.entries()) {
    const roads: (string | undefined)[] = []
    while (roads.at(-1) !== 'core') {
      const { results, explain } = (await project.query({ ...query, explain: true } as never, {
        refresh: 'force_blocking',
      })) as unknown as Explained
      expect(results).toEqual(expected[i])
      const lists = explain.find(({ road }) => road !== undefined)!
      if (lists.road === 'sql') expect(lists.reason).toBe('the lists of events are being loaded')
      roads.push(lists.road)
    }
    expect(roads[0]).toBe('sql') // the first one lacks the lists, each further one a column
  }
  await waymark.close()

  const leaving = await open(options)
  await rm(file(), { force: true })
  await (await leaving.project(1)).query(questions[0] as never)
  await leaving.close() // in the middle of a load
  expect(await answers('core')).toEqual(expected)
})
