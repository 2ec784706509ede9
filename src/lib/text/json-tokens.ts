// Values of a JSON object as they are written, without parsing the whole of it.

const code = (character: string): number => character.charCodeAt(0)
const [quote, backslash, comma] = [code('"'), code('\\'), code(',')]
const [openObject, closeObject, openArray, closeArray] = [code('{'), code('}'), code('['), code(']')]

/**
 * For each key, its value as it is written; '' where there is none. Null: a key is written twice or with escapes, or a value is an object or an array. The
 * text must be JSON.
 */
export function jsonTokens(text: string, keys: readonly string[]): readonly string[] | null {
  const found: string[] = keys.map(() => '')
  for (let at = text.indexOf('"'); at >= 0 && at < text.length; ) {
    const nameEnd = text.indexOf('"', at + 1)
    const name = text.slice(at + 1, nameEnd)
    if (name.includes('\\')) return null
    const from = behindBlanks(text, text.indexOf(':', nameEnd) + 1)
    const to = valueEnd(text, from)
    const index = keys.indexOf(name)
    if (index >= 0) {
      const first = text.charCodeAt(from)
      if (found[index] !== '' || first === openObject || first === openArray) return null
      found[index] = text.slice(from, to)
    }
    at = text.indexOf('"', to)
  }
  return found
}

const isBlank = (character: number): boolean => character === 32 || (character >= 9 && character <= 13)

function behindBlanks(text: string, from: number): number {
  let at = from
  while (isBlank(text.charCodeAt(at))) at++
  return at
}

function valueEnd(text: string, from: number): number {
  const first = text.charCodeAt(from)
  if (first === quote) return stringEnd(text, from)
  if (first === openObject || first === openArray) return nestedEnd(text, from)
  let at = from
  for (; at < text.length; at++) {
    const character = text.charCodeAt(at)
    if (character === comma || character === closeObject || isBlank(character)) break
  }
  return at
}

/** Behind the quote that ends the string which begins there. */
function stringEnd(text: string, from: number): number {
  let end = text.indexOf('"', from + 1)
  while (isEscaped(text, end)) end = text.indexOf('"', end + 1)
  return end + 1
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0
  while (text.charCodeAt(at - 1 - backslashes) === backslash) backslashes++
  return backslashes % 2 === 1
}

function nestedEnd(text: string, from: number): number {
  let depth = 0
  for (let at = from; at < text.length; at++) {
    const character = text.charCodeAt(at)
    if (character === quote) at = stringEnd(text, at) - 1
    else if (character === openObject || character === openArray) depth++
    else if ((character === closeObject || character === closeArray) && --depth === 0) return at + 1
  }
  return text.length
}
