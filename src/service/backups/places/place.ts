/** Where copies of a directory are kept: numbered objects, each of which is written once. */
export interface Place {
  /** As messages show it. */
  readonly name: string
  /** Writes an object, which is durable when it resolves. False: there is one of that name, and it was not changed. */
  create(name: string, bytes: Uint8Array): Promise<boolean>
  /** Null: there is no such object. */
  read(name: string, range?: { readonly from: number; readonly bytes: number }): Promise<Buffer | null>
  /** The names of the objects in a folder, sorted. */
  list(folder: string): Promise<readonly string[]>
  remove(name: string): Promise<void>
  /** `isWhole`: everything was written. */
  close(isWhole: boolean): Promise<void>
}

/** Who uses a place, and how. */
export type PlaceUse = 'read' | 'write'
