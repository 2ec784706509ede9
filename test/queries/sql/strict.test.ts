import { afterAll, beforeAll, expect, test } from 'vitest'
import { open, type Project, type Query, type Waymark } from '../../../src/index.ts'

let waymark: Waymark
let project: Project
beforeAll(async () => {
  waymark = await open({ dataDir: ':memory:' })
  project = await waymark.createProject()
  await project.ingest({ batch: [{ event: 'buy', distinct_id: 'u', properties: { price: 5 } }] })
})
afterAll(() => waymark.close())

const statement = (query: string, filters?: object): Query => ({ kind: 'SqlLikeQuery', query, ...(filters && { filters }) }) as Query

test.each([
  ['a field', { properties: [{ type: 'event', key: 'price', op: 'gt' }] }, 'filters__properties__0__op'],
  ['an operator', { properties: [{ type: 'event', key: 'price', operator: 'bigger', value: 1 }] }, 'filters__properties__0__operator'],
  ['a date', { dateRange: { date_from: 'last week' } }, 'filters__dateRange__date_from'],
])('%s that filters do not know is refused, whether the statement has a place for them or not', async (_, filters, attr) => {
  for (const query of ['select count() from events', 'select count() from events where {filters}'])
    await expect(project.query(statement(query, filters))).rejects.toMatchObject({ attr })
})

test('LIMIT below zero is refused where it stands', async () => {
  for (const query of ['select number from numbers(5) limit -1', 'select number from numbers(5) limit -2'])
    await expect(project.query(statement(query))).rejects.toMatchObject({
      message: 'LIMIT must be a non-negative integer',
      position: { line: 1, column: 37 },
    })
})

test.each([
  ['undefined', undefined],
  ['a function', () => 1],
  ['a symbol', Symbol('x')],
  ['NaN', Number.NaN],
  ['an invalid time', new Date('x')],
  ['a Map', new Map([['a', 1]])],
])('%s is no value of a statement', async (_, value) => {
  await expect(project.sql`select count() from events where event = ${value}`).rejects.toMatchObject({
    code: 'validation-failed',
    attr: 'values__v0',
  })
  await expect(project.query({ ...statement('select {who.name}'), values: { who: { name: [1, value] } } })).rejects.toMatchObject({
    code: 'validation-failed',
    attr: 'values__who__name__1',
  })
})

test('a time is the same value wherever it is given', async () => {
  const time = new Date('2026-01-05T10:00:00.500Z')
  const asked = {
    kind: 'SqlLikeQuery',
    query: 'select toDateTime64({visit.at}, 3), toString({visit.at})',
    values: { visit: { at: time } },
  } as const
  expect((await project.query(asked)).results).toEqual((await project.sql`select toDateTime64(${time}, 3), toString(${time})`).results)
})

test('whole numbers of any size are values', async () => {
  const { results } = await project.sql`select ${10n} + 1, ${2n ** 60n}`
  expect(results).toEqual([[11, String(2n ** 60n)]])
})

test('what stands for a value of a template is not suggested as a name of the user', async () => {
  const refused = await project.sql`select {nam} from events where event = ${'buy'}`.catch((error: unknown) => error)
  expect(refused).toMatchObject({ code: 'unknown-placeholder', suggestions: [] })
  await expect(project.sql`select ${'buy'} + 1`).rejects.toMatchObject({
    code: 'type-mismatch',
    message: "'plus' needs a number, but ''buy'' is String. Use toFloat('buy').",
  })
})

test('a text is one of several as it is equal to each', async () => {
  for (const [condition, count] of [
    ["event in ('buy', 1)", 1],
    ["event in ('a', 1)", 0],
    ["event not in ('a', 1)", 1],
    ["concat('1', '') in ('a', 1)", 1],
    ["1 in ('1', 'a')", 1],
    ["1 in ('1.0', 'a')", 1],
    ['event in (select 1)', 0],
    ["concat('1', '') in (select 1)", 1],
    ["1 in (select concat('1', ''))", 1],
  ])
    expect(await project.query(statement(`select count() from events where ${condition}`)), String(condition)).toMatchObject({
      results: [[count]],
    })
})
