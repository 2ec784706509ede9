import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { csvIds } from '../../../src/engine/definitions/csv-ids.ts'
import { open, type Project, type Waymark } from '../../../src/index.ts'

let waymark: Waymark
let project: Project
let ids: readonly string[]
let now: Date

beforeAll(async () => {
  waymark = await open({ dataDir: ':memory:', clock: () => now })
})
afterAll(() => waymark.close())

const person = (name: string, properties: object = {}) => ({ distinct_ids: [name, `${name}-phone`], properties: { name, ...properties } })
const event = (who: string, name: string, timestamp: string, properties: object = {}) => ({
  event: name,
  distinct_id: who,
  timestamp,
  properties,
})

beforeEach(async () => {
  now = new Date('2024-03-31T12:00:00Z')
  project = await waymark.createProject({ name: 'cohorts', timezone: 'UTC' })
  ids = (await project.importPersons([person('ann', { plan: 'pro', age: 30 }), person('bob', { plan: 'free' }), person('cid')])).ids
  await project.ingest({
    batch: [
      event('ann', 'view', '2024-03-30T10:00:00Z', { page: 'home' }),
      event('ann', 'view', '2024-03-29T10:00:00Z'),
      event('ann', 'buy', '2024-03-30T10:30:00Z'),
      event('bob', 'view', '2024-03-10T10:00:00Z'),
      event('bob', 'view', '2024-01-10T10:00:00Z'),
      event('bob', 'buy', '2024-03-12T10:00:00Z'),
      event('cid', 'view', '2024-02-01T10:00:00Z'),
    ],
  })
})

interface Rows {
  readonly results: readonly (readonly unknown[])[]
}
const names = async (cohort: number): Promise<unknown[]> => {
  const answer = (await project.query({
    kind: 'ActorsQuery',
    select: ['properties.name'],
    properties: [{ type: 'cohort', key: 'id', value: cohort }],
    orderBy: ['properties.name'],
  })) as Rows
  return answer.results.map(([name]) => name)
}

const group = (type: string, ...values: object[]) => ({ type, values })
const plan = (value: string) => ({ type: 'person', key: 'plan', value, operator: 'exact' })
const did = (value: string, key: string, more: object = {}) => ({ type: 'behavioral', value, key, event_type: 'events', ...more })
const last = (days: number) => ({ time_value: days, time_interval: 'day' })

describe('a dynamic cohort', () => {
  test.each<[string, object, string[]]>([
    ['a property', group('AND', plan('pro')), ['ann']],
    ['either of two', group('OR', plan('pro'), plan('free')), ['ann', 'bob']],
    ['NOT', group('NOT', plan('pro')), ['bob', 'cid']],
    ['a condition turned round', group('AND', { ...plan('pro'), negation: true }), ['bob', 'cid']],
    [
      'nested',
      group('OR', group('AND', plan('pro'), did('performed_event', 'buy', last(7))), group('NOT', group('OR', plan('pro'), plan('free')))),
      ['ann', 'cid'],
    ],
    ['did it lately', group('AND', did('performed_event', 'view', last(7))), ['ann']],
    ['did it lately, from a text', group('AND', did('performed_event', 'view', { explicit_datetime: '-30d' })), ['ann', 'bob']],
    [
      'did it in more years than there are',
      group('AND', did('performed_event', 'view', { time_value: 1e9, time_interval: 'year' })),
      ['ann', 'bob', 'cid'],
    ],
    [
      'one after the other, within more years than there are',
      group(
        'AND',
        did('performed_event_sequence', 'view', {
          time_value: 3000,
          time_interval: 'year',
          seq_event: 'buy',
          seq_time_value: 1e9,
          seq_time_interval: 'year',
        }),
      ),
      ['ann', 'bob'],
    ],
    [
      'regularly, in more years than there are',
      group(
        'AND',
        did('performed_event_regularly', 'view', {
          time_value: 1e9,
          time_interval: 'year',
          total_periods: 2,
          min_periods: 1,
          operator: 'gte',
          operator_value: 1,
        }),
      ),
      ['ann', 'bob', 'cid'],
    ],
    [
      'has stopped for more years than there are',
      group('AND', did('stopped_performing_event', 'view', { ...last(60), seq_time_value: 1e9, seq_time_interval: 'year' })),
      [],
    ],
    ['did it at all', group('AND', did('performed_event', 'view')), ['ann', 'bob', 'cid']],
    [
      'did it with a property',
      group(
        'AND',
        did('performed_event', 'view', { ...last(7), event_filters: [{ type: 'event', key: 'page', value: 'home', operator: 'exact' }] }),
      ),
      ['ann'],
    ],
    ['did not', group('AND', did('performed_event', 'buy', { ...last(30), negation: true })), ['cid']],
    ['often', group('AND', did('performed_event_multiple', 'view', { ...last(90), operator: 'gte', operator_value: 2 })), ['ann', 'bob']],
    ['exactly once', group('AND', did('performed_event_multiple', 'view', { ...last(30), operator: 'eq', operator_value: 1 })), ['bob']],
    ['for the first time', group('AND', did('performed_event_first_time', 'view', last(7))), ['ann']],
    [
      'regularly',
      group(
        'AND',
        did('performed_event_regularly', 'view', { ...last(1), total_periods: 3, min_periods: 1, operator: 'gte', operator_value: 1 }),
      ),
      ['ann'],
    ],
    [
      'one after the other',
      group(
        'AND',
        did('performed_event_sequence', 'view', { ...last(30), seq_event: 'buy', seq_time_value: 1, seq_time_interval: 'hour' }),
      ),
      ['ann'],
    ],
    [
      'one after the other, more slowly',
      group('AND', did('performed_event_sequence', 'view', { ...last(30), seq_event: 'buy', seq_time_value: 3, seq_time_interval: 'day' })),
      ['ann', 'bob'],
    ],
    [
      'has stopped',
      group('AND', did('stopped_performing_event', 'view', { ...last(60), seq_time_value: 7, seq_time_interval: 'day' })),
      ['bob', 'cid'],
    ],
    [
      'has come back',
      group('AND', did('restarted_performing_event', 'view', { ...last(60), seq_time_value: 30, seq_time_interval: 'day' })),
      ['bob'],
    ],
  ])('%s', async (_, properties, expected) => {
    const { id } = await project.createCohort({ name: 'c', filters: { properties } })
    expect(await names(id)).toEqual(expected)
  })

  test('of an action', async () => {
    const action = await project.createAction({ name: 'Paid', steps: [{ event: 'buy' }] })
    const { id } = await project.createCohort({
      name: 'c',
      filters: { properties: group('AND', { ...did('performed_event', 'x', last(7)), key: action.id, event_type: 'actions' }) },
    })
    expect(await names(id)).toEqual(['ann'])
  })

  test('follows what is acknowledged, the clock, and its own definition', async () => {
    const { id } = await project.createCohort({ name: 'c', filters: { properties: group('AND', did('performed_event', 'buy', last(7))) } })
    expect(await names(id)).toEqual(['ann'])
    await project.ingest({ batch: [event('cid', 'buy', '2024-03-31T11:00:00Z')] })
    expect(await names(id)).toEqual(['ann', 'cid'])
    now = new Date('2024-04-06T12:00:00Z')
    expect(await names(id)).toEqual(['cid'])
    await project.cohorts.update(id, { filters: { properties: group('AND', plan('free')) } })
    expect(await names(id)).toEqual(['bob'])
    expect(await project.cohorts.count(id)).toBe(1)
  })

  test('of other cohorts', async () => {
    const pros = await project.createCohort({ name: 'pros', filters: { properties: group('AND', plan('pro')) } })
    const others = await project.createCohort({
      name: 'others',
      filters: { properties: group('NOT', { type: 'cohort', key: 'id', value: pros.id }) },
    })
    expect(await names(others.id)).toEqual(['bob', 'cid'])
    await project.cohorts.update(pros.id, { filters: { properties: group('AND', plan('free')) } })
    expect(await names(others.id)).toEqual(['ann', 'cid'])
    const circle = project.cohorts.update(pros.id, {
      filters: { properties: group('AND', { type: 'cohort', key: 'id', value: others.id }) },
    })
    await expect(circle).rejects.toThrow(expect.objectContaining({ attr: 'filters' }))
  })

  test('two persons who become one are one member', async () => {
    const { id } = await project.createCohort({ name: 'c', filters: { properties: group('OR', plan('pro'), plan('free')) } })
    await project.ingest({
      batch: [{ event: '$merge_dangerously', distinct_id: 'ann', timestamp: '2024-03-31T11:00:00Z', properties: { alias: 'bob' } }],
    })
    expect(await names(id)).toEqual(['ann'])
  })

  test.each<[string, object, string]>([
    ['nothing to go by', { name: 'c' }, 'filters'],
    ['no name', { filters: { properties: group('AND') } }, 'name'],
    [
      'an unknown behaviour',
      { name: 'c', filters: { properties: group('AND', did('danced', 'x')) } },
      'filters__properties__values__0__value',
    ],
    ['an unknown join', { name: 'c', filters: { properties: group('XOR') } }, 'filters__properties__type'],
  ])('%s is refused by its field', async (_, fields, attr) => {
    await expect(project.createCohort(fields as never)).rejects.toThrow(expect.objectContaining({ code: 'validation-failed', attr }))
  })
})

describe('a static cohort', () => {
  test.each<[string, () => object, string[]]>([
    ['of persons', () => ({ person_ids: [ids[0], ids[2]] }), ['ann', 'cid']],
    ['of distinct ids', () => ({ distinct_ids: ['ann-phone', 'bob', 'nobody'] }), ['ann', 'bob']],
    ['of a CSV', () => ({ csv: 'name,distinct_id\n"A, B",bob\nx,cid-phone\n' }), ['bob', 'cid']],
    ['of a CSV of persons', () => ({ csv: `person_id\n${ids[1]}\n` }), ['bob']],
    ['of a statement', () => ({ query: "select distinct person_id from events where event = 'buy'" }), ['ann', 'bob']],
    ['of a list of people', () => ({ query: { kind: 'ActorsQuery', select: ['id'], properties: [plan('pro')] } }), ['ann']],
    [
      'of the people behind a point',
      () => ({
        query: {
          kind: 'InsightActorsQuery',
          source: { kind: 'TrendsQuery', series: [{ kind: 'EventsNode', event: 'buy' }], dateRange: { date_from: 'all' } },
        },
      }),
      ['ann', 'bob'],
    ],
    ['of nobody yet', () => ({}), []],
  ])('%s', async (_, members, expected) => {
    const { id } = await project.createCohort({ name: 'c', is_static: true, ...members() })
    expect(await names(id)).toEqual(expected)
  })

  test('keeps its members until it is told others', async () => {
    const { id } = await project.createCohort({ name: 'c', is_static: true, distinct_ids: ['ann'] })
    await project.cohorts.update(id, { name: 'renamed' })
    expect(await names(id)).toEqual(['ann'])
    await project.cohorts.update(id, { distinct_ids: ['bob'] })
    expect(await names(id)).toEqual(['bob'])
  })
})

/** A filter of a cohort is named by its place in the request, however deep it is. */
describe('what is wrong with a condition is said at it', () => {
  const good = plan('pro')
  const property = (operator: string, value: unknown, key = 'plan') => ({ type: 'person', key, operator, value })
  test.each<[what: string, condition: object, field: string]>([
    ['an operator', property('near', 'x'), 'operator'],
    ['a date', property('is_date_before', 'x'), 'value'],
    ['a type', { ...property('exact', 'x'), type: 'event' }, 'type'],
    ['an unknown cohort', { type: 'cohort', key: 'id', value: 999 }, 'value'],
    ['a regular expression', property('regex', '('), 'value'],
    ['a unit', did('performed_event', 'view', { time_value: 1, time_interval: 'eon' }), 'time_interval'],
    ['a time', did('performed_event', 'view', { explicit_datetime: 'x' }), 'explicit_datetime'],
    [
      'a filter of events',
      did('performed_event', 'view', { event_filters: [{ key: 'a', operator: 'near', value: 1 }] }),
      'event_filters__0__operator',
    ],
  ])('%s', async (_, condition, field) => {
    const refused = async (...at: readonly [condition: object, path: string]) =>
      expect(
        await project.createCohort({ name: 'x', filters: { properties: at[0] } }).then(
          () => 'made',
          (error: { attr?: string; status?: number }) => [error.status, error.attr],
        ),
      ).toEqual([400, `filters__properties__${at[1]}__${field}`])
    await refused(group('AND', good, condition), 'values__1')
    await refused(group('OR', group('AND', good), group('AND', good, good, condition)), 'values__1__values__2')
    expect(await project.cohorts.list()).toEqual([])
  })
})

test('a cohort that the engine refuses, of before that was looked at when it was saved, fails by itself', async () => {
  const of = (value: string) => ({
    properties: { type: 'AND' as const, values: [{ type: 'person', key: 'plan', operator: 'regex', value }] },
  })
  const bad = await project.createCohort({ name: 'bad', filters: of('[never]') })
  const good = await project.createCohort({ name: 'good', filters: of('^pr') })
  const { instance } = (waymark as unknown as { parts: { instance: { run(sql: string): Promise<number> } } }).parts
  await instance.run(`UPDATE p${project.id}.main.cohorts SET definition = replace(definition, '[never]', '(never')`)
  await project.createAction({ name: 'read anew', steps: [{ event: 'view' }] })
  const failures = await project.cohorts.refresh()
  expect([...failures].map(([id, { status }]) => [id, status])).toEqual([[bad.id, 400]])
  expect(
    (await project.query({ kind: 'SqlLikeQuery', query: `select count() from persons where id in cohort ${good.id}` })).results,
  ).toEqual([[1]])
})

test('definitions are listed, changed and removed, and keep the id that the caller wrote', async () => {
  const first = await project.createCohort({ id: 7, name: 'a', is_static: true })
  const second = await project.createCohort({ id: 7, name: 'b', is_static: true })
  expect([first.id, second.id]).toEqual([7, 8])
  expect((await project.cohorts.list()).map((c) => [c.id, c.name])).toEqual([
    [7, 'a'],
    [8, 'b'],
  ])
  await project.cohorts.remove(7)
  await expect(project.cohorts.retrieve(7)).rejects.toThrow(expect.objectContaining({ code: 'not-found' }))
  const action = await project.createAction({ id: 3, name: 'x', steps: [{ event: 'view' }] })
  expect(await project.actions.update(action.id, { name: 'y' })).toMatchObject({ id: 3, name: 'y', steps: [{ event: 'view' }] })
  await project.actions.remove(3)
  expect(await project.actions.list()).toEqual([])
  await expect(project.createAction({ steps: [] } as never)).rejects.toThrow(expect.objectContaining({ attr: 'name' }))
})

test.each([
  ['a\nb\n', ['a', 'b']],
  ['Distinct ID,x\r\na,1\r\n,2\r\na,3', ['a']],
  ['"x ""y"", z",1', ['x "y", z']],
  ['"two\nlines",1\nb', ['two\nlines', 'b']],
  [',\n\r\n"Person-ID", x \n a ,1\n,2', ['a']],
  ['"not closed,1\nb', ['"not closed', 'b']],
  ['"a"b,1\n"","c"', ['a']],
  ['', []],
])('ids of the CSV %j', (text, expected) => {
  expect(csvIds(text).ids).toEqual(expected)
})

describe('members are current where only an action names the cohort', () => {
  const trends = (node: object) => ({
    kind: 'TrendsQuery',
    dateRange: { date_from: '2024-03-01', date_to: '2024-03-31' },
    interval: 'month',
    series: [node],
  })
  const first = (answer: unknown): unknown => {
    const { results } = answer as { results: readonly (readonly unknown[] | { readonly count?: number })[] }
    const [row] = results
    return Array.isArray(row) ? row[0] : (row as { count?: number }).count
  }
  test.each<[string, (action: number) => object]>([
    ['a series', (id) => trends({ kind: 'ActionsNode', id })],
    [
      'a funnel',
      (id) => ({
        ...trends({ kind: 'ActionsNode', id }),
        kind: 'FunnelsQuery',
        series: [
          { kind: 'ActionsNode', id },
          { kind: 'EventsNode', event: 'buy' },
        ],
      }),
    ],
    ['events', (actionId) => ({ kind: 'EventsQuery', select: ['count()'], actionId, after: '2024-03-01' })],
    [
      'a statement',
      () => ({
        kind: 'SqlLikeQuery',
        query: "select count() from events where matchesAction('Views of pros') and timestamp > '2024-03-01'",
      }),
    ],
  ])('%s', async (_, queryOf) => {
    const cohort = await project.cohorts.create({ name: 'pros', filters: { properties: group('AND', plan('pro')) } })
    const properties = [{ type: 'cohort', key: 'id', value: cohort.id }]
    const action = await project.actions.create({ name: 'Views of pros', steps: [{ event: 'view', properties }] })
    const query = queryOf(action.id)
    const ask = async () => first(await project.query(query as never, { refresh: 'force_blocking' }))
    const before = Number(await ask())
    const set = { $set: { plan: 'pro' } }
    await project.ingest({ batch: [event('dan', 'view', '2024-03-30T12:00:00Z', set), event('dan', 'view', '2024-03-30T13:00:00Z')] })
    expect(Number(await ask()) - before).toBe((query as { kind: string }).kind === 'FunnelsQuery' ? 1 : 2)
  })
})
