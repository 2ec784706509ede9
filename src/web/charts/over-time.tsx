import { useRef, useState } from 'preact/hooks'
import { atInterval, type IntervalWords } from '../../service/pictures/at-interval.ts'
import { numberText } from '../../service/pictures/format.ts'
import { intervalPlaces, type TimeChart, type TimePlot } from '../../service/pictures/intervals.ts'
import { filled } from '../../service/pictures/style.ts'
import { AnnotationMarks, NoteList, notesText, useNotes } from '../annotations/annotation-marks.tsx'
import type { Picked } from './picked.ts'

// What lies over a chart whose axis is time: the interval under the pointer, and a range of them that is drawn to look closer.

interface Props {
  readonly chart: TimeChart
  readonly width: number
  readonly height: number
  onPick?(picked: Picked): void
  /** To the intervals from one to another. */
  onZoom?(from: number, to: number): void
}

/** Pixels; less is a click. */
const leastDrag = 8

/** Which series has the value nearest to the pointer. Null: none has one there. */
function nearestSeries(chart: TimeChart, plot: TimePlot, index: number, y: number): number | null {
  let best: number | null = null
  let least = Number.POSITIVE_INFINITY
  for (const [i, one] of chart.series.entries()) {
    const value = one.values[index] ?? null
    const [from, to] = plot.spans?.[i]?.[index] ?? [value ?? 0, value ?? 0]
    if (value === null || (plot.spans && from === to)) continue
    const scale = plot.scaleOf(one)
    const ends = [scale.at(from), scale.at(to)]
    const away = Math.max(0, Math.min(...ends) - y, y - Math.max(...ends))
    if (away >= least) continue
    least = away
    best = i
  }
  return best
}

export function OverTime({ chart, width, height, onPick, onZoom }: Props) {
  const [index, setIndex] = useState<number | null>(null)
  const [near, setNear] = useState<number | null>(null)
  /** Where a range began. */
  const [start, setStart] = useState<{ readonly index: number; readonly x: number; readonly isDrawn: boolean } | null>(null)
  const hasZoomed = useRef(false)
  const notes = useNotes(chart)
  const { plot, at } = intervalPlaces(chart, { left: 4, top: 4, right: width - 4, bottom: height })
  const count = chart.labels.length
  const nearest = (x: number) => {
    let best = 0
    for (let i = 1; i < count; i++) if (Math.abs(at(i) - x) < Math.abs(at(best) - x)) best = i
    return best
  }
  const placeOf = (event: MouseEvent) => {
    const { left, top } = (event.currentTarget as Element).getBoundingClientRect()
    return { x: event.clientX - left, y: event.clientY - top }
  }
  const follow = (event: PointerEvent) => {
    const { x, y } = placeOf(event)
    const over = nearest(x)
    setIndex(over)
    setNear(nearestSeries(chart, plot, over, y))
    if (start && !start.isDrawn && Math.abs(x - start.x) >= leastDrag) setStart({ ...start, isDrawn: true })
  }
  const press = (event: PointerEvent) => {
    // A finger scrolls.
    if (!onZoom || event.button !== 0 || event.pointerType === 'touch') return
    const { x } = placeOf(event)
    hasZoomed.current = false
    ;(event.currentTarget as Element).setPointerCapture(event.pointerId)
    setStart({ index: nearest(x), x, isDrawn: false })
  }
  /** The button is let go, which is a click too. */
  const release = () => {
    if (!start?.isDrawn) return
    hasZoomed.current = true
    zoom()
  }
  const zoom = () => {
    if (start && index !== null && index !== start.index) onZoom?.(Math.min(start.index, index), Math.max(start.index, index))
    setStart(null)
  }
  const leave = () => {
    setIndex(null)
    setNear(null)
    setStart(null)
  }
  const step = (event: KeyboardEvent) => {
    const by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0
    if (by !== 0) {
      event.preventDefault()
      const from = index ?? (by > 0 ? -1 : count)
      const to = Math.max(0, Math.min(count - 1, from + by))
      if (!event.shiftKey || !onZoom) setStart(null)
      else if (!start) setStart({ index: Math.max(0, Math.min(count - 1, from)), x: 0, isDrawn: true })
      setIndex(to)
    }
    if ((event.key === 'Enter' || event.key === ' ') && index !== null) {
      event.preventDefault()
      if (start?.isDrawn) zoom()
      else onPick?.({ series: chart.series[0]!.row, index })
    }
    if (event.key === 'Escape') leave()
  }
  const pick = (event: MouseEvent) => {
    if (hasZoomed.current) return
    setStart(null)
    const { x, y } = placeOf(event)
    const over = nearest(x)
    onPick?.({ series: chart.series[nearestSeries(chart, plot, over, y) ?? 0]!.row, index: over })
  }
  const x = index === null ? 0 : at(index)
  const own = index === null ? undefined : notes?.get(index)
  const drawn = start?.isDrawn && index !== null ? [at(start.index), x].sort((a, b) => a - b) : null
  const keys = `Arrow keys move${onPick ? ', Enter lists the people' : ''}${onZoom ? ', with Shift they choose a range that Enter zooms to' : ''}.`
  const place = { top: `${plot.area.top}px`, height: `${plot.area.bottom - plot.area.top}px` }
  return (
    <>
      <div
        class={`over-time${onPick ? ' can-pick' : ''}`}
        role="slider"
        tabIndex={0}
        aria-label={`Values by interval. ${keys}`}
        aria-valuemin={1}
        aria-valuemax={Math.max(1, count)}
        aria-valuenow={(index ?? 0) + 1}
        aria-valuetext={index === null ? 'No interval chosen' : `${spoken(chart, index)}${own ? `. ${notesText(own)}` : ''}`}
        style={{ height: `${height}px` }}
        onPointerDown={press}
        onPointerUp={release}
        onPointerMove={follow}
        onPointerLeave={leave}
        onKeyDown={step}
        onClick={pick}
      >
        {drawn && <div class="range" style={{ ...place, left: `${drawn[0]}px`, width: `${drawn[1]! - drawn[0]!}px` }} />}
        {index !== null && (
          <>
            <div class="cursor" style={{ ...place, left: `${x}px` }} />
            <div class={`tip${x > width / 2 ? ' to-left' : ''}`} style={{ left: `${x}px`, top: `${plot.area.top}px` }}>
              <IntervalTip words={atInterval(chart, index)} near={near === null ? null : chart.series[near]!.label} />
              {own && <NoteList notes={own} />}
              <span class="note">{[...(onPick ? ['Click to see people'] : []), ...(onZoom ? ['drag to zoom'] : [])].join(', ')}</span>
            </div>
          </>
        )}
      </div>
      {notes && <AnnotationMarks chart={chart} notes={notes} width={width} top={plot.area.top} bottom={plot.area.bottom} at={at} />}
    </>
  )
}

/** The values of an interval, as the pointer shows them; the nearest one stands out. */
function IntervalTip({ words: { title, values, more, total }, near }: { words: IntervalWords; near: string | null }) {
  const isLit = ({ label }: { readonly label: string }) => values.length > 1 && label === near
  return (
    <>
      <strong>{title}</strong>
      <table>
        <tbody>
          {values.map((one, i) => (
            <tr key={i} class={isLit(one) ? 'lit' : ''}>
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
