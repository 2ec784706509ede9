import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { PropertyChoice } from '../lib/named-choices.ts'
import { kindOf, useCohortName, useProperties } from '../lib/names.ts'
import { At, useFieldError } from '../ui/field-errors.tsx'
import { DraftField, Select } from '../ui/parts.tsx'
import { useAdded } from '../ui/use-added.ts'
import { isWithoutValue, operatorsOf, operatorText, takesMany, takesTwo } from './choices.ts'
import { filterText } from './filter-text.ts'
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

interface RowProps {
  readonly filter: Filter
  /** What errors call it. */
  readonly paths: readonly string[]
  readonly whose: 'event' | 'person' | undefined
  readonly hasCohorts: boolean
  onChange(filter: Filter): void
  onRemove(): void
}

const nameOfFilter = ({ key, type }: Filter) => (type === 'cohort' ? 'cohort' : key)

/** A filter as a chip that says what it asks; a click opens its fields, which fold again when they are left. An error in it opens them too. */
function FoldingRow(props: RowProps) {
  const { filter, paths, onRemove } = props
  const [isOpen, setOpen] = useState(!isComplete(filter))
  const row = useRef<HTMLDivElement>(null)
  const isPressed = useRef(false)
  const error = useFieldError(isOpen ? [] : [...paths, ...partOf(paths, 'operator'), ...partOf(paths, 'value')])
  useLayoutEffect(() => {
    if (error !== null) setOpen(true)
  }, [error])
  useEffect(() => {
    const press = () => {
      isPressed.current = true
    }
    const release = () => {
      isPressed.current = false
    }
    addEventListener('pointerdown', press, true)
    addEventListener('pointerup', release, true)
    return () => {
      removeEventListener('pointerdown', press, true)
      removeEventListener('pointerup', release, true)
    }
  }, [])
  const text = filterText(filter, useCohortName(filter.type === 'cohort')).replace(/[“”]/g, '')
  const leave = (event: FocusEvent) => {
    if (row.current?.contains(event.relatedTarget as Node | null)) return
    const fold = () => setOpen((before) => before && row.current?.contains(document.activeElement) === true)
    // What was pressed is clicked before anything moves.
    if (isPressed.current) addEventListener('click', () => setTimeout(fold), { once: true })
    else fold()
  }
  if (isOpen || !isComplete(filter))
    return (
      <div class="unfolded" ref={row} onFocusOut={leave} onFocusIn={() => setOpen(true)}>
        <FilterRow {...props} />
      </div>
    )
  const unfold = () => {
    setOpen(true)
    requestAnimationFrame(() => row.current?.querySelector('input')?.focus())
  }
  return (
    <span class="chip">
      <button type="button" class="plain chip-text" title="Change the filter" onClick={unfold}>
        {text}
      </button>
      <button type="button" class="plain" aria-label={`Remove the filter ${nameOfFilter(filter)}`} onClick={onRemove}>
        ✕
      </button>
    </span>
  )
}

function FilterRow({ filter, whose, hasCohorts, paths, onChange, onRemove }: RowProps) {
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
          placeholder={!whose ? 'Property, cohort or SQL' : hasCohorts ? 'Property or cohort' : 'Property'}
          value={propertyChoice(filter, filter.type === 'cohort' ? (filter.value as number) : filter.key)}
          {...(whose
            ? { whose: [whose], ...(hasCohorts && { cohorts: 'without everybody' as const }) }
            : { cohorts: 'without everybody', hasSql: true })}
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
  hasCohorts = false,
  paths = [],
  isFolding = false,
  onIncomplete,
}: {
  filters: readonly Filter[]
  onChange: (filters: readonly Filter[]) => void
  label?: string
  /** Only filters of such properties. */
  whose?: 'event' | 'person'
  /** Beside them. */
  hasCohorts?: boolean
  /** What errors call the list. */
  paths?: readonly string[]
  /** Filters that say all they need are chips. */
  isFolding?: boolean
  /** Whether a filter is there that says too little, where one that is left out would change what is meant. */
  onIncomplete?: (isIncomplete: boolean) => void
}) {
  // What is not complete stays here and out of the query.
  const [drafts, setDrafts] = useState<readonly Filter[]>(filters)
  const asked = JSON.stringify(filters)
  useEffect(() => {
    if (asked !== JSON.stringify(drafts.filter(isComplete))) setDrafts(filters)
  }, [asked])
  const isIncomplete = drafts.some((one) => !isComplete(one))
  useEffect(() => onIncomplete?.(isIncomplete), [isIncomplete])
  const change = (next: readonly Filter[]) => {
    setDrafts(next)
    const complete = next.filter(isComplete)
    if (JSON.stringify(complete) !== JSON.stringify(filters)) onChange(complete)
  }
  const added = useAdded<HTMLDivElement>(drafts.length)
  const Row = isFolding ? FoldingRow : FilterRow
  return (
    <div class="filters-list" ref={added.list}>
      {drafts.map((filter, i) => (
        <Row
          key={i}
          filter={filter}
          whose={whose}
          hasCohorts={hasCohorts}
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
