import { failures } from '../errors.ts'

export interface ConcurrencyLimits {
  /** Queries of one project by keys; logged-in users are not counted. */
  readonly perProject: number
  /** Queries of one user, with any key and in any project. */
  readonly perUser: number
  readonly inAll: number
}
export const defaultConcurrency: ConcurrencyLimits = { perProject: 3, perUser: 50, inAll: 500 }

/** The owner of a query. */
export interface QueryOwner {
  readonly projectId: number
  readonly userId: number
  readonly via: 'key' | 'session'
}

/** Counts the queries that wait or run. */
export const createConcurrency = (limits: () => ConcurrencyLimits) => {
  const counts = new Map<string, number>()
  const mustFit = (name: string, most: number, refusal: (most: number) => Error) => {
    if ((counts.get(name) ?? 0) >= most) throw refusal(most)
  }
  const add = (name: string, change: number) => {
    const now = (counts.get(name) ?? 0) + change
    if (now > 0) counts.set(name, now)
    else counts.delete(name)
  }
  return {
    /** Takes a slot or refuses; the returned function releases it, once. */
    take({ projectId, userId, via }: QueryOwner): () => void {
      const { perProject, perUser, inAll } = limits()
      const [project, user, all] = [`project ${projectId}`, `user ${userId}`, 'all']
      const names = via === 'key' ? [project, user, all] : [user, all]
      mustFit(all, inAll, failures.busyWithQueries)
      mustFit(user, perUser, failures.tooManyOfUser)
      if (via === 'key') mustFit(project, perProject, failures.tooManyQueries)
      for (const name of names) add(name, 1)
      let isGiven = false
      return () => {
        if (isGiven) return
        isGiven = true
        for (const name of names) add(name, -1)
      }
    },
  }
}
export type Concurrency = ReturnType<typeof createConcurrency>
