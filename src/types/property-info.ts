// What is known of a property whose values have no declared type.

/** How JSON numbers are distinguished from JSON texts such as '01234' that read as a number, and so how values are represented. */
export type NumberKind =
  /** There is nothing but JSON numbers: a float. */
  | 'all'
  /** No value is a JSON number: the text. */
  | 'none'
  /** No JSON text reads as a number: the text, and what reads as a number is one. */
  | 'by-text'
  /** There may be anything: the text, with a NUL character in front of JSON texts that read as a number. No other text has one. */
  | 'marked'

export interface PropertyName {
  readonly scope: string
  readonly name: string
}

export interface PropertyInfo {
  readonly numbers: NumberKind
  /** The properties that the values may be of; nested values are of none. */
  readonly of: readonly PropertyName[]
  /** An answer shows a number as a number, not as its text. */
  readonly isOwn?: true
}
