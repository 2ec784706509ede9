import { randomInt } from 'node:crypto'
import type { AccountContext } from '../context.ts'
import type { AccountTables, User } from '../records.ts'
import { hashKey } from '../secrets/secrets.ts'

// Codes for users without their authenticator app. Each has 80 random bits, so one round of hashing is enough.

const recoveryCodeCount = 10
/** Base 32 without letters that look like digits. */
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
const codeLength = 16

const newCode = (): string => Array.from({ length: codeLength }, () => alphabet[randomInt(alphabet.length)]).join('')
const inGroups = (code: string): string => code.match(/.{4}/g)!.join('-')
/** As somebody typed it. */
const plain = (typed: string): string => typed.toLowerCase().replace(/[\s-]/g, '').replace(/[il]/g, '1').replace(/o/g, '0')
const hashOf = (user: User, code: string): string => hashKey(`${user.uuid} ${code}`)

/** Replaces the codes of a user. They are shown only once. */
export async function replaceRecoveryCodes(context: AccountContext, tables: AccountTables, user: User): Promise<readonly string[]> {
  await tables.recovery_codes.remove({ user_id: user.id })
  const codes = Array.from({ length: recoveryCodeCount }, newCode)
  for (const code of codes) await tables.recovery_codes.insert({ hash: hashOf(user, code), user_id: user.id, created_at: context.clock() })
  return codes.map(inGroups)
}

/** Whether it was a code of the user, which is used up now. */
export async function useRecoveryCode(tables: AccountTables, user: User, typed: string): Promise<boolean> {
  const code = plain(typed)
  if (code.length !== codeLength) return false
  return (await tables.recovery_codes.remove({ hash: hashOf(user, code), user_id: user.id })) > 0
}
