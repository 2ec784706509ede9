// The tree of a statement in PostgreSQL's spelling. `at` is its place in the text.

export type Expr =
  | {
      readonly kind: 'constant'
      readonly at: number
      readonly type: 'int' | 'numeric' | 'string' | 'bool' | 'null'
      readonly value: string
    }
  | { readonly kind: 'param'; readonly at: number; readonly index: number }
  | { readonly kind: 'name'; readonly at: number; readonly chain: readonly string[] }
  | { readonly kind: 'star'; readonly at: number; readonly table: readonly string[] }
  | Call
  | { readonly kind: 'cast'; readonly at: number; readonly expr: Expr; readonly type: string }
  | { readonly kind: 'unary'; readonly at: number; readonly op: string; readonly expr: Expr }
  | { readonly kind: 'binary'; readonly at: number; readonly op: string; readonly left: Expr; readonly right: Expr }
  | {
      readonly kind: 'is'
      readonly at: number
      readonly expr: Expr
      readonly what: 'null' | 'true' | 'false' | 'unknown'
      readonly not: boolean
    }
  | { readonly kind: 'between'; readonly at: number; readonly expr: Expr; readonly low: Expr; readonly high: Expr; readonly not: boolean }
  | { readonly kind: 'in'; readonly at: number; readonly expr: Expr; readonly items: readonly Expr[] | Query; readonly not: boolean }
  | {
      readonly kind: 'like'
      readonly at: number
      readonly op: 'like' | 'ilike' | 'similar'
      readonly expr: Expr
      readonly pattern: Expr
      /** The character that makes the next one a plain one. Absent: the backslash. Empty: none. */
      readonly escaping?: string
      readonly not: boolean
    }
  | {
      readonly kind: 'case'
      readonly at: number
      readonly operand: Expr | null
      readonly branches: readonly (readonly [Expr, Expr])[]
      readonly otherwise: Expr | null
    }
  | { readonly kind: 'subquery'; readonly at: number; readonly query: Query }
  | { readonly kind: 'exists'; readonly at: number; readonly query: Query }
  | { readonly kind: 'array'; readonly at: number; readonly items: readonly Expr[] }
  | { readonly kind: 'row'; readonly at: number; readonly items: readonly Expr[] }
  | {
      readonly kind: 'quantified'
      readonly at: number
      readonly op: string
      readonly all: boolean
      readonly left: Expr
      readonly right: Expr | Query
    }
  | { readonly kind: 'extract'; readonly at: number; readonly part: string; readonly expr: Expr }
  | { readonly kind: 'zone'; readonly at: number; readonly expr: Expr; readonly zone: Expr }
  | { readonly kind: 'interval'; readonly at: number; readonly text: string }
  | { readonly kind: 'index'; readonly at: number; readonly expr: Expr; readonly index: Expr }

export interface Call {
  readonly kind: 'call'
  readonly at: number
  readonly name: string
  /** As written, for functions of the language. */
  readonly written: string
  readonly args: readonly Expr[]
  readonly star: boolean
  readonly distinct: boolean
  readonly orderBy: readonly OrderItem[]
  readonly filter: Expr | null
  readonly over: Window | string | null
}

export interface OrderItem {
  readonly expr: Expr
  readonly descending: boolean
  readonly nullsFirst: boolean | null
}

export interface Window {
  readonly base: string | null
  readonly partitionBy: readonly Expr[]
  readonly orderBy: readonly OrderItem[]
  /** In the spelling that PostgreSQL and the language share. */
  readonly frame: string | null
}

export interface Item {
  readonly expr: Expr
  readonly alias: string | null
}

export type Source =
  | {
      readonly kind: 'table'
      readonly at: number
      readonly chain: readonly string[]
      readonly alias: string | null
      readonly columns: readonly string[]
    }
  | {
      readonly kind: 'function'
      readonly at: number
      readonly call: Call
      readonly alias: string | null
      readonly columns: readonly string[]
    }
  | {
      readonly kind: 'query'
      readonly at: number
      readonly query: Query
      readonly lateral: boolean
      readonly alias: string | null
      readonly columns: readonly string[]
    }
  | Join

export interface Join {
  readonly kind: 'join'
  readonly at: number
  readonly type: 'inner' | 'left' | 'right' | 'full' | 'cross'
  readonly left: Source
  readonly right: Source
  readonly on: Expr | null
  readonly using: readonly string[] | null
  readonly natural: boolean
}

export interface Cte {
  readonly name: string
  readonly columns: readonly string[]
  readonly query: Query
}

/** Of GROUP BY: the lists of keys by which it groups, one after the other. A key alone is one list. */
export type Grouping = readonly (readonly Expr[])[]

export interface Ending {
  readonly with: readonly Cte[]
  readonly recursive: boolean
  readonly orderBy: readonly OrderItem[]
  readonly limit: Expr | null
  /** Rows that equal the last one in their order come, too. */
  readonly withTies: boolean
  readonly offset: Expr | null
}

export interface Select extends Ending {
  readonly kind: 'select'
  readonly at: number
  readonly distinct: boolean
  readonly distinctOn: readonly Expr[]
  readonly items: readonly Item[]
  readonly from: Source | null
  readonly where: Expr | null
  /** Every list of one with every list of the others. */
  readonly groupBy: readonly Grouping[]
  readonly having: Expr | null
  readonly windows: readonly (readonly [string, Window])[]
}

export interface Values extends Ending {
  readonly kind: 'values'
  readonly at: number
  readonly rows: readonly (readonly Expr[])[]
}

export interface SetQuery extends Ending {
  readonly kind: 'set'
  readonly at: number
  readonly op: 'union' | 'intersect' | 'except'
  readonly all: boolean
  readonly left: Query
  readonly right: Query
}

export type Query = Select | Values | SetQuery
