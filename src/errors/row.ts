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
  readonly type?: string
  /** HTTP clients of the reference system expect no `attr` with it. */
  readonly isOfStatement?: true
  readonly headers?: (data: D) => Readonly<Record<string, string>>
}
