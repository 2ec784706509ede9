import type { Table } from 'apache-arrow'
import type * as z from 'zod'
import type { Fold } from '../core/folds/fold.ts'
import type { Make } from '../core/lists/columns.ts'
import type { ListColumn } from '../core/lists/list-column.ts'
import type { Listed } from '../core/lists/project-lists.ts'
import type { Expr, Query } from '../language/ast/nodes.ts'
import type { Checkpoint } from '../language/ast/planning-budget.ts'
import type { Attached } from '../language/catalog/attached.ts'
import type { StoreSnapshot } from '../language/plan/context.ts'
import type { ViewerRules } from '../language/plan/viewer.ts'
import type { ResolveContext } from '../language/resolver/context.ts'
import type { CurrencyRates } from '../language/types/currency-rates.ts'
import { Refusal } from './refusals.ts'

// A query kind is a schema and a generator. The generator yields statements (trees of the language) and receives columns, so it needs no clock,
// no connection and no engine. The driver runs the statements, enforces the time limit and stops the generator on a cancel.

/** One statement to run. Results are Arrow tables, one per statement. */
export interface StatementAsk {
  readonly kind: 'statement'
  readonly query: Query
  /** A description for the log and for `explain`. */
  readonly label: string
  /** Receives the rows part by part, in order; the answer then has none. The memory of a part is reused once this returns. */
  readonly take?: (part: Table) => void
}
/** Long loops over columns yield a pause every few milliseconds: a cancel or the time limit ends them here. */
export interface PauseAsk {
  readonly kind: 'pause'
}
/** A column that a fold needs. */
export type ListColumnAsk = ReadColumnAsk | KeyColumnAsk | MadeColumnAsk
/** A value of each event, or of each person. */
export interface ReadColumnAsk {
  readonly type: ListColumn['type']
  readonly of: 'event' | 'person'
  /** Over the fields of that table. Texts are never null. */
  readonly expr: Expr
}
/** A value of each row of another table, by the text that events name the row with. */
export interface KeyColumnAsk {
  readonly type: ListColumn['type']
  readonly of: 'key'
  readonly table: KeyTable
  /** Index of the column of these texts. */
  readonly keys: number
  /** Over the fields of that table. Texts are never null. */
  readonly expr: Expr
}
/** A table, and its field with the texts. */
export interface KeyTable {
  readonly name: string
  readonly key: string
  /** Its rows are computed from events. */
  readonly isOfEvents: boolean
}
export interface MadeColumnAsk {
  readonly type: ListColumn['type']
  readonly of: 'made'
  readonly make: Make
}
/** A fold of the events of all persons, from the lists of the core. */
export interface ListedFold<T = unknown> {
  /** The names of events that it looks for. */
  readonly names: readonly string[]
  readonly columns: readonly ListColumnAsk[]
  /** Absent: the actors are persons. Else each text of a column of events is one, except one text. `isOwned`: only whose they are is asked for. */
  readonly actors?: { readonly column: number; readonly except: string | null; readonly isOwned?: boolean } | null
  /** Must compile before the lists answer: what is refused as a statement is refused then. */
  readonly check?: Query | undefined
  /** What the lists lack is loaded when it is asked for again. */
  readonly isRare?: boolean
  readonly fold: ListFold<T>
}
/** Several folds of the lists at one moment: no event is in one and not in another. */
export interface ListedFolds extends Omit<ListedFold, 'fold'> {
  readonly folds: readonly ListFold[]
}
/** Answered by what each fold makes of its result, or by a `Refusal`. */
export interface FoldAsk extends ListedFolds {
  readonly kind: 'fold'
  /** Words for the log and for `explain`. */
  readonly label: string
}

/** A fold, with its parameters, and what becomes of its result. */
export interface ListFold<T = unknown, P = unknown, R = unknown> {
  readonly fold: Fold<P, R>
  readonly params: (listed: Listed) => P
  /** A loop with pauses. */
  readonly take: (result: R, listed: Listed, params: P) => Generator<void, T | Refusal, void>
}
/** Hides the types of the parameters and of the result of the loops. */
export const listFold = <P, R, T>(fold: ListFold<T, P, R>): ListFold<T> => fold as unknown as ListFold<T>

/** A statement, and what becomes of its rows. */
export interface StatementPlan<R> {
  readonly query: Query
  readonly read: (table: Table) => R
}
/** How a road leads to an answer. A run may still give up. */
export type Plan<R> = ListedFold<R> | StatementPlan<R> | QueryRun<R | Refusal>
export type Road<R> = () => Plan<R> | Refusal

/** In the order of preference: lists that are kept here, a statement that folds lists in the engine, rows that are folded here, any other statement. */
export const roadNames = ['lists', 'engine', 'rows', 'statement'] as const
export type RoadName = (typeof roadNames)[number]

export function* folded<R>(label: string, { fold, ...asked }: ListedFold<R>): QueryRun<R | Refusal> {
  const found = yield* foldedAll<R>(label, { ...asked, folds: [fold] })
  return found instanceof Refusal ? found : found[0]!
}
export function* foldedAll<R>(label: string, asked: ListedFolds): QueryRun<readonly R[] | Refusal> {
  return (yield { kind: 'fold', label, ...asked }) as readonly R[] | Refusal
}

/** What a kind asks, and the roads to the answer that it has. The first road that is open is taken (`engine/execution/roads.ts`). */
export interface Question<R> extends Readonly<Partial<Record<RoadName, Road<R>>>> {
  readonly label: string
  /** Lists of fewer events are not asked: a statement is as fast. */
  readonly leastEvents?: number
}
export interface RoadsAsk {
  readonly kind: 'roads'
  /** Their statements run in parallel. */
  readonly questions: readonly Question<unknown>[]
}
export function* alongAll<R>(questions: readonly Question<R>[]): QueryRun<readonly R[]> {
  return (yield { kind: 'roads', questions }) as readonly R[]
}
export function* along<R>(question: Question<R>): QueryRun<R> {
  return (yield* alongAll([question]))[0]!
}
/** The plan of an answer that is known. */
// biome-ignore lint/correctness/useYield: nothing is asked
export function* given<R>(answer: R): QueryRun<R> {
  return answer
}

export type Ask = StatementAsk | readonly StatementAsk[] | PauseAsk | FoldAsk | RoadsAsk
/** A table for one statement, tables for a list (run in parallel), nothing for a pause. */
export type Answer = unknown

export type QueryRun<R> = Generator<Ask, R, Answer>

export interface ProjectSettings {
  readonly id: number
  readonly timezone: string
  /** 0 Sunday, 1 Monday */
  readonly weekStartDay: 0 | 1
  /** The currency that amounts are converted to. Absent: USD. */
  readonly baseCurrency?: string
  /** Absent: the server has none. */
  readonly currencyRates?: CurrencyRates | undefined
  /** Absent: the operator has attached nothing that the project may read. */
  readonly attached?: Attached | undefined
  readonly testAccountFilters: readonly unknown[]
  readonly personDisplayNameProperties: readonly string[]
  readonly pathCleaningFilters: readonly { readonly regex: string; readonly alias: string }[]
  /** The statements of views, by their names. */
  readonly views?: Readonly<Record<string, string>>
}

export type PropertyType = 'String' | 'Numeric' | 'Boolean' | 'DateTime'

export interface ActionStep {
  readonly event?: string | null
  readonly properties?: readonly unknown[]
  readonly tag_name?: string | null
  readonly text?: string | null
  readonly text_matching?: 'exact' | 'contains' | 'regex' | null
  readonly href?: string | null
  readonly href_matching?: 'exact' | 'contains' | 'regex' | null
  readonly selector?: string | null
  readonly url?: string | null
  readonly url_matching?: 'exact' | 'contains' | 'regex' | null
}
export interface Action {
  readonly id: number
  readonly name: string
  readonly steps: readonly ActionStep[]
}
export interface CohortInfo {
  readonly id: number
  readonly name: string
  readonly isStatic: boolean
}

/** All inputs of a query besides its own fields. Built once, before the query starts, and passed to kinds, resolver and passes. */
export interface QueryContext extends ResolveContext, StoreSnapshot {
  readonly project: ProjectSettings
  readonly groupTypes: readonly { readonly index: number; readonly name: string }[]
  action(idOrName: number | string): Action | undefined
  /** Names of events that were received. */
  knownEvents?(): Iterable<string>
  /** All actions, by their ids. */
  actions?(): readonly Action[]
  cohort(idOrName: number | string): CohortInfo | undefined
  /** The largest person number when the query began. */
  readonly lastPersonNo?: number
  /** Bytes. The rows that a query buffers may take a part of that. */
  readonly memoryLimit?: number
  /** Throws when the query has been cancelled or its time is up. */
  readonly checkpoint?: Checkpoint
  /** Prefix of field names in errors, if the query is part of another: `source__source__`. */
  readonly fieldPrefix?: string
  /** Rows of an answer: default and maximum. Default 100 and 10,000. */
  readonly limits?: { readonly defaultRows: number; readonly mostRows: number }
  /** Of a `ViewerQuery`: all statements read what this viewer may. */
  readonly viewer?: ViewerRules
  /** Filters on the session of an event are also about the sessions of events that name none. `events`: those that they are made of. */
  readonly madeSessions?: { readonly events: Expr }
}

/** Rows of one statement, for readers that read them page by page as the engine produces them. */
export interface RowsPlan {
  readonly statement: StatementAsk
  /** The row limit of the answer. The statement may return more rows, which shows that there are more. */
  readonly rows: number
  /** If it differs from the answer's limit. */
  readonly limit?: number
  /** Converts a page of the statement to a page of the answer, if they differ. */
  readonly show?: (page: Table) => QueryRun<Table>
  /** Shown after the last page. */
  readonly last?: () => Table | null
  /** Run after the last page, if there may be more rows than the statement returns. */
  readonly hasMore?: () => boolean
}

/** `K`: its name. `S`: checks untrusted input; the static types of requests come from it. `R`: its answer. */
export interface QueryKind<K extends string, S extends z.ZodType, R extends object> {
  readonly kind: K
  /** A statement of the language, whose answer is all its rows. */
  readonly isStatement?: boolean
  /** Its answers are cached for a while. */
  readonly isCached?: boolean
  readonly schema: S
  run(query: z.output<S>, env: QueryContext): QueryRun<R>
  /** For answers that are a list of rows. Null: the rows are known only from the whole answer. */
  rows?(query: z.output<S>, env: QueryContext): QueryRun<RowsPlan | null>
}

export type AnyQueryKind = QueryKind<string, z.ZodType, object>
