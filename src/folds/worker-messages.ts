import type { ListView } from './fold.ts'

export interface FoldTask {
  readonly kind: 'fold'
  readonly id: number
  readonly fold: string
  readonly lists: ListView
  readonly params: unknown
  readonly from: number
  readonly to: number
  /** 1: the result is not wanted any more. */
  readonly stop: Int32Array
}

/** `release`: much shared memory is unused now. */
export type ToWorker = FoldTask | { readonly kind: 'release' }

export type FromWorker = { readonly id: number } & (
  | { readonly result: unknown }
  | { readonly error: unknown }
  | { readonly isStopped: true }
)
