import type { Micros } from '../../../lib/time/zone.ts'
import type { TypeName } from '../types/pg-types.ts'
import type { Span } from './texts.ts'

/** An expression in the language, with its type in PostgreSQL. */
export interface Typed {
  readonly sql: string
  readonly type: TypeName
  readonly nullable: boolean
  /** Its place in the statement. */
  readonly at: number
  /** The text of a constant whose place decides the type; null: NULL. */
  readonly constant?: string | null
  /** A parameter whose type its place decides. */
  readonly param?: number
  /** A constant interval, or an instant that is known. */
  readonly span?: Span
  readonly micros?: Micros
  /** The engine's value is a day, which means its midnight. */
  readonly isDay?: true
  /** A value of JSON that can be gone into, with the parts of its path. */
  readonly json?: { readonly root: string; readonly path: readonly (string | number)[] }
}

export interface Column {
  readonly name: string
  readonly sql: string
  readonly type: TypeName
  readonly nullable: boolean
  readonly isDay?: true
  readonly json?: Typed['json']
  /** `*` leaves it out. */
  readonly hidden?: true
}

/** A name in FROM with its columns. */
export interface Relation {
  readonly name: string
  /** `public` may be written before the name. */
  readonly isTable: boolean
  readonly columns: readonly Column[]
  /** Columns that a statement has named. */
  readonly used: Set<Column>
  /** Columns that are merged by USING: shown once. */
  readonly merged: Set<string>
}
