import type { CohortAnswer } from '../../doors/answers/cohorts.ts'
import { PropertyField } from '../insights/property-field.tsx'
import { counted } from '../lib/format.ts'
import { Select } from '../ui/parts.tsx'

// How a list becomes people: by their distinct ids, or by a property such as the address of mail.

export function FoundBy({ property, onChange }: { property: string | null; onChange: (property: string | null) => void }) {
  return (
    <div class="field">
      <span>People are found by</span>
      <span class="inline">
        <Select
          label="People are found by"
          value={property === null ? 'ids' : 'property'}
          options={[
            { value: 'ids', label: 'their distinct ids' },
            { value: 'property', label: 'a property' },
          ]}
          onChange={(value) => onChange(value === 'ids' ? null : 'email')}
        />
        {property !== null && (
          <PropertyField
            label="Property of people"
            whose={['person']}
            value={property === '' ? null : { type: 'person', key: property }}
            onChoose={(choice) => 'key' in choice && choice.type === 'person' && onChange(choice.key)}
          />
        )}
      </span>
    </div>
  )
}

/** Which values are nobody's. */
export function Matched({ cohort: { name, count, matching }, onClose }: { cohort: CohortAnswer; onClose: () => void }) {
  const { values, unmatched, unmatched_values: shown, several } = matching!
  return (
    <section class="panel" aria-label="What was found">
      <p role="status">
        {name} has {counted(count, 'person', 'people')}, of {counted(values, 'value', 'values')}.
      </p>
      {several > 0 && <p class="note">{counted(several, 'value matched', 'values matched')} several people, who are all in it.</p>}
      {unmatched > 0 && (
        <>
          <p class="warning">
            {counted(unmatched, 'value', 'values')} matched nobody{unmatched > shown.length ? `; the first ${shown.length}` : ''}:
          </p>
          <ul class="lines ids" aria-label="Values that matched nobody">
            {shown.map((value) => (
              <li class="wrap" key={value}>
                {value}
              </li>
            ))}
          </ul>
        </>
      )}
      <p class="actions">
        <button type="button" class="primary" onClick={onClose}>
          Open the cohort
        </button>
      </p>
    </section>
  )
}
