import type { RefObject } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import type { AnnotationAnswer } from '../../doors/answers/annotations.ts'
import { get, type Page } from '../lib/api.ts'
import { momentText } from '../lib/format.ts'
import { dayOf } from '../lib/moments.ts'
import { useProject } from '../lib/session.ts'
import { useLoaded } from '../lib/use-loaded.ts'
import { DayField } from '../ui/day-field.tsx'
import { NumberField } from '../ui/number-field.tsx'
import { Select } from '../ui/parts.tsx'
import { usePlace } from '../ui/use-place.ts'
import { CalendarGrid } from './calendar-grid.tsx'
import { daysOf, presetOf, presets, type Range, rollingOf, rollingUnits } from './ranges.ts'

interface Props {
  readonly label: string
  readonly button: RefObject<HTMLElement | null>
  readonly value: Range
  readonly none: string | undefined
  /** While fields are typed in. */
  onChange(range: Range): void
  /** The range is complete. */
  onChosen(range: Range): void
}

const usual = { count: 45, unit: 'd' }
const mostCount = 9999
/** In pixels. */
const size = { leastWidth: 520, mostHeight: 620, isAsWide: false }

export function DatePopup({ label, button, value, none, onChange, onChosen }: Props) {
  const { timezone, week_start_day } = useProject()
  const popup = useRef<HTMLDivElement>(null)
  usePlace(true, button, popup, size)
  const today = dayOf(0, timezone)
  const days = daysOf(value, today)
  const rolling = rollingOf(value) ?? usual
  return (
    <div class="dates-popup" role="dialog" aria-label={label} popover="manual" ref={popup}>
      <Presets value={value} none={none} onChosen={onChosen} />
      <div class="dates-own">
        <CalendarGrid today={today} weekStart={week_start_day === 1 ? 1 : 0} range={days} onChoose={(from, to) => onChosen({ from, to })} />
        <div class="dates-fields" role="group" aria-label="From day to day">
          <DayField label="First day" value={days?.[0] ?? ''} onChange={(from) => onChange({ from, to: days?.[1] ?? '' })} />
          <span aria-hidden="true">–</span>
          <DayField label="Last day" value={days?.[1] ?? ''} onChange={(to) => onChange({ from: days?.[0] ?? to, to })} />
        </div>
        <div class="dates-fields" role="group" aria-label="Up to now">
          <span aria-hidden="true">Last</span>
          <NumberField
            label="How many"
            value={rolling.count}
            from={1}
            most={mostCount}
            onChange={(count) => onChange({ from: `-${count}${rolling.unit}`, to: '' })}
          />
          <Select
            label="Unit"
            value={rolling.unit}
            options={rollingUnits}
            onChange={(unit) => onChange({ from: `-${rolling.count}${unit}`, to: '' })}
          />
        </div>
        <Releases onChosen={onChosen} />
      </div>
    </div>
  )
}

/** One of them is in the order of the Tab key; arrows lead to the others. */
function Presets({ value, none, onChosen }: Pick<Props, 'value' | 'none' | 'onChosen'>) {
  const list = useRef<HTMLDivElement>(null)
  const all = [...(none === undefined ? [] : [{ value: '', label: none }]), ...presets]
  const chosen = value.from === '' && value.to === '' ? (none === undefined ? '-7d' : '') : presetOf(value)?.value
  const entry = all.some((one) => one.value === chosen) ? chosen : all[0]?.value
  useLayoutEffect(() => list.current?.querySelector<HTMLElement>('[tabindex="0"]')?.focus(), [])
  const move = (event: KeyboardEvent) => {
    const options = [...(list.current?.querySelectorAll<HTMLElement>('[role=option]') ?? [])]
    const at = options.findIndex((one) => one === document.activeElement)
    const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: options.length - 1 }[event.key]
    if (next === undefined) return
    event.preventDefault()
    options[(next + options.length) % options.length]?.focus()
  }
  return (
    <div class="dates-presets" role="listbox" aria-label="Ranges" ref={list} onKeyDown={move}>
      {all.map((one) => (
        <button
          type="button"
          role="option"
          key={one.value}
          aria-selected={one.value === chosen}
          tabIndex={one.value === entry ? 0 : -1}
          onClick={() => onChosen({ from: one.value, to: 'to' in one && one.to !== undefined ? one.to : '' })}
        >
          {one.label}
        </button>
      ))}
    </div>
  )
}

const fewReleases = 4

/** Annotations mark releases: the range begins with one of the latest. */
function Releases({ onChosen }: Pick<Props, 'onChosen'>) {
  const { api, timezone } = useProject()
  const before = new Date().toISOString()
  const { value, error } = useLoaded(
    (signal) =>
      get<Page<AnnotationAnswer>>(api(`annotations/?${new URLSearchParams({ limit: String(fewReleases), date_to: before })}`), signal),
    [],
  )
  const found =
    value?.results.flatMap(({ id, date_marker, content }) => (date_marker ? [{ id, date_marker, content: content ?? '' }] : [])) ?? []
  if (error || found.length === 0) return null
  return (
    <div class="dates-releases" role="group" aria-label="Since a release">
      {found.map(({ id, date_marker, content }, i) => (
        <button type="button" class="plain" key={id} onClick={() => onChosen({ from: date_marker, to: '' })}>
          {i === 0 ? 'Since the last release' : 'Since'}: <strong>{content}</strong>{' '}
          <span class="note">{momentText(date_marker, timezone)}</span>
        </button>
      ))}
    </div>
  )
}
