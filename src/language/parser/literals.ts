import type { Literal } from '../ast/nodes.ts'

// The values of literals.

const escapes: Readonly<Record<string, string>> = {
  b: '\b',
  f: '\f',
  r: '\r',
  n: '\n',
  t: '\t',
  a: '\x07',
  v: '\v',
  '\\': '\\',
  0: '',
}

/** The text between the quotes: doubled quotes and known escapes are decoded, `\0` is removed, any other backslash stays. */
export function undoEscapes(text: string, quote: string): string {
  if (!text.includes('\\') && !text.includes(quote)) return text
  let out = ''
  for (let i = 0; i < text.length; i++) {
    const char = text[i]!
    if (char === quote) i++
    else if (char === '\\' && i + 1 < text.length) {
      const next = text[i + 1]!
      const meaning = next === quote ? quote : escapes[next]
      if (meaning !== undefined) {
        out += meaning
        i++
        continue
      }
    }
    out += char
  }
  return out
}

export const unquote = (image: string): string => undoEscapes(image.slice(1, -1), image[0]!)

export function parseNumber(image: string): Pick<Literal, 'value' | 'type'> {
  if (/^(?:\d+|0[xX].*)$/.test(image)) {
    const value = Number(image)
    return { value: Number.isSafeInteger(value) ? value : BigInt(image), type: 'int' }
  }
  return { value: Number(image), type: 'float' }
}
