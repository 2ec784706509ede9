import { codeSet, type Kernels, kernelsFor, mostSearched } from './kernels.ts'

/** Places for short stretches. */
const fewOwn = 1024

/**
 * Finds the events of a stretch of lists whose name is one of some, and whose values in some columns are 1. Names of two bytes above 254 are one
 * for the kernels: an event that is found may have another name, but none is missing.
 */
export class EventSearch {
  /** By number of a name: 1 if it is searched for. */
  private readonly has: Uint8Array
  private readonly codes: Uint8Array
  /** No event of another name is found. */
  readonly isExact: boolean
  private own = new Uint16Array(0)
  /** Of those that were found last, their numbers less that of the first event of the stretch. Another search replaces them. */
  found: Uint16Array = this.own

  /** `byName`: by number of a name, 0 if it is not searched for; names behind the end are as `others`. */
  constructor(
    private readonly names: Uint8Array | Uint16Array,
    byName: Int32Array,
    others: number,
    private readonly columns: readonly Uint8Array[],
  ) {
    this.has = new Uint8Array(2 ** (8 * names.BYTES_PER_ELEMENT)).fill(others === 0 ? 0 : 1)
    for (let name = 0; name < byName.length && name < this.has.length; name++) this.has[name] = byName[name] === 0 ? 0 : 1
    this.codes = codeSet(this.has)
    this.isExact = names.BYTES_PER_ELEMENT === 1 || this.has.indexOf(1, 255) < 0
  }

  /** Searches the events from `from` up to `to`, of which there are at most `mostSearched`. Returns how many it has found. */
  run(from: number, to: number): number {
    const simd = kernelsFor(to - from)
    return simd ? this.withKernels(simd, from, to) : this.withoutKernels(from, to)
  }

  private withKernels(simd: Kernels, from: number, to: number): number {
    simd.names(this.names, from, to, this.codes)
    for (const values of this.columns) simd.ones(values, from, to)
    this.found = simd.found
    return simd.positions(to - from)
  }

  private withoutKernels(from: number, to: number): number {
    if (this.own.length <= to - from) this.own = new Uint16Array(to - from < fewOwn ? fewOwn : mostSearched + 1)
    const { names, has, columns, own } = this
    this.found = own
    let count = 0
    // Without a branch: whether an event matches cannot be predicted.
    for (let i = from; i < to; i++) {
      own[count] = i - from
      count += has[names[i]!]!
    }
    for (const values of columns) {
      const candidates = count
      count = 0
      for (let at = 0; at < candidates; at++) {
        const place = own[at]!
        own[count] = place
        count += values[from + place] === 1 ? 1 : 0
      }
    }
    return count
  }
}
