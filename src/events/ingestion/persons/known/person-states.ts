// What resolving ids needs to know of persons, by their numbers, which have no gaps: four bytes each, and four more where any was merged.

const chunkBits = 13
export const numbersOfChunk = 1 << chunkBits
const mask = numbersOfChunk - 1
const isThere = 0x8000_0000
const hasRecord = 0x4000_0000
/** Texts are far smaller. */
const largestSize = hasRecord - 1

export interface PersonState {
  readonly hasRecord: boolean
  /** Bytes of its texts. */
  readonly size: number
}

export class PersonStates {
  /** By the upper bits of the number. */
  readonly states: Uint32Array[]
  readonly survivors: (Int32Array | null)[]

  constructor(states: Uint32Array[] = [], survivors: (Int32Array | null)[] = states.map(() => null)) {
    this.states = states
    this.survivors = survivors
  }

  get bytes(): number {
    return (this.states.length + this.survivors.filter((one) => one !== null).length) * numbersOfChunk * 4
  }

  private grow(no: number): void {
    while (this.states.length <= no >>> chunkBits) {
      this.states.push(new Uint32Array(numbersOfChunk))
      this.survivors.push(null)
    }
  }

  set(no: number, state: PersonState): void {
    this.grow(no)
    this.states[no >>> chunkBits]![no & mask] = (isThere | (state.hasRecord ? hasRecord : 0) | Math.min(state.size, largestSize)) >>> 0
  }

  remove(no: number): void {
    const chunk = this.states[no >>> chunkBits]
    if (chunk) chunk[no & mask] = 0
  }

  get(no: number): PersonState | null {
    const state = this.states[no >>> chunkBits]?.[no & mask] ?? 0
    return (state & isThere) === 0 ? null : { hasRecord: (state & hasRecord) !== 0, size: state & largestSize }
  }

  /** Whether something holds for one of the numbers that have a person. */
  some(holds: (no: number) => boolean): boolean {
    for (const [i, chunk] of this.states.entries())
      for (const [at, state] of chunk.entries()) if ((state & isThere) !== 0 && holds((i << chunkBits) | at)) return true
    return false
  }

  /** The number itself: it is not merged any more. */
  merge(no: number, survivor: number): void {
    if (no === survivor && !this.survivors[no >>> chunkBits]) return
    this.grow(no)
    this.survivors[no >>> chunkBits] ??= new Int32Array(numbersOfChunk)
    this.survivors[no >>> chunkBits]![no & mask] = no === survivor ? 0 : survivor
  }

  private survivorOf(no: number): number {
    return this.survivors[no >>> chunkBits]?.[no & mask] ?? 0
  }

  /** The number that a number was merged into, however often. */
  current(no: number): number {
    let end = no
    for (let next = this.survivorOf(end); next !== 0; next = this.survivorOf(end)) end = next
    for (let at = no; at !== end; ) {
      const next = this.survivorOf(at)
      if (next !== end) this.merge(at, end)
      at = next
    }
    return end
  }
}
