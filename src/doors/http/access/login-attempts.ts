import { createHash } from 'node:crypto'
import type { States } from '../../../lib/flow/states.ts'
import { failures } from '../errors.ts'
import { networkOf } from '../requests/client-address.ts'

// Limits of password attempts. An attacker cannot lock another user out: failures of an account count per network that they come
// from, and a browser in which its user has signed in before has a limit of its own.

export interface Attempt {
  readonly email: string
  /** The caller's address; null if unknown. */
  readonly address: string | null
  /** Identifies a browser in which the user has signed in before. */
  readonly device: string | null
}

/** This many failures in a row are allowed, and one more after each period of so many seconds. */
interface Allowance {
  readonly failures: number
  readonly seconds: number
}
/** `everywhere`: of an account from all networks together. Only where the caller has shown the password before. */
type Allowances = Readonly<Record<'account' | 'address' | 'network', Allowance>> & { readonly everywhere?: Allowance }
export const loginAllowances = {
  account: { failures: 10, seconds: 30 },
  address: { failures: 30, seconds: 10 },
  network: { failures: 100, seconds: 3 },
} as const satisfies Allowances
/**
 * Codes of an authenticator app: a million of them, three valid at a time. From many networks together there are 50 tries and then 144 a day; a browser in which the
 * user has signed in before is not among them, so the user notices nothing.
 */
export const codeAllowances = {
  account: { failures: 10, seconds: 60 },
  address: { failures: 30, seconds: 30 },
  network: { failures: 100, seconds: 10 },
  everywhere: { failures: 50, seconds: 600 },
} as const satisfies Allowances
/** Logins through an identity provider, begun or not valid. All users of one provider count together, so only networks are distinguished. */
export const signOnAllowances = {
  account: { failures: 200, seconds: 2 },
  address: { failures: 60, seconds: 5 },
  network: { failures: 200, seconds: 2 },
} as const satisfies Allowances
/** Wrong tokens of SCIM. Nobody guesses one; this bounds the work for those who try. */
export const scimAllowances = {
  account: { failures: 300, seconds: 1 },
  address: { failures: 100, seconds: 5 },
  network: { failures: 300, seconds: 1 },
} as const satisfies Allowances
/** Requests for a link by mail: every one counts. */
export const mailedLinkAllowances = {
  account: { failures: 3, seconds: 600 },
  address: { failures: 10, seconds: 120 },
  network: { failures: 30, seconds: 60 },
} as const satisfies Allowances

/** Failures that count, as of a time in milliseconds: they become fewer as it passes. */
interface Failures {
  readonly count: number
  readonly at: number
}

const short = (text: string) => createHash('sha256').update(text).digest('base64url').slice(0, 16)

/** `kind`: attempts of different kinds do not count together. */
export const createLoginAttempts = (
  kind: string,
  { clock, states }: { readonly clock: () => Date; readonly states: States },
  allowances: Allowances = loginAllowances,
) => {
  const counted = ({ email, address, device }: Attempt): [key: string, allowance: Allowance][] => {
    const account = short(email.toLowerCase())
    if (device !== null) return [[`${account} device ${short(device)}`, allowances.account]]
    const all: [string, Allowance][] = allowances.everywhere ? [[`${account} everywhere`, allowances.everywhere]] : []
    if (address === null) return [...all, [account, allowances.account]]
    const { host, network } = networkOf(address)
    return [...all, [`${account} ${network}`, allowances.account], [host, allowances.address], [network, allowances.network]]
  }

  const failuresOf = (state: unknown, { seconds }: Allowance, now: number): Failures => {
    const { count, at } = (state as Failures | null) ?? { count: 0, at: now }
    return { count: Math.max(0, count - Math.max(0, now - at) / (seconds * 1000)), at: Math.max(now, at) }
  }

  const kept = ({ count, at }: Failures, { seconds }: Allowance) => ({ state: { count, at }, keptMs: (count + 1) * seconds * 1000 })

  const takeBack = async (all: readonly [key: string, allowance: Allowance][]): Promise<void> => {
    const now = clock().getTime()
    for (const [key, allowance] of all)
      await states.change(`${kind} ${key}`, (state) => {
        const { count, at } = failuresOf(state, allowance, now)
        return kept({ count: Math.max(0, count - 1), at }, allowance)
      })
  }

  /** Counts one failure more, if it is allowed. Returns the seconds to wait; 0: it is counted. */
  async function count(key: string, allowance: Allowance, now: number): Promise<number> {
    let wait = 0
    await states.change(`${kind} ${key}`, (state) => {
      const found = failuresOf(state, allowance, now)
      wait = Math.max(0, Math.ceil((found.count + 1 - allowance.failures) * allowance.seconds))
      return wait > 0 ? null : kept({ count: found.count + 1, at: found.at }, allowance)
    })
    return wait
  }

  return {
    /** Counts a failure, or refuses; the returned function reverts the count after a success, or if the password was not checked. */
    async begin(attempt: Attempt): Promise<() => Promise<void>> {
      const now = clock().getTime()
      const all = counted(attempt)
      const waits: number[] = []
      for (const [key, allowance] of all) waits.push(await count(key, allowance, now))
      const longest = Math.max(...waits)
      if (longest === 0) return () => takeBack(all)
      await takeBack(all.filter((_, i) => waits[i] === 0))
      throw failures.throttled(longest, {})
    },
  }
}
export type LoginAttempts = ReturnType<typeof createLoginAttempts>
