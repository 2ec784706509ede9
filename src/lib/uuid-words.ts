// A UUID as four unsigned 32-bit words, most significant first: words sort like the texts.

const digits = new Uint8Array(256)
for (let i = 0; i < 16; i++) {
  digits[i.toString(16).charCodeAt(0)] = i
  digits[i.toString(16).toUpperCase().charCodeAt(0)] = i
}

function word(text: string, at: number, skip: number): number {
  let value = 0
  for (let i = at; i < at + 8 + (skip > 0 ? 1 : 0); i++) {
    if (i === skip) continue
    value = (value << 4) | digits[text.charCodeAt(i)]!
  }
  return value >>> 0
}

/** Writes the words of `uuid`, in its usual notation, into `into` from `at` on. */
export function putWords(uuid: string, into: Uint32Array, at: number): void {
  into[at] = word(uuid, 0, -1)
  into[at + 1] = word(uuid, 9, 13)
  into[at + 2] = word(uuid, 19, 23)
  into[at + 3] = word(uuid, 28, -1)
}
