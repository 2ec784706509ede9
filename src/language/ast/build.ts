import { noSpan } from '../../errors/span.ts'
import type {
  Alias,
  Call,
  Expr,
  Field,
  GroupBy,
  Lambda,
  Limit,
  Literal,
  OrderItem,
  Query,
  QuerySource,
  Select,
  Source,
  Star,
  TableSource,
  TupleLiteral,
} from './nodes.ts'

// Builders for generated trees. Query kinds use them.

export function literal(value: null | boolean | number | bigint | string): Literal {
  const type =
    value === null
      ? 'null'
      : typeof value === 'boolean'
        ? 'bool'
        : typeof value === 'string'
          ? 'string'
          : typeof value === 'bigint' || Number.isInteger(value)
            ? 'int'
            : 'float'
  return { kind: 'literal', value, type, span: noSpan }
}

/** `field('person', 'properties', 'email')`. Names that start with `@` are fields no statement can name (`@person_no`). */
export const field = (...chain: string[]): Field => ({ kind: 'field', chain, span: noSpan })

export const call = (name: string, ...args: Expr[]): Call => callWith(name, { args })

export const callWith = (name: string, parts: Partial<Omit<Call, 'kind' | 'span' | 'name'>>): Call => ({
  kind: 'call',
  name,
  params: null,
  args: [],
  distinct: false,
  orderBy: [],
  filter: null,
  ignoreNulls: false,
  over: null,
  ...parts,
  span: noSpan,
})

export const alias = (expr: Expr, name: string): Alias => ({ kind: 'alias', expr, name, span: noSpan })
export const tuple = (...items: Expr[]): TupleLiteral => ({ kind: 'tuple', items, span: noSpan })
export const lambda = (params: readonly string[], body: Expr): Lambda => ({ kind: 'lambda', params, body, span: noSpan })

export const star = (...chain: string[]): Star => ({ kind: 'star', table: chain, exclude: [], replace: [], span: noSpan })

/** The conjunction; `true` for none, the expression itself for one. */
export function and(...exprs: readonly Expr[]): Expr {
  return exprs.length === 0 ? literal(true) : exprs.length === 1 ? exprs[0]! : call('and', ...exprs)
}
/** The disjunction; `false` for none. */
export function or(...exprs: readonly Expr[]): Expr {
  return exprs.length === 0 ? literal(false) : exprs.length === 1 ? exprs[0]! : call('or', ...exprs)
}
export const not = (expr: Expr): Call => call('not', expr)
export const equals = (a: Expr, b: Expr): Call => call('equals', a, b)
export const isIn = (expr: Expr, items: readonly Expr[]): Expr => ({
  kind: 'in',
  expr,
  set: tuple(...items),
  not: false,
  cohort: false,
  span: noSpan,
})
export const inQuery = (expr: Expr, query: Query): Expr => ({
  kind: 'in',
  expr,
  set: { kind: 'subquery', query, span: noSpan },
  not: false,
  cohort: false,
  span: noSpan,
})

export const order = (expr: Expr, direction: 'asc' | 'desc' = 'asc'): OrderItem => ({
  kind: 'orderItem',
  expr,
  descending: direction === 'desc',
  nulls: null,
  collate: null,
  fill: null,
  span: noSpan,
})

export const table = (name: string, as: string | null = null): TableSource => ({
  kind: 'table',
  chain: [name],
  args: null,
  alias: as,
  columnAliases: [],
  final: false,
  sample: null,
  span: noSpan,
})
export const from = (query: Query, as: string | null = null): QuerySource => ({
  kind: 'querySource',
  query,
  lateral: false,
  alias: as,
  columnAliases: [],
  sample: null,
  span: noSpan,
})
export const join = (left: Source, right: Source, on: Expr, type: 'inner' | 'left' = 'inner'): Source => ({
  kind: 'join',
  left,
  right,
  type,
  strictness: null,
  on,
  using: [],
  span: noSpan,
})

export const groupBy = (...items: Expr[]): GroupBy | null =>
  items.length === 0 ? null : { kind: 'groupBy', mode: 'plain', items, sets: [], withTotals: false, span: noSpan }
export const limit = (count: number, offset = 0): Limit => ({
  kind: 'limit',
  limit: literal(count),
  offset: offset ? literal(offset) : null,
  percent: false,
  withTies: false,
  span: noSpan,
})

export const select = (parts: Partial<Omit<Select, 'kind' | 'span'>> & Pick<Select, 'columns'>): Select => ({
  kind: 'select',
  with: [],
  recursive: false,
  distinct: false,
  distinctOn: [],
  from: null,
  arrayJoin: null,
  prewhere: null,
  where: null,
  groupBy: null,
  having: null,
  qualify: null,
  windows: [],
  orderBy: [],
  orderByAll: false,
  limitBy: null,
  limit: null,
  settings: [],
  ...parts,
  span: noSpan,
})

/** The rows of all of them. */
export const unionAll = (...queries: readonly [Query, ...Query[]]): Query =>
  queries.reduce((left, right) => ({
    kind: 'set',
    with: [],
    recursive: false,
    op: 'union',
    all: true,
    byName: false,
    left,
    right,
    orderBy: [],
    limit: null,
    span: noSpan,
  }))
