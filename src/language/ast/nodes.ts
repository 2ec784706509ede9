import type { Span } from '../../errors/span.ts'

// The syntax tree of the language: plain readonly data, a kind, a span, no methods.
// Operators, conditionals and intervals are calls (`a + b` is `plus(a, b)`), so most additions need no new node.

interface Base<K extends string> {
  readonly kind: K
  readonly span: Span
}

/** `int` beyond 2^53 is a bigint; `float` may be Infinity, -Infinity or NaN. */
export interface Literal extends Base<'literal'> {
  readonly value: null | boolean | number | bigint | string
  readonly type: 'null' | 'bool' | 'int' | 'float' | 'string'
}

/** A dotted name as written: `e.person.properties.email` is the chain of its four parts. */
export interface Field extends Base<'field'> {
  readonly chain: readonly string[]
}

/** `object[index]`, `object?.[index]`, `object.1` (an integer literal as index), `expression.name` (a string literal as index). */
export interface Access extends Base<'access'> {
  readonly object: Expr
  readonly index: Expr
  /** With a dot: of an array of tuples `.1` is the array of their first elements, `[1]` the first tuple. */
  readonly dotted: boolean
  readonly nullish: boolean
}

export interface Call extends Base<'call'> {
  readonly name: string
  /** The first list of `quantile(0.5)(x)`; null when there is none. */
  readonly params: readonly Expr[] | null
  readonly args: readonly Expr[]
  readonly distinct: boolean
  /** ORDER BY inside the call, or WITHIN GROUP (ORDER BY …). */
  readonly orderBy: readonly OrderItem[]
  /** FILTER (WHERE …) */
  readonly filter: Expr | null
  readonly ignoreNulls: boolean
  /** OVER (…), OVER name, or null. */
  readonly over: WindowSpec | WindowName | null
}

/** `x::type`, `cast(x AS type)`, `try_cast(x AS type)`. The type is its normalised text. */
export interface Cast extends Base<'cast'> {
  readonly expr: Expr
  readonly type: string
  readonly isTry: boolean
}

export interface Lambda extends Base<'lambda'> {
  readonly params: readonly string[]
  readonly body: Expr
}

export interface ArrayLiteral extends Base<'array'> {
  readonly items: readonly Expr[]
}

export interface TupleLiteral extends Base<'tuple'> {
  readonly items: readonly Expr[]
}

export interface DictEntry extends Base<'dictEntry'> {
  readonly key: Expr
  readonly value: Expr
}

export interface DictLiteral extends Base<'dict'> {
  readonly entries: readonly DictEntry[]
}

/** `*`, `t.*`, with `EXCLUDE (…)` and `REPLACE (… AS name)`. */
export interface Star extends Base<'star'> {
  readonly table: readonly string[]
  readonly exclude: readonly string[]
  readonly replace: readonly Alias[]
}

/** `COLUMNS('regex')`, `COLUMNS(a, b)`, `COLUMNS(* EXCLUDE …)`. */
export interface Columns extends Base<'columns'> {
  readonly pattern: string | null
  readonly items: readonly Expr[]
}

/** `{name}` or `{name.field}` */
export interface Placeholder extends Base<'placeholder'> {
  readonly chain: readonly string[]
}

export interface Alias extends Base<'alias'> {
  readonly expr: Expr
  readonly name: string
}

export interface Between extends Base<'between'> {
  readonly expr: Expr
  readonly low: Expr
  readonly high: Expr
  readonly not: boolean
}

/** `expr [NOT] IN (…)`: the right side is a tuple, an array, a subquery, a placeholder or any expression. */
export interface In extends Base<'in'> {
  readonly expr: Expr
  readonly set: Expr
  readonly not: boolean
  /** IN COHORT */
  readonly cohort: boolean
}

export interface Subquery extends Base<'subquery'> {
  readonly query: Query
}

/** `name := value` inside a call. */
export interface NamedArgument extends Base<'namedArgument'> {
  readonly name: string
  readonly value: Expr
}

/** `#1` */
export interface Positional extends Base<'positional'> {
  readonly index: number
}

/** `<kind attr=… />`: a renderer's hint, whose value is a tuple that names it; as a source it is refused by name. */
export interface Tag extends Base<'tag'> {
  readonly name: string
  readonly attributes: readonly string[]
  /** Of the attributes, in their order. */
  readonly values: readonly Expr[]
  readonly hasChildren: boolean
}

export type Expr =
  | Literal
  | Field
  | Access
  | Call
  | Cast
  | Lambda
  | ArrayLiteral
  | TupleLiteral
  | DictLiteral
  | Star
  | Columns
  | Placeholder
  | Alias
  | Between
  | In
  | Subquery
  | NamedArgument
  | Positional
  | Tag

export interface OrderItem extends Base<'orderItem'> {
  readonly expr: Expr
  readonly descending: boolean
  readonly nulls: 'first' | 'last' | null
  readonly collate: string | null
  readonly fill: OrderFill | null
}

/** ORDER BY x WITH FILL FROM … TO … STEP … */
export interface OrderFill extends Base<'orderFill'> {
  readonly from: Expr | null
  readonly to: Expr | null
  readonly step: Expr | null
}

export interface WindowName extends Base<'windowName'> {
  readonly name: string
}

export interface FrameBound extends Base<'frameBound'> {
  readonly type: 'unbounded preceding' | 'preceding' | 'current row' | 'following' | 'unbounded following'
  readonly offset: Expr | null
}

export interface WindowSpec extends Base<'window'> {
  readonly partitionBy: readonly Expr[]
  readonly orderBy: readonly OrderItem[]
  readonly frame: { readonly unit: 'rows' | 'range'; readonly start: FrameBound; readonly end: FrameBound | null } | null
}

export interface NamedWindow extends Base<'namedWindow'> {
  readonly name: string
  readonly window: WindowSpec
}

/** `name AS (query)`, or ClickHouse's scalar form `expr AS name`. */
export interface Cte extends Base<'cte'> {
  readonly name: string
  readonly columns: readonly string[]
  readonly materialized: boolean | null
  readonly usingKey: readonly string[]
  readonly body: Query | Expr
}

export interface Sample extends Base<'sample'> {
  /** A ratio (`SAMPLE 1/10`, `0.1`), a percentage already divided by 100, or a number of rows. */
  readonly size: Expr
  readonly offset: Expr | null
  readonly percent: boolean
}

/** A table by name, or a table function when `args` is not null. */
export interface TableSource extends Base<'table'> {
  readonly chain: readonly string[]
  readonly args: readonly Expr[] | null
  readonly alias: string | null
  readonly columnAliases: readonly string[]
  readonly final: boolean
  readonly sample: Sample | null
}

export interface QuerySource extends Base<'querySource'> {
  readonly query: Query
  /** LATERAL: it can read the tables before it in FROM. */
  readonly lateral: boolean
  readonly alias: string | null
  readonly columnAliases: readonly string[]
  readonly sample: Sample | null
}

export interface ValuesSource extends Base<'values'> {
  readonly rows: readonly (readonly Expr[])[]
  readonly alias: string | null
  readonly columnAliases: readonly string[]
}

/** A placeholder, or another expression, in the position of a table. */
export interface ExprSource extends Base<'exprSource'> {
  readonly expr: Expr
  readonly alias: string | null
}

/** `(DESCRIBE source)`, `(SHOW COLUMNS FROM source)`; `(SHOW TABLES)` describes no source. */
export interface CatalogSource extends Base<'catalog'> {
  readonly described: TableSource | QuerySource | null
  readonly alias: string | null
}

export type JoinType = 'inner' | 'left' | 'right' | 'full' | 'cross' | 'natural' | 'positional'
export type JoinStrictness = 'all' | 'any' | 'asof' | 'semi' | 'anti'

export interface JoinSource extends Base<'join'> {
  readonly left: Source
  readonly right: Source
  readonly type: JoinType
  readonly strictness: JoinStrictness | null
  readonly on: Expr | null
  readonly using: readonly Expr[]
}

export interface PivotSource extends Base<'pivot'> {
  readonly source: Source
  readonly aggregates: readonly Expr[]
  readonly columns: readonly { readonly expr: Expr; readonly values: readonly Expr[] }[]
  readonly groupBy: readonly Expr[]
  readonly alias: string | null
}

export interface UnpivotSource extends Base<'unpivot'> {
  readonly source: Source
  readonly includeNulls: boolean
  readonly value: Expr
  readonly name: Expr
  readonly columns: readonly Expr[]
  readonly alias: string | null
}

export type Source = TableSource | QuerySource | ValuesSource | ExprSource | JoinSource | PivotSource | UnpivotSource | CatalogSource

export interface ArrayJoin extends Base<'arrayJoin'> {
  readonly left: boolean
  readonly items: readonly Expr[]
}

export interface GroupBy extends Base<'groupBy'> {
  readonly mode: 'plain' | 'all' | 'cube' | 'rollup' | 'sets'
  readonly items: readonly Expr[]
  /** Only for the mode `sets`. */
  readonly sets: readonly (readonly Expr[])[]
  readonly withTotals: boolean
}

export interface LimitBy extends Base<'limitBy'> {
  readonly limit: Expr
  readonly offset: Expr | null
  readonly by: readonly Expr[]
}

export interface Limit extends Base<'limit'> {
  readonly limit: Expr | null
  readonly offset: Expr | null
  readonly percent: boolean
  readonly withTies: boolean
}

export interface Setting extends Base<'setting'> {
  readonly name: string
  readonly value: Expr
}

export interface Select extends Base<'select'> {
  readonly with: readonly Cte[]
  readonly recursive: boolean
  readonly distinct: boolean
  /** DISTINCT ON (…) */
  readonly distinctOn: readonly Expr[]
  readonly columns: readonly Expr[]
  readonly from: Source | null
  readonly arrayJoin: ArrayJoin | null
  readonly prewhere: Expr | null
  readonly where: Expr | null
  readonly groupBy: GroupBy | null
  readonly having: Expr | null
  readonly qualify: Expr | null
  readonly windows: readonly NamedWindow[]
  readonly orderBy: readonly OrderItem[]
  /** ORDER BY ALL */
  readonly orderByAll: boolean
  readonly limitBy: LimitBy | null
  readonly limit: Limit | null
  readonly settings: readonly Setting[]
}

export interface SetQuery extends Base<'set'> {
  readonly with: readonly Cte[]
  readonly recursive: boolean
  readonly op: 'union' | 'intersect' | 'except'
  readonly all: boolean
  readonly byName: boolean
  readonly left: Query
  readonly right: Query
  readonly orderBy: readonly OrderItem[]
  readonly limit: Limit | null
}

export type Query = Select | SetQuery

export type Part =
  | DictEntry
  | OrderItem
  | OrderFill
  | WindowName
  | WindowSpec
  | FrameBound
  | NamedWindow
  | Cte
  | Sample
  | ArrayJoin
  | GroupBy
  | LimitBy
  | Limit
  | Setting

export type Node = Expr | Query | Source | Part
export type NodeOf<K extends Node['kind']> = Extract<Node, { kind: K }>
