import { describe, expect, test } from 'vitest'
import { QueryError } from '../../../src/errors/errors.ts'
import { columnName } from '../../../src/language/ast/column-name.ts'
import { parseQuery } from '../../../src/language/parser/parse.ts'
import type { ResolveContext } from '../../../src/language/resolver/context.ts'
import { resolve } from '../../../src/language/resolver/resolve.ts'
import { outputColumns } from '../../../src/language/resolver/typed.ts'
import { typeName } from '../../../src/language/types/types.ts'

const definitions: Readonly<Record<string, 'Numeric' | 'Boolean' | 'DateTime' | 'String'>> = {
  'event price': 'Numeric',
  'event paid': 'Boolean',
  'event due': 'DateTime',
  'person age': 'Numeric',
  'group_0 size': 'Numeric',
}
const context: ResolveContext = {
  project: { id: 1, timezone: 'Europe/Berlin', weekStartDay: 1 },
  now: new Date('2024-06-01T12:00:00Z'),
  propertyType: (scope, name) => definitions[`${scope} ${name}`] ?? null,
  cohort: (which) => (which === 5 || which === 'Pros' ? { id: 5 } : undefined),
}
const columns = (statement: string) => outputColumns(resolve(parseQuery(statement), context, columnName))
const types = (statement: string) => columns(statement).map((column) => typeName(column.type))
const names = (statement: string) => columns(statement).map((column) => column.name)
const problems = (statement: string): QueryError[] => {
  try {
    columns(statement)
  } catch (error) {
    if (error instanceof QueryError) return [error, ...(error.others as QueryError[])]
    throw error
  }
  return []
}

describe('types', () => {
  const cases: readonly (readonly [statement: string, types: readonly string[]])[] = [
    ['select 1, 255, 256, -1, -129, 4294967296', ['UInt8', 'UInt8', 'UInt16', 'Int8', 'Int16', 'UInt64']],
    ["select 1.5, 'a', null, true", ['Float64', 'String', 'Nullable(Nothing)', 'Bool']],
    ["select [1, 300], (1, 'a'), [null, 1]", ['Array(UInt16)', 'Tuple(UInt8, String)', 'Array(Nullable(UInt8))']],
    ['select timestamp, uuid, event, properties from events', ['DateTime64(6)', 'UUID', 'String', 'JSON']],
    ['select properties.plan, person.properties.plan from events', ['Nullable(Property)', 'Nullable(Property)']],
    [
      'select properties.price, properties.paid, person.properties.age from events',
      ['Nullable(Float64)', 'Nullable(Bool)', 'Nullable(Float64)'],
    ],
    ['select group_0.properties.size, group_1.properties.size from events', ['Nullable(Float64)', 'Nullable(Property)']],
    ['select properties.price.unit from events', ['Nullable(Property)']],
    ['select person_id, person.created_at, pdi.distinct_id from events', ['UUID', 'Nullable(DateTime64(6))', 'Nullable(String)']],
    ['select p.id from events e left join persons p on e.person_id = p.id', ['Nullable(UUID)']],
    ['select e.event from events e right join persons p on e.person_id = p.id', ['Nullable(String)']],
    ['select x from (select 1 as x union all select 300)', ['UInt16']],
    ["select x from (select 'a' as x union all select null)", ['Nullable(String)']],
    ['select (select 1)', ['Nullable(UInt8)']],
    ['select x.1, x.2 from (select (1, event) as x from events)', ['UInt8', 'String']],
    ['select $is_bounce, $session_duration, $urls from sessions', ['Nullable(Bool)', 'Int64', 'Array(Nullable(String))']],
  ]
  for (const [statement, expected] of cases) test(statement, () => expect(types(statement)).toEqual(expected))
})

describe('names of columns', () => {
  const cases: readonly (readonly [statement: string, names: readonly string[]])[] = [
    ['select event, properties.plan, e.person.properties.email from events e', ['event', 'plan', 'email']],
    ['select count() as c, count() from events', ['c', 'count()']],
    ['select * from numbers(1)', ['number']],
    ['select a.*, b.number from numbers(1) a cross join numbers(1) b', ['number', 'number']],
    ['select * exclude (id) replace (1 as created_at) from persons', ['created_at', 'properties', 'is_identified']],
    ["select columns('^distinct|^event$') from events", ['event', 'distinct_id']],
    ['with t (a) as (select 1 as x) select * from t', ['a']],
  ]
  for (const [statement, expected] of cases) test(statement, () => expect(names(statement)).toEqual(expected))
  test('* leaves out tables reached through a field and what is marked', () => {
    const found = names('select * from events')
    expect(found).toContain('$group_4')
    for (const name of ['person', 'pdi', 'session', 'group_0', 'person_id', '@person_no']) expect(found).not.toContain(name)
  })
})

describe('what a name means', () => {
  const resolved: readonly (readonly [name: string, statement: string])[] = [
    ['an alias in where', "select lower(event) as e from events where e = 'a'"],
    ['an alias in a later item', 'select 1 as a, a + 1 as b, b + a'],
    ['an alias in an earlier item', 'select a + 1, 1 as a'],
    ['an alias in group by and having', 'select event as e, count() as c from events group by e having c > 1'],
    ['an alias of its own column', "select lower(event) as event from events where event = 'a'"],
    ['an alias inside an expression', 'select (1 as a) + 1, a'],
    [
      'an alias of an aggregate gives way to the column in where',
      "select max(timestamp) as timestamp from events where timestamp > '2024-01-01'",
    ],
    ['a table by its own name', 'select events.event from events'],
    ['a CTE in a subquery', 'with t as (select 1 as x) select * from (select x from t)'],
    ['a CTE of an earlier CTE', 'with a as (select 1 as x), b as (select x + 1 as y from a) select y from b'],
    ['a CTE with the name of a table', 'with events as (select event from events) select event from events'],
    ['an expression of WITH', "with 'signup' as wanted select count() from events where event = wanted"],
    ['a parameter of a lambda', 'select arrayMap(x -> arrayMap(y -> x + y, [1]), [2])'],
    ['a lambda parameter that hides a column', 'select arrayMap(event -> event + 1, [1]) from events'],
    ['a position', 'select event, count() from events group by 1 order by 2'],
    ['a column of USING', 'select number from numbers(1) a join numbers(1) b using (number)'],
    ['a named window', 'select sum(number) over w from numbers(1) window w as (order by number)'],
    ['an item of ARRAY JOIN', 'select x from numbers(1) array join [1, 2] as x'],
    ['a cohort by its name', "select 1 from events where person_id in cohort 'Pros'"],
  ]
  for (const [name, statement] of resolved) test(name, () => expect(problems(statement)).toEqual([]))
})

describe('mistakes', () => {
  const cases: readonly (readonly [statement: string, code: string, at: string, data?: object])[] = [
    ['select timestmp from events', 'unknown-field', 'timestmp', { candidates: ['timestamp'] }],
    ['select e.evnt from events e', 'unknown-field', 'e.evnt', { candidates: ['event'] }],
    ['select person.nam from events', 'unknown-field', 'person.nam'],
    ['select x.y from (select event as y from events as x) as t', 'unknown-field', 'x.y'],
    ['select (select count() from events where event = x.event) from events x', 'unknown-field', 'x.event'],
    ['select y.n from events x, (select count() as n from events where event = x.event) y', 'unknown-field', 'x.event'],
    ['select number from numbers(1) a cross join numbers(1) b', 'ambiguous-field', 'number'],
    ['select person from events', 'table-as-column', 'person'],
    ['select e from events e', 'table-as-column', 'e'],
    ['select 1 from event', 'unknown-table', 'event', { candidates: ['events'] }],
    ['select 1 from numbers()', 'wrong-arity', 'numbers()'],
    ['select 1 from events(1)', 'invalid-query', 'events(1)'],
    ['select cuont() from events', 'unknown-function', 'cuont()', { candidates: ['count'] }],
    ['select count(1, 2) from events', 'wrong-arity', 'count(1, 2)'],
    ['select quantile(1) from events', 'missing-parameters', 'quantile(1)'],
    ['select sum(0.5)(1) from events', 'wrong-parameters', 'sum(0.5)(1)'],
    ['select sum(count()) from events', 'nested-aggregate', 'count()'],
    ['select count() as c, sum(c) from events', 'nested-aggregate', 'c'],
    ['select groupArray((event, 2)) as g, sumMap(g.1, g.2) from events', 'nested-aggregate', 'g.1'],
    ['select sumMap(nope, 1) from events', 'unknown-field', 'nope'],
    ['select arrayMap(x -> x + 1, nope) from events', 'unknown-field', 'nope'],
    ['select [1][0]', 'zero-index', '0'],
    ['select * from numbers(1) a cross join numbers(1) b', 'invalid-query', '*'],
    ['select 1 from events where person_id in cohort 7', 'unknown-cohort', '7'],
    ["select 1 from events where timestamp > 'soon'", 'wrong-type', "'soon'"],
    ['select number from numbers(1) limit -1', 'wrong-type', '-1'],
    ['select 1 order by 2', 'invalid-query', '2'],
    ['select sum(1) over w from numbers(1)', 'invalid-query', 'w'],
    ['select row_number() from numbers(1)', 'wrong-type', 'row_number()'],
    ['with t as (select * from t) select * from t', 'invalid-query', 't as (select * from t)'],
    ['select groupArray(neighbor(number, 1)) from numbers(3)', 'invalid-query', 'neighbor(number, 1)'],
    ['select sum(number) filter (where rank() over () > 1) from numbers(3)', 'invalid-query', 'rank() over ()'],
    ['select sum(1) over (partition by neighbor(number, 1)) from numbers(3)', 'invalid-query', 'neighbor(number, 1)'],
    ['select lag(rank() over ()) over () from numbers(3)', 'invalid-query', 'rank() over ()'],
    ['select number from numbers(3) limit 1 by neighbor(number, 1)', 'invalid-query', 'neighbor(number, 1)'],
    ['select arrayJoin([neighbor(number, 1)]) from numbers(3)', 'invalid-query', 'neighbor(number, 1)'],
    ["select sequenceMatch('(?1)')(distinct number, 1, 1) from numbers(3)", 'wrong-type', "sequenceMatch('(?1)')(distinct number, 1, 1)"],
    ["select sequenceMatch('(?t<5)(?1)')(number, 1, 1) from numbers(3)", 'wrong-type', "sequenceMatch('(?t<5)(?1)')(number, 1, 1)"],
    ["select windowFunnel(5, 'strict')(number, 1) from numbers(3)", 'wrong-type', "windowFunnel(5, 'strict')(number, 1)"],
    ["select windowFunnel(5, 'allow_reentry')(number, 1) from numbers(3)", 'wrong-type', "windowFunnel(5, 'allow_reentry')(number, 1)"],
    ['select histogram(0)(number) from numbers(3)', 'wrong-type', 'histogram(0)(number)'],
    ["select sumMap(['a'], ['b'])", 'wrong-type', "sumMap(['a'], ['b'])"],
    ['select sumMap([1])', 'wrong-type', 'sumMap([1])'],
    ['select (1, 2).3', 'unknown-field', '(1, 2).3'],
    ["select tupleElement((1, 2), 'a')", 'unknown-field', "tupleElement((1, 2), 'a')"],
    [
      "select cast((1, 2), 'Tuple(plan Int64, b Int64)').pln",
      'unknown-field',
      "cast((1, 2), 'Tuple(plan Int64, b Int64)').pln",
      { candidates: ['plan', 'b'] },
    ],
    ['select tupleElement([1], 1)', 'wrong-type', 'tupleElement([1], 1)'],
    ['select 1 union all select 1, 2', 'invalid-query', 'select 1 union all select 1, 2'],
    ['select {x}', 'unknown-placeholder', '{x}'],
    ['select 1 settings max_threads = 1', 'unsupported-syntax', 'max_threads = 1'],
  ]
  for (const [statement, code, at, data] of cases)
    test(statement, () => {
      const [problem] = problems(statement)
      expect(problem?.code).toBe(code)
      expect(statement.slice(problem!.span!.start, problem!.span!.end)).toBe(at)
      if (data) expect(problem!.data).toMatchObject(data)
    })

  test('several in one answer, in order of place', () => {
    const found = problems('select foo, bar, cuont() from events where baz = 1 group by qux')
    expect(found.map((p) => (p.data as { name: string }).name)).toEqual(['foo', 'bar', 'cuont', 'baz', 'qux'])
  })
})
