import type { Accounts } from '../../src/service/accounts/accounts.ts'
import type { User } from '../../src/service/accounts/records.ts'
import { startSession } from '../../src/service/accounts/users/sessions.ts'

/** The token of a session that is written straight to the store: past the ways in, and the second factor. */
export const sessionOf = ({ context }: Accounts, user: User): Promise<string> =>
  context.store.write((tables) => startSession(context, tables, user, { address: null, user_agent: null }))
