import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { asked, asViewer, type Customers, openCustomers } from './customers.ts'

// Lists of people: those of the own events, with the properties that the token lists. The property `code` of a person is its distinct id.

let opened: Customers
beforeAll(async () => {
  opened = await openCustomers()
})
afterAll(() => opened.directory.close())

const series = [{ kind: 'EventsNode', event: 'order' }]
const dateRange = { date_from: '-30d' }
const trend = { kind: 'TrendsQuery', series, dateRange }
const retentionFilter = {
  totalIntervals: 4,
  period: 'Week',
  targetEntity: { id: '$pageview', type: 'events' },
  returningEntity: { id: 'order', type: 'events' },
}
const funnel = { kind: 'FunnelsQuery', series: [{ kind: 'EventsNode', event: '$pageview' }, ...series], dateRange }
const unended = { ...funnel, series: [funnel.series[0], { kind: 'EventsNode', event: 'bolt only' }] }
const behind = (source: object, point: object = {}) => ({
  kind: 'ActorsQuery',
  source: { kind: 'InsightActorsQuery', source, ...point },
  limit: 1000,
})
const listed = { personProperties: ['code', 'plan'] }
const people = behind(trend, { series: 0 })

const points: readonly (readonly [what: string, query: object])[] = [
  ['a trend', people],
  ['a day of a trend', behind(trend, { series: 0, day: '2026-03-10' })],
  ['a value of a breakdown', behind({ ...trend, breakdownFilter: { breakdown: 'plan', breakdown_type: 'event' } }, { breakdown: 'pro' })],
  ['the first events', behind({ ...trend, series: [{ ...series[0], math: 'first_time_for_user' }] })],
  ['a step of a funnel', { ...behind({}), source: { kind: 'FunnelsActorsQuery', source: funnel, funnelStep: 2 } }],
  ['those who left a funnel', { ...behind({}), source: { kind: 'FunnelsActorsQuery', source: unended, funnelStep: -2 } }],
  ['a row of a retention', behind({ kind: 'RetentionQuery', retentionFilter }, { interval: 1 })],
  ['a number of days', behind({ kind: 'StickinessQuery', series, dateRange }, { day: 2 })],
  ['a path', behind({ kind: 'PathsQuery', pathsFilter: { includeEventTypes: ['$pageview', 'custom_event'] }, dateRange })],
]

describe('lists of people of a viewer', () => {
  test.each(points)('behind %s are those of a project with its events alone', async (_, query) => {
    const codes = { ...query, select: ['properties.code'] }
    const seen = await asked(opened.all, asViewer(codes, listed))
    expect(seen).toEqual(await asked(opened.own, codes as never))
    const { results } = (seen as { answer: { results: readonly string[] } }).answer
    expect(results.length).toBeGreaterThan(0)
    expect(results.join()).not.toMatch(/bolt|corp/)
  })

  test('have the id, and the properties that are listed', async () => {
    const idOf = new Map<string, string>()
    for (const [id, code] of rows(await opened.all.query({ ...people, select: ['id', 'properties.code'] } as never))) idOf.set(code, id)
    const seen = rows(await opened.all.query(asViewer(people, listed)))
    expect(seen.length).toBeGreaterThan(5)
    for (const [person, id] of seen as unknown as [{ id: string; properties: { code: string } }, string][]) {
      expect(person).toEqual({ id, properties: { code: expect.any(String), plan: 'pro' } })
      expect(id).toBe(idOf.get(person.properties.code))
    }
    for (const [person, id] of rows(await opened.all.query(asViewer(people)))) expect(person).toEqual({ id, properties: {} })
  })

  test('count', async () => {
    const select = ['properties.plan', 'count()', 'sum(event_count)']
    expect(await asked(opened.all, asViewer({ ...people, select }, listed))).toEqual(
      await asked(opened.own, { ...people, select } as never),
    )
  })

  const ofOthers = { orderBy: ['(select max(events.person.properties.email) from events)'] }
  const ofCohort = { properties: [{ type: 'cohort', key: 'id', value: 1 }] }
  test.each([
    ['a property', { select: ['properties.email'] }],
    ['all properties', { select: ['properties'] }],
    ['an order', { orderBy: ['properties.email'] }],
    ['a filter', { properties: [{ type: 'person', key: 'email', operator: 'icontains', value: 'acme' }] }],
    ['an expression in a filter', { properties: [{ type: 'hogql', key: "properties.email like 'acme%'" }] }],
    ['a count', { select: ['uniq(properties.email)'] }],
    ['other ids', { select: ['pdi.distinct_id'] }],
    ['a filter on other ids', { properties: [{ type: 'person', key: 'distinct_id', operator: 'exact', value: 'bolt-1' }] }],
    ['the time when they were first seen', { select: ['created_at'] }],
    ['their revenue', { select: ['properties.$virt_revenue'] }],
    ['a query inside', ofOthers],
    ['a cohort', ofCohort],
  ])('refuse %s of what is not listed', async (_, more) => {
    const ask = (rules: object) => asked(opened.all, asViewer({ ...people, ...more }, rules))
    expect(await ask(listed)).toMatchObject({ code: 'not-for-viewers' })
    // Of a question of somebody else, the events are joined; the list shows no more.
    if (more !== ofOthers && more !== ofCohort) expect(await ask({ ...listed, mayJoin: true })).toMatchObject({ code: 'not-for-viewers' })
  })

  test.each(['actor_key', 'source.actor', 'actor', 'persons.@person_no'])('have no number that counts others: %s', async (column) => {
    const answer = await asked(opened.all, asViewer({ ...people, select: [column] }, listed))
    if ('answer' in answer) expect(JSON.stringify(answer)).not.toMatch(/"\[\d+\]"/)
  })

  test('are searched by the id and by what is listed', async () => {
    const found = async (search: string, personProperties: readonly string[]) =>
      rows(await opened.all.query(asViewer({ ...people, select: ['id'], search }, { personProperties }))).length
    expect(await found('acme@', ['email'])).toBeGreaterThan(0)
    expect(await found('bolt@', ['email'])).toBe(0)
    expect(await found('acme@', [])).toBe(0)
    expect(await found('acme-1', ['code'])).toBe(0)
    const [[id]] = rows(await opened.all.query(asViewer({ ...people, select: ['id'] }))) as unknown as [[string]]
    expect(await found(id, [])).toBe(1)
  })

  test('name people by what is listed', async () => {
    const select = ['person_display_name']
    const named = async (personProperties: readonly string[]) =>
      rows(await opened.all.query(asViewer({ ...people, select }, { personProperties }))) as unknown as [
        { display_name: string; id: string },
      ][]
    for (const [{ display_name }] of await named(['email'])) expect(display_name).toMatch(/^(acme|shared)@/)
    for (const [{ display_name, id }] of await named(['plan'])) expect(display_name).toBe(id)
  })

  test.each([
    ['of everybody', { kind: 'ActorsQuery' }, 'the table persons'],
    ['of a statement', { kind: 'ActorsQuery', source: { kind: 'HogQLQuery', query: 'select person_id from events' } }, 'the table persons'],
    ['of groups', behind({ ...trend, series: [{ ...series[0], math: 'unique_group', math_group_type_index: 0 }] }), 'the table groups'],
    [
      'of a kind that is closed',
      { kind: 'ActorsQuery', source: { kind: 'FunnelCorrelationActorsQuery', source: { kind: 'FunnelCorrelationQuery' } } },
      'FunnelCorrelationQuery',
    ],
  ])('are refused %s', async (_, query, what) => {
    for (const mayJoin of [false, true])
      expect(await asked(opened.all, asViewer(query, { mayJoin }))).toMatchObject({
        code: 'not-for-viewers',
        message: expect.stringContaining(what),
      })
  })

  test('of a chart that somebody else has written follow its filters, and show no more', async () => {
    const filters = [
      { type: 'person', key: 'email', value: 'acme@', operator: 'icontains' },
      { type: 'cohort', key: 'id', value: 1 },
    ]
    const chart = behind({ ...trend, properties: filters })
    const codes = { ...chart, select: ['properties.code'] }
    const rules = { ...listed, mayJoin: true }
    expect(await asked(opened.all, asViewer(codes, rules))).toEqual(await asked(opened.own, codes as never))
    expect(await asked(opened.all, asViewer(codes, listed))).toMatchObject({ code: 'not-for-viewers' })
    for (const [person] of rows(await opened.all.query(asViewer(chart, rules))))
      expect(Object.keys((person as unknown as { properties: object }).properties)).toEqual(listed.personProperties)
  })
})

const rows = (answer: unknown) => (answer as { results: [string, string][] }).results
