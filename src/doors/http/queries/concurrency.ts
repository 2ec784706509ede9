import type { WaitingQuery } from '../../../service/asking/asking.ts'
import { failures } from '../errors.ts'

export interface ConcurrencyLimits {
  /** Queries of one project by keys; logged-in users are not counted. */
  readonly perProject: number
  /** Queries of one user, with any key and in any project. */
  readonly perUser: number
  /** Queries of one organization, by all of its members. */
  readonly perOrganization: number
  readonly inAll: number
}
export const defaultConcurrency: ConcurrencyLimits = { perProject: 3, perUser: 50, perOrganization: 200, inAll: 500 }

/** The owner of a query. */
export interface QueryOwner {
  readonly projectId: number
  readonly organizationId: string
  readonly userId: number
  readonly via: 'key' | 'session'
}

interface Held {
  readonly organization: string
  readonly user: number
  readonly project: number
  readonly isByKey: boolean
  /** Undefined: it cannot give its place to another. */
  readonly waiting: WaitingQuery | undefined
}

const countBy = <K>(all: Iterable<Held>, keyOf: (one: Held) => K): Map<K, number> => {
  const counts = new Map<K, number>()
  for (const one of all) counts.set(keyOf(one), (counts.get(keyOf(one)) ?? 0) + 1)
  return counts
}

/**
 * Counts the queries that wait or run. When there is no place left, a caller who has fewer than others takes one from them: from the organization that has most, and in it from the user who has
 * most, the newest query that has not begun. So nobody can keep others out, with however many accounts.
 */
export const createConcurrency = (limits: () => ConcurrencyLimits) => {
  const held = new Set<Held>()

  /** Gives the place of somebody who has more; false if nobody has. */
  const takeFrom = (all: readonly Held[], asks: Held): boolean => {
    const ofOrganizations = countBy(all, (one) => one.organization)
    const ofUsers = countBy(all, (one) => one.user)
    const own = { organization: ofOrganizations.get(asks.organization) ?? 0, user: ofUsers.get(asks.user) ?? 0 }
    let found: Held | undefined
    let rank: readonly [number, number] = [0, 0]
    for (const one of all) {
      if (!one.waiting || one.waiting.hasBegun()) continue
      const [organization, user] = [ofOrganizations.get(one.organization)!, ofUsers.get(one.user)!]
      // Afterwards it must not have fewer than who asks.
      const hasMore = one.organization === asks.organization ? user >= own.user + 2 : organization >= own.organization + 2
      if (!hasMore) continue
      if (organization > rank[0] || (organization === rank[0] && user >= rank[1])) [found, rank] = [one, [organization, user]]
    }
    if (!found) return false
    held.delete(found)
    found.waiting!.giveWay(failures.busyWithQueries(limits().inAll))
    return true
  }

  return {
    /** Takes a place or refuses; the returned function releases it, once. */
    take({ projectId, organizationId, userId, via }: QueryOwner, waiting?: WaitingQuery): () => void {
      const { perProject, perUser, perOrganization, inAll } = limits()
      const asks: Held = { organization: organizationId, user: userId, project: projectId, isByKey: via === 'key', waiting }
      const all = [...held]
      if (all.filter(({ user }) => user === userId).length >= perUser) throw failures.tooManyOfUser(perUser)
      if (asks.isByKey && all.filter((one) => one.isByKey && one.project === projectId).length >= perProject)
        throw failures.tooManyQueries(perProject)
      const ours = all.filter(({ organization }) => organization === organizationId)
      if (ours.length >= perOrganization && !takeFrom(ours, asks)) throw failures.tooManyOfOrganization(perOrganization)
      if (held.size >= inAll && !takeFrom([...held], asks)) throw failures.busyWithQueries(inAll)
      held.add(asks)
      return () => void held.delete(asks)
    },
  }
}
