import { WaymarkError } from '../../../errors/errors.ts'
import { createConcurrencyLimit } from '../../../lib/flow/concurrency-limit.ts'
import { invalid } from '../refusals.ts'
import { hashPassword, passwordMatches } from '../secrets/secrets.ts'
import { isCommonPassword } from './common-passwords.ts'

// Password hashes are expensive by design: a tenth of a second, 32 MB, and a thread of the pool that the engine and the log use. Only one is computed
// at a time, for all callers.

const tooManyPasswords = () => new WaymarkError('busy', { what: 'password checks' })

/** Of an address: shorter ones are in too many passwords that are good. */
const shortestName = 4

/** Refuses what is guessed first. */
export function mustBeHardToGuess(password: string, address: string): void {
  const text = password.toLowerCase()
  const name = address
    .slice(0, Math.max(0, address.lastIndexOf('@')))
    .split('+')[0]!
    .toLowerCase()
  if (name.length >= shortestName && text.includes(name))
    throw invalid('This password contains the name in your e-mail address. Choose another one.', 'password', 'password_too_similar')
  if (text.includes('waymark'))
    throw invalid('This password contains the name of this product. Choose another one.', 'password', 'password_too_similar')
  if (isCommonPassword(password))
    throw invalid(
      'This password is one of those that are guessed first. Choose a longer one, for example several words that do not belong together.',
      'password',
      'password_too_common',
    )
}

export const createPasswords = () => {
  const gate = createConcurrencyLimit({ atOnce: 1, waiting: 64, waitingOfGroup: 8, refusal: tooManyPasswords })
  return {
    /** For every place where a password is chosen, by the user with this address: one that is easy to guess is refused. `from`: callers of one network share a queue. */
    async hash(password: string, address: string, from: string): Promise<string> {
      mustBeHardToGuess(password, address)
      return gate(from, () => hashPassword(password))
    },
    matches: (password: string, stored: string, from: string): Promise<boolean> => gate(from, () => passwordMatches(password, stored)),
  }
}
export type Passwords = ReturnType<typeof createPasswords>
