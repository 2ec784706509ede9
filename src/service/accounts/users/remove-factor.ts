import type { AccountTables, User } from '../records.ts'

/** Removes the second factor of a user: app, passkeys and recovery codes. At a first proof of the address, too: who proves it need not be who set the factor up. */
export async function removeFactor(tables: AccountTables, { id }: User): Promise<void> {
  await tables.second_factors.remove({ user_id: id })
  await tables.recovery_codes.remove({ user_id: id })
  await tables.passkeys.remove({ user_id: id })
  await tables.users.update({ id }, { has_second_factor: false })
}
