import { kernelModule } from './kernel-module.ts'

// Kernels of folds in WebAssembly SIMD. Each thread has one small memory: a piece of a column is copied into it, and what a kernel finds is read from it.
// So the columns themselves need not lie in a memory of WebAssembly, which never shrinks. No kernel keeps anything for the next call.

/** The kernels, as `explain` names them. */
export type KernelName =
  | 'names'
  | 'narrow'
  | 'ones'
  | 'positions'
  | 'buckets'
  | 'or'
  | 'and'
  | 'fresh'
  | 'count'
  | 'countBoth'
  | 'countEither'

interface Exports {
  readonly memory: { readonly buffer: ArrayBuffer }
  names(at: number, n: number, set: number, bits: number): void
  narrow(at: number, n: number, out: number): void
  ones(at: number, n: number, bits: number): void
  positions(bits: number, n: number, table: number, out: number): number
  buckets(...[times, n, edges, table, first, last, cellsPerMicro, before, behind, less, out]: number[]): void
  or(a: number, b: number, bytes: number): void
  and(a: number, b: number, bytes: number): void
  fresh(a: number, b: number, bytes: number): void
  count(a: number, bytes: number): number
  countBoth(a: number, b: number, bytes: number): number
  countEither(a: number, b: number, bytes: number): number
}

/** Events that are searched at once. */
export const mostSearched = 1 << 16
/** A set of codes of one byte, as the kernel reads it. */
const setBytes = 32

// Where things lie in the memory, which has 512 kB.
const table = 0
const set = 2048
const bits = 4096
const column = 1 << 16
const wideColumn = 2 << 16
const found = 4 << 16
const times = 1 << 16
const bucketsOf = 2 << 16
const edgesAt = 3 << 16
const cellsAt = 4 << 16
const sets = 7 << 16

/** Times that are looked at in one call of a kernel, and the largest tables for it. */
const timesAtOnce = 1 << 13
const mostEdges = 1 << 13
const mostCells = 1 << 15

/** Bits of a set, at most; their number is a multiple of 128. */
const mostBits = 1 << 16

/** Edges in order, and the number of them up to the start of each cell. A cell has one edge at most. */
export interface EdgeTable {
  readonly edges: Float64Array
  readonly table: Int32Array
  readonly cellsPerMicro: number
}
/** Whether there is room for edges and their cells. */
export const hasRoomFor = (edges: Float64Array, table: Int32Array): boolean =>
  edges.length > 0 && edges.length <= mostEdges && table.length <= mostCells

export class Kernels {
  /** Where `positions` writes. */
  readonly found: Uint16Array
  private readonly bytes: Uint8Array
  private readonly wide: Uint16Array
  private readonly times: Float64Array
  private readonly buckets: Int32Array
  private readonly edges: Float64Array
  private readonly cells: Int32Array
  private readonly a: Uint32Array
  private readonly b: Uint32Array

  constructor(
    private readonly run: Exports,
    private readonly called: Set<KernelName>,
  ) {
    const { buffer } = run.memory
    this.bytes = new Uint8Array(buffer)
    this.wide = new Uint16Array(buffer, wideColumn, mostSearched)
    this.found = new Uint16Array(buffer, found, mostSearched)
    this.times = new Float64Array(buffer, times, timesAtOnce)
    this.buckets = new Int32Array(buffer, bucketsOf, timesAtOnce)
    this.edges = new Float64Array(buffer, edgesAt, mostEdges)
    this.cells = new Int32Array(buffer, cellsAt, mostCells)
    this.a = new Uint32Array(buffer, sets, mostBits >> 5)
    this.b = new Uint32Array(buffer, this.a.byteOffset + this.a.byteLength, mostBits >> 5)
    for (let byte = 0; byte < 256; byte++)
      for (let bit = 0, at = table + 8 * byte; bit < 8; bit++) if ((byte >> bit) & 1) this.bytes[at++] = bit
  }

  /** Marks the events with names of a set, `mostSearched` at most. */
  names(codes: Uint8Array | Uint16Array, from: number, to: number, wanted: Uint8Array): void {
    const { bytes, run, called } = this
    if (codes.BYTES_PER_ELEMENT === 1) bytes.set(codes.subarray(from, to), column)
    else {
      this.wide.set(codes.subarray(from, to))
      run.narrow(wideColumn, to - from, column)
      called.add('narrow')
    }
    bytes.set(wanted, set)
    run.names(column, to - from, set, bits)
    called.add('names')
  }

  /** Keeps the marks of those whose value is 1. */
  ones(values: Uint8Array, from: number, to: number): void {
    this.bytes.set(values.subarray(from, to), column)
    this.run.ones(column, to - from, bits)
    this.called.add('ones')
  }

  /** Writes the numbers of the first `n` events that are marked to `found`. Returns how many. */
  positions(n: number): number {
    this.called.add('positions')
    return this.run.positions(bits, n, table, found)
  }

  /** Writes how many edges are not after each of the first `rows` times, minus `less`. */
  countEdges(
    { edges, table, cellsPerMicro }: EdgeTable,
    time: Float64Array,
    rows: number,
    counts: Int32Array,
    { before, behind, less }: { readonly before: number; readonly behind: number; readonly less: number },
  ): void {
    this.called.add('buckets')
    this.edges.set(edges)
    this.cells.set(table)
    const [first, last] = [edges[0]!, edges.at(-1)!]
    for (let from = 0; from < rows; from += timesAtOnce) {
      const n = Math.min(timesAtOnce, rows - from)
      this.times.set(time.subarray(from, from + n))
      this.run.buckets(times, n, edgesAt, cellsAt, first, last, cellsPerMicro, before, behind, less, bucketsOf)
      counts.set(this.buckets.subarray(0, n), from)
    }
  }

  /** Adds the bits of another set. */
  or(set: Uint32Array, other: Uint32Array): void {
    this.run.or(...this.both('or', set, other))
    set.set(this.a.subarray(0, set.length))
  }

  /** Keeps the bits that another set has, too. */
  and(set: Uint32Array, other: Uint32Array): void {
    this.run.and(...this.both('and', set, other))
    set.set(this.a.subarray(0, set.length))
  }

  /** Removes those of `seen`, and adds the others to them. */
  fresh(set: Uint32Array, seen: Uint32Array): void {
    this.run.fresh(...this.both('fresh', set, seen))
    set.set(this.a.subarray(0, set.length))
    seen.set(this.b.subarray(0, set.length))
  }

  count(set: Uint32Array): number {
    this.called.add('count')
    this.a.set(set)
    return this.run.count(sets, set.byteLength)
  }

  countBoth(set: Uint32Array, other: Uint32Array): number {
    return this.run.countBoth(...this.both('countBoth', set, other))
  }

  countEither(set: Uint32Array, other: Uint32Array): number {
    return this.run.countEither(...this.both('countEither', set, other))
  }

  private both(name: KernelName, set: Uint32Array, other: Uint32Array): [a: number, b: number, bytes: number] {
    this.called.add(name)
    this.a.set(set)
    this.b.set(other)
    return [this.a.byteOffset, this.b.byteOffset, set.byteLength]
  }
}

/** A set of codes; of codes of two bytes, those above 254 are one. `has`: by code, 0 if it is not in the set. */
export function codeSet(has: Uint8Array): Uint8Array {
  const codes = new Uint8Array(setBytes)
  const add = (code: number) => {
    codes[(code & 15) + (code < 128 ? 0 : 16)]! |= 1 << ((code >> 4) & 7)
  }
  for (let code = 0; code < 255; code++) if (has[code] !== 0) add(code)
  if (has.indexOf(1, 255) >= 0) add(255)
  return codes
}

interface WebAssemblyPort {
  readonly Module: new (bytes: Uint8Array) => unknown
  readonly Instance: new (module: unknown) => { readonly exports: unknown }
}

/** Null: this processor or this engine has no WebAssembly SIMD. */
function loaded(called: Set<KernelName>): Kernels | null {
  try {
    // No type library of this project has WebAssembly.
    const { Module, Instance } = (globalThis as unknown as { WebAssembly: WebAssemblyPort }).WebAssembly
    return new Kernels(new Instance(new Module(Buffer.from(kernelModule, 'base64'))).exports as Exports, called)
  } catch {
    return null
  }
}

/** `always`: also where a loop takes no longer, for tests. */
export type KernelMode = 'on' | 'off' | 'always'

let mode: KernelMode = process.env.WAYMARK_SIMD === 'off' ? 'off' : 'on'
let ofThread: Kernels | null | undefined
const called = new Set<KernelName>()
/** Below this many events a call of the kernels takes longer than the loop. */
const fewest = 192

/** The kernels of this thread, for so many events. Null: loops in JavaScript do it. */
export function kernelsFor(events: number): Kernels | null {
  if (mode === 'off' || (events < fewest && mode === 'on')) return null
  if (ofThread === undefined) ofThread = loaded(called)
  return ofThread
}

/** Folds of this thread, and those that it gives to others, do without kernels, or use them again. */
export function switchKernels(to: KernelMode): void {
  mode = to
}
export const kernelMode = (): KernelMode => mode

/** The kernels that were called in this thread since the last time. */
export function takeCalled(): readonly KernelName[] {
  const names = [...called]
  called.clear()
  return names
}
