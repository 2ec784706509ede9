export type { Make } from './ports.ts'

/** The values of a column, in the order of the events or the persons. */
export interface SomeColumn {
  /** Of a column that is kept between queries: no other one has it. */
  readonly id?: number
  readonly values: Uint8Array | Uint16Array | Int32Array | Float64Array
  readonly texts: readonly string[]
  readonly numbers: Float64Array | null
}
