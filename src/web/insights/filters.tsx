import { useEffect, useState } from 'preact/hooks'
import type { PropertyChoice } from '../lib/named-choices.ts'
import { kindOf, useProperties } from '../lib/names.ts'
import { At } from '../ui/field-errors.tsx'
import { DraftField, Select } from '../ui/parts.tsx'
import { useAdded } from '../ui/use-added.ts'
import { isWithoutValue, operatorsOf, operatorText, takesMany, takesTwo } from './choices.ts'
import { FilterValue } from './filter-value.tsx'
import { PropertyField, propertyChoice, typedOf } from './property-field.tsx'
import type { Filter } from './query.ts'
import { namedWhose } from './whose.ts'

const memberships = [
  { value: 'in', label: 'is in' },
  { value: 'not_in', label: 'is not in' },
]

/** A part of what one of these paths names. */
const partOf = (paths: readonly string[], part: string): readonly string[] => paths.map((path) => `${path}.${part}`)

function FilterRow({
  filter,
  whose,
  paths,
  onChange,
  onRemove,
}: {
  filter: Filter
  /** What errors call it. */
  paths: readonly string[]
  whose: 'event' | 'person' | undefined
  onChange: (filter: Filter) => void
  onRemove: () => void
}) {
  const choose = (choice: PropertyChoice) => {
    if (choice.type === 'cohort') return onChange({ type: 'cohort', key: 'id', operator: 'in', value: choice.id })
    if (choice.type === 'hogql') return onChange({ type: 'hogql', key: '', operator: 'exact', value: null })
    const isSame = filter.key === choice.key && filter.type === choice.type
    onChange(isSame ? filter : { ...typedOf(choice), type: choice.type, key: choice.key, operator: 'exact', value: [] })
  }
  return (
    <div class="filter-row">
      <At of={filter.type === 'cohort' || filter.type === 'hogql' ? [] : paths}>
        <PropertyField
          label="Property"
          placeholder={whose ? 'Property' : 'Property, cohort or SQL'}
          value={propertyChoice(filter, filter.type === 'cohort' ? (filter.value as number) : filter.key)}
          {...(whose ? { whose: [whose] } : { cohorts: 'without everybody', hasSql: true })}
          onChoose={choose}
        />
      </At>
      {filter.type === 'cohort' ? (
        <At of={paths}>
          <Select
            label="Comparison"
            value={filter.operator === 'not_in' ? 'not_in' : 'in'}
            options={memberships}
            onChange={(operator) => onChange({ ...filter, operator })}
          />
        </At>
      ) : filter.type === 'hogql' ? (
        <At of={paths}>
          <DraftField
            label="SQL expression"
            placeholder="properties.price > 10"
            value={filter.key}
            onChange={(key) => onChange({ type: 'hogql', key: key.trim(), operator: 'exact', value: null })}
          />
        </At>
      ) : (
        <PropertyCondition filter={filter} paths={paths} onChange={onChange} />
      )}
      <button type="button" class="plain" aria-label={`Remove the filter ${filter.key}`} onClick={onRemove}>
        ✕
      </button>
    </div>
  )
}

/** The value in the form that another operator takes. */
function valueFor(operator: string, value: unknown): unknown {
  if (isWithoutValue(operator)) return operator
  const all = [value].flat().filter((one) => one != null && !isWithoutValue(String(one)))
  if (takesMany(operator)) return all
  return takesTwo(operator) ? all.slice(0, 2) : (all[0] ?? '')
}

function PropertyCondition({ filter, paths, onChange }: { filter: Filter; paths: readonly string[]; onChange: (filter: Filter) => void }) {
  const definitions = useProperties(namedWhose(filter))
  const kind = kindOf(definitions.find(({ name }) => name === filter.key))
  const fitting = operatorsOf(kind)
  const operators = fitting.some(({ value }) => value === filter.operator)
    ? fitting
    : [...fitting, { value: filter.operator, label: operatorText(filter.operator) }]
  return (
    <>
      <At of={partOf(paths, 'operator')}>
        <Select
          label="Comparison"
          value={filter.operator}
          options={operators}
          onChange={(operator) => onChange({ ...filter, operator, value: valueFor(operator, filter.value) })}
        />
      </At>
      {!isWithoutValue(filter.operator) && (
        <At of={partOf(paths, 'value')}>
          <FilterValue filter={filter} kind={kind} onChange={(value) => onChange({ ...filter, value })} />
        </At>
      )}
    </>
  )
}

/** A filter without a property or a value is not asked for yet. */
export const isComplete = ({ type, key, operator, value }: Filter): boolean => {
  if (type === 'hogql') return key !== ''
  if (key === '') return false
  if (isWithoutValue(operator)) return true
  if (takesTwo(operator)) {
    const [from, to] = [value].flat()
    return typeof from === 'number' && typeof to === 'number' && from <= to
  }
  return Array.isArray(value) ? value.length > 0 : value != null && value !== ''
}

const pathsOfItem = (paths: readonly string[], i: number): readonly string[] => paths.map((path) => `${path}.${i}`)

export function Filters({
  filters,
  onChange,
  label = 'Add a filter',
  whose,
  paths = [],
}: {
  filters: readonly Filter[]
  onChange: (filters: readonly Filter[]) => void
  label?: string
  /** Only filters of such properties. */
  whose?: 'event' | 'person'
  /** What errors call the list. */
  paths?: readonly string[]
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
  const added = useAdded<HTMLDivElement>(drafts.length)
  return (
    <div class="filters-list" ref={added.list}>
      {drafts.map((filter, i) => (
        <FilterRow
          key={i}
          filter={filter}
          whose={whose}
          paths={isComplete(filter) ? pathsOfItem(paths, drafts.slice(0, i).filter(isComplete).length) : []}
          onChange={(changed) => change(drafts.map((one, at) => (at === i ? changed : one)))}
          onRemove={() => change(drafts.filter((_, at) => at !== i))}
        />
      ))}
      <button
        type="button"
        class="plain add"
        onClick={() => added.add(() => change([...drafts, { key: '', type: whose ?? 'event', operator: 'exact', value: [] }]))}
      >
        + {label}
      </button>
    </div>
  )
}
