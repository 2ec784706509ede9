import { afterEach, expect, test } from 'vitest'
import { type OpenOptions, open, type Waymark } from '../../src/engine.ts'
import type { EventInput } from '../../src/index.ts'
import type { Project } from '../../src/project.ts'

// The lists of the core, end to end: the next answer includes every acknowledged event, and equals the answer of statements.

const opened: Waymark[] = []
afterEach(async () => {
  for (const waymark of opened.splice(0)) await waymark.close()
})

const projectOf = async (options: Partial<OpenOptions> = {}): Promise<Project> => {
  const waymark = await open({ dataDir: ':memory:', clock: () => new Date('2026-03-10T12:00:00Z'), threads: 2, ...options })
  opened.push(waymark)
  return waymark.createProject()
}

const series = ['visit', 'sign up', 'buy'].map((event) => ({ kind: 'EventsNode', event }) as const)
const dateRange = { date_from: '2026-03-01', date_to: '2026-03-09' }
const questions = {
  ordered: { kind: 'FunnelsQuery', series, dateRange },
  strict: { kind: 'FunnelsQuery', series, dateRange, funnelsFilter: { funnelOrderType: 'strict' } },
  unordered: { kind: 'FunnelsQuery', series, dateRange, funnelsFilter: { funnelOrderType: 'unordered' } },
  'by day': { kind: 'FunnelsQuery', series, dateRange, interval: 'day', funnelsFilter: { funnelVizType: 'trends' } },
  uniques: { kind: 'TrendsQuery', series: [{ ...series[0]!, math: 'dau' }], dateRange },
  'weekly actives': {
    kind: 'TrendsQuery',
    series: [
      { ...series[0]!, math: 'weekly_active' },
      { kind: 'EventsNode', math: 'monthly_active' },
    ],
    dateRange,
  },
} as const

interface Explained {
  readonly results: unknown
  readonly explain: readonly { readonly label: string; readonly road?: string; readonly reason?: string }[]
}
const ask = async (project: Project, query: object) => (await project.query({ ...query, explain: true } as never)) as unknown as Explained
const roads = ({ explain }: Explained) => explain.flatMap(({ road, reason }) => (road ? [reason ? `${road}: ${reason}` : road] : []))

test('the next answer includes every acknowledged event, with merges and late events, and equals that of statements', async () => {
  const [listed, stated] = [await projectOf(), await projectOf({ listMemory: 0 })]
  let drawn = 7
  const draw = (most: number) => {
    drawn = (drawn * 48271) % 2147483647
    return drawn % most
  }
  for (let round = 0; round < 12; round++) {
    const batch: EventInput[] = Array.from({ length: 40 }, (_, i) => ({
      event: ['visit', 'visit', 'sign up', 'buy', 'other'][draw(5)]!,
      distinct_id: `${draw(2) ? 'known' : 'anonymous'}-${draw(12)}`,
      uuid: `00000000-0000-4000-8000-${String(round * 100 + i).padStart(12, '0')}`,
      timestamp: new Date(Date.UTC(2026, 2, 1 + draw(9), draw(24), draw(60))).toISOString(), // in any order
    }))
    if (round % 3 === 2) {
      const [id, anonymous] = [draw(12), draw(12)]
      batch.push({ event: '$identify', distinct_id: `known-${id}`, properties: { $anon_distinct_id: `anonymous-${anonymous}` } })
    }
    for (const project of [listed, stated]) await project.ingest({ batch })
    for (const [name, query] of Object.entries(questions)) {
      const answer = await ask(listed, query)
      const expected = await ask(stated, query)
      expect([round, name, answer.results]).toEqual([round, name, expected.results])
      expect(new Set(roads(answer))).toEqual(new Set(['core']))
      expect(new Set(roads(expected))).toEqual(new Set(['sql: the lists of events do not fit into memory']))
    }
  }
})

test('while events arrive, each answer has what was acknowledged before it and nothing that was not sent', async () => {
  const project = await projectOf()
  let [sent, acknowledged] = [0, 0]
  const send = async () => {
    for (let round = 0; round < 60; round++) {
      const from = sent
      sent += 100
      const batch = Array.from({ length: 100 }, (_, i) => ({
        event: 'visit',
        distinct_id: `u${from + i}`,
        timestamp: new Date(Date.UTC(2026, 2, 1 + ((from + i) % 9))).toISOString(),
      }))
      await project.ingest({ batch })
      acknowledged += 100
    }
  }
  const query = { ...questions.uniques, trendsFilter: { display: 'BoldNumber' } }
  const sending = send()
  const asker = async () => {
    for (let last = -1; last < sent; ) {
      const least = acknowledged
      const answer = await ask(project, query)
      last = (answer.results as [{ aggregated_value: number }])[0].aggregated_value
      expect(roads(answer)).toEqual(['core'])
      expect(last).toBeGreaterThanOrEqual(least)
      expect(last).toBeLessThanOrEqual(sent)
      if (last === 6_000) return
    }
    await asker()
  }
  await Promise.all([sending, asker(), asker()])
})

test.each([
  [
    'a property of a step',
    { ...questions.ordered, series: [{ ...series[0]!, properties: [{ key: 'a', value: 'b', type: 'event' }] }, series[1]!] },
    'sql: a step has a condition on more than the name of its event',
  ],
  [
    'a breakdown',
    { ...questions.ordered, breakdownFilter: { breakdown: 'a', breakdown_type: 'event' } },
    'sql: the lists have no values for a breakdown',
  ],
  [
    'a filter',
    { ...questions.ordered, properties: [{ key: 'a', value: 'b', type: 'event' }] },
    'sql: the lists have no values for the filters',
  ],
  ['groups', { ...questions.ordered, aggregation_group_type_index: 0 }, 'sql: the lists are of persons'],
  ['a count', { ...questions.uniques, series: [series[0]!] }, 'sql: the number is not of persons'],
])('explain says why it is not answered from the lists: %s', async (_, query, reason) => {
  const project = await projectOf()
  await project.ingest({ batch: [{ event: 'visit', distinct_id: 'u', timestamp: '2026-03-02T00:00:00Z' }] })
  expect(roads(await ask(project, query))).toEqual([reason])
})

test('an unknown event name gives a warning when the lists answer, too', async () => {
  const project = await projectOf()
  await project.ingest({ batch: [{ event: 'visit', distinct_id: 'u', timestamp: '2026-03-02T00:00:00Z' }] })
  const answer = await ask(project, { ...questions.uniques, series: [{ kind: 'EventsNode', event: 'vist', math: 'dau' }] })
  expect(roads(answer)).toEqual(['core'])
  expect(answer).toMatchObject({ warnings: [{ code: 'unknown-event', event: 'vist', suggestions: ['visit'] }] })
})

test.each([['-1'], ['many'], [Number.NaN]])('listMemory %s is refused', async (listMemory) => {
  await expect(open({ dataDir: ':memory:', listMemory })).rejects.toMatchObject({ code: 'validation-failed', attr: 'listMemory' })
})
