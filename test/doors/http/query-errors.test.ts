import { expect, test } from 'vitest'
import { answeredKinds } from '../../../src/queries/asked-query.ts'
import { refused, withHome } from './conversation.ts'

const held = withHome()
const ask = (query: unknown, more: object = {}) =>
  held.home.call('POST', '/api/projects/@current/query/', { as: held.home.member, body: { query, ...more } })
/** Checked where the filter is made, not by the schema. */
const operator = 'properties__0__operator'
const series = [{ kind: 'EventsNode', event: 'e' }]

test.each<[string, object, string, string]>([
  ['a math', { series: [{ ...series[0], math: 'totl' }] }, 'series__0__math', 'series[0].math must be one of total, dau'],
  ['a field of a series', { series: [{ ...series[0], propertes: [] }] }, 'series__0__propertes', 'Did you mean "properties"?'],
  ['an interval', { series, interval: 'dayy' }, 'interval', 'must be one of second, minute, hour, day, week'],
  ['a field of the query', { series, date_range: {} }, 'date_range', 'Did you mean "dateRange"?'],
  [
    'an operator',
    { series, properties: [{ type: 'event', key: 'a', operator: 'larger', value: 1 }] },
    'properties__0__operator',
    'The operator of a filter must be one of exact',
  ],
])('what does not fit is named with its field: %s', async (_, fields, attr, words) => {
  expect(await ask({ kind: 'TrendsQuery', ...fields })).toMatchObject(
    refused(400, attr === operator ? 'invalid_input' : 'parse_error', expect.stringContaining(words), attr),
  )
  const data = await held.home.world.projectData(held.home.project.id)
  await expect(data.answer({ kind: 'TrendsQuery', ...fields })).rejects.toMatchObject({ code: 'validation-failed', attr })
})

test('an unknown kind is answered with the kinds that are answered here, and no others', async () => {
  const { body } = await ask({ kind: 'TrendQuery', series })
  const listed = [...body.detail.split('expected tags: ')[1].matchAll(/'(\w+)'/g)].map(([, kind]) => kind)
  expect(listed.slice(0, -1).sort()).toEqual([...answeredKinds])
  expect([body.attr, listed.at(-1)]).toEqual(['kind', 'TrendsQuery'])
})

test('a kind that only the reference system has says what is answered here', async () => {
  const { status, body } = await ask({ kind: 'RecordingsQuery' })
  expect([status, body.attr]).toEqual([400, 'kind'])
  expect(body.detail).toBe('Unsupported query kind: RecordingsQuery')
  expect(body.extra.expected).toBe(`One of ${answeredKinds.join(', ')}`)
})

test('a field beside the query', async () => {
  expect(await ask({ kind: 'TrendsQuery', series }, { refrsh: true })).toMatchObject(
    refused(400, 'parse_error', expect.stringContaining('Did you mean "refresh"?'), 'refrsh'),
  )
})

test('the library refuses unknown fields of actions and cohorts', async () => {
  const data = await held.home.world.projectData(held.home.project.id)
  await expect(data.createAction({ name: 'a', stps: [] } as never)).rejects.toMatchObject({
    attr: 'stps',
    message: expect.stringContaining('"steps"'),
  })
  await expect(data.createCohort({ name: 'a', filtrs: {} } as never)).rejects.toMatchObject({
    attr: 'filtrs',
    message: expect.stringContaining('"filters"'),
  })
})

test.each([
  ['a row that is refused', "throwIf(event != '', 'stop here')"],
  ['arrays of different lengths', 'arrayZip([1], range(length(event)))'],
  ['a type mismatch', 'sum(event)'],
  ['an unknown field', 'nope'],
])('%s is answered alike in every form', async (_, column) => {
  const { call, project, world, member } = held.home
  await call('POST', '/capture/', { body: { api_key: project.api_token, event: 'opened', distinct_id: 'ann' } })
  const headers = { ...(await world.login(member)), 'content-type': 'application/json' }
  const body = JSON.stringify({ query: { kind: 'EventsQuery', select: ['event', column], after: 'all' } })
  const answers = []
  for (const accept of ['application/json', 'text/csv', 'application/vnd.apache.arrow.stream']) {
    const answer = await fetch(`${world.url}/api/projects/@current/query/`, { method: 'POST', headers: { ...headers, accept }, body })
    answers.push([answer.status, await answer.json()])
  }
  expect(answers[0]![0]).toBe(400)
  expect(JSON.stringify(answers[0]![1])).toContain('select__1')
  expect(answers[1]).toEqual(answers[0])
  expect(answers[2]).toEqual(answers[0])
})
