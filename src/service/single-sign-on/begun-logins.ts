import { isObject } from '../../lib/is-object.ts'
import type { AccountContext } from '../accounts/context.ts'
import { signOnFailed } from './failures.ts'

// Logins that wait for the browser to come back from a provider. They are in its cookie, encrypted: a table would be filled by everybody who begins one.

/** Where a login leads. */
export interface Leading {
  /** The page to show then. */
  readonly next: string | null
  /** The secret of an invitation. */
  readonly invite: string | null
}
export interface BegunLogin extends Leading {
  /** Never the same for OpenID Connect and SAML. */
  readonly provider: string
  readonly expires: number
}

export const beginningLifetime = 600_000
const sealContext = 'single sign-on'
const longestNext = 500

/** A page of this server: it is written after the # of the address, so it cannot lead elsewhere. */
export const pageOf = (next: string | null): string | null =>
  next !== null && next.length <= longestNext && /^\/(?!\/)[\w\-./~%?=&:@!$'()*+,]*$/.test(next) ? next : null

export const createBegunLogins = ({ box, clock }: Pick<AccountContext, 'box' | 'clock'>) => ({
  seal<T extends Leading & { readonly provider: string }>(begun: T): string {
    const whole = { ...begun, next: pageOf(begun.next), expires: clock().getTime() + beginningLifetime }
    return box.seal(JSON.stringify(whole), sealContext)
  },

  open<T extends BegunLogin>(sealed: string | undefined): T {
    try {
      const begun: unknown = JSON.parse(box.open(sealed ?? '', sealContext))
      if (isObject(begun) && typeof begun.expires === 'number' && begun.expires > clock().getTime()) return begun as unknown as T
    } catch {
      // of another server, or not ours
    }
    throw signOnFailed('other_browser')
  },
})
export type BegunLogins = ReturnType<typeof createBegunLogins>
