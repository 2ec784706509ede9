import type { Answer } from '../../engine/admission/answer.ts'
import type { ProjectRecord } from '../accounts/records.ts'
import type { AskedRequest, Outcome, QueryCaller } from '../asking/asking.ts'

/** Rows of the answer of a statement: default and maximum. */
export type RowLimits = { readonly defaultRows: number; readonly mostRows: number } | undefined

/** A project as saved records ask it. */
export interface AskedProject {
  ask(asked: AskedRequest, asker: QueryCaller & { readonly rows?: RowLimits }): Promise<Outcome>
  cachedAnswer(query: AskedRequest['query']): Promise<Answer | null>
  cachedAt(query: AskedRequest['query']): Promise<Date | null>
}

export interface SavedHome {
  project(record: Pick<ProjectRecord, 'id'>): Promise<AskedProject>
}
