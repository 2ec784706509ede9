import { WaymarkError } from '../../errors/errors.ts'
import { runInSlices } from '../../lib/flow/run-in-slices.ts'
import { jsonText, rememberText } from '../../lib/text/json-text.ts'

/** Maximum characters of one answer as JSON. V8 limits strings to 512 Mi characters, and several copies of an answer exist at a time. */
const longest = 128 * 1024 ** 2
const pieceLength = 1024 ** 2
const sliceMs = 20

const tooLarge = (most: number, cause?: unknown) => new WaymarkError('answer-too-large', { bytes: most }, { cause })

/** Writes rows in slices: text that is too long is detected early, and the event loop is not blocked. */
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

async function written(answer: object, most: number): Promise<string> {
  try {
    return await runInSlices(fieldsText(answer, most), sliceMs)
  } catch (error) {
    throw error instanceof RangeError ? tooLarge(most, error) : error
  }
}

/** The answer of a query: an object, its JSON, or both. One is computed from the other at its first use. */
export class Answer {
  private made: object | null
  private json: string | null

  private constructor(made: object | null, json: string | null) {
    this.made = made
    this.json = json
  }

  static of(object: object): Answer {
    return new Answer(object, null)
  }

  /** For JSON that was serialized elsewhere. */
  static ofText(json: string): Answer {
    return new Answer(null, json)
  }

  /** The number of results of an answer that is an object already; null: its JSON is not read for that. */
  get rows(): number | null {
    const results = (this.made as { readonly results?: unknown } | null)?.results
    return Array.isArray(results) ? results.length : null
  }

  get object(): object {
    this.made ??= JSON.parse(this.json!) as object
    return this.made
  }

  /** The JSON. Throws if it would be too long. */
  async text(most = longest): Promise<string> {
    this.json ??= await written(this.made!, most)
    return this.json
  }

  /** The body of a response. The existing JSON text is sent. */
  async body(): Promise<object> {
    return rememberText(this.made ?? {}, await this.text())
  }

  /** The answer with further fields after its own. */
  async with(facts: object): Promise<Answer> {
    const json = `${(await this.text()).slice(0, -1)},${JSON.stringify(facts).slice(1)}`
    return new Answer(this.made && { ...this.made, ...facts }, json)
  }
}
