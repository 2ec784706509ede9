/** The contents of a store. Reading them changes nothing. */
export type StoreFindings =
  | ({ readonly state: 'sound' } & StoreContent)
  /** Only its state at the last checkpoint. */
  | ({ readonly state: 'readable-without-wal'; readonly reason: string } & StoreContent)
  | { readonly state: 'broken'; readonly reason: string }
  | { readonly state: 'missing' }

export interface StoreContent {
  readonly appliedSeq: number
  /** Not counted if the store is about to be opened. */
  readonly events?: number
  readonly persons?: number
  readonly warnings?: readonly { readonly kind: string; readonly count: number }[]
}
