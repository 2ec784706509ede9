import { afterAll, beforeAll, expect, test } from 'vitest'
import { answerQuery } from '../../../src/engine/execution/answer.ts'
import type { FunnelsAnswer } from '../../../src/queries/funnels/index.ts'
import { openTestProject, type TestProject, withoutLists } from '../../harness/duckdb.ts'
import { fillStore } from '../../harness/store.ts'

// A funnel with a comparison, where the generated ones do not look: bins by hand, and points of the previous period.

const second = 1_000_000
const day = 86_400 * second
const start = Date.parse('2024-01-02T00:00:00Z') * 1000
let project: TestProject
beforeAll(async () => {
  project = await openTestProject({ now: new Date('2024-06-01T00:00:00Z') })
  const converting = (person: number, onDay: number, seconds: number) => [
    { event: 'a', person, at: start + onDay * day },
    { event: 'b', person, at: start + onDay * day + seconds * second },
  ]
  const events = [...converting(1, 0, 100), ...converting(2, 1, 0), ...converting(3, 2, 150), ...converting(4, 3, 200)]
  await fillStore(project, { events, isFresh: true })
})
afterAll(() => project.close())

const funnel = (funnelsFilter: object, compareFilter?: object) => ({
  kind: 'FunnelsQuery',
  series: ['a', 'b'].map((event) => ({ kind: 'EventsNode', event })),
  interval: 'day',
  dateRange: { date_from: '2024-01-04', date_to: '2024-01-05' },
  funnelsFilter,
  compareFilter,
})

test('the times of both periods are in the same bins', async () => {
  const compared = funnel({ funnelVizType: 'time_to_convert', binCount: 2 }, { compare: true })
  for (const road of [project, withoutLists(project)]) {
    const { results, compare_results } = (await answerQuery(compared, road)) as FunnelsAnswer
    expect(results).toEqual({ average_conversion_time: 175, median_conversion_time: 175, bins: [[0, 0], [100, 1], [200, 1]] }) // biome-ignore format: pairs
    expect(compare_results).toEqual({ average_conversion_time: 50, median_conversion_time: 50, bins: [[0, 1], [100, 1], [200, 0]] }) // biome-ignore format: pairs
  }
})

test('a comparison that is off changes nothing', async () => {
  const times = { funnelVizType: 'time_to_convert', binCount: 2 }
  for (const filter of [undefined, { compare: false, compare_to: '-1d' }]) {
    const answer = await answerQuery(funnel(times, filter), project)
    expect(answer).toMatchObject({ results: { bins: [[150, 1], [175, 0], [200, 1]] } }) // biome-ignore format: pairs
    expect(Object.keys(answer).filter((name) => name.includes('compare'))).toEqual([])
  }
})

test('without conversions in a period it has no bins', async () => {
  const compared = funnel({ funnelVizType: 'time_to_convert', binCount: 1 }, { compare: true, compare_to: '-1m' })
  const { results, compare_results } = (await answerQuery(compared, project)) as FunnelsAnswer
  expect(results).toMatchObject({ bins: [[150, 1], [200, 1]] }) // biome-ignore format: pairs
  expect(compare_results).toEqual({ average_conversion_time: null, median_conversion_time: null, bins: [] })
})

async function listOf(source: object, point: object): Promise<readonly unknown[]> {
  const query = { kind: 'ActorsQuery', source: { kind: 'FunnelsActorsQuery', source, ...point }, select: ['id'], orderBy: [] }
  return ((await answerQuery(query, project)) as { results: unknown[] }).results
}

test('a day of the current period lists the day at the same place of the previous one', async () => {
  const source = funnel({ funnelVizType: 'trends' }, { compare: true })
  const of = (date: string) => listOf(source, { compare: 'previous', funnelTrendsEntrancePeriodStart: `${date} 00:00:00` })
  const [first, next] = [await of('2024-01-02'), await of('2024-01-03')]
  expect([first.length, next.length]).toEqual([1, 1])
  expect(next).not.toEqual(first)
  expect([await of('2024-01-04'), await of('2024-01-05'), await of('2024-01-06')]).toEqual([first, next, []])
})

test('without a comparison nobody is listed as of the previous period', async () => {
  const refusal = { attr: 'source__compare', detail: expect.stringContaining('compareFilter') as string }
  for (const filter of [undefined, { compare: false }])
    await expect(listOf(funnel({}, filter), { compare: 'previous', funnelStep: 1 })).rejects.toMatchObject(refusal)
})
