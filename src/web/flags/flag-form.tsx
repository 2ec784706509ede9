import { useState } from 'preact/hooks'
import type { FeatureFlagAnswer } from '../../doors/answers/feature-flags.ts'
import { Filters } from '../insights/filters.tsx'
import { patch, post } from '../lib/api.ts'
import { FieldError } from '../lib/error-fields.ts'
import { useProject } from '../lib/session.ts'
import { At } from '../ui/field-errors.tsx'
import { CheckField, Form, isChecked, TextField, textOf } from '../ui/forms.tsx'
import { NumberField } from '../ui/number-field.tsx'
import { Select } from '../ui/parts.tsx'
import { type Condition, type Draft, draftOf, emptyDraft, evenShares, everybody, filtersOf, type Variant } from './flag.ts'
import './flags.css'

/** Of a new flag, or of one that exists. What the fields cannot say is edited as JSON. */
export function FlagForm({ flag, onSaved }: { flag: FeatureFlagAnswer | null; onSaved: (flag: FeatureFlagAnswer) => void }) {
  const { api } = useProject()
  const known = flag === null ? emptyDraft : draftOf(flag)
  const [draft, setDraft] = useState(known ?? emptyDraft)
  const [text, setText] = useState(known ? null : JSON.stringify(flag?.filters ?? {}, null, 2))
  const filtersNow = (): unknown => {
    if (text === null) return filtersOf(draft)
    try {
      return JSON.parse(text)
    } catch (cause) {
      throw new FieldError('filters', `This is not valid JSON: ${(cause as Error).message}`)
    }
  }
  const save = async (form: HTMLFormElement) => {
    const body = { key: textOf(form, 'key'), name: textOf(form, 'name'), active: isChecked(form, 'active'), filters: filtersNow() }
    onSaved(
      flag === null
        ? await post<FeatureFlagAnswer>(api('feature_flags/'), body)
        : await patch<FeatureFlagAnswer>(api(`feature_flags/${flag.id}/`), body),
    )
  }
  return (
    <Form submit={flag === null ? 'Create the flag' : 'Save'} send={save} done="Saved. Clients get it when they ask next.">
      <TextField
        name="key"
        label="Key"
        value={flag?.key}
        required
        maxLength={400}
        hint="The name by which programs ask for it: letters, digits, - and _."
      />
      <TextField name="name" label="Description" value={flag?.name} />
      <CheckField name="active" label="Active" value={flag?.active ?? true} hint="An inactive flag is as if it did not exist." />
      {text === null ? (
        <At of="filters">
          <DraftFields draft={draft} onChange={setDraft} />
          <div>
            <button
              type="button"
              class="plain link"
              onClick={() =>
                setText(
                  JSON.stringify(
                    filtersOf({ ...draft, conditions: draft.conditions.map((one) => ({ ...one, isIncomplete: false })) }),
                    null,
                    2,
                  ),
                )
              }
            >
              Edit as JSON
            </button>
          </div>
        </At>
      ) : (
        <TextField
          name="filters"
          label="Conditions, variants and payloads"
          hint="Every field is in docs/flags.md."
          rows={14}
          value={text}
          onInput={setText}
        />
      )}
    </Form>
  )
}

const without = <T,>(list: readonly T[], index: number): T[] => list.filter((_, i) => i !== index)
const replaced = <T,>(list: readonly T[], index: number, change: Partial<T>): T[] =>
  list.map((one, i) => (i === index ? { ...one, ...change } : one))

function DraftFields({ draft, onChange }: { draft: Draft; onChange: (draft: Draft) => void }) {
  const { conditions, variants, payload } = draft
  const set = (change: Partial<Draft>) => onChange({ ...draft, ...change })
  const setVariants = (next: readonly Variant[]) => set({ variants: next })
  const addVariant = () => {
    const keys = variants.length === 0 ? ['control', 'test'] : [...variants.map(({ key }) => key), `variant-${variants.length + 1}`]
    const shares = evenShares(keys.length)
    setVariants(keys.map((key, i) => ({ payload: '', ...variants[i], key, share: shares[i]! })))
  }
  return (
    <div class="flag-parts">
      <h3>Who gets it</h3>
      <p class="note">
        The first condition that somebody meets decides. The share is the same people each time; raising it takes the flag from nobody.
      </p>
      {conditions.map((one, i) => (
        <ConditionFields
          key={i}
          condition={one}
          number={i + 1}
          variants={variants}
          path={`filters.groups.${i}.properties`}
          onChange={(change) => set({ conditions: replaced(conditions, i, change) })}
          onRemove={() => set({ conditions: without(conditions, i) })}
        />
      ))}
      {conditions.length === 0 && <p class="note">Nobody gets it.</p>}
      <button type="button" class="plain add" onClick={() => set({ conditions: [...conditions, everybody] })}>
        + Add a condition
      </button>
      <h3>What they get</h3>
      {variants.length === 0 ? (
        <label class="field">
          <span>Payload, as JSON</span>
          <input value={payload} placeholder='{"limit": 5}' onInput={(event) => set({ payload: event.currentTarget.value })} />
        </label>
      ) : (
        variants.map((one, i) => (
          <div class="flag-row" key={i}>
            <input
              aria-label={`Key of variant ${i + 1}`}
              value={one.key}
              onInput={(event) => setVariants(replaced(variants, i, { key: event.currentTarget.value }))}
            />
            <NumberField
              label={`Share of variant ${i + 1}`}
              value={one.share}
              from={0}
              most={100}
              onChange={(share) => setVariants(replaced(variants, i, { share }))}
            />{' '}
            %
            <input
              class="payload"
              aria-label={`Payload of variant ${i + 1}, as JSON`}
              placeholder="Payload, as JSON"
              value={one.payload}
              onInput={(event) => setVariants(replaced(variants, i, { payload: event.currentTarget.value }))}
            />
            <button type="button" class="plain" aria-label={`Remove variant ${i + 1}`} onClick={() => setVariants(without(variants, i))}>
              ✕
            </button>
          </div>
        ))
      )}
      <button type="button" class="plain add" onClick={addVariant}>
        {variants.length === 0 ? '+ Variants instead of on and off' : '+ Add a variant'}
      </button>
    </div>
  )
}

function ConditionFields({
  condition,
  number,
  variants,
  path,
  onChange,
  onRemove,
}: {
  condition: Condition
  number: number
  variants: readonly Variant[]
  path: string
  onChange: (change: Partial<Condition>) => void
  onRemove: () => void
}) {
  const { properties, share, variant } = condition
  return (
    <fieldset class="section">
      <legend>Condition {number}</legend>
      <div class="flag-row">
        <NumberField
          label={`Share of condition ${number}`}
          value={share}
          from={0}
          most={100}
          onChange={(next) => onChange({ share: next })}
        />{' '}
        % of {properties.length === 0 ? 'everybody' : 'the people who match'}
        {variants.length > 0 && (
          <Select
            label={`Variant of condition ${number}`}
            value={variant}
            options={[{ value: '', label: 'a variant by share' }, ...variants.map(({ key }) => ({ value: key, label: key }))]}
            onChange={(next) => onChange({ variant: next })}
          />
        )}
        <button type="button" class="plain" aria-label={`Remove condition ${number}`} onClick={onRemove}>
          ✕
        </button>
      </div>
      <Filters
        filters={properties}
        whose="person"
        hasCohorts
        label="Add a property or a cohort"
        paths={[path]}
        onChange={(next) => onChange({ properties: next })}
        onIncomplete={(isIncomplete) => onChange({ isIncomplete })}
      />
    </fieldset>
  )
}
