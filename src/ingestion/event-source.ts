/** Events that are read one by one, while they are prepared. May be gone through more than once. */
export interface EventSource<T = unknown> extends Iterable<T> {
  /** Maximum number of events. */
  readonly count: number
  /** Of the text that they are read from. */
  readonly bytes: number
}
