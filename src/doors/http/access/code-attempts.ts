import type { User } from '../../../service/accounts/records.ts'
import { isWrongCode } from '../../../service/accounts/users/second-factor.ts'
import { isTotpCode } from '../../../service/accounts/users/totp.ts'
import type { Visit } from '../resource.ts'
import { deviceOf } from './session-cookies.ts'

/** Runs what takes a code of a second factor. Wrong codes count for the account, whatever they are for; recovery codes count by themselves, as nobody guesses one. */
export async function countedCode<T>(visit: Visit, user: User, code: unknown, work: () => Promise<T>): Promise<T> {
  const isOfApp = typeof code === 'string' && isTotpCode(code.replace(/\s/g, ''))
  const takeBack = visit.app.codeAttempts.begin({
    email: isOfApp ? user.uuid : `recovery ${user.uuid}`,
    address: visit.site.client,
    device: await deviceOf(visit, user.email),
  })
  try {
    const result = await work()
    takeBack()
    return result
  } catch (error) {
    if (!isWrongCode(error)) takeBack()
    throw error
  }
}
