import type { Span } from '../../errors/span.ts'
import type { AttachedTable } from '../catalog/attached.ts'
import type { Counting } from '../functions/makes.ts'
import type { Arg, Cell, FunctionRow } from '../functions/row.ts'
import type { Capabilities } from '../plan/context.ts'
import type {
  AttachedSource,
  CallNode,
  CastNode,
  ConstantNode,
  InNode,
  JoinedSource,
  JsonRead,
  ScanSource,
  TableFunctionSource,
  TypedLimit,
  TypedQuery,
  UnnestSource,
} from '../resolver/typed.ts'
import type { SqlType } from '../types/types.ts'

export type ParameterValue = string | number | boolean | bigint | null

/** A statement ready to run. Values of the user are in `params`, never in the text. */
export interface PrintedQuery {
  readonly sql: string
  readonly params: readonly ParameterValue[]
  readonly columns: readonly { readonly name: string; readonly type: SqlType }[]
  /** Absent: it reads none. */
  readonly attached?: readonly AttachedTable[]
}

/** The services of the printer that a dialect may use. */
export interface Printing {
  bind(value: ParameterValue): string
  fresh(): string
  identifier(name: string): string
}

/** The engine-specific parts of a statement. Everything else is printed the same for all engines. */
/** One of the values of an IN list. */
export interface SetItem {
  readonly sql: string
  /** The word NULL. */
  readonly isNull: boolean
  readonly mayBeNull: boolean
}

/** Limits the size of values, for an engine that does not count the memory of expressions. All parts are printed SQL. */
export interface Guards {
  /** The value, unless it takes more bytes than a row may have: then the statement ends with an error that names the value. */
  within(bytes: string, made: string, refusal: Refusal): string
  bytesOf(value: string, type: SqlType): string
  /** The regular expression of a row, unless it would take too long to compile: then `refusal`. `name`: for a lambda. */
  pattern(value: string, refusal: string, name: string): string
  /** The same for each item of an array. */
  patterns(values: string, refusal: string, names: readonly [string, string]): string
  /** Items of an array or entries of a map. */
  items(value: string, type: SqlType): string
  countingIn(args: readonly Arg[]): Counting<string>
  /** Computes values once that are used several times. */
  named(values: readonly string[], name: string, body: (names: readonly string[]) => string): string
  /** Bytes of all rows that the same thread computes together with this one. */
  together(bytes: string): string
  /** Bytes of all rows of a group, or of a window. */
  ofRows(bytes: string, filter: string, over: string): string
}
export interface Refusal {
  readonly name: string | null
  readonly most: number
  readonly span: Span
}

/** Measures of one statement that the budget limits. */
export type PlanningLoad = Readonly<Record<'nesting' | 'selects' | 'aggregates' | 'windows', number>>

export interface Dialect {
  readonly capabilities: Capabilities
  /** Absent if the engine has limits of its own. */
  readonly guards?: Guards
  cell(row: FunctionRow): Cell
  identifier(name: string): string
  /** A fixed, generated text as a literal. */
  literal(text: string): string
  /** The syntax of the nth parameter. */
  parameter(index: number, value: ParameterValue): string
  constant(node: ConstantNode, printing: Printing): string
  json(document: string, path: readonly (string | number)[], as: JsonRead, printing: Printing): string
  cast(value: string, node: CastNode): string
  array(items: readonly string[], type: SqlType): string
  tuple(items: readonly string[], type: SqlType): string
  in(value: string, items: readonly SetItem[], node: InNode, printing: Printing): string
  inQuery(value: string, query: string, node: InNode, width: number): string
  inArray(value: string, array: string, node: InNode): string
  arrayJoin(array: string): string
  scan(scan: ScanSource, printing: Printing): string
  tableFunction(source: TableFunctionSource, args: readonly string[]): string
  attached(source: AttachedSource): string
  unnest(
    source: UnnestSource,
    input: string | null,
    items: readonly { readonly name: string; readonly plainName: string; readonly sql: string; readonly type: SqlType }[],
  ): string
  join(source: JoinedSource): string
  /** Printed as a LEFT JOIN with its sides exchanged. */
  turnsJoin?(source: JoinedSource): boolean
  /** An equivalent for engines without ANY JOIN. */
  anyJoin?(source: JoinedSource, left: string, right: string, on: string): string
  values(rows: readonly (readonly string[])[], alias: string, names: readonly string[], types: readonly SqlType[]): string
  limit(limit: TypedLimit): string
  cte(name: string, hint: string, query: string): string
  /** The name of a CTE: different from all tables of the store. */
  cteName(name: string): string
  column(source: string, name: string, isItem: boolean): string
  /** The keyword after UNION, INTERSECT and EXCEPT without ALL. */
  readonly distinctSet: '' | ' DISTINCT'
  /** Whether ORDER BY and LIMIT may follow a set operation. */
  readonly hasSetTail: boolean
  readonly hasLimitBy: boolean
  readonly hasTies: boolean
  /** Whether the body of a lambda may contain a subquery. */
  readonly hasQueriesInLambdas: boolean
  /** RANGE BETWEEN INTERVAL … */
  readonly hasIntervalFrames: boolean
  /** Whether a recursive UNION removes rows that it already has. */
  readonly hasRecursiveDistinct: boolean
  /** Whether ROLLUP and CUBE return a row of totals for no rows. */
  readonly hasEmptyTotals: boolean
  /** The text of GROUP BY if all keys are constants. */
  readonly emptyGroup: string
  /** Rejects parts of a statement that the engine does not support. */
  refused?(query: TypedQuery): { readonly what: string; readonly span: Span } | null
  /** Ends the statement with a printed message about a call. Not needed by engines with errors of their own. */
  refuse?(message: string, call: Pick<CallNode, 'name' | 'span'>): string
  /** A call that rejects parallel arrays of different lengths, if the engine does not. */
  withEqualLengths?(
    args: readonly Arg[],
    sideBySide: readonly Arg[],
    call: Pick<CallNode, 'name' | 'row' | 'span'>,
    fresh: () => string,
    cell: (args: readonly Arg[]) => string,
  ): string
  /** How much work the planner of the engine has, if the engine does not limit it. */
  planningLoad?(sql: string): PlanningLoad
}
