import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { atInterval, type IntervalWords } from '../../service/pictures/at-interval.ts'
import type { Chart } from '../../service/pictures/chart.ts'
import { boxesGeometry } from '../../service/pictures/draw/boxes.ts'
import { chartWords, draw, leastWidth, summaryOf } from '../../service/pictures/draw.ts'
import { numberText } from '../../service/pictures/format.ts'
import { intervalPlaces, isStack, type TimeChart } from '../../service/pictures/intervals.ts'
import { stacked } from '../../service/pictures/scales.ts'
import { filled } from '../../service/pictures/style.ts'
import { AnnotationMarks, NoteList, notesText, useNotes } from '../annotations/annotation-marks.tsx'
import { nodesOf } from './nodes.ts'
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
  onPick?(picked: Picked): void
}

export function ChartView({ chart, title, height = 340, onPick }: Props) {
  const [ref, seen] = useWidth<HTMLDivElement>()
  const width = Math.max(seen, leastWidth(chart))
  const area = { left: 4, top: 4, right: width - 4, bottom: height }
  const drawn = seen > 40 && chart.kind !== 'map' ? draw(chart, area) : null
  const total = Math.ceil((drawn?.height ?? height) + 12)
  /** What was clicked says what it is. */
  const pick = (event: MouseEvent) => {
    const [series, index = -1] = (event.target as Element).getAttribute('data-pick')?.split(' ').map(Number) ?? []
    if (series !== undefined) onPick?.({ series, index })
  }
  return (
    <div
      class="chart"
      ref={ref}
      style={{ minHeight: `${chart.kind === 'nothing' ? 120 : chart.kind === 'map' ? 0 : Math.min(height, total)}px` }}
    >
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
            {drawn.nodes.map(nodesOf)}
          </svg>
        </div>
      )}
      {drawn && (chart.kind === 'lines' || chart.kind === 'bars') && (
        <OverTime chart={chart} width={width} height={height} {...(onPick && { onPick })} />
      )}
      {drawn && chart.kind === 'boxes' && <BoxNotes chart={chart} width={width} height={height} />}
      {chart.leftOut.length > 0 && <p class="note">Not shown: {chart.leftOut.join(', ')}.</p>}
    </div>
  )
}

function BoxNotes({ chart, width, height }: { chart: Extract<Chart, { kind: 'boxes' }>; width: number; height: number }) {
  const notes = useNotes(chart)
  const { plot, groups } = boxesGeometry(chart, { left: 4, top: 4, right: width - 4, bottom: height })
  return notes && <AnnotationMarks chart={chart} notes={notes} width={width} bottom={plot.area.bottom} at={groups.centre} />
}

function OverTime({
  chart,
  width,
  height,
  onPick,
}: {
  chart: TimeChart
  width: number
  height: number
  onPick?: (picked: Picked) => void
}) {
  const [index, setIndex] = useState<number | null>(null)
  const notes = useNotes(chart)
  const { plot, at } = intervalPlaces(chart, { left: 4, top: 4, right: width - 4, bottom: height })
  const count = chart.labels.length
  const nearest = (x: number) => {
    let best = 0
    for (let i = 1; i < count; i++) if (Math.abs(at(i) - x) < Math.abs(at(best) - x)) best = i
    return best
  }
  const follow = (event: PointerEvent) => {
    const { left } = (event.currentTarget as Element).getBoundingClientRect()
    setIndex(nearest(event.clientX - left))
  }
  const step = (event: KeyboardEvent) => {
    const by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0
    if (by !== 0) {
      event.preventDefault()
      setIndex(Math.max(0, Math.min(count - 1, (index ?? (by > 0 ? -1 : count)) + by)))
    }
    if ((event.key === 'Enter' || event.key === ' ') && index !== null && onPick) {
      event.preventDefault()
      onPick({ series: chart.series[0]!.row, index })
    }
    if (event.key === 'Escape') setIndex(null)
  }
  /** The series whose value is nearest to the pointer. */
  const pick = (event: MouseEvent) => {
    if (!onPick) return
    const { left, top } = (event.currentTarget as Element).getBoundingClientRect()
    const at = nearest(event.clientX - left)
    const y = event.clientY - top
    const stacks = isStack(chart) ? stacked(chart.series.map(({ values }) => values)) : null
    const away = chart.series.map(({ values }, i) => {
      const value = values[at] ?? null
      const [from, to] = stacks?.[i]?.[at] ?? [value ?? 0, value ?? 0]
      if (value === null || (stacks && from === to)) return Number.POSITIVE_INFINITY
      const ends = [plot.scale.at(from), plot.scale.at(to)]
      return Math.max(0, Math.min(...ends) - y, y - Math.max(...ends))
    })
    onPick({ series: chart.series[away.indexOf(Math.min(...away))]!.row, index: at })
  }
  const x = index === null ? 0 : at(index)
  const own = index === null ? undefined : notes?.get(index)
  const slider = (
    <div
      class={`over-time${onPick ? ' can-pick' : ''}`}
      role="slider"
      tabIndex={0}
      aria-label="Values by interval. Arrow keys move, Enter lists the people."
      aria-valuemin={1}
      aria-valuemax={Math.max(1, count)}
      aria-valuenow={(index ?? 0) + 1}
      aria-valuetext={index === null ? 'No interval chosen' : `${spoken(chart, index)}${own ? `. ${notesText(own)}` : ''}`}
      style={{ height: `${height}px` }}
      onPointerMove={follow}
      onPointerLeave={() => setIndex(null)}
      onKeyDown={step}
      onClick={pick}
    >
      {index !== null && (
        <>
          <div class="cursor" style={{ left: `${x}px`, top: `${plot.area.top}px`, height: `${plot.area.bottom - plot.area.top}px` }} />
          <div class={`tip${x > width / 2 ? ' to-left' : ''}`} style={{ left: `${x}px`, top: `${plot.area.top}px` }}>
            <IntervalTip words={atInterval(chart, index)} />
            {own && <NoteList notes={own} />}
            {onPick && <span class="note">Click to see people</span>}
          </div>
        </>
      )}
    </div>
  )
  return (
    <>
      {slider}
      {notes && <AnnotationMarks chart={chart} notes={notes} width={width} bottom={plot.area.bottom} at={at} />}
    </>
  )
}

/** The values of an interval, as the pointer shows them. */
function IntervalTip({ words: { title, values, more, total } }: { words: IntervalWords }) {
  return (
    <>
      <strong>{title}</strong>
      <table>
        <tbody>
          {values.map((one, i) => (
            <tr key={i}>
              <td>
                <svg width="10" height="10" aria-hidden="true">
                  <rect width="10" height="10" rx="2" class={filled(one.color)} opacity={one.isPrevious ? 0.5 : 1} />
                </svg>{' '}
                {one.label}
              </td>
              <td class="number">{one.text}</td>
              <td class={`number change ${one.direction < 0 ? 'down' : 'up'}`}>
                {one.direction !== 0 && `${one.direction > 0 ? '▲' : '▼'} ${one.change}`}
              </td>
            </tr>
          ))}
          {total !== null && (
            <tr class="total">
              <td>Total</td>
              <td class="number">{total}</td>
              <td />
            </tr>
          )}
        </tbody>
      </table>
      {more > 0 && <span class="note">and {numberText(more)} more in the table</span>}
    </>
  )
}

const spoken = (chart: TimeChart, index: number) => {
  const { title, values, total } = atInterval(chart, index)
  const told = values.map(({ label, text }) => `${label} ${text}`)
  return `${title}: ${[...told, ...(total === null ? [] : [`total ${total}`])].join(', ')}`
}
