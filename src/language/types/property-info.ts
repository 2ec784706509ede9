// What is known about an undeclared property.

/** How JSON numbers are distinguished from JSON texts such as '01234' that read as a number, and so how values are represented. */
export type NumberKind =
  /** Only JSON numbers: stored as a float. */
  | 'all'
  /** No JSON numbers: stored as text. */
  | 'none'
  /** No JSON text reads as a number: stored as text, and a text that reads as a number is a number. */
  | 'by-text'
  /** Any values: stored as text, with a NUL character in front of JSON texts that read as a number. No other text has one. */
  | 'marked'

export interface PropertyName {
  readonly scope: string
  readonly name: string
}

export interface PropertyInfo {
  readonly numbers: NumberKind
  /** The properties that the values may come from; nested values have none. */
  readonly of: readonly PropertyName[]
  /** An answer shows a number as a number, not as text. */
  readonly isOwn?: true
}
