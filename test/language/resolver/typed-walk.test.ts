import { expect, test } from 'vitest'
import { columnName } from '../../../src/language/ast/column-name.ts'
import { parseQuery } from '../../../src/language/parser/parse.ts'
import { resolve } from '../../../src/language/resolver/resolve.ts'
import type { TypedNode, TypedQuery } from '../../../src/language/resolver/typed.ts'
import { rewrite, walk } from '../../../src/language/resolver/typed-walk.ts'
import type { ChildTable } from '../../../src/lib/tree.ts'

const context = {
  project: { id: 1, timezone: 'UTC', weekStartDay: 1 as const },
  now: new Date('2024-06-01T12:00:00Z'),
  propertyType: () => null,
  cohort: () => undefined,
}
const resolved = (statement: string): TypedQuery => resolve(parseQuery(statement), context, columnName)

const kinds: ReadonlySet<string> = new Set([
  ...['constant', 'column', 'parameter', 'json', 'call', 'cast', 'lambda', 'array', 'tuple', 'in', 'scalarQuery', 'exists', 'arrayJoin'],
  ...['scan', 'derived', 'cteRef', 'rows', 'tableFunction', 'join', 'unnest', 'select', 'set'],
])
/** Every node that some field leads to, found without the table of children. */
function allNodes(value: unknown, found = new Set<TypedNode>()): ReadonlySet<TypedNode> {
  if (value === null || typeof value !== 'object') return found
  if ('kind' in value && kinds.has(value.kind as string)) {
    if (found.has(value as TypedNode)) return found
    found.add(value as TypedNode)
  }
  for (const [key, below] of Object.entries(value)) if (key !== 'type' && key !== 'row' && key !== 'span') allNodes(below, found)
  return found
}

const statements = [
  "select event, count() from events where properties.a = 'x' group by event having count() > 1 order by event limit 3 by event limit 10",
  'select distinct on (event) event, timestamp from events order by event, timestamp',
  'select sum(x) over (partition by y order by z rows between 2 preceding and 1 following) from (select 1 as x, 2 as y, 3 as z)',
  'select countIf(event = toString(1)) over (), arrayMap(x -> x + 1, [1, 2]), (1, event), properties.a::Float64 from events sample 0.1',
  'select event from events where distinct_id in (select distinct_id from events) and event in (1, 2) and event in splitByChar(toString(1), event)',
  'select e.event from events e where exists (select 1 from events f where f.distinct_id = e.distinct_id) qualify row_number() over () < 3',
  'select (select max(timestamp) from events), a from (values (1), (2)) as t(a) cross join numbers(3) union all select now(), 2 order by a',
  'with a as (select 1 as b) select b, arrayJoin([1, 2]) as c from a left join (select 2 as d) as e on a.b = e.d array join [c] as f',
  'select number, 1 from numbers(3) order by number with fill from 0 to 5 step 2',
  'select event, count() from events group by grouping sets ((event), (event, distinct_id))',
]

for (const statement of statements)
  test(`every node is visited once: ${statement}`, () => {
    const query = resolved(statement)
    const met: TypedNode[] = []
    const see = (node: TypedNode) => {
      met.push(node)
    }
    walk(query, { expr: see, source: see, query: see })
    const shared = met.filter(({ kind }) => kind !== 'constant')
    expect(new Set(shared).size).toBe(shared.length)
    expect(new Set(met)).toEqual(allNodes(query))
    // A rewrite that changes nothing copies nothing, and one that changes every constant leaves none as it was.
    expect(rewrite(query, { expr: (expr) => expr, source: (source) => source, select: (select) => select })).toBe(query)
    const constants = new Set(met.filter(({ kind }) => kind === 'constant'))
    const copied = rewrite(query, { expr: (expr) => (expr.kind === 'constant' ? { ...expr } : expr) })
    expect([...allNodes(copied)].filter((node) => constants.has(node))).toEqual([])
  })

test('what is one expression in several places is visited once and stays one', () => {
  const query = resolved('select event = toString(1) as a, a and a as b, b or a as c from events where c')
  let calls = 0
  walk(query, {
    expr: ({ kind }) => {
      if (kind === 'call') calls++
    },
  })
  expect(calls).toBe(4)
  const next = rewrite(query, { expr: (expr) => (expr.kind === 'column' ? { ...expr, name: 'other' } : expr) })
  if (next.kind !== 'select') throw new Error('not a select')
  expect(next.where).toBe(next.columns[2]!.expr)
})

test('a kind, a field or a form of a part that the table leaves out does not compile', () => {
  interface Leaf {
    readonly kind: 'leaf'
  }
  interface Pair {
    readonly kind: 'pair'
    readonly left: Node
    readonly right: { readonly items: readonly Node[] } | { readonly only: Node }
  }
  type Node = Leaf | Pair
  const whole: ChildTable<Node> = { leaf: {}, pair: { left: true, right: { items: true, only: true } } }
  // @ts-expect-error a kind
  const withoutKind: ChildTable<Node> = { pair: whole.pair }
  // @ts-expect-error a field
  const withoutField: ChildTable<Node> = { leaf: {}, pair: { left: true } }
  // @ts-expect-error a form of a part
  const withoutForm: ChildTable<Node> = { leaf: {}, pair: { left: true, right: { items: true } } }
  expect([withoutKind, withoutField, withoutForm]).toHaveLength(3)
})
