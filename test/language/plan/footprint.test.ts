import { afterAll, beforeAll, expect, test } from 'vitest'
import { QueryError } from '../../../src/errors/errors.ts'
import { type Footprint, footprintOf } from '../../../src/language/plan/footprint.ts'
import { openTestProject, type TestProject } from '../../harness/duckdb.ts'

let project: TestProject
beforeAll(async () => {
  project = await openTestProject()
})
afterAll(() => project.close())

const budget = { bytes: 2 ** 27, threads: 2 }
/** What a row may have where all rows are read. */
const ofRow = 2 ** 27 / 2048 / 2
const largest = 8 * 1024 ** 2

async function footprint(statement: string): Promise<Footprint> {
  const { planned } = await project.compile(statement)
  return footprintOf(planned, budget)
}
const most = (bounds: ReadonlyMap<unknown, { readonly most: number }>) => [...bounds.values()].map((bound) => bound.most)

test.each([
  ['a constant call', "select range(10), repeat('ab', 3) from events"],
  ['calls that make as much as they take', "select lower(event), concat(event, '!', distinct_id), substring(event, 1, 2) from events"],
  ['parts of a text', "select arrayMap(x -> lower(x), splitByChar(',', event)) from events"],
  ['numbers of items', 'select arraySum(arrayMap(x -> x * 2, [1, 2, 3])), arrayExists(x -> x = event, [distinct_id]) from events'],
  ['a key that is grouped by', 'select event, count() from events group by event order by event'],
  ['values of groups', 'select arraySort(groupArray(event)) from events group by distinct_id'],
  ['a replacement that is no longer than what it replaces', "select replaceAll(event, 'a', 'b') from events"],
])('%s needs no bound', async (_, statement) => {
  const { calls, kept, each, rounds, columns } = await footprint(statement)
  expect([calls, kept, each, rounds, columns].map(({ size }) => size)).toEqual([0, 0, 0, 0, 0])
})

test.each([
  ['where all rows are read it is a share of the memory', 'select length(repeat(event, 3 + length(event))) from events', ofRow],
  ['what is made of it again divides it', 'select length(upper(repeat(event, 3 + length(event)))) from events', ofRow / 2],
  ['one row may have more', 'select length(range(toInt(toString(now()))))', largest],
  ['a few rows share what one may have', 'select length(range(number)) from numbers(32)', 2 ** 27 / 32],
  ['rows that are known by LIMIT', 'select length(range(number)) from (select number from numbers(100000) limit 64)', 2 ** 27 / 64],
  ['rows of a group by no key are one', "select length(repeat('a', count())) from events", largest],
  ['in a lambda as many items as rows are computed at once', 'select arraySum(x -> length(range(x)), [1, 2]) from events', ofRow],
])('%s', async (_, statement, expected) => {
  const { calls } = await footprint(statement)
  expect(most(calls)).toEqual([Math.floor(expected)])
})

test('a lambda that gives every item what stands around it is bounded by that, before anything is made', async () => {
  const { each } = await footprint("select arrayMap(x -> concat(x, distinct_id), splitByChar(',', event)) from events")
  const [bound] = [...each.values()]
  expect(bound).toMatchObject({ isStep: false, captured: [[{ kind: 'column', name: 'distinct_id' }, 1]] })
})

test('a lambda that makes more in itself is bounded by its value', async () => {
  const { each, calls } = await footprint('select arrayMap(x -> range(x), range(length(event))) from events')
  expect(calls.size).toBe(2)
  expect([...each.values()]).toMatchObject([{ captured: null, isStep: false }])
})

test('an accumulator is bounded in every step, and what a recursive query adds in every round', async () => {
  const steps = await footprint('select arrayFold((a, x) -> concat(a, a), [1, 2], event) from events')
  expect([...steps.each.values()]).toMatchObject([{ isStep: true }])
  const rounds = await footprint(
    "with recursive r as (select 1 as n, 'a' as t union all select n + 1, concat(t, t) from r where n < 9) select t from r",
  )
  expect(rounds.rounds.size).toBe(1)
})

test('a column that a statement makes a hundred times as much of is bounded, through subqueries too', async () => {
  const hexed = (depth: number) => `${'hex('.repeat(depth)}e${')'.repeat(depth)}`
  const statement = (depth: number) => `select max(length(${hexed(depth)})) from (select event as e from events)`
  expect((await footprint(statement(4))).columns.size).toBe(0)
  const { columns } = await footprint(statement(6))
  expect([...columns.keys()]).toEqual([expect.stringMatching(/^events.*\.event$/)])
})

test('what all rows of one group keep is bounded, and in groups what very much is made of', async () => {
  expect(most((await footprint('select groupArray(event) from events')).kept)).toEqual([2 ** 27])
  const hexed = (depth: number) =>
    `select ${'hex('.repeat(depth)}string_agg(event, ',')${')'.repeat(depth)} from events group by distinct_id`
  expect((await footprint(hexed(2))).kept.size).toBe(0)
  expect([...(await footprint(hexed(4))).kept.values()]).toMatchObject([{ isSummed: true }])
})

test('a constant that every item gets counts as often as there can be items', async () => {
  const { calls } = await footprint(`select arrayMap(x -> '${'a'.repeat(8000)}', range(length(event))) from events`)
  expect(most(calls)[0]).toBeLessThan(ofRow / 1000)
})

test.each([
  ['a constant that one call may not make', 'select length(range(2000000))'],
  ['a constant that every row would get a copy of', 'select arrayConcat(range(100000), [length(event)]) from events'],
  ['many constants', `select ${Array.from({ length: 40 }, (_, i) => `length(range(${900_000 + i}))`).join(', ')}`],
])('%s is refused before the engine is asked', async (_, statement) => {
  const refused = await footprint(statement).catch((error: unknown) => error)
  expect(refused).toBeInstanceOf(QueryError)
  expect(refused).toMatchObject({ code: 'makes-too-much' })
  const { bytes, most } = (refused as QueryError<'makes-too-much'>).data
  expect(bytes).toBeGreaterThan(most)
})
