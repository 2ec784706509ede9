import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type LocalWaymark, open } from '../../../src/engine.ts'
import type { TrendsResponse } from '../../../src/queries/trends/index.ts'
import { assertGenerated } from '../../harness/assert-generated.ts'
import { type ReferenceEvent, type ReferenceQuery, referenceTrends } from '../../reference/trends.ts'
import { asQuery, eventArb, inZone, queryArb } from '../../reference/trends-cases.ts'

// Events as clients send them: some twice in a batch, some again later, in any order. The answer equals loops over the events, each
// taken once.

let waymark: LocalWaymark
beforeAll(async () => {
  waymark = await open({ dataDir: ':memory:', clock: () => new Date('2020-06-01T00:00:00Z') })
})
afterAll(() => waymark.close())

const sent = ({ event, person, at, session, group, properties }: ReferenceEvent, i: number) => ({
  uuid: `00000000-0000-4000-8000-${String(i).padStart(12, '0')}`,
  event,
  distinct_id: `d${person}`,
  timestamp: new Date(at / 1000).toISOString(),
  properties: { ...properties, ...(session && { $session_id: session }), ...(group && { $groups: { company: group } }) },
})
const round = (data: readonly number[]) => data.map((n) => Number(n.toFixed(6)))
const rowsOf = ({ results }: TrendsResponse, isTotal: boolean) =>
  results.map((row) => ({
    series: row.order,
    breakdown: (row.breakdown_value as string | undefined) ?? null,
    data: round(isTotal ? [row.aggregated_value!] : row.data!),
  }))

/** Of first events at one instant the first that arrived gives the breakdown, so that one may differ. */
const orderless = (query: ReferenceQuery): ReferenceQuery =>
  query.series.some((series) => series.math.startsWith('first_')) ? { ...query, breakdown: undefined } : query

test('duplicates and the order of arrival change nothing', async () => {
  const arrivals = fc.array(fc.tuple(fc.nat(), fc.integer()), { minLength: 1, maxLength: 60 })
  await assertGenerated(
    fc.asyncProperty(
      fc.array(eventArb, { minLength: 1, maxLength: 40, size: 'max' }),
      fc.array(queryArb, { minLength: 2, maxLength: 5, size: 'max' }),
      arrivals,
      async (events, [first, ...others], again) => {
        const shape = { zone: first!.zone, weekStartDay: first!.weekStartDay }
        const { id } = await waymark.createProject({ name: 'twice', timezone: shape.zone, week_start_day: shape.weekStartDay })
        const project = await waymark.project(id)
        const all = events.map(sent)
        const repeated = again.map(([which]) => all[which % all.length]!)
        const shuffled = [...all, ...repeated]
          .map((event, i) => ({ event, key: Math.sin(again[i % again.length]![1] + i * 7919) }))
          .sort((a, b) => a.key - b.key)
          .map(({ event }) => event)
        const middle = Math.ceil(shuffled.length / 2)
        await project.ingest({ batch: shuffled.slice(0, middle) })
        if (middle < shuffled.length) await project.ingest({ batch: shuffled.slice(middle) })
        await project.take({ batch: repeated })
        for (const drawn of [first!, ...others]) {
          const query = orderless(inZone(drawn, shape))
          const answer = (await project.answer(asQuery(query))) as TrendsResponse
          const expected = referenceTrends(events, query).map((row) => ({ ...row, data: round(row.data) }))
          expect(rowsOf(answer, query.isTotal)).toEqual(expected)
        }
      },
    ),
    { numRuns: Number(process.env.WAYMARK_RUNS ?? 8) },
  )
})
