import type { AccountStore, AccountTables } from '../../accounts/records.ts'
import { type Deferred, deferred } from '../../lib/deferred.ts'

type Work<T> = (tables: AccountTables) => Promise<T>

interface Waiting {
  readonly work: Work<unknown>
  readonly done: Deferred<unknown>
}

/**
 * Writes that wait while another one is being committed share the next transaction: with many configs, commits would take more time than deliveries. If one
 * fails, none of its transaction is written.
 */
export const groupedWrites = ({ write }: Pick<AccountStore, 'write'>) => {
  let waiting: Waiting[] = []
  let isWriting = false

  const writeAll = async (): Promise<void> => {
    isWriting = true
    while (waiting.length > 0) {
      const group = waiting
      waiting = []
      try {
        const results = await write(async (tables) => {
          const all: unknown[] = []
          for (const { work } of group) all.push(await work(tables))
          return all
        })
        for (const [i, { done }] of group.entries()) done.resolve(results[i])
      } catch (error) {
        for (const { done } of group) done.reject(error)
      }
    }
    isWriting = false
  }

  return <T>(work: Work<T>): Promise<T> => {
    const done = deferred<unknown>()
    waiting.push({ work, done })
    if (!isWriting) void writeAll()
    return done.promise as Promise<T>
  }
}
