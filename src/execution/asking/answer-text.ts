import { WaymarkError } from '../../errors/errors.ts'
import { inTurns } from '../../lib/in-turns.ts'
import { hasText, jsonText, rememberText } from '../../lib/json-text.ts'

/** Characters of the JSON of one answer. V8 has no text of more than 512 Mi of them, and an answer is there several times on its way. */
const longest = 128 * 1024 ** 2
const pieceLength = 1024 ** 2
const sliceMs = 20

const tooLarge = (most: number, cause?: unknown) => new WaymarkError('answer-too-large', { bytes: most }, { cause })

/** Rows are written some at a time, so that what is too long is seen before all of it is there, and others have their turn in between. */
function* rowsText(rows: readonly unknown[], most: number): Generator<void, string> {
  const pieces: string[] = []
  let length = 0
  let step = 1
  for (let row = 0; row < rows.length; ) {
    const piece = jsonText(rows.slice(row, row + step)).slice(1, -1)
    length += piece.length
    if (length > most) throw tooLarge(most)
    pieces.push(piece)
    row += step
    step = piece.length > pieceLength ? 1 : step * 2
    yield
  }
  return `[${pieces.join(',')}]`
}

function* fieldsText(answer: object, most: number): Generator<void, string> {
  const fields: string[] = []
  for (const [name, value] of Object.entries(answer)) {
    const text = name === 'results' && Array.isArray(value) ? yield* rowsText(value, most) : jsonText(value)
    if (text !== undefined) fields.push(`${JSON.stringify(name)}:${text}`)
  }
  return `{${fields.join(',')}}`
}

/** The answer, with its text as JSON known to whoever sends it. Refused when that would be too long. */
export async function withText<T extends object>(answer: T, most = longest): Promise<T> {
  if (hasText(answer)) return answer
  try {
    return rememberText(answer, await inTurns(fieldsText(answer, most), sliceMs))
  } catch (error) {
    throw error instanceof RangeError ? tooLarge(most, error) : error
  }
}
