import { type RecordBatch, type Table, tableFromIPC, tableToIPC } from 'apache-arrow'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { open, type Project, type Query, type Waymark } from '../../src/index.ts'

// Lists of rows as Arrow: the columns, types and digits of the engine.

let waymark: Waymark
let project: Project
beforeAll(async () => {
  waymark = await open({ dataDir: ':memory:' })
  project = await waymark.createProject()
  const batch = ['2034-01-05', '2034-01-06'].map((day, i) => ({
    event: 'buy',
    distinct_id: `u${i}`,
    timestamp: `${day}T10:00:00Z`,
    properties: { note: null, $set: { plan: 'pro' } },
  }))
  await project.ingest({ batch })
})
afterAll(() => waymark.close())

const batchesOf = async (query: Query): Promise<RecordBatch[]> => {
  const batches: RecordBatch[] = []
  for await (const batch of project.queryArrowBatches(query)) batches.push(batch)
  return batches
}
const fieldsOf = ({ schema }: Pick<Table, 'schema'>) => schema.fields.map(({ name, type }) => `${name} ${type}`)
const bothWays = async (query: Query) => {
  const table = await project.queryArrow(query)
  const [batch] = await batchesOf(query)
  expect(fieldsOf(batch!)).toEqual(fieldsOf(table))
  return table
}

const events = { kind: 'EventsQuery', orderBy: ['timestamp'] } as const

test('a column of nulls and two columns of one name stay', async () => {
  const table = await bothWays({ ...events, select: ['properties.note', 'event', 'event', 'timestamp'] })
  expect(fieldsOf(table)).toEqual(['properties.note Utf8', 'event Utf8', 'event Utf8', 'timestamp Timestamp<MICROSECOND, UTC>'])
  expect([table.numRows, table.getChildAt(0)!.nullCount, table.getChildAt(2)!.get(1)]).toEqual([2, 2, 'buy'])
})

test('no rows have columns, and one batch', async () => {
  const none = { ...events, select: ['event', 'toFloat(properties.price)', '*', 'person'], where: ['false'] }
  const table = await bothWays(none)
  expect([table.numRows, fieldsOf(table)]).toEqual([0, ['event Utf8', 'toFloat(properties.price) Float64', '* Utf8', 'person Utf8']])
})

test('large numbers keep their digits', async () => {
  const table = await bothWays({ ...events, select: ['9007199254740993', 'event'] })
  expect(table.getChildAt(0)!.get(0)).toBe(9007199254740993n)
})

test('persons', async () => {
  const table = await bothWays({ kind: 'ActorsQuery', select: ['person', 'created_at', 'properties.none', 'properties.plan'] })
  expect(fieldsOf(table)).toEqual(['person Utf8', 'created_at Timestamp<MICROSECOND, UTC>', 'properties.none Utf8', 'properties.plan Utf8'])
  expect([table.numRows, table.getChildAt(2)!.nullCount, table.getChildAt(3)!.get(0)]).toEqual([2, 2, 'pro'])
})

test('rows are those of the answer, and a chart has a row for each point', async () => {
  const query = { ...events, select: ['distinct_id'], limit: 1 }
  expect((await bothWays(query)).numRows).toBe(1)
  const chart: Query = {
    kind: 'TrendsQuery',
    series: [{ kind: 'EventsNode', event: 'buy' }],
    dateRange: { date_from: '2034-01-05', date_to: '2034-01-06' },
  }
  expect((await project.queryArrow(chart)).numRows).toBe(2)
})

test('a retention has a row for each value, a stickiness for each number of intervals', async () => {
  const dateRange = { date_from: '2034-01-05', date_to: '2034-01-06' }
  const filter = { targetEntity: { id: 'buy' }, returningEntity: { id: 'buy' }, totalIntervals: 2 }
  const retention = await project.queryArrow({ kind: 'RetentionQuery', dateRange, retentionFilter: filter })
  expect(fieldsOf(retention)).toEqual(['label Utf8', 'date Utf8', 'interval Utf8', 'count Float64'])
  expect(retention.toArray().map((row) => [row.label, row.interval])).toEqual([
    ['Day 0', 'Day 0'],
    ['Day 0', 'Day 1'],
    ['Day 1', 'Day 0'],
    ['Day 1', 'Day 1'],
  ])
  const sums = { ...filter, aggregationType: 'sum', aggregationProperty: 'price' } as const
  const breakdownFilter = { breakdown: 'plan', breakdown_type: 'event' } as const
  const lately = { date_from: '-2d' } // times in the future are replaced by that of the arrival
  const split = await project.queryArrow({ kind: 'RetentionQuery', dateRange: lately, retentionFilter: sums, breakdownFilter })
  expect(fieldsOf(split)).toEqual(['breakdown_value Utf8', ...fieldsOf(retention), 'aggregation_value Float64'])
  const stickiness = await project.queryArrow({ kind: 'StickinessQuery', dateRange, series: [{ kind: 'EventsNode', event: 'buy' }] })
  expect([stickiness.numRows, stickiness.getChild('date')?.toArray().join()]).toEqual([2, '1,2'])
})

test('elements of a tuple have their names, in Arrow and in the types of an answer', async () => {
  const query =
    "select cast((1, 'x'), 'Tuple(id Int64, plan String)') as t, [t] as list, map('k', t) as m, (1, 2) as plain, cast((1, 2), 'Tuple(Int64, Int64)') as bare"
  const table = await project.queryArrow({ kind: 'SqlLikeQuery', query })
  expect(table.schema.fields.map(({ type }) => String(type))).toEqual([
    'Struct<{id:Int64, plan:Utf8}>',
    'List<Struct<{id:Int64, plan:Utf8}>>',
    'Map<{key:Utf8, value:Struct<{id:Int64, plan:Utf8}>}>',
    'Struct<{1:Int32, 2:Int32}>',
    'Struct<{1:Int64, 2:Int64}>',
  ])
  const { types, results } = await project.query({ kind: 'SqlLikeQuery', query })
  expect(types.slice(0, 2)).toEqual([
    ['t', 'Tuple(id Int64, plan String)'],
    ['list', 'Array(Tuple(id Int64, plan String))'],
  ])
  expect(results).toEqual([[[1, 'x'], [[1, 'x']], { k: [1, 'x'] }, [1, 2], [1, 2]]])
})

test.each<[string, Query]>([
  ['a statement', { kind: 'SqlLikeQuery', query: 'select sum(properties.amount) from events' }],
  ['a list', { ...events, select: ['properties.amount + 1'] }],
  ['a chart', { kind: 'TrendsQuery', series: [{ kind: 'EventsNode', event: 'pay', math: 'sum', math_property: 'amount' }] }],
])('the warnings of %s stand in the schema of its table and of each batch', async (_, query) => {
  const other = await waymark.createProject()
  const amounts = [5, 'none', '7']
  await other.ingest({ batch: amounts.map((amount) => ({ event: 'pay', distinct_id: 'u', properties: { amount } })) })
  const said = ({ schema }: Pick<Table, 'schema'>) =>
    JSON.parse(schema.metadata.get('waymark.warnings') ?? '[]') as { code: string; count: number }[]
  const expected = [expect.objectContaining({ code: 'not-numbers', count: 1 })]
  expect(said(await other.queryArrow(query))).toEqual(expected)
  for await (const batch of other.queryArrowBatches(query)) expect(said(batch)).toEqual(expected)
  expect(said(await other.queryArrow({ kind: 'SqlLikeQuery', query: 'select count() from events' }))).toEqual([])
})

test.each([
  ["cast((1, 'x', 'y'), 'Tuple(a Int64, a String, a String)')", { a: 1, a_2: 'x', a_3: 'y' }],
  ["cast((1, 'x', 'y'), 'Tuple(a Int64, a String, a_2 String)')", { a: 1, a_2_: 'x', a_2: 'y' }],
])('elements of a tuple that share a name are all there: %s', async (tuple, elements) => {
  const query: Query = { kind: 'SqlLikeQuery', query: `select ${tuple} as t, [${tuple}] as list` }
  const read = (value: object) =>
    Object.fromEntries(Object.entries(value).map(([name, one]) => [name, typeof one === 'bigint' ? Number(one) : one]))
  for (const table of [await project.queryArrow(query), tableFromIPC(tableToIPC(await project.queryArrow(query)))]) {
    const [row] = table.toArray()
    expect(read(row!.t.toJSON())).toEqual(elements)
    expect(read(row!.list.get(0).toJSON())).toEqual(elements)
  }
  const { results } = await project.query(query)
  expect(results[0]![0]).toEqual([1, 'x', 'y'])
})
