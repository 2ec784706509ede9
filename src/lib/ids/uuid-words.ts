// A UUID as four unsigned 32-bit words, most significant first: words sort like the texts.

const digits = new Uint8Array(256)
for (let i = 0; i < 16; i++) {
  digits[i.toString(16).charCodeAt(0)] = i
  digits[i.toString(16).toUpperCase().charCodeAt(0)] = i
}

/** Four digits. */
const half = (text: string, at: number): number =>
  (digits[text.charCodeAt(at)]! << 12) |
  (digits[text.charCodeAt(at + 1)]! << 8) |
  (digits[text.charCodeAt(at + 2)]! << 4) |
  digits[text.charCodeAt(at + 3)]!

const word = (text: string, high: number, low: number): number => ((half(text, high) << 16) | half(text, low)) >>> 0

/** Writes the words of `uuid`, in its usual notation, into `into` from `at` on. */
export function putWords(uuid: string, into: Uint32Array, at: number): void {
  into[at] = word(uuid, 0, 4)
  into[at + 1] = word(uuid, 9, 14)
  into[at + 2] = word(uuid, 19, 24)
  into[at + 3] = word(uuid, 28, 32)
}
