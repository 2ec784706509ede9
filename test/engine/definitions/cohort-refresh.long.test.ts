import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { random } from '../../../bench/random.ts'
import type { LocalBackend } from '../../../src/engine/backend/local-backend.ts'
import { queryContext } from '../../../src/engine/execution/query-context.ts'
import { runStatement } from '../../../src/engine/execution/statements.ts'
import { type LocalWaymark, open } from '../../../src/engine.ts'
import { alias, equals, field, literal, select, table } from '../../../src/language/ast/build.ts'
import type { Query } from '../../../src/language/ast/nodes.ts'
import type { LocalProject } from '../../../src/project.ts'
import { integers } from '../../../src/queries/answers/vectors.ts'
import { type CohortFilters, cohortFiltersSchema, cohortMembers } from '../../../src/queries/filters/cohort-definition.ts'

// Members that are brought up to date are those that a look at everybody finds, whatever happened in between and however often somebody asked.

const dataDir = mkdtempSync(join(tmpdir(), 'waymark-cohorts-'))
let waymark: LocalWaymark | undefined
afterAll(async () => {
  await waymark?.close()
  rmSync(dataDir, { recursive: true, force: true })
})

/** More of them are a longer look: COHORT_STEPS=200 */
const steps = Number(process.env.COHORT_STEPS ?? 16)
const minute = 60_000
const day = 1440 * minute
let now = new Date('2024-03-08T12:00:00Z') // clocks in New York change two days later
const start = () => open({ dataDir, clock: () => now })

const group = (type: string, ...values: object[]) => ({ type, values })
const has = (key: string, value: unknown, operator = 'exact') => ({ type: 'person', key, value, operator })
const did = (value: string, key: string, more: object = {}) => ({ type: 'behavioral', value, key, event_type: 'events', ...more })
const last = (value: number, interval = 'day') => ({ time_value: value, time_interval: interval })
const member = (id: number) => ({ type: 'cohort', key: 'id', value: id })
const page = { type: 'event', key: 'page', value: 'home', operator: 'exact' }

/** Ids are 1, 2, 3 … in this order. */
const conditions: readonly object[] = [
  group('AND', has('plan', 'pro')),
  group('AND', did('performed_event', 'view', last(3))),
  group('OR', did('performed_event_multiple', 'view', { ...last(2), operator: 'gte', operator_value: 2 }), has('age', 30, 'gt')),
  group('AND', did('performed_event_first_time', 'buy', last(1))),
  group('AND', did('performed_event', 'buy', { ...last(12, 'hour'), negation: true }), has('plan', 'set', 'is_set')),
  group('AND', did('performed_event_sequence', 'view', { ...last(5), seq_event: 'buy', seq_time_value: 6, seq_time_interval: 'hour' })),
  group('AND', did('stopped_performing_event', 'view', { ...last(4), seq_time_value: 1, seq_time_interval: 'day' })),
  group('OR', did('restarted_performing_event', 'view', { ...last(3), seq_time_value: 1, seq_time_interval: 'day' }), member(1)),
  group('AND', did('performed_event_regularly', 'view', { ...last(1), total_periods: 4, min_periods: 2, operator_value: 1 })),
  group('NOT', member(2), has('plan', 'free')),
  group('AND', did('performed_event', 'view', { ...last(3), event_filters: [page] }), { ...member(10), negation: true }),
  group('AND', has('joined', '-3d', 'is_date_after')), // the clock moves it in a way that cannot be followed
  group('AND', { type: 'hogql', key: "properties.plan = 'pro'" }),
  group('AND', { ...did('performed_event', 'x', last(2)), key: 1, event_type: 'actions' }),
]

const draw = random(20240308)
const pick = <T>(values: readonly T[]): T => values[Math.floor(draw() * values.length)]!
const people = Array.from({ length: 14 }, (_, i) => `u${i}`)
const properties = () => ({
  ...(draw() < 0.5 && { plan: pick(['pro', 'free', 'set', null]) }),
  ...(draw() < 0.3 && { age: pick([20, 31, '40']) }),
  ...(draw() < 0.2 && { joined: new Date(now.getTime() - draw() * 6 * day).toISOString() }),
})
const happened = () =>
  new Date(now.getTime() - pick([0, 1, 10, 700, 1500, 4320, 5800, -30]) * minute - Math.floor(draw() * 3) * day).toISOString()
const event = () => ({
  event: pick(['view', 'view', 'buy', 'other']),
  distinct_id: pick(people),
  timestamp: happened(),
  properties: {
    page: pick(['home', 'shop', null]),
    ...(draw() < 0.3 && { $set: properties() }),
    ...(draw() < 0.1 && { $unset: ['plan'] }),
  },
})

const pass = async (time: number) => {
  now = new Date(now.getTime() + time)
}
const deeds: Readonly<Record<string, (project: LocalProject) => Promise<unknown>>> = {
  events: (project) => project.ingest({ batch: Array.from({ length: 1 + Math.floor(draw() * 4) }, event) }),
  identify: (project) =>
    project.ingest({
      batch: [
        {
          event: '$identify',
          distinct_id: pick(people),
          timestamp: happened(),
          properties: { $anon_distinct_id: `a${Math.floor(draw() * 9)}` },
        },
      ],
    }),
  anonymous: (project) =>
    project.ingest({
      batch: [
        {
          event: 'view',
          distinct_id: `a${Math.floor(draw() * 9)}`,
          timestamp: happened(),
          properties: { page: 'home', $process_person_profile: draw() < 0.5 },
        },
      ],
    }),
  merge: (project) =>
    project.ingest({
      batch: [{ event: '$merge_dangerously', distinct_id: pick(people), timestamp: happened(), properties: { alias: pick(people) } }],
    }),
  persons: (project) => project.importPersons([{ distinct_ids: [pick(people), `p${Math.floor(draw() * 5)}`], properties: properties() }]),
  past: (project) => project.ingest({ batch: [event()], historical_migration: true }),
  'past merge': (project) =>
    project.ingest({
      batch: [{ event: '$identify', distinct_id: pick(people), timestamp: happened(), properties: { $anon_distinct_id: pick(people) } }],
      historical_migration: true,
    }),
  'a little later': () => pass(pick([1, 7, 60, 400]) * minute),
  later: () => pass(pick([1, 2]) * day),
  action: (project) => project.actions.update(1, { steps: [{ event: pick(['view', 'buy']) }] }),
  definition: (project) => project.cohorts.update(1, { filters: { properties: group('AND', has('plan', pick(['pro', 'free']))) } }),
}
const often = ['events', 'events', 'events', 'anonymous', 'a little later', 'a little later']

/** The project as its own queries see it. */
const queriesOf = (project: LocalProject) => (project as unknown as { backend: { inner: LocalBackend } }).backend.inner.forQueries()

const numbers = async (project: LocalProject, query: Query): Promise<number[]> =>
  [...integers(await runStatement(query, await queriesOf(project)), 'person')].sort((a, b) => a - b)

test('members are those that a look at everybody finds', async () => {
  waymark = await start()
  const id = (await waymark.createProject({ name: 'cohorts', timezone: 'America/New_York' })).id
  let project = await waymark.project(id)
  await project.ingest({ batch: people.map((distinct_id) => ({ event: 'view', distinct_id, timestamp: happened(), $set: properties() })) })
  await project.createAction({ id: 1, name: 'a', steps: [{ event: 'view' }] })
  for (const [i, properties] of conditions.entries()) {
    expect((await project.createCohort({ id: i + 1, name: `c${i + 1}`, filters: { properties } })).id).toBe(i + 1)
  }
  const done = { whole: 0, partial: 0 }
  const count = () => {
    done.whole += project.cohorts.refreshes.whole
    done.partial += project.cohorts.refreshes.partial
  }
  const names = Object.keys(deeds)
  const met = new Set<string>()
  for (let step = 0; step < steps; step++) {
    const deed = step < names.length ? names[step]! : pick([...names, ...often, ...often])
    met.add(deed)
    await deeds[deed]!(project)
    if (step % 12 === 11) {
      count()
      await waymark.close()
      waymark = await start()
      project = await waymark.project(id)
    }
    // Several things may happen before somebody asks.
    if (draw() < 0.3) continue
    expect(await project.cohorts.refresh()).toEqual(new Map())
    const queries = await queriesOf(project)
    const env = queryContext(queries, await queries.facts())
    for (const cohort of await project.cohorts.list()) {
      if (draw() < 0.5) continue
      const filters = cohortFiltersSchema.parse(cohort.filters) as CohortFilters
      const members = select({
        columns: [alias(field('@person_no'), 'person')],
        from: table('cohort_people'),
        where: equals(field('cohort_id'), literal(cohort.id)),
      })
      const found = [...new Set(await numbers(project, members))]
      expect(found, `cohort ${cohort.id} after step ${step}, ${deed}`).toEqual(await numbers(project, cohortMembers(filters, env)))
    }
  }
  count()
  expect([...met].sort()).toEqual([...names].sort())
  expect(done.partial, JSON.stringify(done)).toBeGreaterThan(done.whole)
})
