import { afterEach, expect, test } from 'vitest'
import { type LocalWaymark, type OpenOptions, open } from '../../../src/engine.ts'
import { personUuid } from '../../../src/events/ingestion/decoding/uuid.ts'
import type { PersonChange } from '../../../src/events/ingestion/work.ts'
import type { EventInput } from '../../../src/index.ts'
import type { LocalProject } from '../../../src/project.ts'
import { detailed, questions, trend, visits } from './list-questions.ts'

// The lists of the core, end to end: the next answer includes every acknowledged event, and equals the answer of statements.

const opened: LocalWaymark[] = []
afterEach(async () => {
  for (const waymark of opened.splice(0)) await waymark.close()
})

const projectOf = async (options: Partial<OpenOptions> = {}): Promise<LocalProject> => {
  const waymark = await open({ dataDir: ':memory:', clock: () => new Date('2026-03-10T12:00:00Z'), threads: 2, ...options })
  opened.push(waymark)
  return waymark.createProject()
}

interface Explained {
  readonly results: unknown
  readonly explain: readonly { readonly label: string; readonly road?: string; readonly reason?: string }[]
}
const ask = async (project: LocalProject, query: object) =>
  (await project.query({ ...query, explain: true } as never)) as unknown as Explained
const roads = ({ explain }: Explained) => explain.flatMap(({ road, reason }) => (road ? [reason ? `${road}: ${reason}` : road] : []))

test('the next answer includes every acknowledged event and change, with merges, splits, deletions and late events, and equals that of statements', async () => {
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
      properties: {
        ...(draw(4) ? { plan: ['free', 'pro', 'team'][draw(3)]! } : {}),
        ...(draw(4) ? { amount: draw(100) / 4 } : {}),
        ...(draw(3) ? { $groups: { company: `company ${draw(5)}` }, $session_id: `session ${draw(20)}` } : {}),
        ...(draw(3) ? {} : { $set: { vip: draw(2) === 1 } }),
      },
    }))
    if (round % 3 === 2) {
      const [id, anonymous] = [draw(12), draw(12)]
      batch.push({ event: '$identify', distinct_id: `known-${id}`, properties: { $anon_distinct_id: `anonymous-${anonymous}` } })
    }
    const [person, other] = [draw(12), draw(12)].map((id) => personUuid(1, `known-${id}`)) as [string, string]
    const changes: PersonChange[] = [
      { change: 'delete', person, withEvents: round !== 5 },
      { change: 'split', person, ids: null },
      { change: 'merge', person, sources: [other] },
    ]
    for (const project of [listed, stated]) {
      await project.ingest({ batch })
      if (round % 4 > 0) expect(await project.changePersons([changes[(round % 4) - 1]!])).toEqual([true])
    }
    for (const [name, query] of Object.entries(round % 4 === 3 ? { ...questions, ...detailed } : questions)) {
      const answer = await ask(listed, query)
      const expected = await ask(stated, query)
      expect([round, name, answer.results]).toEqual([round, name, expected.results])
      expect([name, ...new Set(roads(answer))]).toEqual([name, 'core'])
      expect(new Set(roads(expected))).toEqual(new Set(['sql: the lists of events do not fit into memory']))
    }
  }
})

const conditions = [
  { key: 'plan', operator: 'is_not_set', type: 'event' },
  { key: 'vip', value: 'true', type: 'person' },
]
test.each([
  ['no condition', {}],
  ['a condition on sessions', { properties: [{ key: '$session_duration', value: 0, operator: 'gte', type: 'session' }] }],
  ['a condition on groups', { properties: [{ key: 'size', operator: 'is_not_set', type: 'group', group_type_index: 0 }] }],
  ['a condition on events or persons', { properties: { type: 'OR', values: [{ type: 'OR', values: conditions }] } }],
])('while events arrive, each answer has what was acknowledged before it and nothing that was not sent: %s', async (_, filters) => {
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
        properties: {
          $session_id: `01950000-0000-7000-8000-${String(from + i).padStart(12, '0')}`,
          $groups: { company: `company ${(from + i) % 700}` },
        },
      }))
      await project.ingest({ batch })
      acknowledged += 100
    }
  }
  const query = { ...questions.uniques, ...filters, trendsFilter: { display: 'BoldNumber' } }
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
    'an aggregate that is not folded',
    trend(visits('hogql', { math_hogql: 'argMax(properties.amount, timestamp)' })),
    'sql: the lists do not support this use of argMax',
  ],
  [
    'actors that are an expression',
    { ...questions.ordered, funnelsFilter: { funnelAggregateByHogQL: 'properties.plan' } },
    'sql: the actors are values of an expression',
  ],
  [
    'a time that passes',
    { ...questions.uniques, properties: [{ key: 'rand() < 2', type: 'hogql' }] },
    'sql: a condition or a value is not deterministic',
  ],
  [
    'a comparison of an event with its person',
    { ...questions.uniques, properties: [{ key: 'properties.plan = person.properties.plan', type: 'hogql' }] },
    'sql: a condition or a value combines fields of the event with fields of other tables',
  ],
])('explain says why it is not answered from the lists: %s', async (_, query, reason) => {
  const project = await projectOf()
  await project.ingest({ batch: [{ event: 'visit', distinct_id: 'u', timestamp: '2026-03-02T00:00:00Z' }] })
  expect(roads(await ask(project, query))).toEqual([reason])
})

test('a request may ask for one road', async () => {
  const project = await projectOf()
  await project.ingest({ batch: [{ event: 'visit', distinct_id: 'u', timestamp: '2026-03-02T00:00:00Z' }] })
  const on = (road: string, query: object) => ask(project, { ...query, modifiers: { road } })
  expect(roads(await on('core', questions.uniques))).toEqual(['core'])
  const stated = await on('sql', questions.ordered)
  expect(roads(stated)).toEqual(['sql: the request asks for SQL'])
  expect(stated.results).toEqual((await on('core', questions.ordered)).results)
  await expect(on('core', { ...questions.ordered, funnelsFilter: { funnelAggregateByHogQL: 'properties.plan' } })).rejects.toMatchObject({
    code: 'validation-failed',
    attr: 'modifiers__road',
    message: expect.stringContaining('the actors are values of an expression'),
  })
  await expect(on('both', questions.uniques)).rejects.toMatchObject({ code: 'validation-failed', attr: 'modifiers__road' })
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
