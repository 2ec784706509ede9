/** What a store holds. Looking changes nothing. */
export type StoreFindings =
  | ({ readonly state: 'sound' } & StoreContent)
  /** Only what was in it at the last checkpoint. */
  | ({ readonly state: 'readable-without-wal'; readonly reason: string } & StoreContent)
  | { readonly state: 'broken'; readonly reason: string }
  | { readonly state: 'missing' }

export interface StoreContent {
  readonly appliedSeq: number
  /** Not counted where the store is about to be opened. */
  readonly events?: number
  readonly persons?: number
  readonly warnings?: readonly { readonly kind: string; readonly count: number }[]
}
