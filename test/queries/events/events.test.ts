import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type LocalWaymark, open } from '../../../src/engine.ts'
import { WaymarkError } from '../../../src/errors/errors.ts'
import type { LocalProject } from '../../../src/project.ts'
import type { EventsAnswer } from '../../../src/queries/events/index.ts'

let waymark: LocalWaymark
let project: LocalProject
let ids: readonly string[]

const now = new Date('2020-01-10T12:14:00Z')
const event = (name: string, distinctId: string, timestamp: string, properties: Record<string, unknown> = {}, uuid?: string) => ({
  event: name,
  distinct_id: distinctId,
  timestamp,
  properties,
  ...(uuid ? { uuid } : {}),
})
const uuid = (n: number) => `018c27d3-2c01-7000-8000-${String(n).padStart(12, '0')}`

beforeAll(async () => {
  waymark = await open({ dataDir: ':memory:', clock: () => now })
  project = await waymark.createProject({ name: 'Shop', timezone: 'America/New_York', person_display_name_properties: ['name'] })
  ids = (
    await project.importPersons([
      { distinct_ids: ['tom', 'tom-phone'], properties: { name: 'Tom', age: 30 }, created_at: '2019-01-01T00:00:00Z' },
      { distinct_ids: ['ann'], properties: { email: 'ann@x.io' } },
    ])
  ).ids
  await project.ingest({
    batch: [
      event('sign up', 'tom', '2020-01-10T12:00:00Z', { key: 'a', big: 7.307508186654515e47 }, uuid(1)),
      event('sign out', 'tom-phone', '2020-01-10T12:11:00Z', { key: 'b' }, uuid(2)),
      event('sign out', 'ann', '2020-01-10T12:12:00Z', { key: 'b' }, uuid(3)),
      { ...event('click', 'nobody', '2020-01-10T12:13:00Z', { $process_person_profile: false }, uuid(4)) },
      event('sign up', 'ann', '2020-01-08T12:00:00Z', { key: 'c' }, uuid(5)),
      event('click', 'ann', '2020-01-10T12:01:00Z', { $elements: [{ tag_name: 'a', $el_text: 'Go', attr__class: 'btn' }] }, uuid(6)),
    ],
  })
})
afterAll(() => waymark.close())

const ask = async (query: Record<string, unknown>) => (await project.answer({ kind: 'EventsQuery', ...query })) as EventsAnswer
const rows = async (query: Record<string, unknown>) => (await ask(query)).results
const keys = async (query: Record<string, unknown>) =>
  (await rows({ select: ['uuid'], ...query })).map(([id]) => Number(String(id).slice(-4)))
const refused = async (query: Record<string, unknown>) => {
  const error: unknown = await ask(query).then(
    () => null,
    (e) => e,
  )
  expect(error).toBeInstanceOf(WaymarkError)
  return error as WaymarkError
}

describe('which events', () => {
  const all = { after: 'all', orderBy: ['timestamp'] }
  const cases: readonly (readonly [name: string, query: Record<string, unknown>, expected: number[]])[] = [
    ['the last day by default', { orderBy: ['timestamp'] }, [1, 6, 2, 3, 4]],
    ['all', all, [5, 1, 6, 2, 3, 4]],
    ['one name', { ...all, event: 'sign up' }, [5, 1]],
    ['several names', { ...all, events: ['sign up', 'click'] }, [5, 1, 6, 4]],
    ['an empty list of names is none', { ...all, events: [] }, [5, 1, 6, 2, 3, 4]],
    ['after is strict', { after: '2020-01-10T12:11:00Z', orderBy: ['timestamp'] }, [3, 4]],
    ['before is strict', { after: 'all', before: '2020-01-10T12:11:00Z', orderBy: ['timestamp'] }, [5, 1, 6]],
    ['naive times are local', { after: '2020-01-10T07:11:00', orderBy: ['timestamp'] }, [3, 4]],
    ['relative times', { after: '-3d', before: '-1d', orderBy: ['timestamp'] }, [5]],
    ['relative minutes', { after: '-3M', orderBy: ['timestamp'] }, [3, 4]],
    ['conditions', { ...all, where: ["properties.key = 'b'", "event like 'sign%'"] }, [2, 3]],
    ['filters', { ...all, properties: [{ key: 'key', type: 'event', value: ['a', 'c'] }] }, [5, 1]],
    [
      'fixed filters too',
      { ...all, properties: [{ key: 'key', value: ['a', 'b'] }], fixedProperties: [{ key: 'key', value: 'b' }] },
      [2, 3],
    ],
    [
      'a group of filters',
      {
        ...all,
        properties: {
          type: 'OR',
          values: [
            { key: 'key', value: 'a' },
            { key: 'key', value: 'c' },
          ],
        },
      },
      [5, 1],
    ],
    ['steps of an action', { ...all, actionSteps: [{ event: 'sign up' }, { tag_name: 'a' }] }, [5, 1, 6]],
    ['a page', { ...all, limit: 2, offset: 1 }, [1, 6]],
    ['newest first', { ...all, orderBy: ['timestamp DESC'], limit: 2 }, [4, 3]],
    ['an order with a label', { ...all, orderBy: ['timestamp -- Time DESC'], limit: 1 }, [4]],
    [
      'an order by an aliased column',
      { after: 'all', select: ['uuid', 'properties.key as k'], orderBy: ['k DESC', 'timestamp'], limit: 3 },
      [5, 2, 3],
    ],
  ]
  test.each(cases)('%s', async (_, query, expected) => {
    expect(await keys(query)).toEqual(expected)
  })

  test('of one person, whatever distinct id they came with', async () => {
    expect(await keys({ ...all, personId: ids[0] })).toEqual([1, 2])
    expect(await keys({ ...all, personId: ids[0]!.toUpperCase() })).toEqual([1, 2])
    expect(await keys({ ...all, personId: '00000000-0000-4000-8000-000000000000' })).toEqual([])
    expect(await keys({ ...all, personId: 12 })).toEqual([])
  })
})

describe('order when none is asked for', () => {
  test('an aggregate in the order alone groups by what is selected', async () => {
    const events = { after: 'all', where: ["event != 'click'"] }
    const names = (await rows({ ...events, select: ['event', 'count()'], orderBy: ['count() desc', 'event'] })).map(([name]) => [name])
    expect(await rows({ ...events, select: ['event'], orderBy: ['count() desc', 'event'] })).toEqual(names)
  })
  test('count() descending', async () => {
    expect(await rows({ select: ['event', 'count()'], after: 'all', where: ["event != 'click'"] })).toEqual([
      ['sign out', 2],
      ['sign up', 2],
    ])
    expect((await rows({ select: ['properties.key', 'count()'], after: 'all' }))[0]).toEqual(['b', 2])
  })
  test('the first aggregate descending', async () => {
    const [first] = await rows({ select: ['event', 'max(timestamp)', 'min(timestamp)'], after: 'all' })
    expect(first![0]).toBe('click')
  })
  test('the time descending when it is shown', async () => {
    expect((await rows({ select: ['event', 'timestamp'] })).map(([name]) => name)).toEqual([
      'click',
      'sign out',
      'sign out',
      'click',
      'sign up',
    ])
  })
  test('else the first column ascending', async () => {
    expect((await rows({ select: ['event', 'distinct_id'], limit: 3 })).map(([name]) => name)).toEqual(['click', 'click', 'sign out'])
  })
})

test('a condition with an aggregate is a condition on groups', async () => {
  expect(await rows({ select: ['properties.key', 'count()'], where: ['count() > 1', 'properties.key is not null'], after: 'all' })).toEqual(
    [['b', 2]],
  )
})

test('an aggregate may be named and then compared', async () => {
  expect(await rows({ select: ['event', 'count() as n'], where: ['n > 1'], after: 'all', orderBy: ['event'] })).toEqual([
    ['click', 2],
    ['sign out', 2],
    ['sign up', 2],
  ])
})

test('an alias hides no field from the other parts of the query', async () => {
  const query = { select: ['upper(event) as event', "'x' as timestamp", 'person_display_name', '*'], event: 'sign up', orderBy: ['uuid'] }
  const [[name, , person, whole]] = (await rows(query)) as [[string, string, { display_name: string }, { event: string }]]
  expect([name, person.display_name, whole.event]).toEqual(['SIGN UP', 'Tom', 'sign up'])
})

test('only events of the people behind a point of a chart', async () => {
  const chart = { kind: 'TrendsQuery', dateRange: { date_from: '2020-01-10' }, series: [{ kind: 'EventsNode', event: 'sign up' }] }
  const source = { kind: 'InsightActorsQuery', source: chart, day: '2020-01-10' }
  expect(await keys({ after: 'all', orderBy: ['timestamp'], source })).toEqual([1, 2])
  expect(await refused({ select: ['event'], source: { kind: 'TrendsQuery' } })).toMatchObject({ attr: 'source__kind' })
})

test('everything in one row', async () => {
  expect(await rows({ select: ['count()', 'uniq(distinct_id)'], after: 'all' })).toEqual([[6, 4]])
  expect(await rows({ select: ["'x'", 'count()'], after: 'all' })).toEqual([['x', 6]])
})

test('columns and types are those asked for', async () => {
  const answer = await ask({ select: ['properties.key', 'event', 'count() -- Number', "concat(event, '')"], after: 'all', limit: 1 })
  expect(answer.columns).toEqual(['properties.key', 'event', 'count() -- Number', "concat(event, '')"])
  expect(answer.types).toEqual(['Nullable(String)', 'String', 'UInt64', 'String'])
})

test('more is said exactly', async () => {
  expect(await ask({ select: ['event'], after: 'all', limit: 6 })).toMatchObject({ hasMore: false, limit: 6, offset: 0 })
  expect(await ask({ select: ['event'], after: 'all', limit: 5 })).toMatchObject({ hasMore: true, results: { length: 5 } })
  expect(await ask({ select: ['event'], after: 'all', limit: 5, offset: 1 })).toMatchObject({ hasMore: false, results: { length: 5 } })
  expect(await ask({ select: ['event'], after: 'all', limit: 0 })).toMatchObject({ hasMore: true, results: [] })
  expect(await ask({ select: ['event'], after: 'all', limit: 1_000_000 })).toMatchObject({ limit: 10_000 })
})

describe('objects', () => {
  test('* is the event', async () => {
    const answer = await ask({ select: ['*', 'event'], after: 'all', orderBy: ['timestamp'], event: 'sign up', offset: 1 })
    expect(answer.types[0]).toMatch(/^Tuple\(/)
    const [whole, name] = answer.results[0] as [Record<string, unknown>, string]
    expect(name).toBe('sign up')
    expect(whole).toMatchObject({
      uuid: uuid(1),
      event: 'sign up',
      distinct_id: 'tom',
      elements_chain: '',
      team_id: project.id,
      properties: { key: 'a', big: 7.307508186654515e47 },
    })
    expect(new Date(whole.timestamp as string)).toEqual(new Date('2020-01-10T12:00:00Z'))
    expect(whole).toHaveProperty('created_at')
    expect(whole).toHaveProperty('person_mode')
    expect(whole).not.toHaveProperty('elements')
  })

  test('* has the elements when there are some', async () => {
    const [[whole]] = (await rows({ select: ['*'], where: ["elements_chain != ''"] })) as [[Record<string, unknown>]]
    expect(whole).toMatchObject({ event: 'click', elements: [{ tag_name: 'a', text: 'Go', attr_class: ['btn'] }] })
  })

  test('person is the record, or the distinct id alone', async () => {
    const people = (await rows({ select: ['person'], orderBy: ['timestamp'] })).map(([person]) => person as Record<string, unknown>)
    expect(people[0]).toMatchObject({ uuid: ids[0], distinct_id: 'tom', properties: { name: 'Tom', age: 30 } })
    expect(people[2]).toMatchObject({ uuid: ids[0], distinct_id: 'tom-phone' })
    expect(people[4]).toEqual({ distinct_id: 'nobody' })
  })

  test('the name of the person falls back to the distinct id', async () => {
    const names = await rows({ select: ['person_display_name -- Person', 'person_display_name'], orderBy: ['timestamp'] })
    expect(names.map(([name]) => (name as { display_name: string }).display_name)).toEqual(['Tom', 'ann', 'Tom', 'ann', 'nobody'])
    expect(names[0]![0]).toEqual(names[0]![1])
  })

  test('the same column twice with different labels', async () => {
    expect(await rows({ select: ['event -- A', 'event -- B', 'event'], event: 'sign up' })).toEqual([['sign up', 'sign up', 'sign up']])
  })

  test('objects can be counted', async () => {
    expect(await rows({ select: ['person_display_name', 'count()'], event: 'sign out', after: 'all' })).toEqual([
      [{ display_name: 'Tom', distinct_id: 'tom-phone', id: ids[0] }, 1],
      [{ display_name: 'ann', distinct_id: 'ann', id: ids[1] }, 1],
    ])
  })
})

test('the answer says how the query was understood', async () => {
  const { hogql } = await ask({
    select: ['*', 'properties.key -- Key'],
    event: 'sign up',
    after: '2020-01-01',
    before: '2020-01-02',
    limit: 3,
  })
  expect(hogql).toBe(
    "SELECT *, properties.key FROM events WHERE and(greater(timestamp, '2020-01-01T05:00:00Z'), less(timestamp, '2020-01-02T05:00:00Z'), " +
      "equals(event, 'sign up')) ORDER BY toString(uuid) LIMIT 3",
  )
})

test('mistakes name the field', async () => {
  expect(await refused({ select: [] })).toMatchObject({ code: 'validation-failed', attr: 'select' })
  expect(await refused({})).toMatchObject({ code: 'validation-failed', attr: 'select' })
  expect(await refused({ select: ['event'], after: '12:30' })).toMatchObject({ code: 'validation-failed', attr: 'after' })
  expect(await refused({ select: ['event'], before: '2020-13-01' })).toMatchObject({ code: 'validation-failed', attr: 'before' })
  expect(await refused({ select: ['event'], actionId: 99 })).toMatchObject({ code: 'validation-failed', attr: 'actionId' })
  expect(await refused({ select: ['event'], limit: -1 })).toMatchObject({ code: 'validation-failed', attr: 'limit' })
})

test('a mistake in an expression names its text, and the place in it', async () => {
  const told = async (query: Record<string, unknown>) => {
    const error = await refused(query)
    return [error, ...error.others].map(({ code, attr, span }) => {
      const [field, i] = attr!.split('__') as [string, string]
      return [code, attr, (query[field] as string[])[Number(i)]!.slice(span!.start, span!.end)]
    })
  }
  expect(await told({ select: ['event', ' evnt -- Name'] })).toEqual([['unknown-field', 'select__1', 'evnt']])
  expect(await told({ select: ['event', 'count() +'] })).toEqual([['syntax-error', 'select__1', '']])
  expect(await told({ select: ['event', 'a'], where: ["event = 'x'", 'b = 1 and c'], orderBy: ['d desc'] })).toEqual([
    ['unknown-field', 'select__1', 'a'],
    ['unknown-field', 'where__1', 'b'],
    ['unknown-field', 'where__1', 'c'],
    ['unknown-field', 'orderBy__0', 'd'],
  ])
  expect(await refused({ select: ['event'], properties: [{ type: 'hogql', key: 'nope = 1' }] })).toMatchObject({
    attr: 'properties__0__key',
  })
})
