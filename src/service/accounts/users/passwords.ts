import { WaymarkError } from '../../../errors/errors.ts'
import { createConcurrencyLimit } from '../../../lib/flow/concurrency-limit.ts'
import { hashPassword, passwordMatches } from '../secrets/secrets.ts'

// Password hashes are expensive by design: a tenth of a second, 32 MB, and a thread of the pool that the engine and the log use. Only one is computed
// at a time, for all callers.

const tooManyPasswords = () => new WaymarkError('busy', { what: 'password checks' })

export const createPasswords = () => {
  const gate = createConcurrencyLimit({ atOnce: 1, waiting: 64, waitingOfGroup: 8, refusal: tooManyPasswords })
  return {
    /** `from`: callers of one network share a queue. */
    hash: (password: string, from: string): Promise<string> => gate(from, () => hashPassword(password)),
    matches: (password: string, stored: string, from: string): Promise<boolean> => gate(from, () => passwordMatches(password, stored)),
  }
}
export type Passwords = ReturnType<typeof createPasswords>
