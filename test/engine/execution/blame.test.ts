import { afterAll, expect, test } from 'vitest'
import { answerQuery } from '../../../src/engine/execution/answer.ts'
import { answerRows } from '../../../src/engine/execution/answer-rows.ts'
import { queryArrow } from '../../../src/engine/execution/arrow.ts'
import type { QueryError } from '../../../src/errors/errors.ts'
import { projectPool } from '../../harness/projects.ts'

// Errors that appear only in the statement are reported for the field of the query that contains the text.

const pool = projectPool(new Date('2020-06-01T00:00:00Z'))
afterAll(() => pool.close())

const sum = (math_hogql: string) => ({ kind: 'EventsNode', event: 'a', math: 'hogql', math_hogql })
const series = [{ kind: 'EventsNode', event: 'a' }]
const utc = { zone: 'UTC', weekStartDay: 0 as const }
const event = { event: 'a', person: 1, at: Date.parse('2020-05-30T00:00:00Z') * 1000, session: '', group: '', properties: { n: 'x' } }
const range = { dateRange: { date_from: '2020-05-29', date_to: '2020-05-31' } }

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
  [
    'numbers of a session that it has not',
    { series: [{ kind: 'EventsNode', math: 'sum', math_property: 'n', math_property_type: 'session_properties' }] },
    'unknown-field',
    'series__0__math_property',
  ],
  [
    'money, without exchange rates',
    { series: [{ kind: 'EventsNode', math: 'sum', math_property: 'n', math_property_revenue_currency: { static: 'EUR' } }] },
    'unsupported-function',
    'series__0__math_property_revenue_currency',
  ],
  ['a math without enough of anything', { series: [sum('count()'), sum('sum()')] }, 'wrong-arity', 'series__1__math_hogql'],
  ['a sum of texts', { series: [sum('sum(event)')] }, 'type-mismatch', 'series__0__math_hogql'],
  [
    'a breakdown that folds',
    { breakdownFilter: { breakdown: 'count()', breakdown_type: 'hogql' } },
    'invalid-query',
    'breakdownFilter__breakdown',
  ],
  [
    'a name of a cohort where its number should be',
    { breakdownFilter: { breakdown: ['best'], breakdown_type: 'cohort' } },
    'validation-failed',
    'breakdownFilter__breakdown',
  ],
  ['a start that is no date', { dateRange: { date_from: '2020-13-01' } }, 'validation-failed', 'dateRange__date_from'],
  ['an end that is no date', { dateRange: { date_to: 'xx' } }, 'validation-failed', 'dateRange__date_to'],
  ['more buckets than a chart can have', { interval: 'second', dateRange: { date_from: '-1y' } }, 'validation-failed', 'interval'],
  ['a filter by a field that is none', { properties: [{ type: 'hogql', key: 'nope = 1' }] }, 'unknown-field', 'properties__0__key'],
  [
    'a filter of a series',
    {
      series: [
        ...series,
        {
          kind: 'EventsNode',
          properties: [
            { key: 'a', value: 1 },
            { key: 'a', value: 1, operator: 'like' },
          ],
        },
      ],
    },
    'validation-failed',
    'series__1__properties__1__operator',
  ],
  [
    'a fixed filter of one of several events',
    {
      series: [
        { kind: 'GroupNode', operator: 'OR', nodes: [...series, { kind: 'EventsNode', fixedProperties: [{ type: 'hogql', key: '1 +' }] }] },
      ],
    },
    'syntax-error',
    'series__0__nodes__1__fixedProperties__0__key',
  ],
  [
    'a filter that folds',
    {
      properties: [
        { type: 'hogql', key: "event = 'a'" },
        { type: 'hogql', key: 'count() > 1' },
      ],
    },
    'invalid-query',
    'properties__1__key',
  ],
  [
    'a name that another field holds as well',
    { series: [sum('sum(properties.nope)')], properties: [{ type: 'hogql', key: 'nope = 1' }] },
    'unknown-field',
    'properties__0__key',
  ],
  [
    'a function that another field names in a text',
    {
      properties: [
        { type: 'hogql', key: "event = 'summ('" },
        { type: 'hogql', key: 'summ(1) = 1' },
      ],
    },
    'unknown-function',
    'properties__1__key',
  ],
  ['a filter that is not true or false', { properties: [{ type: 'hogql', key: 'event' }] }, 'type-mismatch', 'properties__0__key'],
  ['a filter by what no session has', { properties: [{ type: 'session', key: 'nope', value: 1 }] }, 'unknown-field', 'properties__0__key'],
  [
    'a regular expression that is none, deep inside',
    { properties: { type: 'AND', values: [{ type: 'OR', values: [{ key: 'n', value: '(', operator: 'regex' }] }] } },
    'engine-refused',
    'properties__values__0__values__0__value',
  ],
  [
    'a sixth type of groups',
    { properties: [{ type: 'group', key: 'n', value: 1, group_type_index: 5 }] },
    'validation-failed',
    'properties__0__group_type_index',
  ],
])('%s', async (_, parts, code, attr) => {
  const project = await pool.filled(utc, [event])
  await expect(answerQuery({ kind: 'TrendsQuery', series, ...range, ...parts }, project)).rejects.toMatchObject({ code, attr })
})

test.each<[string, object, string, string]>([
  [
    'a step of a funnel',
    { kind: 'FunnelsQuery', series: [...series, { kind: 'EventsNode', event: 'b', properties: [{ type: 'hogql', key: 'nope = 1' }] }] },
    'unknown-field',
    'series__1__properties__0__key',
  ],
  [
    'an exclusion of a funnel',
    {
      kind: 'FunnelsQuery',
      series: [...series, { kind: 'EventsNode', event: 'b' }],
      funnelsFilter: {
        exclusions: [
          { kind: 'EventsNode', event: 'c', funnelFromStep: 0, funnelToStep: 1, properties: [{ key: 'n', value: 1, operator: 'like' }] },
        ],
      },
    },
    'validation-failed',
    'funnelsFilter__exclusions__0__properties__0__operator',
  ],
  [
    'a lifecycle',
    { kind: 'LifecycleQuery', series: [{ kind: 'EventsNode', properties: [{ key: 'n', value: '(', operator: 'not_regex' }] }] },
    'engine-refused',
    'series__0__properties__0__value',
  ],
  [
    'a retention',
    {
      kind: 'RetentionQuery',
      retentionFilter: { returningEntity: { id: 'a', properties: [{ key: 'n', value: '(', operator: 'not_regex' }] } },
    },
    'engine-refused',
    'retentionFilter__returningEntity__properties__0__value',
  ],
  [
    'a stickiness',
    { kind: 'StickinessQuery', series: [{ kind: 'EventsNode', event: 'a', math: 'hogql', math_hogql: 'nope' }] },
    'unknown-field',
    'series__0__math_hogql',
  ],
  [
    'a pattern in a filter of a web overview',
    { kind: 'WebOverviewQuery', properties: [{ key: 'n', value: '(', operator: 'regex' }] },
    'engine-refused',
    'properties__0__value',
  ],
  [
    'a property of sessions in a table of a site',
    { kind: 'WebStatsTableQuery', breakdownBy: 'Page', properties: [{ type: 'session', key: '$entry_nope', value: 'x' }] },
    'unknown-field',
    'properties__0__key',
  ],
  [
    'a replacement of paths',
    { kind: 'PathsQuery', pathsFilter: { localPathCleaningFilters: [{ regex: '(', alias: 'x' }] } },
    'engine-refused',
    'pathsFilter__localPathCleaningFilters__0__regex',
  ],
  [
    'the items of paths',
    { kind: 'PathsQuery', pathsFilter: { pathsHogQLExpression: 'nope' } },
    'unknown-field',
    'pathsFilter__pathsHogQLExpression',
  ],
  [
    'the funnel of paths',
    {
      kind: 'PathsQuery',
      funnelPathsFilter: {
        funnelPathType: 'funnel_path_after_step',
        funnelStep: 1,
        funnelSource: {
          kind: 'FunnelsQuery',
          series: [
            { kind: 'EventsNode', event: 'a' },
            { kind: 'EventsNode', event: 'b', properties: [{ type: 'hogql', key: 'nope' }] },
          ],
        },
      },
    },
    'unknown-field',
    'funnelPathsFilter__funnelSource__series__1__properties__0__key',
  ],
  [
    'a list of events',
    { kind: 'EventsQuery', select: ['event'], properties: [{ type: 'hogql', key: 'nope' }] },
    'unknown-field',
    'properties__0__key',
  ],
  [
    'a list of people',
    { kind: 'ActorsQuery', fixedProperties: [{ type: 'event', key: 'n', value: 1 }] },
    'validation-failed',
    'fixedProperties__0__type',
  ],
  [
    'people behind a point: in the chart that the request holds',
    {
      kind: 'ActorsQuery',
      source: {
        kind: 'InsightActorsQuery',
        source: { kind: 'TrendsQuery', series: [{ kind: 'EventsNode', properties: [{ key: 'n', value: 1, operator: 'like' }] }] },
      },
    },
    'validation-failed',
    'source__source__series__0__properties__0__operator',
  ],
  [
    'people behind a point, in its statement',
    {
      kind: 'ActorsQuery',
      source: { kind: 'InsightActorsQuery', source: { kind: 'TrendsQuery', series, properties: [{ type: 'hogql', key: 'nope' }] } },
    },
    'unknown-field',
    'source__source__properties__0__key',
  ],
])('in %s', async (_, query, code, attr) => {
  const project = await pool.filled(utc, [event])
  await expect(answerQuery(query, project)).rejects.toMatchObject({ code, attr })
})

test('an error without a field is reported unchanged', async () => {
  const project = await pool.filled(utc, [event])
  const properties = [{ type: 'hogql', key: "event = 'a'" }]
  await expect(answerQuery({ kind: 'EventsQuery', select: ['nope'], properties }, project)).rejects.toMatchObject({ attr: 'select__0' })
  const statement = { kind: 'HogQLQuery', query: 'select nope from events where {filters}', filters: { properties } }
  await expect(answerQuery(statement, project)).rejects.toMatchObject({ code: 'unknown-field', attr: null })
})

test('errors in several fields are reported for each, with its own text', async () => {
  const project = await pool.filled(utc, [event])
  const query = {
    kind: 'TrendsQuery',
    series: [sum('sum(properties.n) + nope')],
    properties: [{ type: 'hogql', key: '1 = 1 and nope' }],
    ...range,
  }
  const error = await answerQuery(query, project).then(
    () => null,
    (thrown: QueryError) => thrown,
  )
  expect([error!, ...error!.others].map(({ attr, source, position }) => [attr, source, position?.column])).toEqual([
    ['series__0__math_hogql', 'sum(properties.n) + nope', 21],
    ['properties__0__key', '1 = 1 and nope', 11],
  ])
})

test.each([
  ['a refusal of ours', "throwIf(event = 'a', 'not this')", 'not this'],
  ['a division by zero', 'modulo(7, length(event) - 1)', 'Division by zero'],
  ['arrays side by side', 'arrayZip([1], range(length(event) + 1))', "'arrayZip' needs arrays of the same length"],
  ['a sum that the engine refuses', 'toInt(9223372036854775807) + length(event)', 'out of range'],
  ['a cast that it refuses', 'cast(event as Array(Int64))', ''],
])('%s in one of several columns is said of that column, in every form', async (_, column, words) => {
  const project = await pool.filled(utc, [event])
  const query = { kind: 'EventsQuery', select: ['event', 'length(event)', column], after: '2020-01-01' }
  const inRows = async () => {
    const rows = await answerRows(query, project)
    while (!(await rows!.batches.next()).done);
  }
  for (const ask of [() => answerQuery(query, project), inRows, () => queryArrow(query, project)])
    await expect(ask()).rejects.toMatchObject({ attr: 'select__2', source: column, message: expect.stringContaining(words) })
})

test('for two columns with the same text the error names one of them', async () => {
  const project = await pool.filled(utc, [event])
  const query = { kind: 'EventsQuery', select: ["throwIf(event = 'a', 'one')", "throwIf(event = 'a', 'two')"], after: '2020-01-01' }
  await expect(answerQuery(query, project)).rejects.toMatchObject({
    attr: expect.stringMatching(/^select__[01]$/),
    position: { offset: 0 },
  })
})

test('an error that no single column causes keeps its text', async () => {
  const project = await pool.filled(utc, [event])
  const query = { kind: 'EventsQuery', select: ['event', 'length(event)'], after: '2020-01-01', where: ["throwIf(event = 'a', 'no') = 0"] }
  await expect(answerQuery(query, project)).rejects.toMatchObject({ attr: 'where__0', message: 'no' })
})
