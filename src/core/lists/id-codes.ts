import { randomFillSync } from 'node:crypto'
import { IdPlaces, partsOfPlaces } from '../../lib/ids/id-places.ts'
import { hashWords } from '../../lib/ids/keyed-hash.ts'

/** How they are written to disk, beside their arrays. */
export interface IdCodesShape {
  readonly key: readonly number[]
  /** Words of each array. */
  readonly words: readonly number[]
}

/** Assigns a code to each distinct id, from 0, without keeping the ids: 25 to 38 bytes each. */
export class IdCodes {
  private readonly places: IdPlaces

  constructor(places = new IdPlaces(randomFillSync(new Uint32Array(hashWords)))) {
    this.places = places
  }

  get length(): number {
    return this.places.count
  }

  get bytes(): number {
    return this.places.bytes
  }

  code(id: string): number {
    return this.places.keep(id, this.places.count + 1) - 1
  }

  /** -1: the id has no code. */
  codeOf(id: string): number {
    return this.places.get(id) - 1
  }

  get arrays(): readonly Uint32Array[] {
    return Array.from({ length: partsOfPlaces }, (_, i) => this.places.part(i))
  }

  get shape(): IdCodesShape {
    return { key: [...this.places.key], words: this.arrays.map(({ length }) => length) }
  }

  /** Codes of that shape, once the arrays are filled. */
  static ofShape({ key, words }: IdCodesShape): { readonly arrays: readonly Uint32Array[]; finish(): IdCodes } {
    const arrays = words.map((length) => new Uint32Array(length))
    return { arrays, finish: () => new IdCodes(new IdPlaces(Uint32Array.from(key), arrays)) }
  }
}
