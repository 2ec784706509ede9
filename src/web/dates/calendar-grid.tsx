import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { type DateStyle, dateText } from '../lib/format.ts'
import { addMonths, type Day, dayAfterKey, daysOfAWeek, isSameMonth, rangeOf, type WeekStart, weeksOfMonth } from './calendar.ts'

const styled = (style: DateStyle) => (day: Day) => dateText(Date.parse(`${day}T00:00Z`), style)
const [monthText, fullText, weekdayText, shortWeekday] = [styled('month'), styled('whole'), styled('weekday'), styled('shortWeekday')]

interface Props {
  readonly today: Day
  readonly weekStart: WeekStart
  readonly range: readonly [first: Day, last: Day] | null
  onChoose(first: Day, last: Day): void
}

/** A month: the first click, or Enter, is one end of a range, the second the other. */
export function CalendarGrid({ today, weekStart, range, onChoose }: Props) {
  const [focused, setFocused] = useState<Day>(range?.[1] ?? today)
  const [first, setFirst] = useState<Day | null>(null)
  const grid = useRef<HTMLTableElement>(null)
  const isMoved = useRef(false)
  useEffect(() => {
    // What was chosen elsewhere comes into view.
    if (range) setFocused(range[1])
    setFirst(null)
  }, [range?.[0], range?.[1]])
  useLayoutEffect(() => {
    if (isMoved.current) grid.current?.querySelector<HTMLElement>('[tabindex="0"]')?.focus()
    isMoved.current = false
  }, [focused])
  const shown = first === null ? range : rangeOf(first, focused)
  const choose = (day: Day) => {
    isMoved.current = true
    setFocused(day)
    if (first === null) return setFirst(day)
    setFirst(null)
    onChoose(...rangeOf(first, day))
  }
  const onKey = (event: KeyboardEvent) => {
    if (event.key === 'Escape' && first !== null) setFirst(null)
    else {
      const next = dayAfterKey(focused, event.key, event.shiftKey, weekStart)
      if (next === null) return
      isMoved.current = true
      setFocused(next)
    }
    event.preventDefault()
    event.stopPropagation()
  }
  const month = monthText(focused)
  return (
    <div class="calendar">
      <div class="calendar-head">
        <button type="button" class="plain" aria-label="Month before" onClick={() => setFocused(addMonths(focused, -1))}>
          ‹
        </button>
        <strong aria-live="polite">{month}</strong>
        <button type="button" class="plain" aria-label="Month after" onClick={() => setFocused(addMonths(focused, 1))}>
          ›
        </button>
      </div>
      <table role="grid" aria-label={month} aria-multiselectable="true" ref={grid} onKeyDown={onKey}>
        <thead>
          <tr>
            {daysOfAWeek(weekStart).map((day) => (
              <th key={day} scope="col" abbr={weekdayText(day)}>
                {shortWeekday(day).slice(0, 2)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {weeksOfMonth(focused, weekStart).map((week) => (
            <tr key={week[0]}>
              {week.map((day) => {
                const isChosen = shown !== null && day >= shown[0] && day <= shown[1]
                const isEnd = shown !== null && (day === shown[0] || day === shown[1])
                return (
                  <td
                    key={day}
                    role="gridcell"
                    aria-selected={isChosen}
                    aria-current={day === today ? 'date' : undefined}
                    class={`${isEnd ? 'end' : ''}${isSameMonth(day, focused) ? '' : ' beside'}`}
                  >
                    <button
                      type="button"
                      tabIndex={day === focused ? 0 : -1}
                      aria-label={fullText(day)}
                      onClick={() => choose(day)}
                      onPointerEnter={({ pointerType }) =>
                        first !== null && pointerType === 'mouse' && isSameMonth(day, focused) && setFocused(day)
                      }
                    >
                      {Number(day.slice(8))}
                    </button>
                  </td>
                )
              })}
            </tr>
          ))}
        </tbody>
      </table>
      <p class="note" role="status">
        {first === null ? 'Choose the first day, then the last.' : `From ${fullText(first)}: choose the other end.`}
      </p>
    </div>
  )
}
