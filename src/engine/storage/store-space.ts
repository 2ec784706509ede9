/** Space of a store on disk. */
export interface SpaceUse {
  /** Bytes of its file. */
  readonly bytes: number
  /** Of them, how many a copy would not need: free blocks, and an estimate for rows that are deleted. */
  readonly unused: number
}

/** A copy that waits to replace its store. */
export interface StoreCopy {
  /** The last record that is applied in it. */
  readonly seq: number
  readonly bytes: number
}

/** The space of a store on disk, which deleting rows does not give back to the file system. */
export interface StoreSpace {
  measure(): Promise<SpaceUse>
  /**
   * Copies what the store has now into a new file beside it, and compares both. The store is used meanwhile. Until the copy replaces it or is discarded, the log
   * keeps the records that the copy does not have.
   */
  copy(): Promise<StoreCopy>
  /** Stops copying, and removes what was copied. */
  discard(): Promise<void>
}
