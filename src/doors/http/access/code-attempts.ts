import type { User } from '../../../service/accounts/records.ts'
import { isWrongCode, type ShownFactor } from '../../../service/accounts/users/second-factor.ts'
import { isTotpCode } from '../../../service/accounts/users/totp.ts'
import type { Visit } from '../resource.ts'
import { deviceOf } from './session-cookies.ts'

/** Runs what takes a code of a second factor. Wrong codes count for the account, whatever they are for; recovery codes and passkeys count by themselves, as nobody guesses one. */
export async function countedCode<T>(visit: Visit, user: User, shown: ShownFactor, work: () => Promise<T>): Promise<T> {
  const kind = 'code' in shown ? (isTotpCode(shown.code.replace(/\s/g, '')) ? null : 'recovery') : 'passkey'
  const takeBack = await visit.app.codeAttempts.begin({
    email: kind === null ? user.uuid : `${kind} ${user.uuid}`,
    address: visit.site.client,
    device: await deviceOf(visit, user.email),
  })
  try {
    const result = await work()
    await takeBack()
    return result
  } catch (error) {
    if (!isWrongCode(error)) await takeBack()
    throw error
  }
}
