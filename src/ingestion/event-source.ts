/** Events that are read one by one, while they are prepared. May be gone through more than once. */
export interface EventSource<T = unknown> extends Iterable<T> {
  /** At most so many. */
  readonly count: number
  /** Of the text that they are read from. */
  readonly bytes: number
}
