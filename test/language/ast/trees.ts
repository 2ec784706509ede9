import fc from 'fast-check'
import { noSpan } from '../../../src/errors/span.ts'
import { callWith, field, groupBy, lambda, literal, order, select, table } from '../../../src/language/ast/build.ts'
import type { Expr, GroupBy, Limit, OrderItem, Query, Source, WindowSpec } from '../../../src/language/ast/nodes.ts'

// Generated trees that a statement can say.

/** The tree as JSON without places; what JSON cannot hold is spelled out. */
export const withoutSpans = (node: unknown): unknown =>
  JSON.parse(
    JSON.stringify(node, (key, value: unknown) => {
      if (key === 'span') return undefined
      if (typeof value === 'bigint') return `${value}n`
      if (typeof value === 'number' && (!Number.isFinite(value) || Object.is(value, -0))) return Object.is(value, -0) ? '-0' : String(value)
      return value
    }),
  )

const name = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('event', 'a', 'b', 'properties', '$session_id', 'timestamp', 'date', 'left', 'first', 'key') },
  { weight: 2, arbitrary: fc.constantFrom('select', 'from', 'true', 'interval', 'array', 'inf', 'Order', 'cohort', 'all', 'team_id') },
  {
    weight: 1,
    arbitrary: fc.string({ minLength: 1, maxLength: 5, unit: 'grapheme' }).filter((s) => !s.includes('%') && !s.startsWith('@')),
  },
)
const functionName = fc.constantFrom(
  'plus',
  'and',
  'or',
  'count',
  'if',
  'toIntervalDay',
  'left',
  'like',
  'x$y',
  'arrayMap',
  'concat',
  'match',
)
const text = fc.oneof(fc.string({ maxLength: 6 }), fc.constantFrom("it's", '\\', '\\n', 'a\nb\t\x07\v\b\f\r', "'", '--', '{x}', 'ü😀'))
const leaf: fc.Arbitrary<Expr> = fc.oneof(
  text.map(literal),
  fc.oneof(fc.integer(), fc.constantFrom(0, -1, 2 ** 53 - 1, 2n ** 53n, -(2n ** 60n), 10n ** 30n)).map(literal),
  fc
    .oneof(fc.double(), fc.constantFrom(0.5, -0, 1, 1e21, 1e-9))
    .map((value): Expr => ({ kind: 'literal', type: 'float', value, span: noSpan })),
  fc.constantFrom(null, true, false).map(literal),
  fc.array(name, { minLength: 1, maxLength: 3 }).map((chain) => field(...chain)),
  fc.array(name, { minLength: 1, maxLength: 2 }).map((chain): Expr => ({ kind: 'placeholder', chain, span: noSpan })),
)

const depth = { maxDepth: 4, depthSize: 'small' } as const

export const trees = fc.letrec<{ expr: Expr; plain: Expr; item: Expr; order: OrderItem; window: WindowSpec; query: Query; source: Source }>(
  (tie) => {
    const exprs = (maxLength = 3, minLength = 0) => fc.array(tie('item'), { maxLength, minLength })
    const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: null, freq: 3 })
    const aliased = fc.record({ expr: tie('plain'), name }).map(({ expr, name }): Expr => ({ kind: 'alias', expr, name, span: noSpan }))
    const limit: fc.Arbitrary<Limit> = fc
      .record({ limit: tie('plain'), offset: maybe(tie('plain')), percent: fc.boolean(), withTies: fc.boolean() })
      .map((parts) => ({ kind: 'limit', ...parts, span: noSpan }))
    const grouping: fc.Arbitrary<GroupBy | null> = fc.oneof(
      exprs(2, 1).map((items) => groupBy(...items)),
      fc
        .record({ mode: fc.constantFrom('cube' as const, 'rollup' as const), items: exprs(2, 1), withTotals: fc.boolean() })
        .map((parts): GroupBy => ({ kind: 'groupBy', ...parts, sets: [], span: noSpan })),
      fc
        .array(exprs(2), { minLength: 1, maxLength: 2 })
        .map((sets): GroupBy => ({ kind: 'groupBy', mode: 'sets', items: [], sets, withTotals: false, span: noSpan })),
    )
    return {
      item: fc.oneof({ weight: 5, arbitrary: tie('plain') }, { weight: 1, arbitrary: aliased }),
      plain: fc.oneof(depth, leaf, tie('expr')),
      expr: fc.oneof(
        depth,
        leaf,
        fc
          .record({
            name: functionName,
            args: exprs(),
            params: maybe(exprs(2)),
            distinct: fc.boolean(),
            orderBy: fc.array(tie('order'), { maxLength: 2 }),
            filter: maybe(tie('plain')),
            ignoreNulls: fc.boolean(),
            over: maybe(fc.oneof(tie('window'), fc.constant({ kind: 'windowName' as const, name: 'w', span: noSpan }))),
          })
          .map(({ name, ...parts }) => callWith(name, parts)),
        tie('plain').map((expr) => callWith('not', { args: [expr] })),
        fc
          .record({ object: tie('plain'), index: tie('plain'), nullish: fc.boolean() })
          .map((parts): Expr => ({ kind: 'access', ...parts, dotted: false, span: noSpan })),
        fc
          .record({ object: tie('plain'), index: fc.oneof(name.map(literal), fc.nat(3).map(literal)), nullish: fc.boolean() })
          .map((parts): Expr => ({ kind: 'access', ...parts, dotted: true, span: noSpan })),
        fc
          .record({
            expr: tie('plain'),
            type: fc.constantFrom('Int64', 'Nullable(String)', 'Tuple(a Int64, b String)'),
            isTry: fc.boolean(),
          })
          .map((parts): Expr => ({ kind: 'cast', ...parts, span: noSpan })),
        fc.tuple(fc.array(name, { maxLength: 2 }), tie('plain')).map(([params, body]) => lambda(params, body)),
        exprs().map((items): Expr => ({ kind: 'array', items, span: noSpan })),
        exprs().map((items): Expr => ({ kind: 'tuple', items, span: noSpan })),
        fc.array(fc.record({ key: tie('plain'), value: tie('plain') }), { maxLength: 2 }).map(
          (entries): Expr => ({
            kind: 'dict',
            entries: entries.map((entry) => ({ kind: 'dictEntry', ...entry, span: noSpan })),
            span: noSpan,
          }),
        ),
        fc
          .record({ expr: tie('plain'), low: tie('plain'), high: tie('plain'), not: fc.boolean() })
          .map((parts): Expr => ({ kind: 'between', ...parts, span: noSpan })),
        fc
          .record({
            expr: tie('plain'),
            set: fc.oneof(
              exprs().map((items): Expr => ({ kind: 'tuple', items, span: noSpan })),
              exprs().map((items): Expr => ({ kind: 'array', items, span: noSpan })),
              tie('query').map((query): Expr => ({ kind: 'subquery', query, span: noSpan })),
              leaf,
            ),
            not: fc.boolean(),
            cohort: fc.boolean(),
          })
          .map((parts): Expr => ({ kind: 'in', ...parts, cohort: parts.cohort && parts.set.kind === 'tuple', span: noSpan })),
        tie('query').map((query): Expr => ({ kind: 'subquery', query, span: noSpan })),
      ),
      order: fc
        .record({ expr: tie('item'), descending: fc.boolean(), nulls: fc.constantFrom(null, 'first' as const, 'last' as const) })
        .map(({ expr, descending, nulls }) => ({ ...order(expr, descending ? 'desc' : 'asc'), nulls })),
      window: fc
        .record({ partitionBy: exprs(2), orderBy: fc.array(tie('order'), { maxLength: 1 }), offset: maybe(tie('plain')) })
        .map(({ partitionBy, orderBy, offset }) => ({
          kind: 'window',
          partitionBy,
          orderBy,
          frame: offset && {
            unit: 'rows',
            start: { kind: 'frameBound', type: 'preceding', offset, span: noSpan },
            end: { kind: 'frameBound', type: 'current row', offset: null, span: noSpan },
          },
          span: noSpan,
        })),
      source: fc.oneof(
        depth,
        fc.record({ name, alias: maybe(name) }).map((parts) => table(parts.name, parts.alias)),
        fc
          .record({ query: tie('query'), lateral: fc.boolean(), alias: maybe(name) })
          .map((parts): Source => ({ kind: 'querySource', ...parts, columnAliases: [], sample: null, span: noSpan })),
        fc
          .record({
            left: tie('source'),
            right: tie('source'),
            type: fc.constantFrom('inner' as const, 'left' as const, 'full' as const, 'cross' as const),
            strictness: fc.constantFrom(null, 'any' as const, 'asof' as const),
            on: maybe(tie('plain')),
          })
          .map((parts): Source => ({ kind: 'join', ...parts, using: [], span: noSpan })),
        fc
          .record({ described: maybe(name.map((text) => table(text))), alias: maybe(name) })
          .map((parts): Source => ({ kind: 'catalog', ...parts, span: noSpan })),
        fc
          .array(exprs(2, 1), { minLength: 1, maxLength: 2 })
          .map((rows): Source => ({ kind: 'values', rows, alias: 'v', columnAliases: ['x'], span: noSpan })),
      ),
      query: fc.oneof(
        depth,
        exprs(2, 1).map((columns) => select({ columns })),
        fc
          .record({
            columns: exprs(3, 1),
            distinct: fc.boolean(),
            from: maybe(tie('source')),
            where: maybe(tie('plain')),
            groupBy: maybe(grouping),
            having: maybe(tie('plain')),
            qualify: maybe(tie('plain')),
            orderBy: fc.array(tie('order'), { maxLength: 2 }),
            limit: maybe(limit),
            with: fc.array(
              fc.oneof(fc.record({ name, body: tie('query') }), fc.record({ name, body: leaf as fc.Arbitrary<Expr | Query> })),
              { maxLength: 1 },
            ),
          })
          .map((parts) =>
            select({
              ...parts,
              with: parts.with.map((cte) => ({ kind: 'cte', columns: [], materialized: null, usingKey: [], ...cte, span: noSpan })),
            }),
          ),
        fc
          .record({
            op: fc.constantFrom('union' as const, 'intersect' as const, 'except' as const),
            all: fc.boolean(),
            left: tie('query'),
            right: tie('query'),
            orderBy: fc.array(tie('order'), { maxLength: 1 }),
            limit: maybe(limit),
          })
          .map((parts): Query => ({ kind: 'set', with: [], recursive: false, byName: false, ...parts, span: noSpan })),
      ),
    }
  },
)
