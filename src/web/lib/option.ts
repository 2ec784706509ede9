/** One of what can be chosen. */
export interface Option {
  readonly value: string
  readonly label: string
  /** Options of a group stand together. */
  readonly group?: string
}
