import { excerpt } from '../lib/text/excerpt.ts'
import { likelyName } from '../lib/text/likely-name.ts'

/** The known names, or the most likely one. */
export function knownNames(name: string, known: readonly string[], noun = 'fields'): string {
  const likely = likelyName(name, known)
  return likely === undefined ? `Known ${noun}: ${[...known].sort().join(', ')}.` : `Did you mean "${likely}"?`
}

export const unknownField = (name: string, known: readonly string[]): string =>
  `Unknown field "${excerpt(name)}". ${knownNames(name, known)}`
