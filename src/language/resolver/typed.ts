import type { Span } from '../../errors/span.ts'
import type { AttachedTable } from '../catalog/attached.ts'
import type { FunctionRow } from '../functions/row.ts'
import type { SqlType } from '../types/types.ts'

// The typed tree: the result of the resolver. Every name is bound, every expression has a type, and stars and aliases are expanded. Passes rewrite
// the tree until printers have no decisions to make. An alias used several times is one shared object.

interface Base<K extends string> {
  readonly kind: K
  readonly type: SqlType
  readonly span: Span
}

/** Times are bigints of microseconds in UTC, dates ISO texts. */
export interface ConstantNode extends Base<'constant'> {
  readonly value: null | boolean | number | bigint | string
}
/** An output column of a source in scope. Source aliases are unique in a statement. */
export interface ColumnNode extends Base<'column'> {
  readonly source: string
  readonly name: string
}
/** A parameter of an enclosing lambda. */
export interface ParameterNode extends Base<'parameter'> {
  readonly name: string
}
/** The text of a JSON value below `expr`, null if absent. Numbers in the path are one-based positions. */
export interface JsonNode extends Base<'json'> {
  readonly expr: TypedExpr
  readonly path: readonly (string | number)[]
  readonly as: JsonRead
}
export interface CallNode extends Base<'call'> {
  readonly name: string
  readonly row: FunctionRow
  readonly params: readonly TypedExpr[]
  readonly args: readonly TypedExpr[]
  readonly distinct: boolean
  readonly orderBy: readonly TypedOrder[]
  readonly filter: TypedExpr | null
  readonly ignoreNulls: boolean
  readonly over: TypedWindow | null
}
export interface CastNode extends Base<'cast'> {
  readonly expr: TypedExpr
  readonly isTry: boolean
}
export interface LambdaNode extends Base<'lambda'> {
  readonly params: readonly string[]
  readonly body: TypedExpr
}
export interface ArrayNode extends Base<'array'> {
  readonly items: readonly TypedExpr[]
}
export interface TupleNode extends Base<'tuple'> {
  readonly items: readonly TypedExpr[]
}
export interface InNode extends Base<'in'> {
  readonly expr: TypedExpr
  readonly not: boolean
  readonly set: { readonly items: readonly TypedExpr[] } | { readonly query: TypedQuery } | { readonly value: TypedExpr }
  /** It may be NULL where it is false. */
  readonly mayBeNull?: true
}
/** A query that returns a single value. */
export interface ScalarQueryNode extends Base<'scalarQuery'> {
  readonly query: TypedQuery
}
export interface ExistsNode extends Base<'exists'> {
  /** Outer columns that it reads. Absent if there are none. */
  readonly outer?: readonly TypedExpr[]
  readonly query: TypedQuery
}
/** `arrayJoin(x)`: one row for each item. A pass moves it to the sources. */
export interface ArrayJoinNode extends Base<'arrayJoin'> {
  readonly expr: TypedExpr
}

export type TypedExpr =
  | ConstantNode
  | ColumnNode
  | ParameterNode
  | JsonNode
  | CallNode
  | CastNode
  | LambdaNode
  | ArrayNode
  | TupleNode
  | InNode
  | ScalarQueryNode
  | ExistsNode
  | ArrayJoinNode

/** `value`: the text, marked as described in property-values.ts. */
export type JsonRead = 'text' | 'number' | 'boolean' | 'value'

export interface TypedOrder {
  readonly expr: TypedExpr
  readonly descending: boolean
  readonly nulls: 'first' | 'last'
  /** WITH FILL. Only the last item of a select may have it. */
  readonly fill?: TypedFill
}

export type FillUnit = 'second' | 'minute' | 'hour' | 'day' | 'week' | 'month' | 'quarter' | 'year'
/** Null: starts with the first value, or ends with the last. */
export interface TypedFill {
  readonly from: TypedExpr | null
  readonly to: TypedExpr | null
  readonly step: number
  /** For times. */
  readonly unit: FillUnit | null
  readonly span: Span
}

export interface TypedBound {
  readonly type: 'unbounded preceding' | 'preceding' | 'current row' | 'following' | 'unbounded following'
  readonly offset: TypedExpr | null
}
export interface TypedWindow {
  readonly partitionBy: readonly TypedExpr[]
  readonly orderBy: readonly TypedOrder[]
  readonly frame: { readonly unit: 'rows' | 'range'; readonly start: TypedBound; readonly end: TypedBound | null } | null
}

/** A typed column, and the form in which it stores a property. */
export interface Slot {
  readonly column: string
  readonly holds: Exclude<JsonRead, 'value'>
}

/** A column of a scan, called `name`: a field of its table, or a value inside one of its JSON fields. */
export interface Read {
  readonly name: string
  /** Tables on the way: `['pdi', 'person']`. Empty once lazy joins are explicit. */
  readonly via: readonly string[]
  readonly field: string
  /** Absent: the whole field. */
  readonly json?: { readonly path: readonly (string | number)[]; readonly as: JsonRead }
  /** The column that stores the value; chosen by a pass. */
  readonly slot?: Slot
  readonly type: SqlType
}

/** A table of the project. */
export interface ScanSource {
  readonly kind: 'scan'
  readonly alias: string
  readonly table: string
  readonly reads: readonly Read[]
  /** The queries of those of its tables that are queries, by the path that leads to them. */
  readonly views?: readonly { readonly path: string; readonly query: TypedQuery }[]
  /** The share of distinct ids to keep, and where in the hash ring it starts. */
  readonly sample: { readonly share: number; readonly start: number } | null
  /** Set by the tenant guard. Printers refuse a scan without it. */
  readonly project: number | null
  /** Map person numbers through the merges. */
  readonly withMerges: boolean
  readonly span: Span
}
export interface DerivedSource {
  readonly kind: 'derived'
  readonly alias: string
  /** It reads columns of previous sources. */
  readonly lateral?: true
  readonly query: TypedQuery
}
export interface CteSource {
  readonly kind: 'cteRef'
  readonly alias: string
  readonly name: string
}
export interface RowsSource {
  readonly kind: 'rows'
  readonly alias: string
  readonly names: readonly string[]
  readonly rows: readonly (readonly TypedExpr[])[]
}
/** `numbers(…)`, `generateSeries(…)` */
export interface TableFunctionSource {
  readonly kind: 'tableFunction'
  readonly alias: string
  readonly name: 'numbers' | 'generateSeries'
  readonly args: readonly TypedExpr[]
  readonly span: Span
}
/** A table beside those of the project. */
export interface AttachedSource {
  readonly kind: 'attached'
  readonly alias: string
  readonly table: AttachedTable
  /** One row for each key, as a text, with these columns as a document. Absent: the rows of the table. */
  readonly lookup?: { readonly key: string; readonly columns: readonly string[] }
  readonly span: Span
}
export interface JoinedSource {
  readonly kind: 'join'
  readonly left: TypedSource
  readonly right: TypedSource
  readonly type: 'inner' | 'left' | 'right' | 'full' | 'cross' | 'positional'
  readonly strictness: 'any' | 'asof' | 'semi' | 'anti' | null
  readonly on: TypedExpr | null
  readonly span: Span
}
/** One more row per item of the arrays, in parallel. `left`: a row with defaults if they are empty. */
export interface UnnestSource {
  readonly kind: 'unnest'
  readonly alias: string
  readonly input: TypedSource | null
  readonly left: boolean
  readonly items: readonly { readonly name: string; readonly expr: TypedExpr }[]
  readonly span: Span
}

export type TypedSource =
  | ScanSource
  | DerivedSource
  | CteSource
  | RowsSource
  | TableFunctionSource
  | AttachedSource
  | JoinedSource
  | UnnestSource

export interface TypedColumn {
  /** The name that answers show. */
  readonly name: string
  /** The name in generated SQL: unique among the columns. */
  readonly alias: string
  readonly expr: TypedExpr
}

export interface TypedGroupBy {
  readonly mode: 'plain' | 'cube' | 'rollup' | 'sets'
  readonly items: readonly TypedExpr[]
  readonly sets: readonly (readonly TypedExpr[])[]
  /** WITH TOTALS. Only the statement itself may have it. */
  readonly withTotals?: true
  /** No column reads a key that a set lacks. */
  readonly hidesMissingKeys?: true
}

export interface TypedLimit {
  readonly limit: number | null
  readonly offset: number
  readonly percent: boolean
  readonly withTies: boolean
  readonly span: Span
}

export interface TypedCte {
  readonly name: string
  readonly recursive: boolean
  readonly materialized: boolean | null
  readonly query: TypedQuery
}

export interface TypedSelect {
  readonly kind: 'select'
  readonly ctes: readonly TypedCte[]
  readonly columns: readonly TypedColumn[]
  readonly distinct: boolean
  readonly distinctOn: readonly TypedExpr[]
  readonly from: TypedSource | null
  readonly where: TypedExpr | null
  readonly groupBy: TypedGroupBy | null
  readonly having: TypedExpr | null
  readonly qualify: TypedExpr | null
  readonly orderBy: readonly TypedOrder[]
  readonly limitBy: { readonly limit: number; readonly offset: number; readonly by: readonly TypedExpr[] } | null
  readonly limit: TypedLimit | null
  readonly span: Span
}

export interface TypedSet {
  readonly kind: 'set'
  readonly ctes: readonly TypedCte[]
  readonly op: 'union' | 'intersect' | 'except'
  readonly all: boolean
  readonly left: TypedQuery
  readonly right: TypedQuery
  /** The columns of the result: names of the left side, types of both. */
  readonly columns: readonly { readonly name: string; readonly alias: string; readonly type: SqlType }[]
  /** Refers to columns of the set: `column` nodes with an empty source. */
  readonly orderBy: readonly TypedOrder[]
  readonly limit: TypedLimit | null
  readonly span: Span
}

export type TypedQuery = TypedSelect | TypedSet

export type TypedNode = TypedExpr | TypedSource | TypedQuery

export interface OutputColumn {
  readonly name: string
  readonly alias: string
  readonly type: SqlType
}

export const outputColumns = (query: TypedQuery): readonly OutputColumn[] =>
  query.kind === 'set' ? query.columns : query.columns.map(({ name, alias, expr }) => ({ name, alias, type: expr.type }))

/** For generated selects. */
export const emptySelect: Omit<TypedSelect, 'columns' | 'from' | 'span'> = {
  kind: 'select',
  ctes: [],
  distinct: false,
  distinctOn: [],
  where: null,
  groupBy: null,
  having: null,
  qualify: null,
  orderBy: [],
  limitBy: null,
  limit: null,
}
