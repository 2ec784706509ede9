import { SqlError } from '../statements/sql-error.ts'

// Patterns of LIKE and SIMILAR TO in the spelling of the language, which has regular expressions, and a LIKE whose escape is the backslash.

/** The characters of a pattern, and whether each stands for itself. */
function* charactersOf(pattern: string, escaping: string, at: number): Generator<readonly [character: string, isPlain: boolean]> {
  const all = [...pattern]
  for (let i = 0; i < all.length; i++) {
    if (all[i] !== escaping) yield [all[i]!, false]
    else if (++i < all.length) yield [all[i]!, true]
    else throw new SqlError('22025', 'LIKE pattern must not end with escape character', { offset: at })
  }
}

/** A pattern with another escape character, or with none (''). */
export function likeWithBackslash(pattern: string, escaping: string, at: number): string {
  let found = ''
  for (const [character, isPlain] of charactersOf(pattern, escaping, at))
    found += character === '\\' || (isPlain && /[%_]/.test(character)) ? `\\${character}` : character
  return found
}

const plain = (character: string): string => (/[\\^$.|?*+()[\]{}]/.test(character) ? `\\${character}` : character)

/** The regular expression that matches whole texts as SIMILAR TO does. */
export function regexOfSimilar(pattern: string, escaping: string, at: number): string {
  const all = [...charactersOf(pattern, escaping, at)]
  let found = ''
  let isInBrackets = false
  for (const [i, [character, isPlain]] of all.entries()) {
    if (isPlain) found += plain(character)
    else if (isInBrackets) {
      const isOfClass = (character === '[' && all[i + 1]?.[0] === ':') || (character === ']' && all[i - 1]?.[0] === ':') // `[:alpha:]`
      if (character === ']' && !isOfClass) isInBrackets = false
      found += character === '\\' || (character === '[' && !isOfClass) ? `\\${character}` : character
    } else if (character === '[') {
      isInBrackets = true
      found += character
    } else if (character === '%') found += '.*'
    else if (character === '_') found += '.'
    else if (character === '(') found += '(?:'
    else found += /[\\^$.\]]/.test(character) ? `\\${character}` : character
  }
  return `(?s)^(?:${found})$`
}
