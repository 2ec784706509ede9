// Characters that not every engine can read back: NUL and unpaired surrogates.

const unreadable = /\0|[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g

/** `text` with U+FFFD in place of these characters. */
export function storableText(text: string): string {
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i)
    if (c === 0 || (c >= 0xd800 && c < 0xe000)) return text.replace(unreadable, '\uFFFD')
  }
  return text
}
