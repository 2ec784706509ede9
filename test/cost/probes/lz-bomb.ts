const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

/**
 * LZString in base64 where each code stands for one character more than the one before, which no compressor needs to be asked for: so many characters
 * of base64 unpack to their square, about.
 */
export function lzBomb(characters: number, letter = '['): string {
  let [text, bits, count] = ['', 0, 0]
  const write = (value: number, width: number) => {
    for (let i = 0; i < width; i++) {
      bits = (bits << 1) | ((value >> i) & 1)
      if (++count < 6) continue
      text += alphabet[bits]
      ;[bits, count] = [0, 0]
    }
  }
  write(0, 2)
  write(letter.charCodeAt(0), 8)
  // As the reader counts: an entry for each code that came, and one bit more whenever they are used up.
  let [next, width, room] = [4, 3, 4]
  while (text.length < characters - 4) {
    write(next, width)
    next++
    if (--room === 0) {
      room = 2 ** width
      width++
    }
  }
  write(2, width)
  while (count > 0) write(0, 1)
  return text.padEnd(Math.ceil(text.length / 4) * 4, '=')
}
