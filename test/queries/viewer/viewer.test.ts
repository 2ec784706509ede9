import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Query } from '../../../src/index.ts'
import { asked, asViewer, type Customers, comparable, openCustomers } from './customers.ts'
import { mutated } from './mutated.ts'

const series = (event: string, more = {}) => ({ kind: 'EventsNode' as const, event, ...more })
const dateRange = { date_from: '-30d' }

const questions: readonly Query[] = [
  { kind: 'TrendsQuery', series: [series('order')], dateRange },
  {
    kind: 'TrendsQuery',
    series: [series('order', { math: 'dau' }), series('signup', { math: 'sum', math_property: 'amount' })],
    dateRange,
  },
  { kind: 'TrendsQuery', series: [series('order', { math: 'weekly_active' })], dateRange },
  { kind: 'TrendsQuery', series: [series('order', { math: 'first_time_for_user' })], dateRange },
  { kind: 'TrendsQuery', series: [series('order')], breakdownFilter: { breakdown: 'plan', breakdown_type: 'event' }, dateRange },
  {
    kind: 'TrendsQuery',
    series: [{ kind: 'EventsNode', event: null }],
    breakdownFilter: { breakdown: 'customer', breakdown_type: 'event' },
    dateRange,
  },
  {
    kind: 'TrendsQuery',
    series: [series('order', { properties: [{ type: 'event', key: 'amount', operator: 'gt', value: 300 }] })],
    dateRange,
  },
  {
    kind: 'TrendsQuery',
    series: [series('$pageview')],
    properties: [{ type: 'session', key: '$session_duration', operator: 'gt', value: 10 }],
    dateRange,
  },
  { kind: 'FunnelsQuery', series: [series('$pageview'), series('signup'), series('order')], dateRange },
  {
    kind: 'FunnelsQuery',
    series: [series('$pageview'), series('order')],
    breakdownFilter: { breakdown: 'plan', breakdown_type: 'event' },
    dateRange,
  },
  { kind: 'FunnelsQuery', series: [series('$pageview'), series('order')], funnelsFilter: { funnelVizType: 'trends' }, dateRange },
  { kind: 'FunnelsQuery', series: [series('$pageview'), series('order')], funnelsFilter: { funnelOrderType: 'unordered' }, dateRange },
  {
    kind: 'RetentionQuery',
    retentionFilter: {
      totalIntervals: 7,
      period: 'Day',
      targetEntity: { id: '$pageview', type: 'events' },
      returningEntity: { id: 'order', type: 'events' },
    },
  },
  { kind: 'StickinessQuery', series: [series('order')], dateRange },
  { kind: 'PathsQuery', pathsFilter: { includeEventTypes: ['$pageview', 'custom_event'] }, dateRange },
  { kind: 'TeamTaxonomyQuery' },
  { kind: 'EventTaxonomyQuery', event: 'order' },
  { kind: 'EventTaxonomyQuery', event: 'order', properties: ['customer', 'secret', 'plan', 'nothing'], maxPropertyValues: 20 },
  { kind: 'EventTaxonomyQuery', event: 'bolt only' },
  { kind: 'WebOverviewQuery', dateRange, properties: [] },
  { kind: 'WebStatsTableQuery', breakdownBy: 'Page', dateRange, properties: [] },
  {
    kind: 'SqlLikeQuery',
    query: 'select event, count(), uniq(person_id), uniq(distinct_id), sum(properties.amount) from events group by event order by event',
  },
  { kind: 'SqlLikeQuery', query: 'select count() from events' },
  {
    kind: 'SqlLikeQuery',
    query: 'select properties.customer, count() from events where event = {name} group by 1 order by 1',
    values: { name: 'order' },
  },
  { kind: 'SqlLikeQuery', query: 'select session_id, $session_duration from sessions order by 1' },
  {
    kind: 'SqlLikeQuery',
    query: "select e.event, count() from events e left join events f on e.uuid = f.uuid and f.event = 'order' group by 1 order by 1",
  },
  {
    kind: 'SqlLikeQuery',
    query:
      "with a as (select distinct_id from events where event = 'order') select count() from events where distinct_id in (select distinct_id from a)",
  },
  { kind: 'SqlLikeQuery', query: 'select event, timestamp, distinct_id, properties.plan from events order by timestamp desc limit 20' },
  { kind: 'SqlLikeQuery', query: 'select * from events order by timestamp limit 5' },
  { kind: 'SqlLikeQuery', query: 'select event, session.$session_duration from events order by timestamp limit 5' },
  { kind: 'SqlLikeQuery', query: 'select distinct event from events union all select properties.customer from events order by 1' },
  { kind: 'SqlLikeQuery', query: 'select (select count() from events), (select max(properties.amount) from events)' },
  // Fails for the rows of others only.
  { kind: 'SqlLikeQuery', query: 'select sum(toInt(properties.secret)) from events' },
  { kind: 'SqlLikeQuery', query: "select count() from events where toInt(properties.secret) > 3 and event = 'order'" },
]

let opened: Customers
beforeAll(async () => {
  opened = await openCustomers()
})
afterAll(() => opened.directory.close())

describe('a viewer', () => {
  test.each(questions.map((question) => [question.kind, JSON.stringify(question).slice(0, 120), question] as const))(
    'gets the answer of a project with its events alone: %s %s',
    async (_, __, question) => {
      expect(comparable(await opened.all.query(asViewer(question)))).toEqual(comparable(await opened.own.query(question)))
    },
  )

  test.each([
    ['persons', { kind: 'SqlLikeQuery', query: 'select count() from persons' }, 'the table persons'],
    [
      'persons behind another name',
      { kind: 'SqlLikeQuery', query: 'select 1 where exists (select 1 from raw_persons as events)' },
      'raw_persons',
    ],
    ['groups', { kind: 'SqlLikeQuery', query: 'select key from groups' }, 'the table groups'],
    ['distinct ids', { kind: 'SqlLikeQuery', query: 'select distinct_id from person_distinct_ids' }, 'the table person_distinct_ids'],
    ['ids behind an event', { kind: 'SqlLikeQuery', query: 'select pdi.distinct_id from events' }, 'pdi.distinct_id'],
    ['members of cohorts', { kind: 'SqlLikeQuery', query: 'select person_id from cohort_people' }, 'cohort_people'],
    ['a property of a person', { kind: 'SqlLikeQuery', query: 'select person.properties.email from events' }, 'person.properties.email'],
    ['all properties of a person', { kind: 'SqlLikeQuery', query: 'select person.properties from events' }, 'person.properties'],
    ['when a person was first seen', { kind: 'SqlLikeQuery', query: 'select min(person.created_at) from events' }, 'person.created_at'],
    ['a property of a group', { kind: 'SqlLikeQuery', query: 'select group_0.properties.x from events' }, 'group_0.properties.x'],
    [
      'a filter on a person',
      {
        kind: 'TrendsQuery',
        series: [series('order', { properties: [{ type: 'person', key: 'email', value: 'a', operator: 'icontains' }] })],
      },
      'person.properties.email',
    ],
    ['when the people of a lifecycle were first seen', { kind: 'LifecycleQuery', series: [series('order')] }, 'person.created_at'],
    ['actions, by their events', { kind: 'EventTaxonomyQuery', actionId: 1 }, 'actions'],
    ['values of persons', { kind: 'ActorsPropertyTaxonomyQuery', properties: ['plan'] }, 'a query of the kind ActorsPropertyTaxonomyQuery'],
    [
      'suggestions',
      { kind: 'HogQLAutocomplete', query: 'select ', startPosition: 7, endPosition: 7 },
      'a query of the kind HogQLAutocomplete',
    ],
    ['the rules of another viewer', asViewer({ kind: 'SqlLikeQuery', query: 'select 1' }), 'a query of the kind ViewerQuery'],
    ['the rules of another viewer, which has none', { kind: 'ViewerQuery' }, 'a query of the kind ViewerQuery'],
    ['a kind that is none', { kind: 'constructor' }, 'a query of the kind constructor'],
  ])('cannot read %s', async (_, source, what) => {
    const answer = await asked(opened.all, asViewer(source))
    expect(answer).toMatchObject({ code: 'not-for-viewers' })
    expect((answer as { message: string }).message).toContain(what)
  })

  test.each([
    ['action', 'select count() from events where matchesAction(1)'],
    ['cohort', 'select count() from events where person_id in cohort 1'],
    ['view', 'select * from my_view'],
  ])('knows no %s of the project', async (_, query) => {
    expect(await asked(opened.all, asViewer({ kind: 'SqlLikeQuery', query }))).toHaveProperty('code')
  })

  test('gets no names that only others have: neither as suggestions nor in warnings', async () => {
    const [event, property] = await Promise.all([
      opened.all.query(asViewer({ kind: 'TrendsQuery', series: [series('bolt onl')] })),
      opened.all.query(asViewer({ kind: 'SqlLikeQuery', query: 'select properties.secre from events limit 1' })),
    ])
    expect(event).not.toHaveProperty('warnings')
    expect(property).not.toHaveProperty('warnings')
  })

  test('reads the properties of persons that are listed for it', async () => {
    const source = { kind: 'SqlLikeQuery', query: 'select distinct person.properties.plan from events' }
    expect(await asked(opened.all, asViewer(source, { personProperties: ['plan'] }))).toEqual({
      answer: { results: ['["pro"]'], columns: ['plan'] },
    })
    expect(await asked(opened.all, asViewer(source, { personProperties: ['email'] }))).toMatchObject({ code: 'not-for-viewers' })
  })

  test('whose question others wrote gets what belongs to its events, and still no other rows', async () => {
    const mayJoin = { mayJoin: true }
    const trend = {
      kind: 'TrendsQuery',
      series: [
        series('order', {
          properties: [
            { type: 'cohort', key: 'id', value: 1 },
            { type: 'person', key: 'email', value: 'acme@', operator: 'icontains' },
          ],
        }),
      ],
      dateRange,
    }
    expect(await asked(opened.all, asViewer(trend, mayJoin))).toEqual(await asked(opened.own, trend as never))
    const inCohort = {
      kind: 'SqlLikeQuery',
      query: 'select count() from events where person_id in (select person_id from cohort_people where cohort_id = 1)',
    }
    expect(await asked(opened.all, asViewer(inCohort, mayJoin))).toEqual(await asked(opened.own, inCohort as never))
    for (const query of ['select count() from cohort_people', 'select count() from persons', 'select count() from events, cohort_people'])
      expect(await asked(opened.all, asViewer({ kind: 'SqlLikeQuery', query }, mayJoin))).toMatchObject({ code: 'not-for-viewers' })
  })

  test.each([
    ['no filter', []],
    ['a filter without a value', [{ type: 'event', key: 'customer', operator: 'exact' }]],
    ['a filter without a property', [{ type: 'event', value: 'acme' }]],
    [
      'one that says something, and one that does not',
      [
        { type: 'event', key: 'customer', operator: 'exact', value: 'acme' },
        { type: 'event', key: 'plan', operator: 'exact', value: [] },
      ],
    ],
    ['a group', [{ type: 'OR', values: [] }]],
    ['something else', ['customer']],
    ['a constant', [{ type: 'hogql', key: 'true' }]],
    ['sessions', [{ type: 'session', key: '$session_duration', operator: 'gt', value: 10 }]],
  ])('is refused with %s', async (_, given) => {
    const answer = await asked(opened.all, {
      kind: 'ViewerQuery',
      filter: given,
      source: { kind: 'SqlLikeQuery', query: 'select count() from events' },
    } as never)
    expect(answer).toMatchObject({ code: 'validation-failed' })
  })

  test.each([
    [
      'a person',
      { type: 'person', key: 'email', operator: 'exact', value: 'acme@example.com' },
      "person.properties.email = 'acme@example.com'",
    ],
    ['an expression', { type: 'hogql', key: "properties.customer in ('acme', 'corp')" }, "properties.customer in ('acme', 'corp')"],
    ['a cohort', { type: 'cohort', key: 'id', value: 1 }, 'person_id in cohort 1'],
  ])('may be of %s', async (_, own, where) => {
    const count = { kind: 'SqlLikeQuery', query: 'select event, count(), uniq(distinct_id) from events group by 1 order by 1' }
    const seen = await asked(opened.all, { kind: 'ViewerQuery', filter: [own], source: count } as never)
    expect(seen).toEqual(
      await asked(opened.all, { ...count, query: count.query.replace('from events', `from events where ${where}`) } as never),
    )
  })

  test('asks what it likes, and gets no number of others', async () => {
    expect(await mutated(opened, 300, 1)).toEqual([])
  })
})
