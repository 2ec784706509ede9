// Queries that are cancelled at another process than the one that runs them.

/** `isMeant`: whether it is the query with this id. `isOnlyWaiting`: it is left alone if it has begun. */
export type HearCancelled = (project: number, isMeant: (id: string) => boolean, isOnlyWaiting: boolean) => void

export interface Cancels {
  tell(project: number, id: string, isOnlyWaiting: boolean): Promise<unknown>
  /** Calls this from now on, and nothing that was given before. */
  listen(hear: HearCancelled): void
}
