import { hashWords, type KeyedHash, keyedHash } from './keyed-hash.ts'

// From ids to numbers, those of persons for instance: a hash table in typed arrays, of the hashes of ids instead of the ids. It takes 25 to 38 bytes an id, also while it
// grows, because its parts grow one at a time.

const partBits = 6
export const partsOfPlaces = 1 << partBits
/** Four words of hash, and the number. A number of 0 is an empty place. */
export const placeWords = hashWords + 1
const leastPlaces = 16
const fullest = 0.8
const growth = 1.5

class Part {
  words: Uint32Array<ArrayBufferLike>
  count = 0

  constructor(words: Uint32Array<ArrayBufferLike> = new Uint32Array(leastPlaces * placeWords)) {
    this.words = words
    for (let at = hashWords; at < words.length; at += placeWords) if (words[at] !== 0) this.count++
  }

  get places(): number {
    return this.words.length / placeWords
  }

  /** Where the search for a hash begins. */
  private first(word: number): number {
    return Math.floor((word / 2 ** 32) * this.places)
  }

  /** Where the number of a hash is, or where it would be added. */
  at(hash: Uint32Array): number {
    const { words } = this
    const [a, b, c, d] = hash as unknown as [number, number, number, number]
    for (let at = this.first(b) * placeWords; ; at = at + placeWords === words.length ? 0 : at + placeWords)
      if (words[at + hashWords] === 0 || (words[at] === a && words[at + 1] === b && words[at + 2] === c && words[at + 3] === d)) return at
  }

  add(hash: Uint32Array, at: number, no: number): void {
    this.words.set(hash, at)
    this.words[at + hashWords] = no
    if (++this.count <= this.places * fullest) return
    const old = this.words
    this.words = new Uint32Array(Math.ceil(this.places * growth) * placeWords)
    for (let from = 0; from < old.length; from += placeWords) {
      if (old[from + hashWords] === 0) continue
      const place = old.subarray(from, from + placeWords)
      this.words.set(place, this.at(place))
    }
  }

  /** Leaves no gap: what follows and began its search before the place moves into it. */
  remove(gap: number): void {
    const { words } = this
    this.count--
    let free = gap
    for (let at = gap; ; ) {
      at = at + placeWords === words.length ? 0 : at + placeWords
      if (words[at + hashWords] === 0) break
      const first = this.first(words[at + 1]!) * placeWords
      const isBetween = free <= at ? free < first && first <= at : free < first || first <= at
      if (isBetween) continue
      words.copyWithin(free, at, at + placeWords)
      free = at
    }
    words[free + hashWords] = 0
  }
}

/** Numbers are positive, below 2 ** 31. */
export class IdPlaces {
  readonly key: Uint32Array
  private readonly hasher: KeyedHash
  private readonly parts: Part[]
  /** All words of the parts. */
  private words = 0
  count = 0

  /** `stored`: the words of each part. */
  constructor(key: Uint32Array, stored: readonly Uint32Array[] = []) {
    this.key = key
    this.hasher = keyedHash(key)
    this.parts = Array.from({ length: partsOfPlaces }, (_, i) => new Part(stored[i]))
    for (const part of this.parts) {
      this.words += part.words.length
      this.count += part.count
    }
  }

  get bytes(): number {
    return this.words * 4
  }

  private partOf(id: string): Part {
    this.hasher.of(id)
    return this.parts[this.hasher.hash[0]! >>> (32 - partBits)]!
  }

  /** 0: the id is not there. */
  get(id: string): number {
    const part = this.partOf(id)
    return part.words[part.at(this.hasher.hash) + hashWords]!
  }

  /** Returns the number that it had; 0: none. */
  set(id: string, no: number): number {
    const part = this.partOf(id)
    const at = part.at(this.hasher.hash)
    const before = part.words[at + hashWords]!
    if (before !== 0) part.words[at + hashWords] = no
    else this.add(part, at, no)
    return before
  }

  /** Its number. If it has none, it gets this one. */
  keep(id: string, no: number): number {
    const part = this.partOf(id)
    const at = part.at(this.hasher.hash)
    const before = part.words[at + hashWords]!
    if (before !== 0) return before
    this.add(part, at, no)
    return no
  }

  /** The hash is that of the latest id. */
  private add(part: Part, at: number, no: number): void {
    this.words -= part.words.length
    part.add(this.hasher.hash, at, no)
    this.words += part.words.length
    this.count++
  }

  delete(id: string): void {
    const part = this.partOf(id)
    const at = part.at(this.hasher.hash)
    if (part.words[at + hashWords] === 0) return
    part.remove(at)
    this.count--
  }

  /** The words of a part, for a file. */
  part(i: number): Uint32Array {
    return this.parts[i]!.words
  }
}
