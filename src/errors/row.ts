/** One row of the table of codes. */
export interface Row<D> {
  readonly text: (data: D) => string
  readonly suggestion?: (data: D) => string | null
  /** What could have stood there. */
  readonly expected?: (data: D) => string | null
  readonly status: number
  /** The same request may succeed later, unchanged. */
  readonly isRetryable?: true
  /** The code that HTTP clients see, where it is not that of the status. */
  readonly wire?: string | ((data: D) => string | undefined)
  /** The type that HTTP clients see, where it is not that of the status. */
  readonly type?: string | ((data: D) => string | undefined)
  /** The words that clients of the reference system look for, where they are not `text`. */
  readonly wireText?: (data: D) => string
  /** PostHog clients compare the text, so the suggestion is in `extra`. */
  readonly isTerse?: true
  /** When a code or a type that depends on the data is which, for the page of codes. */
  readonly wireNote?: string
  /** HTTP clients of the reference system expect no `attr` with it. */
  readonly isOfStatement?: true
  readonly headers?: (data: D) => Readonly<Record<string, string>>
}
