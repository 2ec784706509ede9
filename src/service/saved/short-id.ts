import type { AccountTables } from '../accounts/records.ts'
import { randomLetters } from '../accounts/secrets/secrets.ts'

/** A new short id, for links. */
export async function newShortId(tables: Pick<AccountTables, 'insights'>): Promise<string> {
  for (;;) {
    const id = randomLetters(8)
    // Digits alone would be read as a number.
    if (/[a-z]/.test(id) && !(await tables.insights.first({ short_id: id }))) return id
  }
}
