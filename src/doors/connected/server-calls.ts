import type { LocalWaymark } from '../../engine.ts'

// What `waymark serve` asks of the directory when it starts.

export const serverCallsOf = ({ accounts }: LocalWaymark) => ({
  firstStart: (keys: Parameters<typeof accounts.firstStart>[0]) => accounts.firstStart(keys),
  /** Lets the secret of a link make the first owner. */
  allowFirstOwner: (secret: string) => accounts.firstOwner.allow(secret),
})
export type ServerCalls = ReturnType<typeof serverCallsOf>
