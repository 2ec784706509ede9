/** A half-open range of character offsets in the statement's text. */
export interface Span {
  readonly start: number
  readonly end: number
}

/** For nodes that no user wrote. */
export const noSpan: Span = { start: 0, end: 0 }

export const isSpanned = (span: Span): boolean => span.end > span.start
