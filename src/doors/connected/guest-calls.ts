import type { LocalWaymark } from '../../engine.ts'
import { WaymarkError } from '../../errors/errors.ts'
import { timeOrderedUuids } from '../../lib/ids/time-ordered-uuid.ts'
import { allCalls, type Repetition } from './calls.ts'
import type { Membership } from './membership.ts'
import { OwnerGone } from './owner-link.ts'
import type { Target, Watched } from './protocol.ts'

// Calls that are carried out wherever the directory is open.

/** A guest makes its own project of this. */
export interface KnownProject {
  readonly id: number
  readonly token: string
  readonly reports: readonly unknown[]
}

export interface Asked<T> {
  readonly target: Target
  readonly method: string
  readonly args: readonly unknown[]
  /** The same call where the directory is open in this process. */
  here(waymark: LocalWaymark): Promise<T>
  /** Hears the key of the project after each call. */
  onToken?(token: string): void
}

/** Ids of requests that may be sent again. */
export const newAttempt = timeOrderedUuids(() => new Date())

/** What cannot be sent is named: the owner puts its own in its place. Values of other types with these names are data. */
function sendable(arg: unknown): { readonly arg: unknown; readonly watched: Watched } {
  if (arg === null || typeof arg !== 'object') return { arg, watched: {} }
  const { signal, onProgress } = arg as Watched
  const watched: Watched = { ...(signal instanceof AbortSignal && { signal }), ...(typeof onProgress === 'function' && { onProgress }) }
  const names = Object.keys(watched)
  if (names.length === 0) return { arg, watched }
  return { arg: Object.fromEntries(Object.entries(arg).filter(([name]) => !names.includes(name))), watched }
}

export async function callAnywhere<T>(membership: Membership, { target, method, args, here, onToken }: Asked<T>): Promise<T> {
  const sent = args.map(sendable)
  const watched = Object.assign({}, ...sent.map((one) => one.watched)) as Watched
  const call = {
    target,
    method,
    args: sent.map(({ arg }) => arg),
    watched: sent.map((one) => Object.keys(one.watched) as (keyof Watched)[]),
  }
  const repetition = (allCalls[target.of] as Readonly<Record<string, Repetition>>)[method]!
  for (let tries = 1; ; tries++) {
    const role = await membership.current()
    if (role.is === 'owner') return here(role.waymark)
    try {
      const { answer, token } = await role.link.call(call, watched)
      if (token !== null) onToken?.(token)
      return answer as T
    } catch (error) {
      if (!(error instanceof OwnerGone)) throw error
      if (error.wasSent && repetition === 'once') throw new WaymarkError('owner-ended', {}, { cause: error })
      await role.link.mayAskAgain(error, tries)
    }
  }
}
