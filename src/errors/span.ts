/** A field of a request. */
export interface Origin {
  /** In the form `series__0__math_hogql`. */
  readonly attr: string
  /** The contents of the field. */
  readonly text: string
  readonly is: 'expression' | 'name' | 'pattern'
}

/** A half-open range of character offsets in the text of the statement, or in the text of the field that a part of it comes from. */
export interface Span {
  readonly start: number
  readonly end: number
  readonly origin?: Origin
}

/** For generated nodes. */
export const noSpan: Span = { start: 0, end: 0 }

export const isSpanned = (span: Span): boolean => span.end > span.start
