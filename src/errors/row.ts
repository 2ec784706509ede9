/** One row of the table of codes. */
export interface CodeRow<D> {
  readonly text: (data: D) => string
  readonly suggestion?: (data: D) => string | null
  /** What was expected. */
  readonly expected?: (data: D) => string | null
  readonly status: number
  /** The same request may succeed later, unchanged. */
  readonly isRetryable?: true
  /** The code for HTTP clients, if it differs from that of the status. */
  readonly wire?: string | ((data: D) => string | undefined)
  /** The type for HTTP clients, if it differs from that of the status. */
  readonly type?: string | ((data: D) => string | undefined)
  /** The text that PostHog clients compare, if it differs from `text`. */
  readonly wireText?: (data: D) => string
  /** PostHog clients compare the text, so the suggestion is in `extra`. */
  readonly isTerse?: true
  /** For the page of codes: which code or type applies when, if it depends on the data. */
  readonly wireNote?: string
  /** PostHog clients expect no `attr` with it. */
  readonly isOfStatement?: true
  readonly headers?: (data: D) => Readonly<Record<string, string>>
}
