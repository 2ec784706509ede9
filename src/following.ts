import type { LocalWaymark } from './engine.ts'
import type { Waymark } from './waymark.ts'

// A directory that may be open in another process is worked on there: what needs more than its calls asks for it here.

export const following = Symbol('following')

/** `F`: what doors make of a directory, wherever it is open. */
export interface FollowingWaymark<F> extends Waymark {
  readonly [following]: F
}

/** Null: the directory is open in this process. */
export const followed = <F>(waymark: Waymark): F | null => (following in waymark ? (waymark as FollowingWaymark<F>)[following] : null)

/** The directory itself, of who has opened it in this process. */
export function localOf(waymark: Waymark): LocalWaymark {
  if (waymark !== null && typeof waymark === 'object' && 'accounts' in waymark) return waymark as LocalWaymark
  throw new TypeError('This must be what open() has returned')
}
