import type { CurrencyRates } from '../types/currency-rates.ts'
import type { ReadAs } from '../types/property-values.ts'
import type { SqlType } from '../types/types.ts'
import type { InProportion, MadeCall, Makes } from './makes.ts'
import type { WindowContext } from './windows/window-frame.ts'

// One row of the registry. A row defines everything about one function: arity, result type, a cell for each engine, cases.

/** An argument as a cell sees it: printed for the engine, with its type. */
export interface Arg {
  readonly sql: string
  readonly type: SqlType
  /** Set for a literal: some cells print constants differently. */
  readonly constant?: null | boolean | number | bigint | string
  /** Set for a lambda: the names of its parameters and its printed body. */
  readonly lambda?: { readonly params: readonly string[]; readonly body: string; readonly type: SqlType }
  /** Set for an array or tuple literal: its printed items. */
  readonly items?: readonly Arg[]
  /** Set for a call that makes an interval: cells look for `toIntervalDay(1)`. */
  readonly call?: { readonly name: string; readonly args: readonly Arg[] }
}

/** The context of a call. */
export interface CellContext {
  /** The type that the row's `returns` gave. */
  readonly type: SqlType
  /** IANA name of the project's zone. */
  readonly timezone: string
  /** 0 Sunday, 1 Monday. */
  readonly weekStartDay: 0 | 1
  /** The parameters of `f(params)(args)`. */
  readonly params: readonly Arg[]
  /** Prints a string as an escaped literal of this engine. For fixed texts only, never for user values: those are parameters. */
  literal(text: string): string
  /** Binds a user's value as a parameter and returns its placeholder in the text. */
  bind(value: string | number | boolean | bigint | null): string
  /** A name that is unique in the statement, for parameters of generated lambdas. */
  fresh(): string
  /** Milliseconds since 1970 between which all times of the query lie, if known: fewer offset changes of a zone are printed. */
  readonly timeRange?: readonly [from: number, to: number]
  /** The current time of the statement, in milliseconds since 1970; absent: the engine's clock. */
  readonly now?: number
  /** Absent: the server has none. */
  readonly currencyRates?: CurrencyRates | undefined
  /** Set for aggregates and window functions. */
  readonly aggregate?: AggregateContext
  /** Prints an error that ends the statement with a message (a printed text) about the call. */
  refuse(message: string): string
  /** Prints a value of the given size, rejected if it exceeds the limit for a row. */
  within(bytes: string, made: string): string
}

export interface AggregateContext {
  readonly distinct: boolean
  /** Printed `a DESC NULLS LAST, b`, or '' */
  readonly orderBy: string
  /** The same in parts: an engine without ORDER BY inside a call sorts by another expression. */
  readonly order: readonly { readonly arg: Arg; readonly descending: boolean }[]
  /** Printed condition (FILTER and -If combined), or '' */
  readonly filter: string
  readonly ignoreNulls: boolean
  /** Printed ` OVER (…)`, or ''. The cell appends it to the engine's call itself, so that it can wrap the result. */
  readonly over: string
  /** The same in parts; absent without OVER. */
  readonly window?: WindowContext
}

export type SqlCell = (args: readonly Arg[], context: CellContext) => string
export interface UnsupportedCell {
  readonly unsupported: string
}
export type Cell = SqlCell | UnsupportedCell

export type FunctionKind = 'scalar' | 'aggregate' | 'window' | 'table'

/** [minimum, maximum]; null: no maximum. */
export type Arity = readonly [min: number, max: number | null]

/** An expression, or a `select` of one value, and the value as JSON; `tolerance` for floats, `unordered` if the order of an array is undefined. */
export type Case =
  | readonly [expression: string, value: unknown]
  | readonly [expression: string, value: unknown, options: { tolerance?: number; unordered?: true }]

/** An engine's answer, or words of its error. */
export type Answered = { readonly value: unknown } | { readonly refused: string }
export interface Difference {
  /** An expression, or a `select` of one value. */
  readonly expression: string
  readonly duckdb: Answered
  readonly clickhouse: Answered
  readonly reason: string
}

/** Engines that both return a value, but not the same one. */
export const differing = (expression: string, duckdb: unknown, clickhouse: unknown, reason: string): Difference => ({
  expression,
  duckdb: { value: duckdb },
  clickhouse: { value: clickhouse },
  reason,
})

/** Computed lazily, so it cannot be copied with `...`. */
export interface ReturnsContext {
  readonly args: readonly Arg[]
  readonly params: readonly Arg[]
  /** Types of the expressions of ORDER BY inside the call. */
  readonly orderBy?: readonly SqlType[]
}

/** How an argument that is an undeclared property is read. */
export type Take =
  | ReadAs
  /** A whole number. */
  | 'integer'
  /** Unchanged: the result is such a property too. */
  | 'value'
  /** Compared for equality, or with NULL. */
  | 'key'
  /** Ordered: numbers by value, then texts. */
  | 'order'
  /** An array: a property is read as text, which an engine rejects there. */
  | 'array'
  /** Like the other arguments with this mark; unchanged if all are properties. */
  | 'alike'

/** Checks a parameter, if the row does not: a number from 0 to 1, an integer from 1, or an integer from 0. */
export type ParamKind = 'share' | 'count' | 'whole'

export interface FunctionRow {
  readonly kind: FunctionKind
  readonly args: Arity
  /** For all arguments, or for each; the last one repeats. Absent: text. */
  readonly takes?: Take | readonly Take[] | ((args: readonly SqlType[]) => readonly Take[])
  /** The required type of the first argument, for a row that is derived from another function. */
  readonly shape?: 'array' | 'map'
  /** Further accepted types: times, intervals or texts besides numbers, or all types, as for a cast. */
  readonly alsoTakes?: 'times' | 'intervals' | 'times and intervals' | 'texts' | 'anything'
  /** Absent: the function takes none. */
  readonly params?: Arity
  /** For each parameter; the last one repeats. */
  readonly paramKinds?: readonly ParamKind[]
  /** The result type, from the types of the arguments (and parameters, if they matter). */
  readonly returns: (args: readonly SqlType[], context: ReturnsContext) => SqlType
  /** Upper and lower case of the name are equivalent. */
  readonly caseInsensitive?: true
  /** Positions of lambda arguments, with the types of their parameters, from the types of the other arguments. */
  readonly lambdas?: (args: readonly SqlType[]) => readonly (readonly SqlType[] | null)[]
  /** One sentence for the reference page. */
  readonly summary: string
  readonly sql: { readonly duckdb: Cell; readonly clickhouse: Cell }
  readonly cases: readonly Case[]
  /** Known differences between engines. Each is run on both, and fails once they agree. */
  readonly differences?: readonly Difference[]
  /** Parallel array arguments, as bounds of a slice: rows with arrays of different lengths are rejected. */
  readonly sideBySide?: readonly [from: number, to?: number]
  /** The result depends on the order of items in its arrays, maps or tuples. For some aggregates the first argument decides. */
  readonly ordersItems?: true | readonly string[]
  /** It reads other rows without OVER. */
  readonly seesRows?: true
  /** Results differ between calls (`now()`, `rand()`): never folded, never compared. */
  readonly isVolatile?: true
  /** The size of a result. Absent: a fixed size, or at most the bytes of all arguments. */
  readonly makes?: Makes | ((call: MadeCall) => Makes)
  /** An argument that the engine compiles as a pattern: `text` if every letter stands for itself. */
  readonly compiles?: { readonly at: number; readonly as: 'regexp' | 'regexps' | 'like' | 'text' }
  /** The size of intermediate values in DuckDB's cell. */
  readonly scratch?: InProportion
  /** For an aggregate that keeps all values of a group on DuckDB: intermediate bytes per kept byte. */
  readonly keeps?: number
}

/** Exported by each family file: the keys are the names in the language. */
export type FunctionFamily = Readonly<Record<string, FunctionRow>>

export const functions = <T extends FunctionFamily>(family: T): FunctionFamily => family

/** How properties are read by rows of a family that do not say it themselves. */
export const taking = <R extends FunctionRow>(
  takes: FunctionRow['takes'],
  family: Readonly<Record<string, R>>,
): Readonly<Record<string, R>> => Object.fromEntries(Object.entries(family).map(([name, row]) => [name, { takes, ...row }]))

/** How a row reads each of its arguments. */
export function takesOf({ takes = 'text' }: Pick<FunctionRow, 'takes'>, args: readonly SqlType[]): readonly Take[] {
  const given = typeof takes === 'string' ? [takes] : typeof takes === 'function' ? takes(args) : takes
  return args.map((_, i) => given[Math.min(i, given.length - 1)] ?? 'text')
}

export const unsupported = (reason: string): UnsupportedCell => ({ unsupported: reason })
export const isUnsupported = (cell: Cell): cell is UnsupportedCell => typeof cell !== 'function'

/** Whether any engine supports it. */
export const isAnswered = ({ sql }: FunctionRow): boolean => !Object.values(sql).every(isUnsupported)

/** Whether the DuckDB store supports it. Otherwise it is rejected by name, whatever its arguments. */
export const isEmbedded = ({ sql }: FunctionRow): boolean => !isUnsupported(sql.duckdb)

/** `call('isodow', 0)` prints `isodow(<first argument>)`; without positions all arguments in order. */
export const call =
  (name: string, ...positions: number[]): SqlCell =>
  (args) =>
    `${name}(${listed(positions.length ? positions.map((p) => args[p]!) : args)})`

/** Concatenated with `+`, which copies nothing: nested calls would otherwise be copied at each level. */
const listed = (args: readonly Arg[]) => args.reduce((text, { sql }, i) => (i === 0 ? sql : `${text}, ${sql}`), '')

/** ``sql`(${0} + ${1})` `` inserts the printed arguments into a text. */
export const sql =
  (texts: TemplateStringsArray, ...positions: number[]): SqlCell =>
  (args) =>
    texts.reduce((out, text, i) => out + (i === 0 ? '' : args[positions[i - 1]!]!.sql) + text, '')
