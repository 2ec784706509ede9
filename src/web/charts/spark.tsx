import { lined } from '../../service/pictures/style.ts'
import { sparkPoints } from './spark-points.ts'

const size = { width: 96, height: 30 }

/** How numbers went, without an axis: beside the number itself. */
export function Spark({ values, color, height = size.height }: { values: readonly number[]; color: number; height?: number }) {
  const points = sparkPoints(values, size.width, height - 2)
  if (points === '') return null
  return (
    <svg width={size.width} height={height} viewBox={`0 -1 ${size.width} ${height}`} aria-hidden="true">
      <polyline points={points} fill="none" class={lined(color)} stroke-width="1.5" stroke-linejoin="round" />
    </svg>
  )
}
