import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { answerQuery } from '../../../src/engine/execution/answer.ts'
import type { TrendsResponse } from '../../../src/queries/trends/index.ts'
import { assertGenerated } from '../../harness/assert-generated.ts'
import { projectPool } from '../../harness/projects.ts'
import type { ReferenceEvent, ReferenceQuery } from '../../reference/trends.ts'
import { asQuery, byDay, counted, eventArb, queryArb } from '../../reference/trends-cases.ts'

// Relations that must hold between answers.

const pool = projectPool(new Date('2020-06-01T00:00:00Z'))
afterAll(() => pool.close())

const eventsArb = fc.array(eventArb, { maxLength: 50, size: 'max' })
const runs = { numRuns: Number(process.env.WAYMARK_RUNS ?? 25) }
const ask = async (query: object, drawn: ReferenceQuery, events: readonly ReferenceEvent[]): Promise<TrendsResponse> =>
  (await answerQuery(query, await pool.filled(drawn, events))) as TrendsResponse
const chart = ({ results }: TrendsResponse) =>
  results.map(({ data, aggregated_value, breakdown_value, order }) => [order, breakdown_value, aggregated_value, data])
const near = (a: unknown, b: unknown) => expect(JSON.parse(JSON.stringify(a), rounded)).toEqual(JSON.parse(JSON.stringify(b), rounded))
const rounded = (_: string, value: unknown) => (typeof value === 'number' ? Number(value.toFixed(6)) : value)
const dayAfter = (date: string, days: number) => new Date(Date.parse(date) + days * 86_400_000).toISOString().slice(0, 10)

test('a range split in two adds up', async () => {
  const property = fc.asyncProperty(eventsArb, queryArb, fc.nat(20), async (events, drawn, cut) => {
    const whole = { ...byDay(drawn), isTotal: false, isCumulative: false, smoothing: 1, breakdown: undefined }
    const middle = dayAfter(whole.from, cut)
    if (middle >= whole.to) return
    const parts = [
      { ...whole, to: middle },
      { ...whole, from: dayAfter(middle, 1) },
    ]
    const answers: number[][][] = []
    for (const query of [whole, ...parts]) answers.push(chart(await ask(asQuery(query), query, events)).map((row) => row[3] as number[]))
    const [all, first, second] = answers
    near(
      all,
      first!.map((data, i) => [...data, ...second![i]!]),
    )
  })
  await assertGenerated(property, runs)
})

test('a filter that is always true changes nothing', async () => {
  const always = {
    type: 'OR',
    values: [
      { type: 'hogql', key: '1 = 1' },
      { type: 'event', key: 'f', value: 'yes', operator: 'exact' },
    ],
  }
  const property = fc.asyncProperty(eventsArb, queryArb, async (events, query) => {
    const plain = asQuery(query)
    near(chart(await ask({ ...plain, properties: always }, query, events)), chart(await ask(plain, query, events)))
  })
  await assertGenerated(property, runs)
})

test('values of a breakdown and Other add up to the whole, for maths that add', async () => {
  const property = fc.asyncProperty(
    eventsArb,
    queryArb,
    fc.constantFrom('k', 'n'),
    fc.constantFrom('total', 'sum'),
    async (events, drawn, breakdown, math) => {
      const series = drawn.series.map((s) => ({ event: s.event, filter: s.filter, math, property: 'n' }))
      const query = { ...counted(drawn), series, breakdown: undefined, smoothing: 1 }
      const whole = chart(await ask(asQuery(query), query, events))
      const split = chart(await ask(asQuery({ ...query, breakdown }), query, events))
      for (const [order, , total, data] of whole) {
        const rows = split.filter((row) => row[0] === order)
        const sum = (pick: (row: unknown[]) => number) => rows.reduce((all, row) => all + pick(row), 0)
        if (query.isTotal) near([sum((row) => row[2] as number)], [total])
        else
          near(
            (data as number[]).map((_, i) => sum((row) => (row[3] as number[])[i]!)),
            data,
          )
      }
    },
  )
  await assertGenerated(property, runs)
})

test('the order in which events arrive changes nothing', async () => {
  const property = fc.asyncProperty(eventsArb, queryArb, fc.integer(), async (events, query, seed) => {
    // Of first events at one instant the first that arrived gives the breakdown.
    const arrived = query.series.some((s) => s.math.startsWith('first_')) ? { ...query, breakdown: undefined } : query
    const shuffled = events
      .map((event, i) => ({ event, key: Math.sin(seed + i * 7919) }))
      .sort((a, b) => a.key - b.key)
      .map(({ event }) => event)
    near(chart(await ask(asQuery(arrived), arrived, shuffled)), chart(await ask(asQuery(arrived), arrived, events)))
  })
  await assertGenerated(property, runs)
})

test('a compared range shows the numbers that its own range shows', async () => {
  const property = fc.asyncProperty(eventsArb, queryArb, async (events, drawn) => {
    // Formulas of compared periods have an order of their own.
    const query = { ...byDay(drawn), formula: undefined }
    const length = (Date.parse(query.to) - Date.parse(query.from)) / 86_400_000 + 1
    const before = { ...query, from: dayAfter(query.from, -length), to: dayAfter(query.from, -1) }
    const both = (await ask({ ...asQuery(query), compareFilter: { compare: true } }, query, events)) as TrendsResponse
    const of = (label: string) => chart({ ...both, results: both.results.filter((row) => row.compare_label === label) })
    near(of('current'), chart(await ask(asQuery(query), query, events)))
    near(of('previous'), chart(await ask(asQuery(before), before, events)))
  })
  await assertGenerated(property, runs)
})
