import { useState } from 'preact/hooks'
import { dateRanges } from '../insights/choices.ts'
import { Filters } from '../insights/filters.tsx'
import { daysOfRange, fittingInterval } from '../insights/intervals.ts'
import { dayOf } from '../lib/moments.ts'
import { useProject } from '../lib/session.ts'
import { DayField } from '../ui/day-field.tsx'
import { Select } from '../ui/parts.tsx'
import type { BoardFilters } from './model.ts'

const ranges = [{ value: '', label: 'Dates of each insight' }, ...dateRanges, { value: 'custom', label: 'From day to day' }]

/** Dates and filters for all tiles: of this look, until they are kept for everybody. */
export function BoardFiltersBar({
  filters,
  isChanged,
  onChange,
  onKeep,
  onReset,
}: {
  filters: BoardFilters
  isChanged: boolean
  onChange: (filters: BoardFilters) => void
  onKeep: () => void
  onReset: () => void
}) {
  const { timezone } = useProject()
  // After a reset the filters that were being written are gone too.
  const [resets, setResets] = useState(0)
  const reset = () => {
    setResets(resets + 1)
    onReset()
  }
  const { date_from: from, date_to: to, properties = [] } = filters
  const isCustom = Boolean(to) || /^\d{4}-/.test(from ?? '')
  /** Tiles keep their intervals, unless days would be one dot. */
  const setDates = (dates: Pick<BoardFilters, 'date_from' | 'date_to'>) => {
    const days = dates.date_from ? daysOfRange(dates.date_from, dates.date_to ?? '', timezone) : null
    const fitting = fittingInterval('day', days !== null && days < 2 ? days : null)
    onChange({ ...filters, ...dates, interval: fitting === 'day' ? null : fitting })
  }
  const setRange = (value: string) =>
    setDates(
      value === 'custom'
        ? { date_from: dayOf(30, timezone), date_to: dayOf(0, timezone) }
        : { date_from: value === '' ? null : value, date_to: null },
    )
  return (
    <div class="board-filters">
      <Select label="Dates of all tiles" value={isCustom ? 'custom' : (from ?? '')} options={ranges} onChange={setRange} />
      {isCustom && (
        <>
          <DayField label="First day" value={from ?? ''} onChange={(day) => setDates({ date_from: day, date_to: to ?? null })} />
          <DayField label="Last day" value={to ?? ''} onChange={(day) => setDates({ date_from: from ?? null, date_to: day })} />
        </>
      )}
      <Filters
        key={resets}
        filters={properties}
        label="Filter all tiles"
        onChange={(changed) => onChange({ ...filters, properties: changed })}
      />
      {isChanged && (
        <span class="actions">
          <button type="button" onClick={onKeep}>
            Keep for everybody
          </button>
          <button type="button" class="plain" onClick={reset}>
            Reset
          </button>
        </span>
      )}
    </div>
  )
}
