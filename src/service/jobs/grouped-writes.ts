import { type Deferred, deferred } from '../../lib/flow/deferred.ts'
import type { AccountStore, AccountTables } from '../accounts/records.ts'

type Work<T> = (tables: AccountTables) => Promise<T>

interface Waiting {
  readonly work: Work<unknown>
  readonly done: Deferred<unknown>
}

/**
 * Writes that wait while another one is being committed share the next transaction: with much work at a time, commits would take more time than the work. If one
 * of them fails, each is written by itself, so a write must be repeatable.
 */
export const groupedWrites = ({ write }: Pick<AccountStore, 'write'>): AccountStore['write'] => {
  const waiting: Waiting[] = []
  let isWriting = false

  const writeGroup = async (group: readonly Waiting[]): Promise<void> => {
    try {
      const results = await write(async (tables) => {
        const all: unknown[] = []
        for (const { work } of group) all.push(await work(tables))
        return all
      })
      for (const [i, { done }] of group.entries()) done.resolve(results[i])
    } catch (error) {
      if (group.length === 1) return group[0]!.done.reject(error)
      for (const one of group) await writeGroup([one])
    }
  }

  const writeAll = async (): Promise<void> => {
    isWriting = true
    while (waiting.length > 0) await writeGroup(waiting.splice(0))
    isWriting = false
  }

  return <T>(work: Work<T>): Promise<T> => {
    const done = deferred<unknown>()
    waiting.push({ work, done })
    if (!isWriting) void writeAll()
    return done.promise as Promise<T>
  }
}
