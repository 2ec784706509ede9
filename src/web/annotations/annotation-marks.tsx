import { useContext, useState } from 'preact/hooks'
import type { AnnotationAnswer } from '../../doors/answers/annotations.ts'
import { useProject } from '../lib/session.ts'
import { Dialog } from '../ui/parts.tsx'
import { isShownOn } from './annotation.ts'
import { AnnotationForm } from './annotation-form.tsx'
import { ChartPlaceContext } from './chart-place.ts'
import { beginOf, byInterval, rangeOf, spansOf, type TimeChart } from './on-axis.ts'
import { useAnnotations } from './read-annotations.ts'

export type Notes = ReadonlyMap<number, readonly AnnotationAnswer[]>

/** The annotations of a chart by the index of their interval. Null: its axis is not time. */
export function useNotes(chart: TimeChart): Notes | null {
  const { timezone } = useProject()
  const place = useContext(ChartPlaceContext)
  const spans = spansOf(chart)
  const range = rangeOf(spans, timezone)
  const found = useAnnotations(range)
  return (
    range &&
    byInterval(
      spans,
      found.filter((one) => isShownOn(one, place)),
      timezone,
    )
  )
}

export const notesText = (notes: readonly AnnotationAnswer[]): string => notes.map(({ content }) => content ?? '').join('; ')

const axisHeight = 24

interface Props {
  readonly chart: TimeChart
  readonly notes: Notes
  readonly width: number
  /** Where the drawing begins and where the axis is, in the element. */
  readonly top: number
  readonly bottom: number
  /** Where the middle of an interval is. */
  readonly at: (index: number) => number
}

/** A mark on the axis for each interval with annotations, and between them a place to click to add one. */
export function AnnotationMarks({ chart, notes, width, top, bottom, at }: Props) {
  const { timezone, mayChange } = useProject()
  const place = useContext(ChartPlaceContext)
  const [shown, setShown] = useState<number | null>(null)
  const [next, setNext] = useState<number | null>(null)
  const [open, setOpen] = useState<number | null>(null)
  const spans = spansOf(chart)
  const count = spans.length
  const nearest = (x: number) => spans.reduce((best, _, i) => (Math.abs(at(i) - x) < Math.abs(at(best) - x) ? i : best), 0)
  const follow = (event: PointerEvent) => {
    const { left } = (event.currentTarget as Element).getBoundingClientRect()
    setNext(nearest(event.clientX - left))
  }
  const steer = (event: KeyboardEvent) => {
    const by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0
    if (by === 0) return
    event.preventDefault()
    setNext(Math.max(0, Math.min(count - 1, (next ?? count - 1) + by)))
  }
  const add = (event: MouseEvent) => {
    const { left } = (event.currentTarget as Element).getBoundingClientRect()
    // By key a click has no place.
    setOpen(event.detail === 0 ? (next ?? count - 1) : nearest(event.clientX - left))
  }
  const begin = open === null ? null : spans[open]
  return (
    <>
      {mayChange && (
        <button
          type="button"
          class="add-note"
          aria-label={`Add an annotation: ${chart.labels[next ?? count - 1] ?? ''}. Arrow keys choose the interval.`}
          style={{ top: `${bottom}px`, height: `${axisHeight}px` }}
          onPointerMove={follow}
          onPointerLeave={() => setNext(null)}
          onFocus={() => next === null && setNext(count - 1)}
          onBlur={() => setNext(null)}
          onKeyDown={steer}
          onClick={add}
        >
          {next !== null && (
            <span class={`tip${at(next) > width / 2 ? ' to-left' : ''}`} style={{ left: `${at(next)}px`, bottom: `${axisHeight}px` }}>
              Add an annotation: {chart.labels[next]}
            </span>
          )}
        </button>
      )}
      <NoteLines notes={notes} width={width} top={top} bottom={bottom} at={at} />
      {[...notes].map(([index, own]) => (
        <button
          type="button"
          class="note-mark"
          key={index}
          style={{ left: `${at(index)}px`, top: `${bottom}px` }}
          aria-label={`${own.length > 1 ? `${own.length} annotations` : 'Annotation'}, ${chart.labels[index]}: ${notesText(own)}`}
          onPointerEnter={() => setShown(index)}
          onPointerLeave={() => setShown(null)}
          onFocus={() => setShown(index)}
          onBlur={() => setShown(null)}
          onClick={() => setOpen(index)}
        >
          {own.length > 1 ? own.length : '▲'}
        </button>
      ))}
      {shown !== null && notes.get(shown) && (
        <div
          class={`tip above${at(shown) > width / 2 ? ' to-left' : ''}`}
          style={{ left: `${at(shown)}px`, top: `${bottom - 6}px` }}
          aria-hidden="true"
        >
          <strong>{chart.labels[shown]}</strong>
          <NoteList notes={notes.get(shown)!} />
        </div>
      )}
      {open !== null && begin && (
        <Dialog title={`Annotations, ${chart.labels[open]}`} onClose={() => setOpen(null)}>
          {notes.has(open) && <NoteList notes={notes.get(open)!} />}
          {mayChange && <AnnotationForm annotation={null} at={beginOf(begin, timezone)} place={place} onSaved={() => setOpen(null)} />}
        </Dialog>
      )}
    </>
  )
}

/** Beside a name there is room for this much, or it is not written. */
const leastRoom = 56

/** A line up from each mark, with the name of the annotation at its upper end where there is room. The marks say it to screen readers. */
function NoteLines({ notes, width, top, bottom, at }: Omit<Props, 'chart'>) {
  const all = [...notes].sort(([a], [b]) => a - b)
  return (
    <>
      {all.map(([index, own], i) => {
        const next = all[i + 1]
        const room = (next ? at(next[0]) : width) - at(index) - 12
        return (
          <span
            class="note-line"
            key={index}
            aria-hidden="true"
            style={{ left: `${at(index)}px`, top: `${top}px`, height: `${bottom - top}px` }}
          >
            {room >= leastRoom && (
              <span class="note-name" style={{ maxWidth: `${room}px` }}>
                {notesText(own)}
              </span>
            )}
          </span>
        )
      })}
    </>
  )
}

export const NoteList = ({ notes }: { notes: readonly AnnotationAnswer[] }) => (
  <ul class="notes">
    {notes.map(({ id, content, created_by }) => (
      <li key={id}>
        {content}
        {created_by && <span class="note"> {created_by.first_name || created_by.email}</span>}
      </li>
    ))}
  </ul>
)
