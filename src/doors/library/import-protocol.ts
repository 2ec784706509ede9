import type { PreparedPart, Preparing } from '../../events/bulk/prepare-part.ts'
import type { ChosenColumns } from '../../events/imports/formats/mapped.ts'
import type { Recipe } from '../../events/imports/open.ts'

// Messages between an import and the threads that read and prepare its files.

export type Asked = { readonly id: number } & (
  | { readonly ask: 'open'; readonly recipe: Recipe; readonly done: number }
  /** Prepares lines of the file. `first`: the number of the first one. */
  | { readonly ask: 'block'; readonly bytes: Uint8Array; readonly first: number; readonly preparing: Preparing }
  /** Prepares the next rows of the file, a table. */
  | { readonly ask: 'rows'; readonly preparing: Preparing }
)

export interface Answered {
  readonly id: number
  /** Null: the table has no more rows. */
  readonly part?: PreparedPart | null
  readonly chosen?: ChosenColumns | null
  readonly failure?: { readonly message: string; readonly isOfFile: boolean }
}
