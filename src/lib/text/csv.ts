/** Spreadsheets take such a text for a formula. A number is none. */
const startsFormula = (text: string): boolean => /^[=+\-@\t\r]/.test(text) && !/^[+-]?\d+(\.\d+)?$/.test(text)

/** `isForPeople`: a text that a spreadsheet would run has an apostrophe before it. */
const cell = (value: unknown, isForPeople: boolean): string => {
  if (value === null || value === undefined) return ''
  const exact = typeof value === 'object' ? JSON.stringify(value) : String(value)
  const text = isForPeople && typeof value === 'string' && startsFormula(value) ? `'${exact}` : exact
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

function* lines(rows: Iterable<readonly unknown[]>, isForPeople: boolean): Generator<string> {
  for (const row of rows) yield `${row.map((value) => cell(value, isForPeople)).join(',')}\r\n`
}

/** Rows as lines, in pieces of moderate size. */
export const csvLines = (rows: Iterable<readonly unknown[]>, isForPeople = false): Generator<Uint8Array> =>
  inPieces(lines(rows, isForPeople))
