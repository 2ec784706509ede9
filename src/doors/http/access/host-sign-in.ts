import { WaymarkError } from '../../../errors/errors.ts'
import type { Accounts } from '../../../service/accounts/accounts.ts'
import { nothingHeld } from '../../../service/accounts/users/enforcement.ts'
import { unlimited } from '../../../service/accounts/users/key-limits.ts'
import type { HostCaller } from './authenticate.ts'

const shape = '`authenticate` must return null for nobody, or { issuer, subject, email?, name?, organization, level }'

/** Asks the host application who has sent a request. What the hook throws, or returns by mistake, lets nobody in. */
export const createHostSignIn =
  ({ hostUsers, signingIn }: Accounts, hook: ((request: never) => unknown) | undefined) =>
  async (original: unknown): Promise<HostCaller | null> => {
    if (!hook) return null
    const given = await hook(original as never)
    if (given === null || given === undefined) return null
    try {
      const entered = await hostUsers.enter(given)
      const user = entered && signingIn.visit('application', entered.user)
      return user && { via: 'host', limits: unlimited, held: nothingHeld, user, authenticatedAt: entered.authenticatedAt }
    } catch (error) {
      if (!(error instanceof WaymarkError) || error.code !== 'invalid-value') throw error
      const field = error.attr === null ? '' : ` \`${error.attr}\`: `
      throw new WaymarkError(
        'authenticate-failed',
        { message: `${shape}.${field}${field === '' ? ' ' : ''}${error.detail}` },
        { cause: error },
      )
    }
  }
