/** A value of a chart. */
export interface Picked {
  /** The row of the answer; of a funnel with steps the group. */
  readonly series: number
  /** Of the labels, the steps or the columns; below 0: the whole row. */
  readonly index: number
  /** Of a funnel: those who left before the step. */
  readonly isLost?: boolean
}
