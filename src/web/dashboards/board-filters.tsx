import { useState } from 'preact/hooks'
import { dateRanges } from '../insights/choices.ts'
import { Filters } from '../insights/filters.tsx'
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
  const setRange = (value: string) =>
    onChange(
      value === 'custom'
        ? { ...filters, date_from: dayOf(30, timezone), date_to: dayOf(0, timezone) }
        : { ...filters, date_from: value === '' ? null : value, date_to: null },
    )
  return (
    <div class="board-filters">
      <Select label="Dates of all tiles" value={isCustom ? 'custom' : (from ?? '')} options={ranges} onChange={setRange} />
      {isCustom && (
        <>
          <DayField label="First day" value={from ?? ''} onChange={(day) => onChange({ ...filters, date_from: day })} />
          <DayField label="Last day" value={to ?? ''} onChange={(day) => onChange({ ...filters, date_to: day })} />
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
