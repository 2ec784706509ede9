// The window of a call, printed in parts.

export interface WindowContext {
  /** Printed `PARTITION BY … ORDER BY …`, or '' */
  readonly rows: string
  readonly isOrdered: boolean
  /** Absent: the statement specifies none. */
  readonly frame?: FrameContext
}
export interface FrameContext {
  readonly unit: 'ROWS' | 'RANGE'
  readonly from: FrameEdge
  readonly to: FrameEdge
}
export interface FrameEdge {
  readonly side: 'PRECEDING' | 'CURRENT ROW' | 'FOLLOWING'
  /** The distance: a printed number or interval; null for UNBOUNDED. */
  readonly offset: string | null
}

const edgeText = ({ side, offset }: FrameEdge): string => (side === 'CURRENT ROW' ? side : `${offset ?? 'UNBOUNDED'} ${side}`)
const frameText = ({ unit, from, to }: FrameContext): string => `${unit} BETWEEN ${edgeText(from)} AND ${edgeText(to)}`

/** The rows, with a printed frame. */
export const overText = ({ rows }: WindowContext, frame?: FrameContext): string =>
  `OVER (${[rows, ...(frame ? [frameText(frame)] : [])].filter(Boolean).join(' ')})`
