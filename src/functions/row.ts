import type { ReadAs } from '../types/property-values.ts'
import type { SqlType } from '../types/types.ts'
import type { InProportion, MadeCall, Makes } from './makes.ts'
import type { WindowContext } from './windows/window-frame.ts'

// What one row of the registry holds. A row is everything about one function: arity, result type, a cell for each engine, cases.

/** An argument as a cell sees it: already printed for the engine, with its type. */
export interface Arg {
  readonly sql: string
  readonly type: SqlType
  /** Set when the argument is a literal: some cells unfold differently for constants. */
  readonly constant?: null | boolean | number | bigint | string
  /** Set when the argument is a lambda: names of its parameters and its printed body. */
  readonly lambda?: { readonly params: readonly string[]; readonly body: string; readonly type: SqlType }
  /** Set when the argument is an array or tuple literal: its printed parts. */
  readonly items?: readonly Arg[]
  /** Set when the argument is a call that makes an interval: cells look for `toIntervalDay(1)`. */
  readonly call?: { readonly name: string; readonly args: readonly Arg[] }
}

/** What surrounds a call. */
export interface CellContext {
  /** The type the row's `returns` gave. */
  readonly type: SqlType
  /** IANA name of the project's zone. */
  readonly timezone: string
  /** 0 Sunday, 1 Monday. */
  readonly weekStartDay: 0 | 1
  /** The parameters of `f(params)(args)`. */
  readonly params: readonly Arg[]
  /** A string as this engine's literal, escaped. For parts that are fixed by us, never for values of a user: those are parameters. */
  literal(text: string): string
  /** A user's value as a bound parameter; answers what stands for it in the text. */
  bind(value: string | number | boolean | bigint | null): string
  /** A name that occurs nowhere else in the statement, for lambda parameters of our own. */
  fresh(): string
  /** Milliseconds since 1970 that every moment of the query is known to lie between: fewer pieces of a zone's offsets are printed. */
  readonly timeRange?: readonly [from: number, to: number]
  /** The moment the statement calls now, in milliseconds since 1970; absent: the engine's clock. */
  readonly now?: number
  /** Set for aggregates and window functions. */
  readonly aggregate?: AggregateContext
  /** What ends the statement with a message (a printed text), said of the call. */
  refuse(message: string): string
  /** What is made of so many bytes: refused where a row may not have as many. */
  within(bytes: string, made: string): string
}

export interface AggregateContext {
  readonly distinct: boolean
  /** Printed `a DESC NULLS LAST, b`, or '' */
  readonly orderBy: string
  /** The same, in parts: an engine without ORDER BY inside a call sorts by hand. */
  readonly order: readonly { readonly arg: Arg; readonly descending: boolean }[]
  /** Printed condition (FILTER and -If together), or '' */
  readonly filter: string
  readonly ignoreNulls: boolean
  /** Printed ` OVER (…)`, or ''. The cell puts it right behind the engine's own call, so that it may wrap the result. */
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

/** [least, most]; null: any number. */
export type Arity = readonly [min: number, max: number | null]

/** An expression of the language, or a whole `select` of one value, and the value as JSON; `tolerance` for floats, `unordered` where the order of an array is not given. */
export type Case =
  | readonly [expression: string, value: unknown]
  | readonly [expression: string, value: unknown, options: { tolerance?: number; unordered?: true }]

/** What an engine answers, or words of its refusal. */
export type Answered = { readonly value: unknown } | { readonly refused: string }
export interface Difference {
  /** An expression, or a whole `select` of one value. */
  readonly expression: string
  readonly duckdb: Answered
  readonly clickhouse: Answered
  readonly reason: string
}

/** Engines that give both an answer, and not the same. */
export const differing = (expression: string, duckdb: unknown, clickhouse: unknown, reason: string): Difference => ({
  expression,
  duckdb: { value: duckdb },
  clickhouse: { value: clickhouse },
  reason,
})

/** Made only where a row reads it: it cannot be copied by `...`. */
export interface ReturnsContext {
  readonly args: readonly Arg[]
  readonly params: readonly Arg[]
  /** Types of the expressions of ORDER BY inside the call. */
  readonly orderBy?: readonly SqlType[]
}

/** What a property without a declared type is read as where it is an argument. */
export type Take =
  | ReadAs
  /** A whole number. */
  | 'integer'
  /** As it is: the result is such a property too. */
  | 'value'
  /** To be told from others, or from NULL. */
  | 'key'
  /** Chosen by the order of values: numbers by value, then texts. */
  | 'order'
  /** An array: a property is its text, which an engine refuses there. */
  | 'array'
  /** As the other arguments that are taken so; as it is when all are properties. */
  | 'alike'

/** What a parameter is, where the row does not look at it itself: a number from 0 to 1, a whole number above 0, or one from 0 on. */
export type ParamKind = 'share' | 'count' | 'whole'

export interface FunctionRow {
  readonly kind: FunctionKind
  readonly args: Arity
  /** For all arguments, or for each; the last stands for those behind it. Absent: text. */
  readonly takes?: Take | readonly Take[] | ((args: readonly SqlType[]) => readonly Take[])
  /** What its first argument must be, as it is made of another function by rule. */
  readonly shape?: 'array' | 'map'
  /** What it has a meaning for beside what it takes: times or intervals where numbers are, or values of all types, as a cast has. */
  readonly alsoTakes?: 'times' | 'intervals' | 'times and intervals' | 'anything'
  /** Absent: the function takes none. */
  readonly params?: Arity
  /** For each parameter; the last stands for those behind it. */
  readonly paramKinds?: readonly ParamKind[]
  /** The result's type by the arguments' types (and params, when they matter). */
  readonly returns: (args: readonly SqlType[], context: ReturnsContext) => SqlType
  /** Accept any spelling of the name in upper and lower case. */
  readonly caseInsensitive?: true
  /** Positions of lambda arguments, with the types of their parameters by the other arguments' types. */
  readonly lambdas?: (args: readonly SqlType[]) => readonly (readonly SqlType[] | null)[]
  /** One sentence for the reference page. */
  readonly summary: string
  readonly sql: { readonly duckdb: Cell; readonly clickhouse: Cell }
  readonly cases: readonly Case[]
  /** Where the engines are known to differ. Each is run on both, and fails once they stop differing. */
  readonly differences?: readonly Difference[]
  /** Arguments whose arrays stand side by side, as bounds of a slice: rows where their lengths differ are refused. */
  readonly sideBySide?: readonly [from: number, to?: number]
  /** The order of items of its arrays, maps or tuples decides; of some aggregates, where the first argument names one. */
  readonly ordersItems?: true | readonly string[]
  /** It looks at other rows although it is written without OVER. */
  readonly seesRows?: true
  /** Results differ from call to call (`now()`, `rand()`): never folded, never compared. */
  readonly isVolatile?: true
  /** How large a result can be. Absent: it has a fixed size, or at most the bytes of all arguments. */
  readonly makes?: Makes | ((call: MadeCall) => Makes)
  /** What DuckDB's cell makes of the arguments on the way to the result. */
  readonly scratch?: InProportion
  /** An aggregate that keeps all values of a group on DuckDB: so many bytes are made of each byte it has kept. */
  readonly keeps?: number
}

/** A family file exports one of these: the key is the name in the language. */
export type FunctionFamily = Readonly<Record<string, FunctionRow>>

export const functions = <T extends FunctionFamily>(family: T): FunctionFamily => family

/** The rows of a family that do not say themselves what they take of a property. */
export const taking = <R extends FunctionRow>(
  takes: FunctionRow['takes'],
  family: Readonly<Record<string, R>>,
): Readonly<Record<string, R>> => Object.fromEntries(Object.entries(family).map(([name, row]) => [name, { takes, ...row }]))

/** What a row takes of each of its arguments. */
export function takesOf({ takes = 'text' }: Pick<FunctionRow, 'takes'>, args: readonly SqlType[]): readonly Take[] {
  const given = typeof takes === 'string' ? [takes] : typeof takes === 'function' ? takes(args) : takes
  return args.map((_, i) => given[Math.min(i, given.length - 1)] ?? 'text')
}

export const unsupported = (reason: string): UnsupportedCell => ({ unsupported: reason })
export const isUnsupported = (cell: Cell): cell is UnsupportedCell => typeof cell !== 'function'

/** Whether the store in a file computes it. What it does not is refused by name there, whatever its arguments are. */
export const isEmbedded = ({ sql }: FunctionRow): boolean => !isUnsupported(sql.duckdb)

/** `call('isodow', 0)` prints `isodow(<first argument>)`; without positions all arguments in order. */
export const call =
  (name: string, ...positions: number[]): SqlCell =>
  (args) =>
    `${name}(${listed(positions.length ? positions.map((p) => args[p]!) : args)})`

/** Put together by `+`, which copies nothing: a call inside of many others would be copied by each of them. */
const listed = (args: readonly Arg[]) => args.reduce((text, { sql }, i) => (i === 0 ? sql : `${text}, ${sql}`), '')

/** ``sql`(${0} + ${1})` `` puts the printed arguments into a text. */
export const sql =
  (texts: TemplateStringsArray, ...positions: number[]): SqlCell =>
  (args) =>
    texts.reduce((out, text, i) => out + (i === 0 ? '' : args[positions[i - 1]!]!.sql) + text, '')
