import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { answerQuery } from '../../../src/answer.ts'
import type { TrendsResponse } from '../../../src/queries/trends/index.ts'
import { projectPool } from '../../harness/projects.ts'
import { referenceTrends } from '../../reference/trends.ts'
import { asQuery, eventArb, queryArb } from '../../reference/trends-cases.ts'

const pool = projectPool(new Date('2020-06-01T00:00:00Z'))
afterAll(() => pool.close())

const round = (data: readonly number[]) => data.map((n) => Number(n.toFixed(6)))

test('generated queries over generated events answer what loops over the events answer', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(eventArb, { maxLength: 60, size: 'max' }),
      fc.array(queryArb, { minLength: 1, maxLength: 6, size: 'max' }),
      async (events, queries) => {
        for (const query of queries) {
          const project = await pool.filled(query, events)
          const answer = (await answerQuery(asQuery(query), project)) as TrendsResponse
          const got = answer.results.map((row) => ({
            series: row.order,
            breakdown: row.breakdown_value ?? null,
            data: round(query.isTotal ? [row.aggregated_value!] : row.data!),
          }))
          const want = referenceTrends(events, query).map((row) => ({ ...row, data: round(row.data) }))
          expect(got).toEqual(want)
          if (!query.isTotal) {
            const first = answer.results[0]
            if (first) expect(first.days.length).toBe(first.data!.length)
          }
        }
      },
    ),
    { numRuns: Number(process.env.WAYMARK_RUNS ?? 40) },
  )
}, 60_000)
