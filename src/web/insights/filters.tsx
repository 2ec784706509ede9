import { useEffect, useState } from 'preact/hooks'
import { get } from '../lib/api.ts'
import { usePropertyNames } from '../lib/names.ts'
import { useProject } from '../lib/session.ts'
import { Select, Suggesting } from '../ui/parts.tsx'
import { breakdownTypes, isWithoutValue, operators, takesMany } from './choices.ts'
import type { Filter } from './query.ts'

const filterTypes = breakdownTypes.filter(({ value }) => value !== 'session')
type Whose = 'event' | 'person'

/** The values that a property has most often. */
function useValues(filter: Filter, typed: string): readonly string[] {
  const { api } = useProject()
  const [values, setValues] = useState<readonly string[]>([])
  useEffect(() => {
    if (filter.key === '') return
    const control = new AbortController()
    const parameters = new URLSearchParams({ key: filter.key, ...(typed !== '' && { value: typed }) })
    const path = filter.type === 'person' ? 'persons/values/' : 'events/values/'
    const timer = setTimeout(() => {
      get<readonly { name: unknown }[] | { results: readonly { name: unknown }[] }>(api(`${path}?${parameters}`), control.signal).then(
        (answer) => setValues(('results' in answer ? answer.results : answer).map(({ name }) => String(name))),
        () => setValues([]),
      )
    }, 150)
    return () => {
      clearTimeout(timer)
      control.abort()
    }
  }, [filter.key, filter.type, typed])
  return values
}

const shown = (value: unknown): string => (Array.isArray(value) ? value.join(', ') : value == null ? '' : String(value))

function FilterRow({
  filter,
  whose,
  onChange,
  onRemove,
}: {
  filter: Filter
  whose: Whose | undefined
  onChange: (filter: Filter) => void
  onRemove: () => void
}) {
  const names = usePropertyNames(filter.type === 'person' ? 'person' : 'event')
  const [typed, setTyped] = useState('')
  const values = useValues(filter, typed)
  const setValue = (text: string) =>
    onChange({
      ...filter,
      value: takesMany(filter.operator)
        ? text
            .split(',')
            .map((one) => one.trim())
            .filter((one) => one !== '')
        : text,
    })
  const setOperator = (operator: string) => {
    const value = isWithoutValue(operator)
      ? operator
      : takesMany(operator) === Array.isArray(filter.value)
        ? filter.value
        : shown(filter.value)
    onChange({ ...filter, operator, value: takesMany(operator) && !Array.isArray(value) ? [String(value)] : value })
  }
  return (
    <div class="filter-row">
      {!whose && (
        <Select
          label="Whose property"
          value={filter.type}
          options={filterTypes}
          onChange={(type) => onChange({ ...filter, type: type as Filter['type'] })}
        />
      )}
      <Suggesting
        label="Property"
        placeholder="Property"
        value={filter.key}
        suggestions={names}
        onChange={(key) => onChange({ ...filter, key })}
      />
      <Select label="Comparison" value={filter.operator} options={operators} onChange={setOperator} />
      {!isWithoutValue(filter.operator) && (
        <Suggesting
          label="Value"
          placeholder={takesMany(filter.operator) ? 'Values, separated by commas' : 'Value'}
          value={shown(filter.value)}
          suggestions={values}
          onTyping={setTyped}
          onChange={setValue}
        />
      )}
      <button type="button" class="plain" aria-label={`Remove the filter ${filter.key}`} onClick={onRemove}>
        ✕
      </button>
    </div>
  )
}

/** A filter without a property or a value is not asked for yet. */
export const isComplete = ({ key, operator, value }: Filter): boolean =>
  key !== '' && (isWithoutValue(operator) || (Array.isArray(value) ? value.length > 0 : value !== undefined && value !== ''))

export function Filters({
  filters,
  onChange,
  label = 'Add a filter',
  whose,
}: {
  filters: readonly Filter[]
  onChange: (filters: readonly Filter[]) => void
  label?: string
  /** Only filters of such properties. */
  whose?: Whose
}) {
  // What is not complete stays here and out of the query.
  const [drafts, setDrafts] = useState<readonly Filter[]>(filters)
  const asked = JSON.stringify(filters)
  useEffect(() => {
    if (asked !== JSON.stringify(drafts.filter(isComplete))) setDrafts(filters)
  }, [asked])
  const change = (next: readonly Filter[]) => {
    setDrafts(next)
    const complete = next.filter(isComplete)
    if (JSON.stringify(complete) !== JSON.stringify(filters)) onChange(complete)
  }
  return (
    <div class="filters-list">
      {drafts.map((filter, i) => (
        <FilterRow
          key={i}
          filter={filter}
          whose={whose}
          onChange={(changed) => change(drafts.map((one, at) => (at === i ? changed : one)))}
          onRemove={() => change(drafts.filter((_, at) => at !== i))}
        />
      ))}
      <button
        type="button"
        class="plain add"
        onClick={() => change([...drafts, { key: '', type: whose ?? 'event', operator: 'exact', value: [] }])}
      >
        + {label}
      </button>
    </div>
  )
}
