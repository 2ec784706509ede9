import { setTimeout } from 'node:timers/promises'
import type { DuckDBConnection, DuckDBPendingResult } from '@duckdb/node-api'
import duckdb from '@duckdb/node-bindings'

/** How often it is checked whether a statement has ended, in milliseconds. */
const pollMs = 2
/** After this many checks the statement is executed here: whatever keeps the engine's threads busy, it ends. */
const mostChecks = 15_000

/**
 * Runs large statements on the engine's own threads. The thread that executes a statement takes part in it, and spins while another thread has
 * its only task: a whole core for as long as an insert takes. So nobody executes it until its tasks are done, or until others need the
 * engine's threads, which could keep it waiting.
 */
export class BackgroundStatements {
  private readonly isShared: () => boolean
  private running = 0

  /** `isShared`: whether the engine has no thread left for a statement in the background. */
  constructor(isShared: () => boolean) {
    this.isShared = isShared
  }

  async run(connection: DuckDBConnection, sql: string): Promise<void> {
    const prepared = await connection.prepare(sql)
    this.running++
    try {
      const pending = prepared.start()
      for (let checks = 0; checks < mostChecks && isUnfinished(pending) && this.running === 1 && !this.isShared(); checks++)
        await setTimeout(pollMs)
      await pending.getResult()
    } catch (error) {
      throw ownError(error)
    } finally {
      this.running--
      prepared.destroySync()
    }
  }
}

/** The engine puts a line about the result before the error of a statement that nobody waited for. */
function ownError(error: unknown): unknown {
  const own =
    error instanceof Error && /^Invalid Input Error: Attempting to execute an unsuccessful [^\n]*\nError: (.*)$/s.exec(error.message)
  return own ? new Error(own[1], { cause: error }) : error
}

/** Without executing a task of it, as `runTask` would, in this thread. A statement that failed is finished. */
function isUnfinished(pending: DuckDBPendingResult): boolean {
  const { pending_result } = pending as unknown as { readonly pending_result: Parameters<typeof duckdb.pending_execute_check_state>[0] }
  const state = duckdb.pending_execute_check_state(pending_result)
  return state === duckdb.PendingState.NO_TASKS_AVAILABLE || state === duckdb.PendingState.RESULT_NOT_READY
}
