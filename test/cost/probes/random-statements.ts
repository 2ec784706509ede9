import { random } from '../../../bench/random.ts'
import { registry } from '../../../src/language/functions/registry.ts'
import { expressions } from '../../language/parser/forms.ts'
import type { Probe } from '../probe.ts'
import { asked, compiled, type Rule } from './statements.ts'

// Statements by rules that nobody wrote: a few constructs with a hole, put into each other again and again, by nesting or through names.

/** `_` is the hole; a construct with two of them doubles what is meant, and through a name only what is meant. */
const constructs: readonly string[] = [
  ...[
    '(_)',
    '-_',
    'not _',
    '_ + 1',
    '_ * _',
    '_ || _',
    '_ = _',
    '_ and _',
    '_ or 1',
    '_ ?? _',
    '_ between 1 and _',
    '_ in (1, 2)',
    '_ in (_, 2)',
  ],
  ...[
    '[_]',
    '[_, _]',
    '(_, 1)',
    '(_, _)',
    '[_][1]',
    '(_, 1).1',
    "{'k': _}",
    "{'k': _}['k']",
    '_::String',
    '_::Int64',
    'cast(_ as Float64)',
  ],
  ...[
    'case when _ then 1 else _ end',
    'case _ when 1 then 2 when _ then 3 end',
    'if(_, _, 1)',
    'multiIf(_, 1, _, 2, 3)',
    '_ ? _ : 1',
    'coalesce(_, _)',
    'ifNull(_, 1)',
    'nullIf(_, _)',
  ],
  ...[
    'arrayMap(x -> _, [1])',
    'arrayMap(x -> x, [_])',
    'arrayFilter(x -> x = _, [_])',
    'arraySort(x -> -x, [_, 1])',
    'arraySum([_, 1])',
    'arrayConcat([_], [_])',
    'arrayFlatten([[_]])',
  ],
  ...[
    'concat(toString(_), toString(_))',
    "replaceAll(toString(_), 'a', 'b')",
    'length(toString(_))',
    'toDateTime(_)',
    'toStartOfDay(toDateTime(_))',
    "toDate('2024-01-01') + _",
    'interval _ day',
  ],
  ...[
    '(select _)',
    '(select max(x) from (select _ as x))',
    'exists(select 1 where _ = 1)',
    '1 in (select _)',
    "f'{_}-{_}'",
    'tuple(_, _).1',
    'greatest(_, _)',
    'round(_, 1)',
    'least(_, 1)',
  ],
  ...[
    'toInt(toString(_))',
    'JSONExtractInt(toString(_), 1)',
    "splitByChar(',', toString(_))[1]",
    'arrayExists(x -> x = _, [_])',
    "arrayReduce('sum', [_, _])",
    "mapKeys({'a': _})[1]",
  ],
]
const leaves = ['1', "'a'", 'null', 'number', '1.5', "toDateTime('2024-01-01 00:00:00')", 'now()', '[1, 2]', '(1, 2)']
const eventLeaves = [
  'event',
  'timestamp',
  'properties.price',
  'person.properties.plan',
  'distinct_id',
  'person_id',
  'session.$session_duration',
  'properties',
  'elements_chain',
]
const relations = [
  'select * from (_) t',
  'select a.x as x from (_) a join (_) b on a.x = b.x',
  'select x from (_) t where x in (select x from (_) u)',
  'select x from (_) t union all select x from (_) u',
  'select max(x) as x from (_) t group by x',
  'select x + 1 as x from (_) t order by x limit 5',
  'select sum(x) over (partition by x order by x) as x from (_) t',
  'select arrayJoin([x, x]) as x from (_) t',
  'select distinct x from (_) t',
  'select x from (_) t left join numbers(2) n on t.x = n.number',
  'select (select max(x) from (_) u) as x from (_) t',
  'select x from (_) t except select x from (_) u',
]

const functionNames = [...registry.keys()]
const forms = expressions.map(([text]) => text)

type Draw = () => number
const pick = <T>(draw: Draw, of: readonly T[]): T => of[Math.floor(draw() * of.length)]!
const put = (construct: string, inner: string): string => construct.replaceAll('_', () => inner)

/** A call of any function of the registry with the hole among its arguments. */
function anyCall(draw: Draw): string {
  const name = pick(draw, functionNames)
  const [least, most] = registry.get(name)!.args
  const count = Math.max(1, Math.min(least + Math.floor(draw() * 2), most ?? least + 2))
  const hole = Math.floor(draw() * count)
  return `${name}(${Array.from({ length: count }, (_, i) => (i === hole || draw() < 0.3 ? '_' : pick(draw, leaves))).join(', ')})`
}

function drawnRule(seed: number): Rule {
  const draw = random(seed)
  const isOfEvents = draw() < 0.4
  const leaf = isOfEvents ? pick(draw, [...leaves, ...eventLeaves]) : draw() < 0.15 ? pick(draw, forms) : pick(draw, leaves)
  const source = isOfEvents ? ' from events' : leaf === 'number' ? ' from numbers(3)' : ''
  const steps = Array.from({ length: 1 + Math.floor(draw() * 3) }, () => (draw() < 0.3 ? anyCall(draw) : pick(draw, constructs)))
  const step = (i: number) => steps[i % steps.length]!
  const tail = pick(draw, ['', '', ' limit 1', ' order by 1', ' group by all'])
  switch (pick(draw, ['nest', 'alias', 'alias', 'cte', 'relation', 'wide', 'scalar'] as const)) {
    case 'nest': {
      // Each level may stand for several of the one below, so only one hole of it is filled with that.
      const level = (construct: string, inner: string) => {
        let isFirst = true
        return construct.replaceAll('_', () => {
          if (!isFirst) return leaf
          isFirst = false
          return inner
        })
      }
      return {
        from: 2,
        most: 512,
        write: (n) => `select ${Array.from({ length: n }, (_, i) => i).reduce((inner, i) => level(step(i), inner), leaf)}${source}${tail}`,
      }
    }
    case 'alias':
      return {
        from: 2,
        grows: 'data',
        most: 256,
        write: (n) =>
          `select ${[`${leaf} as a0`, ...Array.from({ length: n }, (_, i) => `${put(step(i), `a${i}`)} as a${i + 1}`)].join(', ')}${source}${tail}`,
      }
    case 'scalar':
      return {
        from: 2,
        grows: 'data',
        most: 256,
        write: (n) =>
          `with ${[`${pick(random(seed), leaves)} as a0`, ...Array.from({ length: n }, (_, i) => `${put(step(i), `a${i}`)} as a${i + 1}`)].join(', ')} select a${n}${source}${tail}`,
      }
    case 'cte': {
      const relation = pick(draw, relations)
      return {
        from: 2,
        grows: 'data',
        most: 128,
        write: (n) =>
          `with ${[`t0 as (select ${leaf} as x${source}${source && ' limit 2'})`, ...Array.from({ length: n }, (_, i) => `t${i + 1} as (${put(relation, `select * from t${i}`)})`)].join(', ')} select count() from t${n}`,
      }
    }
    case 'relation': {
      const relation = pick(draw, relations)
      const once = (inner: string) => {
        let isFirst = true
        return relation.replaceAll('_', () => {
          if (!isFirst) return 'select 1 as x'
          isFirst = false
          return inner
        })
      }
      return {
        from: 2,
        most: 128,
        write: (n) => Array.from({ length: n }).reduce<string>((inner) => once(inner), `select ${leaf} as x${source}`),
      }
    }
    case 'wide': {
      const clause = pick(draw, ['select *', 'select where', 'select order', 'select group', 'select having'] as const)
      const part = (i: number) => put(step(i), leaf.replace('1', String(i)))
      const parts = (n: number, between: string) => Array.from({ length: n }, (_, i) => part(i)).join(between)
      const from = source || ' from numbers(3)'
      return {
        from: 4,
        most: 4_096,
        write: (n) =>
          ({
            'select *': `select ${parts(n, ', ')}${from}`,
            'select where': `select 1${from} where ${Array.from({ length: n }, (_, i) => `(${part(i)}) is not null`).join(' and ')}`,
            'select order': `select 1${from} order by ${parts(n, ', ')}`,
            'select group': `select count()${from} group by ${parts(n, ', ')}`,
            'select having': `select count()${from} group by 1 having ${Array.from({ length: n }, (_, i) => `max(${part(i)}) is not null`).join(' or ')}`,
          })[clause],
      }
    }
  }
}

const prefix = 'random '
export const randomStatement = (seed: number): Probe => asked(`${prefix}${seed}`, drawnRule(seed))
export const randomCompile = (seed: number): Probe => compiled(`${prefix}${seed}`, drawnRule(seed), seed % 2 ? 'ClickHouse' : 'DuckDB')

const mostSeed = 1_000_000
export function* randomStatements(draw: Draw): Generator<Probe> {
  for (;;) yield randomStatement(Math.floor(draw() * mostSeed))
}
export function* randomCompiles(draw: Draw): Generator<Probe> {
  for (;;) yield randomCompile(Math.floor(draw() * mostSeed))
}
/** The same again by its name. */
export function randomNamed(name: string): Probe | null {
  const [, door, seed] = /^(statement|compile for \w+): random (\d+)$/.exec(name) ?? []
  return seed === undefined ? null : door === 'statement' ? randomStatement(Number(seed)) : randomCompile(Number(seed))
}
