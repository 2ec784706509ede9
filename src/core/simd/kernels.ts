import { kernelModule } from './kernel-module.ts'

// Kernels of folds in WebAssembly SIMD. Each thread has one small memory: a piece of a column is copied into it, and what a kernel finds is read from it.
// So the columns themselves need not lie in a memory of WebAssembly, which never shrinks. No kernel keeps anything for the next call.

/** The kernels, as `explain` names them. */
export type KernelName = 'names' | 'narrow' | 'ones' | 'positions'

interface Exports {
  readonly memory: { readonly buffer: ArrayBuffer }
  names(at: number, n: number, set: number, bits: number): void
  narrow(at: number, n: number, out: number): void
  ones(at: number, n: number, bits: number): void
  positions(bits: number, n: number, table: number, out: number): number
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

export class Kernels {
  /** Where `positions` writes. */
  readonly found: Uint16Array
  private readonly bytes: Uint8Array
  private readonly wide: Uint16Array

  constructor(
    private readonly run: Exports,
    private readonly called: Set<KernelName>,
  ) {
    const { buffer } = run.memory
    this.bytes = new Uint8Array(buffer)
    this.wide = new Uint16Array(buffer, wideColumn, mostSearched)
    this.found = new Uint16Array(buffer, found, mostSearched)
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
