import { randomUUID } from 'node:crypto'
import type { States } from '../../../lib/flow/states.ts'
import type { WaitingQuery } from '../../../service/asking/asking.ts'
import { failures } from '../errors.ts'
import { type ConcurrencyLimits, createConcurrency, type QueryOwner } from './concurrency.ts'

// Queries that wait or run, counted by all servers together.

/** At most so many at a time. */
export interface PlaceLimit {
  readonly owner: string
  readonly most: number
  refusal(): Error
}

export interface PlacesOfServers {
  /** Takes a place under each limit, or none and refuses. The returned function gives them back, once. */
  take(limits: readonly PlaceLimit[]): Promise<() => void>
}

/** Of an owner: the places that each server holds, and until when they count if the server says nothing more. */
type Held = Readonly<Record<string, readonly [places: number, untilMs: number]>>

/** The places of a server that has ended are free after this time. */
const countedMs = 60_000
const sayAgainMs = 20_000

/** `now`: of the clocks of all servers, which may differ by seconds. */
export function placesOfServers(states: States, now: () => number = Date.now): PlacesOfServers {
  const server = randomUUID()
  /** Places that this server holds, by owner; and those of them that could not be given back yet. */
  const held = new Map<string, number>()
  const owed = new Map<string, number>()
  let sayingAgain: NodeJS.Timeout | null = null

  const add = (all: Map<string, number>, owner: string, by: number) => {
    const places = (all.get(owner) ?? 0) + by
    if (places > 0) all.set(owner, places)
    else all.delete(owner)
  }

  /** False: there is no room. */
  async function change(owner: string, by: number, most = Number.POSITIVE_INFINITY): Promise<boolean> {
    let hasRoom = true
    await states.change(`queries ${owner}`, (state) => {
      const known = Object.entries((state ?? {}) as Held).filter(([, [, until]]) => until > now())
      const others = known.filter(([id]) => id !== server)
      const own = Math.max(0, (known.find(([id]) => id === server)?.[1][0] ?? 0) + by)
      hasRoom = others.reduce((sum, [, [places]]) => sum + places, own) <= most
      if (!hasRoom) return null
      const after = own > 0 ? [...others, [server, [own, now() + countedMs]] as const] : others
      return { state: Object.fromEntries(after), keptMs: countedMs }
    })
    return hasRoom
  }

  /** Where this server holds nothing, the place is free soon without a word. */
  const owe = (owner: string, places: number) => {
    if (held.has(owner)) add(owed, owner, places)
  }
  const endIfNone = () => {
    if (held.size > 0 || !sayingAgain) return
    clearInterval(sayingAgain)
    sayingAgain = null
  }

  async function giveBack(owner: string): Promise<void> {
    add(held, owner, -1)
    if (!held.has(owner)) owed.delete(owner)
    try {
      await change(owner, -1)
    } catch {
      owe(owner, 1)
    }
    endIfNone()
  }

  async function sayAgain(): Promise<void> {
    for (const owner of [...held.keys()]) {
      const places = owed.get(owner) ?? 0
      owed.delete(owner)
      await change(owner, -places).catch(() => owe(owner, places))
    }
  }

  async function takeOne({ owner, most, refusal }: PlaceLimit): Promise<void> {
    if (!(await change(owner, 1, most))) throw refusal()
    add(held, owner, 1)
    sayingAgain ??= setInterval(() => void sayAgain(), sayAgainMs).unref()
  }

  return {
    async take(limits) {
      const taken = await Promise.allSettled(limits.map(takeOne))
      const give = () => {
        for (const [i, { owner }] of limits.entries()) if (taken[i]!.status === 'fulfilled') void giveBack(owner)
      }
      const refused = taken.find((one) => one.status === 'rejected')
      if (!refused) return give
      give()
      throw refused.reason
    },
  }
}

/** The places that callers have at a time. Those of a user and of the keys of a project are counted by all servers; the others are about the memory of this one. */
export const createPlaces = (limits: () => ConcurrencyLimits, servers?: PlacesOfServers) => {
  const here = createConcurrency(limits)
  const limitsOfAll = ({ projectId, userId, via }: QueryOwner): PlaceLimit[] => {
    const { perProject, perUser } = limits()
    const ofUser = { owner: `user ${userId}`, most: perUser, refusal: () => failures.tooManyOfUser(perUser) }
    const ofKeys = { owner: `keys of project ${projectId}`, most: perProject, refusal: () => failures.tooManyQueries(perProject) }
    return [ofUser, ...(via === 'key' ? [ofKeys] : [])].filter(({ most }) => Number.isFinite(most))
  }
  return {
    /** Takes a place or refuses; the returned function releases it, once. */
    async take(owner: QueryOwner, waiting?: WaitingQuery): Promise<() => void> {
      const leave = here.take(owner, waiting)
      try {
        let giveBack = await servers?.take(limitsOfAll(owner))
        return () => {
          leave()
          giveBack?.()
          giveBack = undefined
        }
      } catch (error) {
        leave()
        throw error
      }
    },
  }
}
export type Places = ReturnType<typeof createPlaces>
