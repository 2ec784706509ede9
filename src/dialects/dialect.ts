import type { Span } from '../errors/span.ts'
import type { Counting } from '../functions/makes.ts'
import type { Arg, Cell, FunctionRow } from '../functions/row.ts'
import type { Capabilities } from '../plan/context.ts'
import type {
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
}

/** What a dialect's parts may use of the printer. */
export interface Printing {
  bind(value: ParameterValue): string
  fresh(): string
  identifier(name: string): string
}

/** What is engine's own in a statement. Everything else is printed the same for all. */
/** One of the values behind IN. */
export interface SetItem {
  readonly sql: string
  /** The word NULL. */
  readonly isNull: boolean
  readonly mayBeNull: boolean
}

/** How an engine that does not count the memory of expressions is kept from making too much. All of it printed. */
export interface Guards {
  /** What is made, unless it has more bytes than a row may have: then the statement ends with a refusal that names what it is. */
  within(bytes: string, made: string, refusal: Refusal): string
  bytesOf(value: string, type: SqlType): string
  /** Items of an array or entries of a map. */
  items(value: string, type: SqlType): string
  countingIn(args: readonly Arg[]): Counting<string>
  /** Values that are written several times and computed once. */
  named(values: readonly string[], name: string, body: (names: readonly string[]) => string): string
  /** Bytes of all rows that are computed at once with this one, on its thread. */
  together(bytes: string): string
  /** Bytes of all rows of a group, or of a window. */
  ofRows(bytes: string, filter: string, over: string): string
}
export interface Refusal {
  readonly name: string | null
  readonly most: number
  readonly span: Span
}

/** Measures of one statement that the budget has limits for. */
export type PlanningLoad = Readonly<Record<'nesting' | 'selects' | 'aggregates' | 'windows', number>>

export interface Dialect {
  readonly capabilities: Capabilities
  /** Absent where the engine has limits of its own. */
  readonly guards?: Guards
  cell(row: FunctionRow): Cell
  identifier(name: string): string
  /** A fixed text of ours as a literal. */
  literal(text: string): string
  /** How the nth parameter is written. */
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
  unnest(
    source: UnnestSource,
    input: string | null,
    items: readonly { readonly name: string; readonly plainName: string; readonly sql: string; readonly type: SqlType }[],
  ): string
  join(source: JoinedSource): string
  /** Printed with its sides exchanged, as a join to the left. */
  turnsJoin?(source: JoinedSource): boolean
  /** Where the engine has no ANY join: the same in other words. */
  anyJoin?(source: JoinedSource, left: string, right: string, on: string): string
  values(rows: readonly (readonly string[])[], alias: string, names: readonly string[], types: readonly SqlType[]): string
  limit(limit: TypedLimit): string
  cte(name: string, hint: string, query: string): string
  /** What a name of WITH is called: never like a table of the store. */
  cteName(name: string): string
  column(source: string, name: string, isItem: boolean): string
  /** After UNION, INTERSECT and EXCEPT without ALL. */
  readonly distinctSet: '' | ' DISTINCT'
  /** ORDER BY and LIMIT may follow a set. */
  readonly hasSetTail: boolean
  readonly hasLimitBy: boolean
  readonly hasTies: boolean
  /** The body of a lambda may hold a subquery. */
  readonly hasQueriesInLambdas: boolean
  /** RANGE BETWEEN INTERVAL … */
  readonly hasIntervalFrames: boolean
  /** A recursive UNION may leave out rows that were there already. */
  readonly hasRecursiveDistinct: boolean
  /** ROLLUP and CUBE answer a row of totals even over no rows. */
  readonly hasEmptyTotals: boolean
  /** What GROUP BY says when only constants are grouped by. */
  readonly emptyGroup: string
  /** What of a statement the engine does not do. */
  refused?(query: TypedQuery): { readonly what: string; readonly span: Span } | null
  /** What ends the statement with a printed message, said of a call; engines with refusals of their own have no need of it. */
  refuse?(message: string, call: Pick<CallNode, 'name' | 'span'>): string
  /** Where the engine does not refuse arrays side by side that differ in length: a call that does. */
  withEqualLengths?(
    args: readonly Arg[],
    sideBySide: readonly Arg[],
    call: Pick<CallNode, 'name' | 'row' | 'span'>,
    fresh: () => string,
    cell: (args: readonly Arg[]) => string,
  ): string
  /** What the engine's planner has to do, where that is not bounded by the engine. */
  planningLoad?(sql: string): PlanningLoad
}
