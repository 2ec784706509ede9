/** Events that are read one by one, while they are prepared. They can be iterated more than once. */
export interface EventSource<T = unknown> extends Iterable<T> {
  /** Maximum number of events. */
  readonly count: number
  /** Length of the text that contains them. */
  readonly bytes: number
}
