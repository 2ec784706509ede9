import { useState } from 'preact/hooks'
import { mathFacts } from '../../queries/series/maths.ts'
import type { Query } from '../lib/api.ts'
import type { PropertyChoice } from '../lib/named-choices.ts'
import { kindOf, useProperties } from '../lib/names.ts'
import { At } from '../ui/field-errors.tsx'
import { NumberField } from '../ui/number-field.tsx'
import { DraftField } from '../ui/parts.tsx'
import { useAdded } from '../ui/use-added.ts'
import { PropertyField, propertyChoice, typedOf } from './property-field.tsx'
import { listIn, objectIn, type SeriesNode, textIn, withField } from './query.ts'
import { namedWhose, type Typed } from './whose.ts'

interface Part extends Typed {
  readonly property: string | number
  readonly histogram_bin_count?: number
}
const mostParts = 3
const empty: Part = { property: '', type: 'event' }

/** Older queries name one property outside of the list. */
function partsOf(query: Query): readonly Part[] {
  const filter = objectIn(query, 'breakdownFilter')
  const list = listIn<Part>(filter, 'breakdowns')
  if (list.length > 0) return list.map((part) => ({ ...part, type: part.type ?? 'event' }))
  const index = filter.breakdown_group_type_index
  const bins = filter.breakdown_histogram_bin_count
  return [filter.breakdown]
    .flat()
    .filter((property): property is string | number => typeof property === 'string' || typeof property === 'number')
    .map((property) => ({
      property,
      type: textIn(filter, 'breakdown_type') || 'event',
      ...(typeof index === 'number' && { group_type_index: index }),
      ...(typeof bins === 'number' && { histogram_bin_count: bins }),
    }))
}

function withParts(query: Query, parts: readonly Part[]): Query {
  const chosen = parts.filter(({ property }) => property !== '')
  const { breakdown_limit, breakdown_hide_other_aggregation } = objectIn(query, 'breakdownFilter')
  const kept = {
    ...(breakdown_limit != null && { breakdown_limit }),
    ...(breakdown_hide_other_aggregation != null && { breakdown_hide_other_aggregation }),
  }
  const [first] = chosen
  if (!first) return withField(query, 'breakdownFilter', undefined)
  if (first.type === 'cohort')
    return { ...query, breakdownFilter: { breakdown_type: 'cohort', breakdown: chosen.map(({ property }) => property), ...kept } }
  if (chosen.length > 1) return { ...query, breakdownFilter: { breakdowns: chosen, ...kept } }
  const { property, type, group_type_index: index, histogram_bin_count: bins } = first
  return {
    ...query,
    breakdownFilter: {
      breakdown: property,
      breakdown_type: type,
      ...(index != null && { breakdown_group_type_index: index }),
      ...(bins !== undefined && { breakdown_histogram_bin_count: bins }),
      ...kept,
    },
  }
}

/** What errors call a part. One alone is not in a list, and has what is said of the breakdown as a whole. */
const pathsOf = (i: number): readonly string[] => [`breakdownFilter.breakdowns.${i}`, ...(i === 0 ? ['breakdownFilter'] : [])]

/** Each of its numbers is one of people. */
const countsPeople = (query: Query): boolean =>
  query.kind === 'TrendsQuery' &&
  listIn<SeriesNode>(query, 'series').every(({ math }) => ['actors', 'recent actors'].includes(mathFacts(math).counts))

/** Up to three properties. Cohorts stand alone. */
export function Breakdown({ query, onChange }: { query: Query; onChange: (query: Query) => void }) {
  const asked = partsOf(query)
  // A property that is not chosen yet is not asked for.
  const [drafts, setDrafts] = useState<readonly Part[]>(asked)
  const chosen = drafts.filter(({ property }) => property !== '')
  const parts = JSON.stringify(chosen) === JSON.stringify(asked) ? drafts : asked
  const set = (next: readonly Part[]) => {
    const alike = next.some(({ type }) => type === 'cohort')
      ? next.filter(({ type }) => (type === 'cohort') === (next.at(-1)!.type === 'cohort'))
      : next
    setDrafts(alike)
    const changed = withParts(query, alike)
    if (JSON.stringify(changed) !== JSON.stringify(query)) onChange(changed)
  }
  const limit = objectIn(query, 'breakdownFilter').breakdown_limit
  const hasBins = query.kind === 'TrendsQuery'
  const added = useAdded<HTMLDivElement>(parts.length)
  return (
    <div class="filters-list" ref={added.list}>
      {parts.map((part, i) => (
        <BreakdownRow
          key={i}
          part={part}
          paths={part.property === '' ? [] : pathsOf(parts.slice(0, i).filter(({ property }) => property !== '').length)}
          hasBins={hasBins}
          isOfPeople={countsPeople(query)}
          onChange={(changed) => set(parts.with(i, changed))}
          onRemove={() => set(parts.toSpliced(i, 1))}
        />
      ))}
      {parts.length < mostParts && (
        <button
          type="button"
          class="plain add"
          onClick={() => added.add(() => set([...parts, parts[0]?.type === 'cohort' ? { property: '', type: 'cohort' } : empty]))}
        >
          + Add a breakdown
        </button>
      )}
      {asked.length > 0 && asked[0]!.type !== 'cohort' && (
        <div class="inline">
          <span>Top</span>
          <At of="breakdownFilter.breakdown_limit">
            <NumberField
              label="How many values"
              value={limit ?? (objectIn(query, 'trendsFilter').display === 'WorldMap' ? 250 : 25)}
              from={1}
              most={500}
              onChange={(most) => onChange({ ...query, breakdownFilter: { ...objectIn(query, 'breakdownFilter'), breakdown_limit: most } })}
            />
          </At>
          <span>values, rest as Other</span>
        </div>
      )}
    </div>
  )
}

function BreakdownRow({
  part,
  paths,
  hasBins,
  isOfPeople,
  onChange,
  onRemove,
}: {
  part: Part
  /** What errors call it. */
  paths: readonly string[]
  hasBins: boolean
  isOfPeople: boolean
  onChange: (part: Part) => void
  onRemove: () => void
}) {
  const kind = kindOf(useProperties(namedWhose(part)).find(({ name }) => name === part.property))
  const choose = (choice: PropertyChoice) =>
    onChange({ ...typedOf(choice), property: choice.type === 'cohort' ? choice.id : choice.type === 'hogql' ? '' : choice.key })
  return (
    <div class="filter-row">
      <At of={part.type === 'hogql' ? [] : paths}>
        <PropertyField
          label="Property of the breakdown"
          placeholder="Property, cohort or SQL"
          value={propertyChoice(part, part.property)}
          cohorts="with everybody"
          hasSql
          isOfPeople={isOfPeople}
          onChoose={choose}
        />
      </At>
      {part.type === 'hogql' && (
        <At of={paths}>
          <DraftField
            label="SQL expression of the breakdown"
            placeholder="upper(properties.plan)"
            value={String(part.property)}
            onChange={(text) => onChange({ ...part, property: text.trim() })}
          />
        </At>
      )}
      {hasBins && (kind === 'number' || part.histogram_bin_count !== undefined) && (
        <label class="inline">
          <input
            type="checkbox"
            checked={part.histogram_bin_count !== undefined}
            onChange={(event) => onChange(withField({ ...part }, 'histogram_bin_count', event.currentTarget.checked ? 10 : undefined))}
          />
          in ranges
        </label>
      )}
      <button type="button" class="plain" aria-label={`Remove the breakdown by ${part.property}`} onClick={onRemove}>
        ✕
      </button>
    </div>
  )
}
