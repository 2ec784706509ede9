import type { Query } from '../../language/ast/nodes.ts'
import type { QueryContext } from '../../queries/kind.ts'

// The port through which actions and cohorts access a project.

export type DefinitionTable = 'actions' | 'cohorts'

export type DefinitionRecord =
  /** null removes it. */
  | { readonly table: DefinitionTable; readonly id: number; readonly definition: string | null }
  /** All members of a static cohort. */
  | { readonly table: 'cohort_members'; readonly id: number; readonly persons: readonly string[] }

export interface MembersRefresh {
  readonly cohort: number
  /** Returns the number of each member. */
  readonly all: Query
  /** How to select the persons who may have joined or left since the last refresh; null: evaluate everybody. */
  readonly changed: {
    /** Members among those persons, who are members of the cohort `changedPersons` meanwhile. */
    readonly members: Query
    /** Persons who changed or acted after this log position, … */
    readonly sinceSeq: string
    /** … who have events in these ranges of time (microseconds), … */
    readonly stretches: readonly (readonly [from: number, to: number])[]
    /** … and these. */
    readonly persons: readonly number[]
  } | null
  mark(hasMoved: boolean): string
  readonly madeAt: string
}

export interface MembersRefreshed {
  /** All members were computed again. */
  readonly isWhole: boolean
  readonly hasMoved: boolean
  /** Who joined or left; null if they are many. */
  readonly moved: readonly number[] | null
}

/** An id that no cohort can have. */
export const changedPersons = -1

export interface DefinitionStore {
  readonly clock: () => Date
  /** Where other processes change definitions, too: one at a time of all of them. */
  readonly alone?: (<T>(work: () => Promise<T>) => Promise<T>) | undefined
  /** JSON texts by id, with everything acknowledged so far. */
  definitions(table: DefinitionTable): Promise<ReadonlyMap<number, string>>
  /** Written through the log: resolves when they are applied. */
  write(records: readonly DefinitionRecord[]): Promise<void>
  /** The context of queries at this time. */
  env(): Promise<QueryContext>
  /** The texts of the first column. */
  texts(query: Query): Promise<string[]>
  /** The ids of all persons of a query with actors; for a statement, its first column. */
  actors(query: { readonly kind: string }): Promise<string[]>
  /** Throws if the statement is invalid, or refused by the engine. */
  mustCompile(query: Query): Promise<void>
  /** The applied log position. */
  appliedSeq(): Promise<string>
  /** The last mark that `refreshMembers` stored for the cohort. */
  membersMark(cohort: number): Promise<string | null>
  /** Equal for statements with the same SQL and parameters. */
  fingerprint(query: Query): Promise<string>
  /** Refreshes the members, and stores the mark and the time, atomically. */
  refreshMembers(refresh: MembersRefresh): Promise<MembersRefreshed>
  /** The times of the last refreshes, if any. */
  membersMadeAt(cohorts: readonly number[]): Promise<ReadonlyMap<number, string>>
  clearMembers(cohort: number): Promise<void>
  /** For cohorts with members. */
  countMembers(cohorts: readonly number[]): Promise<ReadonlyMap<number, number>>
}
