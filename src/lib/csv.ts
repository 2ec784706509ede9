const cell = (value: unknown): string => {
  if (value === null || value === undefined) return ''
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

const charactersPerPiece = 256 * 1024

/** Texts as bytes, in pieces of moderate size. */
export function* inPieces(texts: Iterable<string>): Generator<Uint8Array> {
  let text = ''
  for (const more of texts) {
    text += more
    if (text.length < charactersPerPiece) continue
    yield Buffer.from(text)
    text = ''
  }
  if (text !== '') yield Buffer.from(text)
}

function* lines(rows: Iterable<readonly unknown[]>): Generator<string> {
  for (const row of rows) yield `${row.map(cell).join(',')}\r\n`
}

/** Rows as lines, in pieces of moderate size. */
export const csvLines = (rows: Iterable<readonly unknown[]>): Generator<Uint8Array> => inPieces(lines(rows))
