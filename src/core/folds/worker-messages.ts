import type { SelectionPart } from '../lists/selections.ts'
import type { KernelMode, KernelName } from '../simd/kernels.ts'
import type { ListView } from './fold.ts'

/** Persons or entries. `selection`: their events; null: the fold finds them. */
export interface FoldPart {
  readonly from: number
  readonly to: number
  readonly selection: SelectionPart | null
  /** Number of the page in files that they are in; absent: they are in memory. */
  readonly page?: number
}

/** The same task goes to several threads, which take one part after the other until none is left. */
export interface FoldTask {
  readonly kind: 'fold'
  readonly fold: string
  readonly lists: ListView
  readonly params: unknown
  readonly parts: readonly FoldPart[]
  /** What threads share: see `taken` and `stopped`. */
  readonly shared: Int32Array
  readonly kernels: KernelMode
}
/** Places in `shared`: the number of parts that were taken; 1 if the result is not wanted any more. */
export const taken = 0
export const stopped = 1

/** `release`: much shared memory is unused now. */
export type ToWorker = FoldTask | { readonly kind: 'release' }

/** `isDamage`: of pages. */
export type FromWorker =
  | { readonly results: readonly PartResult[]; readonly kernels: readonly KernelName[] }
  | { readonly error: unknown; readonly isDamage?: boolean }
  | { readonly isStopped: true }
/** With the number of the part. */
export type PartResult = readonly [part: number, result: unknown]
