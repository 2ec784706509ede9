import { useState } from 'preact/hooks'
import { DateRange } from '../dates/date-range.tsx'
import { endFor, type Range } from '../dates/ranges.ts'
import { savedForList } from '../filters/saved-filters.tsx'
import { Filters } from '../insights/filters.tsx'
import { daysOfRange, naturalInterval } from '../insights/intervals.ts'
import { useProject } from '../lib/session.ts'
import type { BoardFilters } from './model.ts'

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
  const { timezone, week_start_day } = useProject()
  // After a reset the filters that were being written are gone too.
  const [resets, setResets] = useState(0)
  const reset = () => {
    setResets(resets + 1)
    onReset()
  }
  const { date_from: from, date_to: to, properties = [] } = filters
  /** Tiles keep their intervals, unless days would be one dot, or hundreds of them. */
  const setDates = (range: Range) => {
    const days = range.from === '' ? null : daysOfRange(range.from, range.to, timezone, week_start_day === 1 ? 1 : 0)
    const natural = days === null ? 'day' : naturalInterval(days)
    const interval = ['day', 'week'].includes(natural) ? null : natural
    onChange({ ...filters, date_from: range.from || null, date_to: endFor(interval ?? 'day', range.to) || null, interval })
  }
  return (
    <div class="board-filters">
      <DateRange label="Dates of all tiles" none="Default dates" value={{ from: from ?? '', to: to ?? '' }} onChange={setDates} />
      <Filters
        key={resets}
        filters={properties}
        label="Filter all tiles"
        onChange={(changed) => onChange({ ...filters, properties: changed })}
      />
      {savedForList(properties, (changed) => onChange({ ...filters, properties: changed }))}
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
