import { expect, test } from 'vitest'
import { expressionText, type PlanStep, querySteps } from '../../../src/web/sql/plan.ts'

const column = (name: string, source = 'events') => ({ kind: 'column', name, source })
const constant = (value: unknown) => ({ kind: 'constant', value })
const call = (name: string, ...args: object[]) => ({ kind: 'call', name, args })

test.each<[string, unknown, string]>([
  ['a column', column('event'), 'events.event'],
  ['a text', constant('a'), "'a'"],
  ['a number', constant(1.5), '1.5'],
  ['nothing', constant(null), 'null'],
  ['an operator', call('greaterOrEquals', column('n', ''), constant(3)), 'n ≥ 3'],
  [
    'conditions',
    call('and', call('equals', column('a'), constant(1)), call('less', column('b'), constant(2))),
    '(events.a = 1) AND (events.b < 2)',
  ],
  ['a function', call('concat', column('a'), constant('x')), "concat(events.a, 'x')"],
  ['distinct values', { ...call('count', column('a')), distinct: true }, 'count(DISTINCT events.a)'],
  ['over a window', { ...call('rank'), over: { partitionBy: [] } }, 'rank() OVER (…)'],
  ['a name that objects have', call('constructor', column('a'), column('b')), 'constructor(events.a, events.b)'],
  ['a kind that is newer', { kind: 'lambda', body: column('a'), names: ['x'] }, 'lambda(events.a)'],
  ['nothing at all', null, '?()'],
])('%s', (_, node, text) => {
  expect(expressionText(node)).toBe(text)
})

test('expressions of any depth end', () => {
  let deep: object = column('a')
  for (let i = 0; i < 5000; i++) deep = call('not', deep)
  expect(expressionText(deep)).toContain('…')
})

const outline = (steps: readonly PlanStep[]): unknown =>
  steps.map(({ title, inner }) => (inner.length > 0 ? [title, outline(inner)] : title))
const select = (more: object) => ({ kind: 'select', ctes: [], columns: [{ name: 'n', expr: call('count') }], orderBy: [], ...more })
const scan = (table: string, alias = table) => ({ kind: 'scan', table, alias, reads: [{ name: 'id' }] })

test.each<[string, unknown, unknown]>([
  ['without a table', select({ from: null }), ['Select']],
  ['a table', select({ from: scan('events', 'e') }), [['Select', ['Read events as e']]]],
  [
    'every clause, the last one outside',
    select({
      from: scan('events'),
      where: constant(true),
      groupBy: { items: [column('a')] },
      having: constant(true),
      distinct: true,
      orderBy: [{ expr: column('a'), descending: true }],
      limit: { limit: 5, offset: 2 },
    }),
    [['Limit', [['Sort', [['Select distinct', [['Keep groups', [['Group', [['Keep rows', ['Read events']]]]]]]]]]]]],
  ],
  [
    'a join of a subquery, and a named one',
    select({
      from: {
        kind: 'join',
        type: 'left',
        left: { kind: 'cteRef', name: 'a', alias: 'a' },
        right: { kind: 'derived', alias: 's', query: select({ from: scan('persons') }) },
      },
      ctes: [{ name: 'a', query: select({ from: scan('events') }) }],
    }),
    [
      ['Select', [['Join (left)', ['Read the result of a', ['Subquery as s', [['Select', ['Read persons']]]]]]]],
      ['With a', [['Select', ['Read events']]]],
    ],
  ],
  ['no plan', 'nonsense', []],
])('the steps of %s', (_, plan, expected) => {
  expect(outline(querySteps(plan))).toEqual(expected)
})
