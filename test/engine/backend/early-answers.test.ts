import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createHandler } from '../../../src/doors/http/server/create-handler.ts'
import { open } from '../../../src/engine.ts'
import { personUuid } from '../../../src/events/ingestion/decoding/uuid.ts'
import type { LocalProject } from '../../../src/project.ts'
import { assertGenerated } from '../../harness/assert-generated.ts'

// Questions that are asked while events arrive count exactly what was acknowledged before them, whether the store has it or not.

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'waymark-early-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const names = ['visit', 'sign up', 'buy']
const dateRange = { date_from: '2026-03-01', date_to: '2026-03-09' }
const node = (event: string | null, more: object = {}) => ({ kind: 'EventsNode', event, ...more })
const trend = (series: readonly object[], more: object = {}) => ({ kind: 'TrendsQuery', series, dateRange, ...more })
const count = trend([node(null)], { trendsFilter: { display: 'BoldNumber' } })
const isVip = { key: 'vip', value: 'true', type: 'person' }
const isPro = { key: 'plan', value: 'pro', type: 'event' }
const questions: Readonly<Record<string, object>> = {
  count,
  'unique persons': trend([node('visit', { math: 'dau' }), node('new 1', { math: 'dau' })]),
  'weekly actives': trend([node('visit', { math: 'weekly_active' })]),
  'first times': trend([node('buy', { math: 'first_time_for_user' })]),
  funnel: { kind: 'FunnelsQuery', series: names.map((name) => node(name)), dateRange },
  retention: { kind: 'RetentionQuery', dateRange, retentionFilter: { targetEntity: { id: 'visit' }, returningEntity: { id: 'buy' } } },
  stickiness: { kind: 'StickinessQuery', series: [node('visit')], dateRange },
  breakdown: trend([node('visit'), node('buy', { math: 'dau' })], { breakdownFilter: { breakdown: 'plan', breakdown_type: 'event' } }),
  'a condition on events': trend([node('visit', { properties: [isPro] })]),
  numbers: trend([node('buy', { math: 'sum', math_property: 'amount' })]),
  'a condition on persons': trend([node('visit'), node('visit', { math: 'dau', properties: [isVip] })]),
  lifecycle: { kind: 'LifecycleQuery', series: [node('visit')], dateRange },
  'companies of persons': trend([node('visit', { math: 'unique_group', math_group_type_index: 0 })]),
}

const drawnEvent = fc.record({
  name: fc.nat(2),
  id: fc.nat(9),
  isKnown: fc.boolean(),
  hour: fc.nat(9 * 24 - 1),
  plan: fc.constantFrom('free', 'pro', null),
  amount: fc.constantFrom<unknown>(1, 2.5, 40, 40, 'x'),
  vip: fc.constantFrom(true, false, null, null),
})
type Drawn = typeof drawnEvent extends fc.Arbitrary<infer T> ? T : never
type Command =
  | { readonly do: 'arrive'; readonly events: readonly Drawn[]; readonly isPast: boolean }
  | { readonly do: 'identify'; readonly id: number; readonly other: number; readonly isPast: boolean }
  | { readonly do: 'change'; readonly change: 'merge' | 'delete' | 'forget' | 'split'; readonly id: number; readonly other: number }
  | { readonly do: 'name'; readonly name: number }
  | { readonly do: 'ask'; readonly question: string; readonly isCompared: boolean }
  | { readonly do: 'compare' }

const drawnIsPast = fc.integer({ min: 0, max: 19 }).map((n) => n === 0)
/** Those that the lists answer are asked most. */
const drawnQuestion = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...Object.keys(questions).slice(0, 7)) },
  { weight: 1, arbitrary: fc.constantFrom(...Object.keys(questions)) },
)
const drawnCommand: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      do: fc.constant('arrive' as const),
      events: fc.array(drawnEvent, { minLength: 1, maxLength: 4 }),
      isPast: drawnIsPast,
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('identify' as const), id: fc.nat(9), other: fc.nat(9), isPast: drawnIsPast }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('change' as const),
      change: fc.constantFrom('merge', 'delete', 'forget', 'split'),
      id: fc.nat(9),
      other: fc.nat(9),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('name' as const), name: fc.nat(3) }) },
  { weight: 10, arbitrary: fc.record({ do: fc.constant('ask' as const), question: drawnQuestion, isCompared: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('compare' as const) }) },
)

let sent = 0
/** No two events have the same time: whose list comes first in a merge decides about these. */
const eventOf = ({ name, id, isKnown, hour, plan, amount, vip }: Drawn) => ({
  event: names[name]!,
  distinct_id: `${isKnown ? 'known' : 'anonymous'}-${id}`,
  timestamp: new Date(Date.UTC(2026, 2, 1, hour) + ++sent * 10).toISOString(),
  properties: {
    amount,
    ...(plan === null ? {} : { plan, $groups: { company: `of ${plan}` } }),
    ...(vip === null ? {} : { $set: { vip } }),
  },
})

/** `days`: answered from what is kept of whole days. */
const happened = { early: 0, late: 0, days: 0 }

const resultsOf = async (project: LocalProject, query: object) => {
  const { results, explain } = (await project.answer({ ...query, explain: true })) as { results: unknown; explain: { days?: true }[] }
  if (explain.some(({ days }) => days)) happened.days++
  return JSON.parse(JSON.stringify(results)) as unknown
}
const countOf = async (project: LocalProject) => ((await resultsOf(project, count)) as [{ aggregated_value: number }])[0].aggregated_value

/** Every question as it is asked, and then by statements. */
async function compare(project: LocalProject): Promise<void> {
  const answers: unknown[] = []
  for (const query of Object.values(questions)) answers.push(await resultsOf(project, query))
  for (const [i, [name, query]] of Object.entries(questions).entries())
    expect([name, answers[i]]).toEqual([name, await resultsOf(project, { ...query, modifiers: { road: 'sql' } })])
}

async function follow(project: LocalProject, command: Command, state: { events: number | null }): Promise<void> {
  const ingest = async (batch: readonly object[], isPast = false) => {
    await project.ingest({ batch, ...(isPast ? { historical_migration: true } : {}) } as never)
    if (state.events !== null) state.events += batch.length
  }
  switch (command.do) {
    case 'arrive':
      return ingest(command.events.map(eventOf), command.isPast)
    case 'identify':
      return ingest(
        [
          {
            event: '$identify',
            distinct_id: `known-${command.id}`,
            timestamp: new Date(Date.UTC(2026, 2, 9) + ++sent * 10).toISOString(),
            properties: { $anon_distinct_id: `anonymous-${command.other}` },
          },
        ],
        command.isPast,
      )
    case 'name':
      return ingest([
        { event: `new ${command.name}`, distinct_id: 'known-1', timestamp: '2026-03-02T00:00:00Z', properties: { [`p${sent}`]: 1 } },
      ])
    case 'change': {
      const [person, other] = [command.id, command.other].map((n) => personUuid(1, `known-${n}`)) as [string, string]
      if (command.change === 'merge') await project.changePersons([{ change: 'merge', person, sources: [other] }])
      else if (command.change === 'forget') await project.changePersons([{ change: 'delete', person, withEvents: false }])
      else if (command.change === 'split') await project.changePersons([{ change: 'split', person, ids: null }])
      else {
        await project.changePersons([{ change: 'delete', person, withEvents: true }])
        state.events = null
      }
      return
    }
    case 'ask': {
      const before = project.lag
      const query = questions[command.question]!
      const found = await resultsOf(project, query)
      if (before > 0) happened[project.lag > 0 ? 'early' : 'late']++
      // What was acknowledged is counted, before a statement makes the store have it.
      const counted = await countOf(project)
      state.events ??= counted
      expect(counted).toBe(state.events)
      if (command.isCompared) expect(found).toEqual(await resultsOf(project, { ...query, modifiers: { road: 'sql' } }))
      return
    }
    case 'compare':
      await compare(project)
  }
}

test('answers are those of the store after any sequence of events, merges, changes and questions', async () => {
  let runs = 0
  await assertGenerated(
    fc.asyncProperty(fc.array(drawnCommand, { minLength: 20, maxLength: 60 }), async (commands) => {
      const dataDir = join(folder, String(++runs))
      const options = { dataDir, clock: () => new Date('2026-03-10T12:00:00Z'), threads: 1 }
      let waymark = await open(options)
      let project = await waymark.createProject()
      const state = { events: 0 as number | null }
      await project.ingest({ batch: [eventOf({ name: 0, id: 0, isKnown: true, hour: 0, plan: 'pro', amount: 1, vip: true })] } as never)
      state.events = 1
      await compare(project)
      for (const command of commands) await follow(project, command, state)
      await compare(project)
      const counted = await countOf(project)
      await waymark.close()
      waymark = await open(options)
      project = await waymark.project(1)
      expect(await countOf(project)).toBe(counted)
      await compare(project)
      await waymark.close()
    }),
    { numRuns: 8 },
  )
  // Otherwise nothing was shown.
  expect(happened.early).toBeGreaterThan(10)
  expect(happened.days).toBeGreaterThan(100)
})

/** Values of a property as clients write them. */
const written = [
  '"a"',
  '"b"',
  '"\\u0061"',
  '1',
  '1.0',
  '1e0',
  '"1"',
  'true',
  '"true"',
  'null',
  '""',
  '[1]',
  '{"plan":"a"}',
  '"plan"',
  '"a\\/b"',
  '12345678901234567890',
  '0.1',
  '-0',
  '0',
  '-2.5',
  '7',
  '123456.123456',
  '0.1234567',
  '0.30000000000000004',
  '"null"',
  '"NULL"',
  '"B"',
  '"Äa"',
  '" a "',
  '"a%_b"',
  '"/a/"',
  '"2026-03-01"',
  '"x".repeat',
].map((value) => (value === '"x".repeat' ? `"${'xa'.repeat(600)}"` : value))
/** Those that need no engine. */
const plain = ['"a"', '"b"', '1', '7', '0.1', '-2.5', '"B"', '"/a/"', '"a c"']
const drawnProperties = fc.oneof(
  { weight: 20, arbitrary: fc.constantFrom(...plain).map((value) => `"plan":${value}`) },
  { weight: 3, arbitrary: fc.constantFrom(...written).map((value) => `"plan":${value}`) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '"plan":"a","plan":"b"',
      '"pl\\u0061n":"b"',
      '"other":"plan"',
      '"other":{"plan":"b"}',
      '"plan" : 1 ,"x":2',
      '',
    ),
  },
)

/** Sums of the lists and of statements may differ in the last digits. */
const rounded = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (_, one) => (typeof one === 'number' ? Number(one.toPrecision(12)) : one)))

test('values of properties that were computed before, or that are plain, are taken from memory', async () => {
  const happenings = { early: 0, late: 0 }
  const asked = [
    trend([node('visit')], { breakdownFilter: { breakdown: 'plan', breakdown_type: 'event' } }),
    trend([node('visit', { properties: [isPro, { key: 'plan', operator: 'is_not', value: ['b', '1'], type: 'event' }] })]),
    trend([node('visit', { math: 'sum', math_property: 'plan' })]),
    trend([node('visit', { math: 'max', math_property: 'plan' })]),
    trend([node(null)], { breakdownFilter: { breakdown_type: 'hogql', breakdown: "concat(event, '/', properties.plan)" } }),
    trend([node('visit')], { breakdownFilter: { breakdown: 'plan', breakdown_type: 'event', breakdown_normalize_url: true } }),
    ...[
      ['gt', 0],
      ['lte', 7],
      ['exact', 0.1],
      ['exact', ['a', '7']],
      ['is_not', 'null'],
      ['icontains', 'A'],
      ['not_icontains', 'b'],
      ['icontains', 'ä'],
      ['regex', '^a'],
      ['is_set', 'is_set'],
      ['is_not_set', 'is_not_set'],
    ].map(([operator, value]) => trend([node('visit', { properties: [{ key: 'plan', operator, value, type: 'event' }] })])),
  ]
  await assertGenerated(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.array(drawnProperties, { minLength: 1, maxLength: 3 }), fc.nat(15)), { minLength: 30, maxLength: 50 }),
      async (rounds) => {
        const waymark = await open({ dataDir: ':memory:', clock: () => new Date('2026-03-10T12:00:00Z'), threads: 1 })
        const project = await waymark.createProject()
        const handle = createHandler(waymark)
        const send = async (all: readonly string[]) => {
          const batch = all.map((one) => `{"event":"visit","distinct_id":"d","timestamp":"2026-03-05T00:00:00Z","properties":{${one}}}`)
          const body = `{"api_key":"${project.token}","batch":[${batch.join()}]}`
          const answer = await handle(
            new Request('http://localhost/batch/', { method: 'POST', body, headers: { 'content-type': 'application/json' } }),
          )
          expect(answer.status).toBe(200)
        }
        await send(['"plan":"a"', '"plan":1'])
        for (const query of asked) await resultsOf(project, query)
        for (const [i, [some, which]] of rounds.entries()) {
          await send(some)
          const before = project.lag
          const found = await resultsOf(project, asked[which]!)
          if (before > 0) happenings[project.lag > 0 ? 'early' : 'late']++
          if (i % 10 === 9)
            expect(rounded(found)).toEqual(rounded(await resultsOf(project, { ...asked[which]!, modifiers: { road: 'sql' } })))
        }
        const early: unknown[] = []
        for (const query of asked) early.push(await resultsOf(project, query))
        for (const [i, query] of asked.entries())
          expect(rounded(early[i])).toEqual(rounded(await resultsOf(project, { ...query, modifiers: { road: 'sql' } })))
        await waymark.close()
      },
    ),
    { numRuns: 12 },
  )
  expect(happenings.early, JSON.stringify(happenings)).toBeGreaterThan(40)
})

test('definitions that have changed since the last transaction count at once', async () => {
  const waymark = await open({ dataDir: ':memory:', clock: () => new Date('2026-03-10T12:00:00Z'), threads: 1 })
  const project = await waymark.createProject()
  const arrive = (event: string) => project.ingest({ batch: [{ event, distinct_id: 'a', timestamp: '2026-03-05T00:00:00Z' }] } as never)
  for (const name of names) await arrive(name)
  const { id } = await project.createAction({ name: 'Done', steps: [{ event: 'visit' }] })
  const done = trend([{ kind: 'ActionsNode', id }], { trendsFilter: { display: 'BoldNumber' } })
  const asked = async () => ((await resultsOf(project, done)) as [{ aggregated_value: number }])[0].aggregated_value
  expect(await asked()).toBe(1)
  await arrive('visit')
  expect([await asked(), project.lag]).toEqual([2, 1])
  await arrive('visit')
  expect([await asked(), project.lag]).toEqual([3, 2])
  await project.actions.update(id, { steps: [{ event: 'buy' }] })
  await arrive('buy')
  expect(await asked()).toBe(2)
  await waymark.close()
})
