// What rules need from a store, and what a store implements: rows by their values, and atomic writes.

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

export interface Kinds {
  text: string
  integer: number
  boolean: boolean
  time: Date
  json: Json
}
/** The kind of a column; a question mark allows null, which JSON always does: there it marks a column that older rows do not have. */
export type ColumnKind = keyof Kinds | `${keyof Kinds}?`
export type Shape = Readonly<Record<string, ColumnKind>>

type ValueOf<K extends ColumnKind> = K extends `${infer B extends keyof Kinds}?`
  ? Kinds[B] | null
  : K extends keyof Kinds
    ? Kinds[K]
    : never
export type RowOf<S extends Shape> = { readonly [C in keyof S]: ValueOf<S[C]> }

/** Each given column must have the value, or one of the values of the list. */
export type Where<R> = { readonly [C in keyof R]?: R[C] | readonly R[C][] }

/** What holds of a row besides equal values. */
export interface Condition<R> {
  /** Each text is contained in one of its columns, in any case of its letters. */
  readonly search?: readonly { readonly text: string; readonly in: readonly (keyof R & string)[] }[]
  /** Times of at least `from`, and before `to`. */
  readonly between?: { readonly [C in keyof R]?: { readonly from?: Date | undefined; readonly to?: Date | undefined } }
}

export interface FindOptions<R> extends Condition<R> {
  readonly newestFirst?: keyof R & string
  /** Rows without a value are last; equal ones are ordered by their ids. */
  readonly orderBy?: readonly { readonly column: keyof R & string; readonly isDescending?: boolean }[]
  readonly limit?: number
  readonly offset?: number
  /** Columns of JSON, which may be large, that are not read: they are null. */
  readonly without?: readonly (keyof R & string)[]
}

export interface Rows<R> {
  find(where: Where<R>, options?: FindOptions<R>): Promise<readonly R[]>
  first(where: Where<R>): Promise<R | undefined>
  count(where: Where<R>, condition?: Condition<R>): Promise<number>
}
export interface WritableRows<R> extends Rows<R> {
  insert(row: R): Promise<void>
  /** Returns the number of changed rows. */
  update(where: Where<R>, change: Partial<R>): Promise<number>
  remove(where: Where<R>): Promise<number>
}

export type Shapes = Readonly<Record<string, Shape>>
export type ReadAll<S extends Shapes> = { readonly [T in keyof S]: Rows<RowOf<S[T]>> }
export type WriteAll<S extends Shapes> = { readonly [T in keyof S]: WritableRows<RowOf<S[T]>> }

export interface Store<S extends Shapes> {
  readonly read: ReadAll<S>
  /** One writer at a time. If `work` throws, everything that it wrote is rolled back. */
  write<T>(work: (tables: WriteAll<S>) => Promise<T>): Promise<T>
}
