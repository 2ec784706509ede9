import { expect, test } from 'vitest'
import { questionInWords } from '../../../src/web/insights/in-words.ts'

// A question in a line, for those who look at its answer without the form.

const event = (name: string | null, more: object = {}) => ({ kind: 'EventsNode', event: name, name: name ?? 'All events', ...more })
const trend = (series: readonly object[], more: object = {}) => ({ kind: 'TrendsQuery', series, ...more })
const filter = (key: string, value: unknown, operator = 'exact', more: object = {}) => ({ type: 'event', key, value, operator, ...more })

test.each<[words: string, query: { kind: string }]>([
  ['Pageview', trend([event('$pageview')])],
  ['Unique people: Pageview, signed up', trend([event('$pageview', { math: 'dau' }), event('signed up')])],
  ['Sum of price: purchase', trend([event('purchase', { math: 'sum', math_property: 'price' })])],
  ['All events', trend([event(null)])],
  ['Our visitors', trend([event('$pageview', { math: 'dau', custom_name: 'Our visitors' })])],
  ['A / B of paid, seen', trend([event('paid'), event('seen')], { trendsFilter: { formulaNodes: [{ formula: 'A / B' }] } })],
  ['Pageview where Country is “DE” or “AT”', trend([event('$pageview')], { properties: [filter('$geoip_country_name', ['DE', 'AT'])] })],
  [
    'Pageview where plan is “a”, “b”, “c” or 2 more',
    trend([event('$pageview')], { properties: [filter('plan', ['a', 'b', 'c', 'd', 'e'])] }),
  ],
  [
    'Pageview where price > 5 and plan is set',
    trend([event('$pageview')], { properties: [filter('price', 5, 'gt'), filter('plan', null, 'is_set')] }),
  ],
  ['Pageview where price between 1 and 5', trend([event('$pageview')], { properties: [filter('price', [1, 5], 'between')] })],
  // One that nobody has finished is not said.
  ['Pageview', trend([event('$pageview')], { properties: [filter('plan', [])] })],
  [
    'Pageview where in Payers and not in cohort 9',
    trend([event('$pageview')], {
      properties: [
        { type: 'cohort', key: 'id', value: 4, operator: 'in' },
        { type: 'cohort', key: 'id', value: 9, operator: 'not_in' },
      ],
    }),
  ],
  [
    'Pageview where (plan is “a” or plan is “b”) and Browser is “Firefox”',
    trend([event('$pageview')], {
      properties: {
        type: 'AND',
        values: [
          { type: 'OR', values: [filter('plan', ['a']), filter('plan', ['b'])] },
          { type: 'AND', values: [filter('$browser', ['Firefox'])] },
        ],
      },
    }),
  ],
  [
    'Pageview where plan is “a” or plan is “b”',
    trend([event('$pageview')], {
      properties: { type: 'AND', values: [{ type: 'OR', values: [filter('plan', ['a']), filter('plan', ['b'])] }] },
    }),
  ],
  ['Pageview (Path is “/a”)', trend([event('$pageview', { properties: [filter('$pathname', '/a')] })])],
  [
    'Pageview, without internal users, by plan, Browser',
    trend([event('$pageview')], {
      filterTestAccounts: true,
      breakdownFilter: { breakdowns: [{ property: 'plan' }, { property: '$browser' }] },
    }),
  ],
  ['Pageview, by Payers', trend([event('$pageview')], { breakdownFilter: { breakdown: [4], breakdown_type: 'cohort' } })],
  ['Pageview → signed up → paid', { ...trend([event('$pageview'), event('signed up'), event('paid')]), kind: 'FunnelsQuery' }],
  [
    'Who did signed up and came back for Pageview, by week',
    {
      kind: 'RetentionQuery',
      retentionFilter: { period: 'Week', targetEntity: { id: 'signed up' }, returningEntity: { id: '$pageview' } },
    } as { kind: string },
  ],
  ['Paths from /home', { kind: 'PathsQuery', pathsFilter: { startPoint: '/home' } } as { kind: string }],
])('%s', (words, query) => {
  expect(questionInWords(query, (id) => (id === 4 ? 'Payers' : `cohort ${String(id)}`))).toBe(words)
})
