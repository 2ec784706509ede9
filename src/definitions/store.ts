import type { Query } from '../ast/nodes.ts'
import type { QueryContext } from '../queries/kind.ts'

// What the services of actions and cohorts ask of a project.

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
    /** Who was changed or acted after this log position, … */
    readonly sinceSeq: string
    /** … who did something in these stretches of time (microseconds), … */
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
  /** Who came or went; null when they are many. */
  readonly moved: readonly number[] | null
}

/** A cohort id that cannot exist. */
export const changedPersons = -1

export interface DefinitionStore {
  readonly clock: () => Date
  /** Texts of JSON by id, with everything acknowledged so far. */
  definitions(table: DefinitionTable): Promise<ReadonlyMap<number, string>>
  /** Through the log: resolves when they are stored. */
  write(records: readonly DefinitionRecord[]): Promise<void>
  /** What queries may know now. */
  env(): Promise<QueryContext>
  /** The texts of the first column. */
  texts(query: Query): Promise<string[]>
  /** The ids of all persons that a query of any kind with actors has; of a statement, its first column. */
  actors(query: { readonly kind: string }): Promise<string[]>
  /** Throws what is wrong with the statement. */
  mustCompile(query: Query): Promise<void>
  /** The applied log position. */
  appliedSeq(): Promise<string>
  /** What `refreshMembers` was last given for the cohort. */
  membersMark(cohort: number): Promise<string | null>
  /** Equal for statements that ask the store for the same in the same words. */
  fingerprint(query: Query): Promise<string>
  /** Brings the members up to date, with the mark and the time, in one step. */
  refreshMembers(refresh: MembersRefresh): Promise<MembersRefreshed>
  /** The times of the last refreshes, where there were any. */
  membersMadeAt(cohorts: readonly number[]): Promise<ReadonlyMap<number, string>>
  clearMembers(cohort: number): Promise<void>
  /** Of cohorts with members. */
  countMembers(cohorts: readonly number[]): Promise<ReadonlyMap<number, number>>
}
