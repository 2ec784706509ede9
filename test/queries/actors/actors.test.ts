import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { answerQuery } from '../../../src/engine/execution/answer.ts'
import type { ActorsResponse } from '../../../src/queries/actors/index.ts'
import { openTestProject, type TestProject } from '../../harness/duckdb.ts'
import { fillStore, personUuid } from '../../harness/store.ts'

let project: TestProject
const at = (text: string) => Date.parse(text) * 1000

beforeAll(async () => {
  project = await openTestProject({ now: new Date('2024-06-01T12:00:00Z') })
  await fillStore(project, {
    persons: [
      {
        person: 1,
        properties: { email: 'ann@x.org', name: 'Ann', plan: 'pro', age: 30 },
        distinctIds: ['a1', 'a2'],
        createdAt: at('2024-01-01'),
      },
      { person: 2, properties: { name: 'Bob', plan: 'free', age: 40 }, distinctIds: ['b%1'], createdAt: at('2024-03-01') },
      { person: 3, properties: { email: '', name: 'Cid', plan: 'pro' }, distinctIds: ['c_1'], createdAt: at('2024-02-01') },
      { person: 4, hasRecord: false, distinctIds: ['anonymous'] },
    ],
    groups: [{ index: 0, key: 'acme', properties: { name: 'Acme Inc' } }],
    events: [
      { event: 'view', person: 1, at: at('2024-05-30T10:00:00Z'), groups: ['acme'] },
      { event: 'view', person: 1, at: at('2024-05-30T11:00:00Z'), groups: ['acme'] },
      { event: 'view', person: 2, at: at('2024-05-30T12:00:00Z'), groups: ['other'] },
      { event: 'view', person: 4, at: at('2024-05-30T13:00:00Z') },
    ],
    cohorts: { 1: [1, 3] },
  })
})
afterAll(() => project.close())

const ask = async (query: object): Promise<ActorsResponse> =>
  (await answerQuery({ kind: 'ActorsQuery', ...query }, project)) as ActorsResponse
const views = (parts: object = {}) => ({
  kind: 'InsightActorsQuery',
  source: { kind: 'TrendsQuery', series: [{ kind: 'EventsNode', event: 'view', ...parts }], dateRange: { date_from: '-7d' } },
  day: '2024-05-30',
})

describe('all persons', () => {
  test('the newest first, as objects', async () => {
    const answer = await ask({})
    expect(answer.columns).toEqual(['person', 'id', 'created_at', 'person.$delete'])
    expect(answer.results.map((row) => row[1])).toEqual([2, 3, 1].map(personUuid))
    expect(answer.results[2]).toEqual([
      {
        id: personUuid(1),
        distinct_ids: ['a1', 'a2'],
        properties: { email: 'ann@x.org', name: 'Ann', plan: 'pro', age: 30 },
        created_at: '2024-01-01T00:00:00Z',
        is_identified: false,
      },
      personUuid(1),
      '2024-01-01T00:00:00Z',
      1,
    ])
    expect(answer).toMatchObject({ hasMore: false, limit: 100, offset: 0, missing_actors_count: 0 })
  })

  test.each<[string, object, unknown[][]]>([
    ['a property', { select: ['properties.name'] }, [['Ann'], ['Bob'], ['Cid']]],
    ['ordered', { select: ['properties.name'], orderBy: ['properties.name DESC'] }, [['Cid'], ['Bob'], ['Ann']]],
    ['ordered by what is not selected', { select: ['properties.name'], orderBy: ['created_at'] }, [['Ann'], ['Cid'], ['Bob']]],
    [
      'the long way round',
      { select: ['person.properties.name -- Name'], orderBy: ['person.properties.name -- Name DESC'] },
      [['Cid'], ['Bob'], ['Ann']],
    ],
    ['under an alias', { select: ['upper(properties.name) as loud'], orderBy: ['loud desc'] }, [['CID'], ['BOB'], ['ANN']]],
    [
      'a dash in a text is no label',
      { select: ["concat(properties.name, '--')"], orderBy: ['properties.name'] },
      [['Ann--'], ['Bob--'], ['Cid--']],
    ],
    [
      'grouped',
      { select: ['properties.plan', 'count()'] },
      [
        ['pro', 2],
        ['free', 1],
      ],
    ],
    [
      'the largest aggregate first',
      { select: ['properties.plan', 'max(toFloat(properties.age))'] },
      [
        ['free', 40],
        ['pro', 30],
      ],
    ],
    ['one page', { select: ['properties.name'], limit: 1, offset: 1 }, [['Bob']]],
    ['of a cohort', { select: ['properties.name'], properties: [{ type: 'cohort', key: 'id', value: 1 }] }, [['Ann'], ['Cid']]],
    [
      'by an expression',
      { select: ['properties.name'], fixedProperties: [{ type: 'hogql', key: 'toFloat(properties.age) > 35' }] },
      [['Bob']],
    ],
    [
      'filtered after grouping',
      { select: ['properties.plan', 'count()'], properties: [{ type: 'hogql', key: 'count() > 1' }] },
      [['pro', 2]],
    ],
    [
      'grouped by a condition on groups alone',
      { select: ['properties.plan'], properties: [{ type: 'hogql', key: 'count() > 1' }] },
      [['pro']],
    ],
    ['grouped by the order alone', { select: ['properties.plan'], orderBy: ['count() DESC'] }, [['pro'], ['free']]],
    ['no person is two', { select: ['id'], properties: [{ type: 'hogql', key: 'count() > 1' }] }, []],
    ['found by email', { select: ['properties.name'], search: 'ANN@' }, [['Ann']]],
    ['found by a distinct id, literally', { select: ['properties.name'], search: 'b%1' }, [['Bob']]],
    ['an underscore is no wildcard', { select: ['properties.name'], search: 'a_1' }, []],
    ['found by id', { select: ['properties.name'], search: personUuid(3) }, [['Cid']]],
  ])('%s', async (_, query, rows) => {
    expect((await ask(query)).results).toEqual(rows)
  })

  test('one row more tells that there are more', async () => {
    expect((await ask({ select: ['id'], limit: 2 })).hasMore).toBe(true)
    expect((await ask({ select: ['id'], limit: 3 })).hasMore).toBe(false)
  })

  test('display names: the first property that has a value, else the id', async () => {
    const { results } = await ask({ select: ['person_display_name'], orderBy: ['person_display_name'] })
    expect(results.map(([cell]) => cell)).toEqual([
      { display_name: 'Bob', id: personUuid(2) },
      { display_name: 'Cid', id: personUuid(3) },
      { display_name: 'ann@x.org', id: personUuid(1) },
    ])
  })
})

describe('a point of a chart', () => {
  test('actors with the number of their events', async () => {
    const { results } = await ask({ select: ['properties.name', 'event_count'], source: views(), orderBy: ['event_count DESC', 'id'] })
    expect(results).toEqual([
      ['Ann', 2],
      ['Bob', 1],
      [null, 1],
    ])
  })

  test('who has no record is an id', async () => {
    const answer = await ask({ select: ['actor'], source: views() })
    expect(answer.results.at(-1)).toEqual([{ id: personUuid(4) }])
    expect(answer.missing_actors_count).toBe(1)
  })

  test('search and properties narrow it', async () => {
    expect((await ask({ select: ['properties.name'], source: views(), search: 'bob' })).results).toEqual([['Bob']])
    const free = [{ type: 'person', key: 'plan', value: 'free', operator: 'exact' }]
    expect((await ask({ select: ['properties.name'], source: views(), properties: free })).results).toEqual([['Bob']])
  })

  test('groups', async () => {
    const source = views({ math: 'unique_group', math_group_type_index: 0 })
    const answer = await ask({ select: ['group', 'event_count'], source })
    expect(answer.results).toEqual([
      [expect.objectContaining({ id: 'acme', group_key: 'acme', group_type_index: 0, properties: { name: 'Acme Inc' }, type: 'group' }), 2],
      [{ id: 'other', group_type_index: 0 }, 1],
    ])
    expect((await ask({ select: ['group'], source, search: 'acme inc' })).results).toHaveLength(1)
  })

  test('matched recordings are a list, empty as long as nothing records', async () => {
    expect((await ask({ select: ['id', 'matched_recordings'], source: views(), limit: 1 })).results[0]![1]).toEqual([])
  })
})

describe('a statement as source', () => {
  const sql = (query: string) => ({ kind: 'HogQLQuery', query })
  test.each<[string, string, string[]]>([
    ['person_id', 'select person_id, count() as n from events group by person_id', ['Ann', 'Bob']],
    ['an alias', 'select person_id as actor_id from events', ['Ann', 'Ann', 'Bob']],
    ['the first column that looks like an id', 'select id from persons', ['Ann', 'Bob', 'Cid']],
  ])('%s', async (_, query, names) => {
    expect((await ask({ select: ['properties.name'], source: sql(query) })).results.map(([name]) => name)).toEqual(names)
  })

  test('its other columns can be selected', async () => {
    const query = 'select person_id, count() as n from events group by person_id'
    expect((await ask({ select: ['properties.name', 'n'], source: sql(query), orderBy: ['n DESC'] })).results).toEqual([
      ['Ann', 2],
      ['Bob', 1],
    ])
  })
})

describe('a wrong query names the field', () => {
  test.each<[string, object, string]>([
    ['unknown source', { source: { kind: 'Nobody' } }, 'source__kind'],
    ['chart that is no source', { source: { kind: 'InsightActorsQuery', source: { kind: 'EventsQuery' } } }, 'source__source__kind'],
    ['wrong point', { source: { ...views(), compare: 'later' } }, 'source__compare'],
    ['wrong query of the point', { source: { ...views(), source: { kind: 'TrendsQuery', series: [] } } }, 'source__source__series'],
    ['statement that names nobody', { source: { kind: 'HogQLQuery', query: 'select event from events' } }, 'source__query'],
    ['limit', { limit: 0 }, 'limit'],
  ])('%s', async (_, query, attr) => {
    await expect(ask(query)).rejects.toThrow(expect.objectContaining({ code: 'validation-failed', attr }))
  })
})
