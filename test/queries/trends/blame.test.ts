import { afterAll, expect, test } from 'vitest'
import { answerQuery } from '../../../src/answer.ts'
import { projectPool } from '../../harness/projects.ts'

// What only the statement shows to be wrong is said of the field of the query whose text it comes from.

const pool = projectPool(new Date('2020-06-01T00:00:00Z'))
afterAll(() => pool.close())

const sum = (math_hogql: string) => ({ kind: 'EventsNode', event: 'a', math: 'hogql', math_hogql })
const series = [{ kind: 'EventsNode', event: 'a' }]

test.each<[string, object, string, string]>([
  ['an expression that ends too early', { series: [sum('count()'), sum('sum(')] }, 'syntax-error', 'series__1__math_hogql'],
  ['an expression that folds nothing', { series: [sum('properties.n')] }, 'not-grouped', 'series__0__math_hogql'],
  ['a function that is none', { series: [sum('summ(properties.n)')] }, 'unknown-function', 'series__0__math_hogql'],
  [
    'a breakdown that is no expression',
    { breakdownFilter: { breakdown: 'f(', breakdown_type: 'hogql' } },
    'syntax-error',
    'breakdownFilter__breakdown',
  ],
  [
    'a breakdown by a column that is none',
    { breakdownFilter: { breakdowns: [{ property: 'k' }, { property: 'colour', type: 'event_metadata' }] } },
    'unknown-field',
    'breakdownFilter__breakdowns__1__property',
  ],
  [
    'a breakdown by what no session has',
    { breakdownFilter: { breakdown: 'x', breakdown_type: 'session' } },
    'unknown-field',
    'breakdownFilter__breakdown',
  ],
  [
    'a cohort that is not there',
    { breakdownFilter: { breakdown: [99], breakdown_type: 'cohort' } },
    'validation-failed',
    'breakdownFilter__breakdown',
  ],
  [
    'a comparison with no length',
    { compareFilter: { compare: true, compare_to: 'yesterday' } },
    'validation-failed',
    'compareFilter__compare_to',
  ],
  ['a filter that is no expression', { properties: [{ type: 'hogql', key: 'properties.n >' }] }, 'syntax-error', 'properties__0__key'],
  [
    'numbers from where none are',
    { series: [{ kind: 'EventsNode', math: 'sum', math_property: 'n', math_property_type: 'moon' }] },
    'validation-failed',
    'series__0__math_property_type',
  ],
])('%s', async (_, parts, code, attr) => {
  const project = await pool.filled({ zone: 'UTC', weekStartDay: 0 }, [])
  await expect(answerQuery({ kind: 'TrendsQuery', series, ...parts }, project)).rejects.toMatchObject({ code, attr })
})
