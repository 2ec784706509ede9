import { nearestSpellings } from '../lib/spelling.ts'
import { WaymarkError } from './errors.ts'

/** Refuses an object of options with a name that nobody reads: it is most likely misspelled. */
export function mustKnow(given: object, known: readonly string[], what: string): void {
  const strange = Object.keys(given).find((name) => !known.includes(name))
  if (strange === undefined) return
  const [likely] = nearestSpellings(strange, known)
  const hint = likely === undefined ? `Known options: ${[...known].sort().join(', ')}.` : `Did you mean "${likely}"?`
  throw new WaymarkError('validation-failed', { message: `Unknown option "${strange}" of ${what}. ${hint}`, attr: strange })
}
