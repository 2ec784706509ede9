import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { litBy } from '../../service/pictures/at-mark.ts'
import type { Chart } from '../../service/pictures/chart.ts'
import { boxesGeometry } from '../../service/pictures/draw/boxes.ts'
import { chartWords, draw, leastWidth, summaryOf } from '../../service/pictures/draw.ts'
import { namedParts, withoutParts } from '../../service/pictures/named-parts.ts'
import { AnnotationMarks, useNotes } from '../annotations/annotation-marks.tsx'
import { Legend, useLegend } from './legend.tsx'
import { MarkTip, usePointed } from './mark-tip.tsx'
import { litNodes } from './nodes.ts'
import { OverTime } from './over-time.tsx'
import type { Picked } from './picked.ts'
import { WorldMap } from './world-map.tsx'

// The shapes are those of the pictures in mails. On top of them: what the pointer is over, and what a click means.

/** The width of an element, known before it is painted, and followed while it changes. */
export function useWidth<E extends HTMLElement>() {
  const ref = useRef<E>(null)
  const [width, setWidth] = useState(0)
  useLayoutEffect(() => {
    const element = ref.current
    if (!element) return
    setWidth(Math.floor(element.getBoundingClientRect().width))
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry!.contentRect.width)))
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  return [ref, width] as const
}

interface Props {
  readonly chart: Chart
  readonly title: string
  readonly height?: number
  /** What names the series elsewhere; without it they are named over the chart. */
  readonly legend?: ReturnType<typeof useLegend>
  onPick?(picked: Picked): void
  /** Of a chart over time: to the labels from one to another. */
  onZoom?(from: number, to: number): void
}

export function ChartView({ chart: whole, title, height = 340, legend: outside, onPick, onZoom }: Props) {
  const [ref, seen] = useWidth<HTMLDivElement>()
  const parts = namedParts(whole)
  const own = useLegend(parts)
  const legend = outside ?? own
  const { pointed, follow, leave } = usePointed(ref)
  const chart: Chart = { ...withoutParts(whole, legend.hidden), isNamedApart: true }
  const isNothing = parts.length > 0 && parts.every(({ key }) => legend.hidden.has(key))
  const width = Math.max(seen, leastWidth(chart))
  const area = { left: 4, top: 4, right: width - 4, bottom: height }
  const drawn = seen > 40 && chart.kind !== 'map' && !isNothing ? draw(chart, area) : null
  const total = Math.ceil((drawn?.height ?? height) + 12)
  const lit = legend.lit !== null ? new Set([legend.lit]) : pointed ? litBy(chart, pointed.mark) : null
  const isOverTime = chart.kind === 'lines' || chart.kind === 'bars'
  /** What was clicked says what it is. */
  const pick = (event: MouseEvent) => {
    const [series, index = -1, lost = 0] = (event.target as Element).getAttribute('data-pick')?.split(' ').map(Number) ?? []
    if (series !== undefined) onPick?.({ series, index, ...(lost === 1 && { isLost: true }) })
  }
  return (
    <div class="chart">
      {parts.length > 0 && !outside && <Legend parts={parts} {...legend} />}
      <div
        class="plot"
        ref={ref}
        style={{ minHeight: `${chart.kind === 'nothing' ? 120 : chart.kind === 'map' ? 0 : Math.min(height, total)}px` }}
        {...(!isOverTime && { onPointerMove: follow, onPointerLeave: leave })}
      >
        {isNothing && <p class="hint">All series are hidden.</p>}
        {chart.kind === 'map' && seen > 40 && (
          <WorldMap chart={chart} title={title} width={width} height={height} {...(onPick && { onPick })} />
        )}
        {drawn && (
          <div {...(width > seen && { class: 'scroll', tabIndex: 0, role: 'region', 'aria-label': title })}>
            <svg
              class={onPick && 'can-pick'}
              onClick={pick}
              width={width}
              height={total}
              viewBox={`0 0 ${width} ${total}`}
              role="img"
              aria-label={`${chartWords[chart.kind]}: ${title}. ${summaryOf(chart)}`}
            >
              {litNodes(drawn.nodes, lit)}
            </svg>
          </div>
        )}
        {drawn && isOverTime && (
          <OverTime
            chart={chart}
            width={width}
            height={height}
            {...(onPick && { onPick })}
            {...(onZoom && chart.begins.length > 1 && { onZoom })}
          />
        )}
        {drawn && pointed && <MarkTip chart={chart} pointed={pointed} width={seen} canPick={onPick !== undefined} />}
        {drawn && chart.kind === 'boxes' && <BoxNotes chart={chart} width={width} height={height} />}
      </div>
      {chart.leftOut.length > 0 && <p class="note">Not shown: {chart.leftOut.join(', ')}.</p>}
    </div>
  )
}

function BoxNotes({ chart, width, height }: { chart: Extract<Chart, { kind: 'boxes' }>; width: number; height: number }) {
  const notes = useNotes(chart)
  const { plot, groups } = boxesGeometry(chart, { left: 4, top: 4, right: width - 4, bottom: height })
  return (
    notes && <AnnotationMarks chart={chart} notes={notes} width={width} top={plot.area.top} bottom={plot.area.bottom} at={groups.centre} />
  )
}
