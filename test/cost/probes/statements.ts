import type { CallInput, HttpInput, Probe } from '../probe.ts'
import { fill } from './shapes.ts'

// Statements by rules that make them longer, part by part. A rule is a grammar of one thing of which a statement may have any number.

export interface Rule {
  /** Parts it begins with, and how many are tried at most. */
  readonly from: number
  readonly most: number
  /** `data` where a short statement stands for a long one, which the budgets of planning bound. */
  readonly grows?: Probe['grows']
  write(parts: number): string
  /** What goes with it: values of placeholders. */
  readonly values?: (parts: number) => object
}

const list = (n: number, part: (i: number) => string, between = ', ') => Array.from({ length: n }, (_, i) => part(i)).join(between)
const wrapped = (n: number, open: string, inner: string, close: string) => open.repeat(n) + inner + close.repeat(n)
/** `a0`, then each from the one before; what is asked at the end is the last. */
const aliases = (n: number, first: string, next: (last: string) => string, show = (last: string) => last) =>
  `select ${[`${first} as a0`, ...Array.from({ length: n }, (_, i) => `${next(`a${i}`)} as a${i + 1}`)].join(', ')}, ${show(`a${n}`)}`
const ctes = (n: number, first: string, next: (last: string) => string) =>
  `with ${[`t0 as (${first})`, ...Array.from({ length: n }, (_, i) => `t${i + 1} as (${next(`t${i}`)})`)].join(', ')} select count() from t${n}`

/** Chains: names that stand for what came before, so a short statement can mean a long one. */
const chain = { from: 3, most: 400, grows: 'data' } as const
/** Depth, which is bounded, and width, which the size of a body bounds. */
const deep = { from: 4, most: 2_000 } as const
const wide = { from: 16, most: 200_000 } as const
const text = { from: 1_024, most: 9 * 1024 * 1024 } as const

const table = {
  // chains of aliases
  'alias sums': { ...chain, write: (n) => aliases(n, '1', (a) => `${a} + ${a}`) },
  'alias sums into rows': {
    ...chain,
    write: (n) =>
      aliases(
        n,
        '1',
        (a) => `${a} + ${a}`,
        (a) => `arrayJoin([${a}])`,
      ),
  },
  'alias texts': {
    ...chain,
    write: (n) =>
      aliases(
        n,
        "'ab'",
        (a) => `concat(${a}, ${a})`,
        (a) => `length(${a})`,
      ),
  },
  'alias lists': {
    ...chain,
    write: (n) =>
      aliases(
        n,
        '[1]',
        (a) => `arrayConcat(${a}, ${a})`,
        (a) => `length(${a})`,
      ),
  },
  'alias tuples': { ...chain, write: (n) => aliases(n, '(1, 2)', (a) => `(${a}, ${a})`) },
  'alias tuples of many': { ...chain, write: (n) => aliases(n, '1', (a) => `(${list(30, () => a)})`) },
  'alias lists of many': { ...chain, write: (n) => aliases(n, '1', (a) => `[${list(30, () => a)}]`) },
  'alias conditions': { ...chain, write: (n) => `${aliases(n, 'number', (a) => `if(${a} > 1, ${a}, ${a} + 1)`)} from numbers(10)` },
  'alias cases': { ...chain, write: (n) => aliases(n, '1', (a) => `case ${a} when 1 then ${a} when 2 then ${a} end`) },
  'alias coalesce': { ...chain, write: (n) => `${aliases(n, 'event', (a) => `coalesce(${a}, ${a}, 'x')`)} from events` },
  'alias lambdas': { ...chain, write: (n) => aliases(n, '[1]', (a) => `arrayMap(x -> x + length(${a}), ${a})`) },
  'alias maps': { ...chain, write: (n) => aliases(n, "map('k', 1)", (a) => `map('k', ${a}, 'l', ${a})`) },
  'alias dates': {
    ...chain,
    write: (n) => `${aliases(n, 'timestamp', (a) => `if(${a} > now(), ${a}, ${a} + interval 1 day)`)} from events`,
  },
  'alias in where': { ...chain, write: (n) => `${aliases(n, '1', (a) => `${a} + ${a}`)} from events where a${n} = 1` },
  'alias in order': { ...chain, write: (n) => `${aliases(n, 'number', (a) => `${a} + ${a}`)} from numbers(9) order by a${n}, a${n}` },
  'alias in group': { ...chain, write: (n) => `${aliases(n, 'number', (a) => `${a} + ${a}`)} from numbers(9) group by a${n}, number` },
  'alias aggregates': { ...chain, write: (n) => `${aliases(n, 'count()', (a) => `${a} + ${a}`)} from events` },
  'alias windows': {
    ...chain,
    write: (n) => `${aliases(n, 'number', (a) => `sum(${a}) over (partition by ${a} order by ${a})`)} from numbers(9)`,
  },
  'alias subqueries': { ...chain, write: (n) => aliases(n, '1', (a) => `(select ${a} + ${a})`) },
  'scalar WITH sums': {
    ...chain,
    write: (n) => `with 1 as a0, ${list(n, (i) => `a${i} + a${i} as a${i + 1}`)} select a${n}`,
  },
  'wide aliases of wide aliases': {
    from: 4,
    most: 2_000,
    grows: 'data',
    write: (n) => `select (${list(n, () => '1')}) as a, (${list(n, () => 'a')}) as b, (${list(n, () => 'b')}) as c, c`,
  },
  'wide sums of wide sums': {
    from: 4,
    most: 2_000,
    write: (n) => `select ${list(n, () => '1', ' + ')} as a, ${list(n, () => 'a', ' + ')} as b, ${list(n, () => 'b', ' + ')} as c`,
  },
  'a long alias many times': {
    from: 8,
    most: 4_000,
    grows: 'data', // its answer has n columns of n characters
    write: (n) => `select '${'x'.repeat(n * 4)}' as a, ${list(n, () => 'a')}`,
  },
  'a wide alias of properties many times': {
    from: 4,
    most: 1_000,
    write: (n) => `select concat(${list(n, (i) => `properties.p${i}`)}, '') as a, ${list(n, () => 'length(a)', ' + ')} from events`,
  },
  // chains of WITH
  'CTE joined twice': { ...chain, write: (n) => ctes(n, 'select 1 as x', (t) => `select a.x from ${t} a join ${t} b on a.x = b.x`) },
  'CTE crossed twice': { ...chain, write: (n) => ctes(n, 'select 1 as x', (t) => `select a.x from ${t} a cross join ${t} b`) },
  'CTE of events joined twice': {
    ...chain,
    write: (n) => ctes(n, 'select event as x from events limit 3', (t) => `select a.x from ${t} a join ${t} b on a.x = b.x limit 3`),
  },
  'CTE in a union of itself': {
    ...chain,
    write: (n) => ctes(n, 'select 1 as x', (t) => `select x from ${t} union all select x from ${t}`),
  },
  'CTE in two subqueries': {
    ...chain,
    write: (n) => ctes(n, 'select 1 as x', (t) => `select (select max(x) from ${t}) + (select min(x) from ${t}) as x`),
  },
  'CTE in two sets': {
    ...chain,
    write: (n) => ctes(n, 'select 1 as x', (t) => `select 1 as x where 1 in (select x from ${t}) or 2 in (select x from ${t})`),
  },
  'CTE of columns twice': {
    from: 3,
    most: 100,
    grows: 'data',
    write: (n) => ctes(n, 'select 1 as x', (t) => `select a.*, b.* from ${t} a cross join ${t} b`),
  },
  'CTE that repeats rows': {
    from: 3,
    most: 100,
    grows: 'data',
    write: (n) => ctes(n, 'select 1 as x union all select 2', (t) => `select * from ${t} union all select * from ${t}`),
  },
  'CTE in a chain': { ...wide, most: 4_000, write: (n) => ctes(n, 'select 1 as x', (t) => `select x + 1 as x from ${t}`) },
  'CTE that nobody reads': { ...wide, most: 20_000, write: (n) => `with ${list(n, (i) => `t${i} as (select ${i})`)} select 1` },
  'CTE each read': {
    ...wide,
    most: 5_000,
    write: (n) => `with ${list(n, (i) => `t${i} as (select ${i} as x)`)} select ${list(n, (i) => `(select x from t${i})`)}`,
  },
  'WITH in WITH': { ...deep, most: 300, write: (n) => wrapped(n, 'with t as (', 'select 1 as x', ') select x from t') },
  // depth
  parentheses: { ...deep, most: 100_000, write: (n) => `select ${wrapped(n, '(', '1', ')')}` },
  'unclosed parentheses': { ...deep, most: 100_000, write: (n) => `select ${'('.repeat(n)}` },
  'lists in lists': { ...deep, write: (n) => `select ${wrapped(n, '[', '1', ']')}` },
  'minus signs': { ...deep, most: 100_000, write: (n) => `select ${'- '.repeat(n)}1` },
  'NOT of NOT': { ...deep, most: 100_000, write: (n) => `select ${'not '.repeat(n)}1` },
  'functions in functions': { ...deep, write: (n) => `select ${wrapped(n, 'abs(', '1', ')')}` },
  'texts in functions': { ...deep, write: (n) => `select ${wrapped(n, "concat('a', ", "'b'", ')')}` },
  'functions that ask twice': { ...deep, most: 400, write: (n) => `select ${wrapped(n, 'toString(toDateTime(', 'now()', '))')}` },
  'times in functions': { ...deep, most: 400, write: (n) => `select ${wrapped(n, 'toStartOfDay(', 'timestamp', ')')} from events` },
  'replacements in functions': { ...deep, most: 400, write: (n) => `select ${wrapped(n, 'replaceOne(', "'abc'", ", 'a', 'b')")}` },
  'CASE in CASE': { ...deep, most: 400, write: (n) => `select ${wrapped(n, 'case when 1 then ', '1', ' else 2 end')}` },
  'CASE of CASE': { ...deep, most: 400, write: (n) => `select ${wrapped(n, 'case ', '1', ' when 1 then 2 when 3 then 4 end')}` },
  ternaries: { ...deep, most: 2_000, write: (n) => `select ${'1 ? 2 : '.repeat(n)}3` },
  'lambdas in lambdas': { ...deep, most: 400, write: (n) => `select ${wrapped(n, 'arrayMap(x -> ', '1', ', [1])')}` },
  'lists of lambdas': { ...deep, most: 400, write: (n) => `select ${wrapped(n, 'arrayMap(x -> x + 1, ', '[1]', ')')}` },
  'filters of lambdas': { ...deep, most: 400, write: (n) => `select ${wrapped(n, 'arrayFilter(x -> x > 0, ', '[1]', ')')}` },
  'sorts of lambdas': { ...deep, most: 400, write: (n) => `select ${wrapped(n, 'arraySort(x -> x, ', '[1]', ')')}` },
  'sums of lambdas': { ...deep, most: 400, write: (n) => `select ${wrapped(n, '[arraySum(x -> x, ', '[1]', ')]')}` },
  'subqueries in FROM': { ...deep, write: (n) => `select * from ${wrapped(n, '(select * from ', 'numbers(1)', ')')}` },
  'subqueries in values': { ...deep, most: 400, write: (n) => wrapped(n, 'select (', 'select 1', ')') },
  'subqueries in sets': { ...deep, most: 400, write: (n) => `select 1 where 1 in ${wrapped(n, '(select 1 where 1 in ', '(1)', ')')}` },
  'subqueries of events': {
    ...deep,
    most: 400,
    write: (n) => `select count() from ${wrapped(n, '(select event, properties from ', 'events', ')')}`,
  },
  'steps into objects': { ...deep, most: 20_000, write: (n) => `select properties${'.a'.repeat(n)} from events` },
  'steps into lists': { ...deep, most: 20_000, write: (n) => `select properties.x${'[1]'.repeat(n)} from events` },
  'casts of casts': { ...deep, write: (n) => `select 1${'::String::Int64'.repeat(n)}` },
  'texts of format in texts of format': { ...deep, most: 60, write: (n) => `select ${wrapped(n, "f'{", '1', "}'")}` },
  intervals: { ...wide, most: 4_000, write: (n) => `select now() ${'+ interval 1 day '.repeat(n)}` },
  // width
  columns: { ...wide, most: 20_000, write: (n) => `select ${list(n, (i) => `${i}`)}` },
  'columns with names': { ...wide, most: 20_000, write: (n) => `select ${list(n, (i) => `${i} as c${i}`)}` },
  'the same name again': { ...wide, most: 20_000, write: (n) => `select ${list(n, () => '1 as a')}` },
  stars: { ...wide, most: 4_000, write: (n) => `select ${list(n, () => '*')} from events` },
  properties: { ...wide, most: 5_000, write: (n) => `select ${list(n, (i) => `properties.p${i}`)} from events` },
  'people of events': { ...wide, most: 5_000, write: (n) => `select ${list(n, (i) => `person.properties.p${i}`)} from events` },
  'unknown names': { ...wide, write: (n) => `select ${list(n, (i) => `name_${i}`)} from events` },
  'unknown functions': { ...wide, write: (n) => `select ${list(n, (i) => `function_${i}(1)`)}` },
  'unknown tables': { ...wide, most: 20_000, write: (n) => `select 1 from ${list(n, (i) => `table_${i}`)}` },
  AND: { ...wide, write: (n) => `select 1 where ${list(n, () => '1', ' and ')}` },
  'AND of names': { ...wide, most: 20_000, write: (n) => `select 1 from events where ${list(n, (i) => `event != 'e${i}'`, ' and ')}` },
  'OR of properties': {
    ...wide,
    most: 20_000,
    write: (n) => `select 1 from events where ${list(n, (i) => `properties.p = 'e${i}'`, ' or ')}`,
  },
  'AND and OR by turns': { ...wide, most: 20_000, write: (n) => `select ${list(n, (i) => `1 ${i % 2 ? 'and' : 'or'}`, ' ')} 1` },
  plus: { ...wide, write: (n) => `select ${list(n, () => '1', ' + ')}` },
  'texts joined': { ...wide, write: (n) => `select ${list(n, () => "'a'", ' || ')}` },
  arguments: { ...wide, write: (n) => `select concat(${list(n, () => "'a'")})` },
  'IN of numbers': { ...wide, write: (n) => `select 1 in (${list(n, (i) => `${i}`)})` },
  'IN of texts': { ...wide, write: (n) => `select 1 from events where event in (${list(n, (i) => `'e${i}'`)})` },
  'IN of tuples': { ...wide, most: 50_000, write: (n) => `select (1, 2) in (${list(n, (i) => `(${i}, 2)`)})` },
  'many IN': { ...wide, most: 20_000, write: (n) => `select 1 from events where ${list(n, (i) => `event in ('a', 'e${i}')`, ' or ')}` },
  'branches of CASE': {
    ...wide,
    most: 20_000,
    write: (n) => `select case ${list(n, (i) => `when number = ${i} then ${i}`, ' ')} end from numbers(3)`,
  },
  'branches of CASE with a subject': {
    ...wide,
    most: 20_000,
    write: (n) => `select case number + 1 ${list(n, (i) => `when ${i} then ${i}`, ' ')} end from numbers(3)`,
  },
  'branches of a long subject': {
    from: 4,
    most: 2_000,
    write: (n) => `select case ${list(n, () => 'number', ' + ')} ${list(n, (i) => `when ${i} then ${i}`, ' ')} end from numbers(3)`,
  },
  'list items': { ...wide, write: (n) => `select length([${list(n, (i) => `${i}`)}])` },
  'list items of many kinds': { ...wide, most: 20_000, write: (n) => `select [${list(n, (i) => (i % 2 ? 'null' : `${i}.5`))}]` },
  'tuple items': { ...wide, most: 20_000, write: (n) => `select (${list(n, (i) => `${i}`)})` },
  'map entries': { ...wide, most: 50_000, write: (n) => `select {${list(n, (i) => `'k${i}': ${i}`)}}` },
  VALUES: { ...wide, write: (n) => `select count() from (values ${list(n, (i) => `(${i})`)})` },
  'VALUES that are wide': { ...wide, most: 5_000, write: (n) => `select 1 from (values (${list(n, (i) => `${i}`)}))` },
  joins: {
    ...wide,
    most: 400,
    write: (n) => `select 1 from numbers(1) n ${list(n, (i) => `join numbers(1) n${i} on n.number = n${i}.number`, ' ')}`,
  },
  'joins of events': {
    from: 4,
    most: 64,
    write: (n) => `select count() from events e ${list(n, (i) => `join events e${i} on e.uuid = e${i}.uuid`, ' ')}`,
  },
  'joins of people': {
    from: 4,
    most: 64,
    write: (n) => `select count() from persons p ${list(n, (i) => `join persons p${i} on p.id = p${i}.id`, ' ')}`,
  },
  'left joins': {
    ...wide,
    most: 400,
    write: (n) => `select * from (select 1 as x) n ${list(n, (i) => `left join (select 1 as x) n${i} on n.x = n${i}.x`, ' ')}`,
  },
  'cross joins': { ...wide, most: 400, write: (n) => `select count() from ${list(n, () => 'numbers(1)', ' cross join ')}` },
  'joins of two lists': {
    from: 4,
    most: 400,
    write: (n) =>
      `select * from (select ${list(n, (i) => `1 as c${i}`)}) a join (select ${list(n, (i) => `1 as c${i}`)}) b using (${list(n, (i) => `c${i}`)})`,
  },
  'UNION ALL': { ...wide, most: 2_000, write: (n) => list(n, (i) => `select ${i}`, ' union all ') },
  'UNION DISTINCT': { ...wide, most: 2_000, write: (n) => list(n, (i) => `select ${i}`, ' union distinct ') },
  EXCEPT: { ...wide, most: 2_000, write: (n) => list(n, (i) => `select ${i}`, ' except ') },
  'UNION of events': { ...wide, most: 200, write: (n) => list(n, () => 'select event from events', ' union all ') },
  'UNION in a subquery': {
    ...wide,
    most: 2_000,
    write: (n) => `select count() from (${list(n, (i) => `select ${i} as x`, ' union all ')})`,
  },
  'UNION of wide selects': { from: 4, most: 600, write: (n) => list(n, () => `select ${list(n, (i) => `${i}`)}`, ' union all ') },
  'group by': { ...wide, most: 5_000, write: (n) => `select count() from numbers(3) group by ${list(n, (i) => `number + ${i}`)}` },
  'group by CUBE': { from: 2, most: 24, write: (n) => `select count() from numbers(3) group by cube(${list(n, (i) => `number + ${i}`)})` },
  'group by ROLLUP': {
    from: 4,
    most: 400,
    write: (n) => `select count() from numbers(3) group by rollup(${list(n, (i) => `number + ${i}`)})`,
  },
  'grouping sets': {
    from: 4,
    most: 400,
    write: (n) => `select count() from numbers(3) group by grouping sets (${list(n, (i) => `(number + ${i})`)})`,
  },
  'order by': { ...wide, most: 20_000, write: (n) => `select number from numbers(3) order by ${list(n, (i) => `number + ${i}`)}` },
  'limit by': { ...wide, most: 2_000, write: (n) => `select number from numbers(3) limit 1 by ${list(n, (i) => `number + ${i}`)}` },
  aggregates: { ...wide, most: 5_000, write: (n) => `select ${list(n, (i) => `count(number + ${i})`)} from numbers(3)` },
  'aggregates with conditions': { ...wide, most: 5_000, write: (n) => `select ${list(n, (i) => `countIf(event = 'e${i}')`)} from events` },
  quantiles: { ...wide, most: 5_000, write: (n) => `select quantiles(${list(n, (i) => `0.${(i % 9) + 1}`)})(number) from numbers(3)` },
  windows: {
    ...wide,
    most: 1_000,
    write: (n) => `select ${list(n, (i) => `sum(number) over (partition by number % ${i + 1})`)} from numbers(3)`,
  },
  'named windows': {
    ...wide,
    most: 1_000,
    write: (n) =>
      `select ${list(n, (i) => `sum(number) over w${i}`)} from numbers(3) window ${list(n, (i) => `w${i} as (order by number)`)}`,
  },
  subqueries: { ...wide, most: 2_000, write: (n) => `select ${list(n, (i) => `(select ${i})`)}` },
  'subqueries of events beside each other': { ...wide, most: 200, write: (n) => `select ${list(n, () => '(select count() from events)')}` },
  EXISTS: { ...wide, most: 1_000, write: (n) => `select 1 where ${list(n, () => 'exists(select 1)', ' and ')}` },
  'ARRAY JOIN': { ...wide, most: 1_000, write: (n) => `select 1 from numbers(1) array join ${list(n, (i) => `[1] as x${i}`)}` },
  arrayJoin: { from: 2, most: 40, write: (n) => `select ${list(n, (i) => `arrayJoin([${i}, 2])`)}` },
  LIKE: { ...wide, most: 20_000, write: (n) => `select 1 from events where ${list(n, (i) => `event like '%e${i}%'`, ' or ')}` },
  PIVOT: {
    ...wide,
    most: 2_000,
    write: (n) => `select * from (select 1 as a, 2 as b) pivot (sum(a) for b in (${list(n, (i) => `${i}`)}))`,
  },
  UNPIVOT: {
    ...wide,
    most: 2_000,
    write: (n) => `select * from (select ${list(n, (i) => `${i} as c${i}`)}) unpivot (v for k in (${list(n, (i) => `c${i}`)}))`,
  },
  'star but': {
    ...wide,
    most: 5_000,
    write: (n) => `select * exclude (${list(n, (i) => `c${i}`)}) from (select ${list(n + 1, (i) => `1 as c${i}`)})`,
  },
  'star with others': {
    ...wide,
    most: 5_000,
    write: (n) => `select * replace (${list(n, (i) => `2 as c${i}`)}) from (select ${list(n, (i) => `1 as c${i}`)})`,
  },
  settings: { ...wide, most: 20_000, write: (n) => `select 1 settings ${list(n, (i) => `s${i} = 1`)}` },
  placeholders: {
    ...wide,
    most: 50_000,
    write: (n) => `select [${list(n, (i) => `{v${i}}`)}]`,
    values: (n) => ({ values: Object.fromEntries(Array.from({ length: n }, (_, i) => [`v${i}`, i])) }),
  },
  'one placeholder many times': {
    ...wide,
    most: 4_000,
    write: (n) => `select ${list(n, () => 'length({v})', ' + ')}`,
    values: (n) => ({ values: { v: fill('abc', n * 4) } }),
  },
  'a long value': { ...text, write: () => 'select length({v})', values: (n) => ({ values: { v: fill('abc', n) } }) },
  'a wide value': { ...wide, write: () => 'select {v}', values: (n) => ({ values: { v: Array.from({ length: n }, (_, i) => i) } }) },
  'unknown placeholders': {
    ...wide,
    most: 20_000,
    write: (n) => `select ${list(n, (i) => `{w${i}}`)}`,
    values: (n) => ({ values: Object.fromEntries(Array.from({ length: n }, (_, i) => [`v${i}`, i])) }),
  },
  'many variables': {
    ...wide,
    most: 50_000,
    write: () => 'select {variables.v1}',
    values: (n) => ({ variables: Object.fromEntries(Array.from({ length: n }, (_, i) => [`id${i}`, { code_name: `v${i}`, value: i }])) }),
  },
  // length
  'a long text': { ...text, write: (n) => `select length('${fill('a', n)}')` },
  'a text of quotes': { ...text, write: (n) => `select length('${fill("''", n)}')` },
  'a text of backslashes': { ...text, write: (n) => `select length('${fill('\\\\', n)}')` },
  'a text without its end': { ...text, write: (n) => `select '${fill("\\'", n)}` },
  'a long name': { ...text, write: (n) => `select ${fill('a', n)} from events` },
  'a long name in quotes': { ...text, write: (n) => `select 1 as \`${fill('a', n)}\`` },
  'a long name of a function': { ...text, write: (n) => `select ${fill('ab', n)}(1)` },
  'a long name of a property': { ...text, write: (n) => `select properties.\`${fill('a', n)}\` from events` },
  'a long number': { ...text, write: (n) => `select ${fill('1', n)}` },
  'a long fraction': { ...text, write: (n) => `select 0.${fill('1', n)}` },
  'a long type': { ...text, write: (n) => `select 1::${fill('Array(', n)}` },
  blanks: { ...text, write: (n) => `select${fill(' ', n)}1` },
  'a comment': { ...text, write: (n) => `select /*${fill('*', n)}*/ 1` },
  'a comment without its end': { ...text, write: (n) => `select 1 /*${fill('* ', n)}` },
  comments: { ...text, write: (n) => `select ${fill('/**/', n)} 1` },
  semicolons: { ...text, write: (n) => `select 1${fill(';', n)}` },
  commas: { ...text, write: (n) => `select ${fill(',', n)}` },
  'strange signs': { ...text, write: (n) => `select ${fill('§', n)}` },
  operators: { ...text, write: (n) => `select 1 ${fill('<=', n)} 1` },
  quotes: { ...text, write: (n) => `select ${fill('"', n)}` },
  tags: { ...text, most: 200_000, write: (n) => `select ${fill('<a>', n)}` },
  'a long pattern': { ...text, most: 1_000_000, write: (n) => `select match('aaaa', '${fill('(a|b)*', n)}')` },
  'a pattern of counts': { from: 4, most: 4_000, write: (n) => `select match('${'a'.repeat(n)}', '${'(a?){9}'.repeat(n)}')` },
  'a LIKE of percent signs': { from: 16, most: 4_000, write: (n) => `select '${'a'.repeat(n)}' like '${'%a'.repeat(n / 4)}b'` },
  'a NOT ILIKE of percent signs': { from: 16, most: 4_000, write: (n) => `select '${'aA'.repeat(n)}' not ilike '${'%a'.repeat(n / 4)}b'` },
  'a GLOB of stars': { from: 16, most: 4_000, write: (n) => `select event from events where event like '${'%_'.repeat(n)}'` },
  'a pattern of columns that is dropped': {
    from: 16,
    most: 4_000,
    write: (n) => `select columns('(?:(?:(?:(?:a{${n}}){0}){${n}}){0}){${n}}') from events`,
  },
  'a pattern of columns': { ...text, most: 500_000, write: (n) => `select columns('${fill('(a|b)*', n)}') from events` },
} satisfies Record<string, Rule>

export const rules: Readonly<Record<string, Rule>> = table
export type RuleName = keyof typeof table

/** Takes hours. */
export const endless = 'select sum(number % 7) from numbers(100000000000)'

export const statementInput = (statement: string, extra: object = {}): HttpInput => {
  const body = JSON.stringify({ query: { kind: 'SqlLikeQuery', query: statement, ...extra }, refresh: 'force_blocking' })
  return {
    to: 'server',
    method: 'POST',
    path: '/api/projects/1/query/',
    headers: { 'content-type': 'application/json' },
    body,
    bytes: body.length,
    as: 'key',
  }
}

export const asked = (name: string, { from, most, grows = 'input', write, values }: Rule): Probe => ({
  name: `statement: ${name}`,
  door: 'ask',
  grows,
  from,
  most,
  make: (size) => statementInput(write(size), values?.(size)),
})

const callOf = (call: string, text: string): CallInput => ({ to: 'call', call, given: text, bytes: text.length })
export const compiled = (name: string, { from, most, grows = 'input', write }: Rule, engine: 'DuckDB' | 'ClickHouse'): Probe => ({
  name: `compile for ${engine}: ${name}`,
  door: 'call',
  grows,
  from,
  most,
  make: (size) => callOf(`compile for ${engine}`, write(size)),
})

const shuffled = <T>(of: readonly T[], draw: () => number): T[] =>
  of
    .map((one) => [draw(), one] as const)
    .sort(([a], [b]) => a - b)
    .map(([, one]) => one)

export function* statementProbes(draw: () => number): Generator<Probe> {
  for (const [name, rule] of shuffled(Object.entries(rules), draw)) yield asked(name, rule)
}
export function* compileProbes(draw: () => number): Generator<Probe> {
  for (const [name, rule] of shuffled(Object.entries(rules), draw))
    if (!rule.values) for (const engine of ['DuckDB', 'ClickHouse'] as const) yield compiled(name, rule, engine)
}
