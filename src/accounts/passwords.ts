import { WaymarkError } from '../errors/errors.ts'
import { createConcurrencyLimit } from '../lib/concurrency-limit.ts'
import { hashPassword, passwordMatches } from './secrets.ts'

// Passwords are made costly to try: a hash takes a tenth of a second, 32 MB, and a thread of those that the engine and the log work on. One is made at
// a time, for all callers.

const tooManyPasswords = () => new WaymarkError('busy', { what: 'password checks' })

export const createPasswords = () => {
  const gate = createConcurrencyLimit({ atOnce: 1, waiting: 64, waitingOfGroup: 8, refusal: tooManyPasswords })
  return {
    /** `from`: callers of one network wait for each other. */
    hash: (password: string, from: string): Promise<string> => gate(from, () => hashPassword(password)),
    matches: (password: string, stored: string, from: string): Promise<boolean> => gate(from, () => passwordMatches(password, stored)),
  }
}
export type Passwords = ReturnType<typeof createPasswords>
