import { IdCodes, type IdCodesShape } from './id-codes.ts'
import { NumberCodes } from './number-codes.ts'
import type { ColumnPart, ColumnType } from './ports.ts'
import { type ArrayType, sharedArray } from './shared-array.ts'

export type Values = Uint8Array | Uint16Array | Int32Array | Float64Array

/** An array whose values move together with the events or persons that they belong to. */
export interface MovingValues {
  values: Values
}

export interface ListColumnShape {
  readonly type: ColumnType
  /** Bytes of a value. */
  readonly width: number
  readonly texts: readonly string[]
  /** Those that JSON does not know as texts. */
  readonly numbers: readonly (number | string)[]
  readonly ids?: IdCodesShape
}

let lastId = 0

/**
 * One value of each event, or of each person: whether a condition holds, a text, an id, or a number (NaN: none). Texts, ids and numbers are codes of as many
 * bytes as they need; numbers with very many different values are kept as they are.
 */
export class ListColumn implements MovingValues {
  readonly id = ++lastId
  readonly type: ColumnType
  values: Values
  /** The texts by code. */
  readonly texts: string[] = []
  private textBytes = 0
  private readonly codes = new Map<string, number>()
  /** Of the last part. */
  private lastTexts: { readonly texts: readonly string[]; readonly codes: Int32Array } | null = null
  private coded: NumberCodes | null
  private ids: IdCodes | null
  private discarded = 0

  /** `isCoded`: numbers get codes, as long as there are not too many. */
  constructor(type: ColumnType, length: number, isCoded = type === 'numbers') {
    this.type = type
    this.values = type === 'numbers' && !isCoded ? sharedArray(Float64Array, length) : sharedArray(Uint8Array, length)
    this.coded = isCoded ? new NumberCodes() : null
    this.ids = type === 'ids' ? new IdCodes() : null
    this.coded?.code(Number.NaN) // what has no value yet has no number
  }

  /** For coded numbers: the numbers by code. Null: `values` are the numbers. */
  get numbers(): Float64Array | null {
    return this.coded?.numbers.subarray(0, this.coded.length) ?? null
  }

  get bytes(): number {
    return this.values.byteLength + this.textBytes + (this.coded?.numbers.byteLength ?? 0) + (this.ids?.bytes ?? 0)
  }

  /** Number of texts or ids. */
  get codesUsed(): number {
    return this.ids?.length ?? this.texts.length
  }

  get shape(): ListColumnShape {
    const numbers = Array.from(this.numbers ?? [], (value) => (Number.isFinite(value) ? value : String(value)))
    const ofIds = this.ids ? { ids: this.ids.shape } : {}
    return { type: this.type, width: this.values.BYTES_PER_ELEMENT, texts: this.texts, numbers, ...ofIds }
  }

  /** What the shape does not hold of the codes. */
  get codeArrays(): readonly Uint32Array[] {
    return this.ids?.arrays ?? []
  }

  /** A column of that shape, and arrays of its codes: they and its values are still to be filled. `finish` comes after that. */
  static ofShape(
    { type, width, texts, numbers, ids }: ListColumnShape,
    length: number,
  ): { readonly column: ListColumn; readonly arrays: readonly Uint32Array[]; finish(): void } {
    const column = new ListColumn(type, length)
    for (const text of texts) column.code(text)
    for (const number of numbers) column.coded?.code(Number(number))
    if (type === 'numbers' && width === 8) column.coded = null
    column.values = arrayOfWidth(width, length)
    const ofIds = ids ? IdCodes.ofShape(ids) : null
    const finish = () => {
      if (ofIds) column.ids = ofIds.finish()
    }
    return { column, arrays: ofIds?.arrays ?? [], finish }
  }

  /** -1: no event has the text. */
  codeOf(text: string): number {
    return this.ids?.codeOf(text) ?? this.codes.get(text) ?? -1
  }

  /** Bytes that a new column probably needs. */
  static bytesOf(type: ColumnType, length: number): number {
    return length * bytesExpected[type]
  }

  /** Writes the values of a part to the indexes of its rows; a negative index is skipped. */
  write({ texts, values: given }: ColumnPart, indexes: Int32Array): void {
    if (texts) {
      const translated = this.translated(texts)
      this.widen(this.codesUsed - 1)
      const { values } = this
      for (let row = 0; row < given.length; row++) if (indexes[row]! >= 0) values[indexes[row]!] = translated[given[row]!]!
      return
    }
    const first = this.coded ? this.writeCodes(given, indexes) : 0
    const { values } = this
    for (let row = first; row < given.length; row++) if (indexes[row]! >= 0) values[indexes[row]!] = given[row]!
  }

  /** The codes of texts. Several parts may have the same ones. */
  private translated(texts: readonly string[]): Int32Array {
    if (this.lastTexts?.texts !== texts || this.lastTexts.codes.length !== texts.length)
      this.lastTexts = { texts, codes: Int32Array.from(texts, (text) => this.code(text)) }
    return this.lastTexts.codes
  }

  /** Returns the row at which the numbers have become too many for codes. */
  private writeCodes(given: ColumnPart['values'], indexes: Int32Array): number {
    const coded = this.coded!
    let { values } = this
    let most = 2 ** (8 * values.BYTES_PER_ELEMENT) - 1
    for (let row = 0; row < given.length; row++) {
      const index = indexes[row]!
      if (index < 0) continue
      const code = coded.code(given[row]!)
      if (code < 0) {
        this.decode()
        return row
      }
      if (code > most) {
        this.widen(code)
        ;({ values } = this)
        most = 2 ** (8 * values.BYTES_PER_ELEMENT) - 1
      }
      values[index] = code
    }
    return given.length
  }

  private decode(): void {
    const numbers = this.coded!.numbers
    const { values } = this
    const decoded = sharedArray(Float64Array, values.length)
    for (let i = 0; i < values.length; i++) decoded[i] = numbers[values[i]!]!
    this.discarded += values.byteLength
    this.values = decoded
    this.coded = null
  }

  private code(text: string): number {
    if (this.ids) return this.ids.code(text)
    let code = this.codes.get(text)
    if (code === undefined) {
      code = this.texts.length
      this.texts.push(text)
      this.codes.set(text, code)
      this.textBytes += bytesPerText + 2 * text.length
    }
    return code
  }

  /** The same values in a new array of some length: what others read of the present one does not change. */
  renew(length: number): void {
    const values = sharedArray(this.values.constructor as ArrayType<Values>, length)
    values.set(this.values as never)
    this.discarded += this.values.byteLength
    this.values = values
  }

  /** Takes values over from elsewhere, which have the codes of this column. */
  adopt(values: Values, at: number): void {
    if (values.BYTES_PER_ELEMENT > this.values.BYTES_PER_ELEMENT) {
      const wider = arrayOfWidth(values.BYTES_PER_ELEMENT, this.values.length)
      wider.set(this.values)
      this.discarded += this.values.byteLength
      this.values = wider
    }
    this.values.set(values, at)
  }

  /** Other values with the same codes: what `work` writes goes there. Returns them. */
  async elsewhere(length: number, work: () => Promise<void>): Promise<Values> {
    const own = this.values
    this.values = arrayOfWidth(own.BYTES_PER_ELEMENT, length)
    try {
      await work()
      return this.values
    } finally {
      this.values = own
    }
  }

  /** Codes take as many bytes as the largest of them needs. */
  private widen(most: number): void {
    const { values } = this
    this.values = wideEnough(values, most)
    if (this.values !== values) this.discarded += values.byteLength
  }

  /** Bytes of arrays that were replaced since the last call. */
  takeDiscarded(): number {
    const bytes = this.discarded
    this.discarded = 0
    return bytes
  }
}

/** The same values, or a copy of them that has room for integers up to `most`. */
export function wideEnough(values: Values, most: number): Values {
  const width = most > 0xffff ? 4 : most > 0xff ? 2 : 1
  if (width <= values.BYTES_PER_ELEMENT) return values
  const wider = arrayOfWidth(width, values.length)
  wider.set(values)
  return wider
}

/** For each value of a new column. */
const bytesExpected: Readonly<Record<ColumnType, number>> = { flags: 1, codes: 2, ids: 4, numbers: 2 }

const arrayTypes: Readonly<Record<number, ArrayType<Values>>> = { 1: Uint8Array, 2: Uint16Array, 4: Int32Array, 8: Float64Array }
export const arrayOfWidth = (width: number, length: number): Values => sharedArray(arrayTypes[width]!, length)

/** The approximate memory of a text besides its characters: its object, and its entries in the map and the list. */
const bytesPerText = 64
