import { excerpt } from '../lib/text/excerpt.ts'
import { WaymarkError } from './errors.ts'
import { knownNames } from './unknown-field.ts'

/** Refuses an options object with an unknown name, which is most likely misspelled. */
export function checkOptionNames(given: object, known: readonly string[], what: string, path: readonly (string | number)[] = []): void {
  const strange = Object.keys(given).find((name) => !known.includes(name))
  if (strange === undefined) return
  const message = `Unknown option "${excerpt(strange)}" of ${what}. ${knownNames(strange, known, 'options')}`
  throw new WaymarkError('validation-failed', { message, attr: [...path, strange].join('__') })
}
