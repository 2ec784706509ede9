import type { Query } from '../ast/nodes.ts'
import type { QueryEnv } from '../queries/kind.ts'

// What the services of actions and cohorts ask of a project.

export type DefinitionTable = 'actions' | 'cohorts'

export type DefinitionRecord =
  /** null removes it. */
  | { readonly table: DefinitionTable; readonly id: number; readonly definition: string | null }
  /** All members of a static cohort. */
  | { readonly table: 'cohort_members'; readonly id: number; readonly persons: readonly string[] }

export interface DefinitionStore {
  readonly clock: () => Date
  /** Texts of JSON by id, with everything acknowledged so far. */
  definitions(table: DefinitionTable): Promise<ReadonlyMap<number, string>>
  /** Through the log: resolves when they are stored. */
  write(records: readonly DefinitionRecord[]): Promise<void>
  /** What queries may know now. */
  env(): Promise<QueryEnv>
  /** The texts of the first column. */
  texts(query: Query): Promise<string[]>
  /** The ids of all persons that a query of any kind with actors has; of a statement, its first column. */
  actors(query: { readonly kind: string }): Promise<string[]>
  /** Throws what is wrong with the statement. */
  mustCompile(query: Query): Promise<void>
  /** The place in the log that the store stands at. */
  appliedSeq(): Promise<string>
  /** What `refreshMembers` was last given for the cohort. */
  membersMark(cohort: number): Promise<string | null>
  /** Sets the members to what the statement answers (a number of a person per row), the mark and the time, in one step. */
  refreshMembers(cohort: number, members: Query, mark: string, madeAt: string): Promise<void>
  /** The times of the last refreshes, where there were any. */
  membersMadeAt(cohorts: readonly number[]): Promise<ReadonlyMap<number, string>>
  clearMembers(cohort: number): Promise<void>
  /** Of cohorts with members. */
  countMembers(cohorts: readonly number[]): Promise<ReadonlyMap<number, number>>
}
