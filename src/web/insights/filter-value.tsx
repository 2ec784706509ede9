import { useEffect, useMemo, useState } from 'preact/hooks'
import type { PropertyValueAnswer } from '../../doors/answers/property-definitions.ts'
import { get } from '../lib/api.ts'
import type { Choice } from '../lib/matching.ts'
import { useProject } from '../lib/session.ts'
import type { ValueKind } from '../lib/value-kind.ts'
import { DayField } from '../ui/day-field.tsx'
import { DraftField, Select } from '../ui/parts.tsx'
import { Picker } from '../ui/picker.tsx'
import { takesMany, takesNumber, takesTime, takesTwo } from './choices.ts'
import type { Filter } from './query.ts'

/** The values that a property has most often. */
function useValues({ key, type, group_type_index: index }: Filter, typed: string): readonly PropertyValueAnswer[] {
  const { api } = useProject()
  const [values, setValues] = useState<readonly PropertyValueAnswer[]>([])
  useEffect(() => {
    if (key === '' || type === 'session') return
    const control = new AbortController()
    const parameters = new URLSearchParams({
      key,
      ...(typed !== '' && { value: typed }),
      ...(index != null && { group_type_index: String(index) }),
    })
    const path = type === 'person' ? 'persons/values/' : type === 'group' ? 'groups/property_values/' : 'events/values/'
    const timer = setTimeout(() => {
      get<readonly PropertyValueAnswer[] | { results: readonly PropertyValueAnswer[] }>(api(`${path}?${parameters}`), control.signal).then(
        (answer) => setValues('results' in answer ? answer.results : answer),
        () => setValues([]),
      )
    }, 150)
    return () => {
      clearTimeout(timer)
      control.abort()
    }
  }, [key, type, index, typed])
  return values
}

const textOf = (value: unknown): string => (value == null ? '' : String(value))
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : value == null || value === '' ? [] : [value])

/** What a typed text is, where the values are numbers or truths. */
function readAs(text: string, kind: ValueKind | null): string | number | boolean {
  if (kind === 'number' && text.trim() !== '' && Number.isFinite(Number(text))) return Number(text)
  return kind === 'boolean' && (text === 'true' || text === 'false') ? text === 'true' : text
}

/** The value of a filter, as its operator and the kind of the property want it. */
export function FilterValue({ filter, kind, onChange }: { filter: Filter; kind: ValueKind | null; onChange: (value: unknown) => void }) {
  const { operator, value } = filter
  if (takesTwo(operator)) return <Bounds value={listOf(value)} onChange={onChange} />
  if (takesTime(operator)) return <DayField label="Value" value={textOf(value)} onChange={onChange} />
  if (takesNumber(operator))
    return (
      <DraftField
        label="Value"
        type="number"
        placeholder="Number"
        value={textOf(value)}
        onChange={(text) => onChange(text === '' ? undefined : Number(text))}
      />
    )
  if (kind === 'boolean' && takesMany(operator))
    return (
      <Select
        label="Value"
        value={textOf(listOf(value)[0])}
        options={['', 'true', 'false'].map((one) => ({ value: one, label: one || 'Choose' }))}
        onChange={(text) => onChange(text === '' ? [] : [text])}
      />
    )
  return <Texts filter={filter} kind={kind} onChange={onChange} />
}

function Bounds({ value, onChange }: { value: readonly unknown[]; onChange: (value: unknown) => void }) {
  const set = (at: number, text: string) => onChange([0, 1].map((i) => (i === at ? (text === '' ? '' : Number(text)) : (value[i] ?? ''))))
  return (
    <>
      <DraftField label="From" type="number" placeholder="From" value={textOf(value[0])} onChange={(text) => set(0, text)} />
      <DraftField label="To" type="number" placeholder="To" value={textOf(value[1])} onChange={(text) => set(1, text)} />
    </>
  )
}

const choiceOf = ({ name, count }: PropertyValueAnswer): Choice<string> => ({
  of: String(name),
  name: String(name),
  label: String(name) || '(empty)',
  group: '',
  count,
})

function Texts({ filter, kind, onChange }: { filter: Filter; kind: ValueKind | null; onChange: (value: unknown) => void }) {
  const [typed, setTyped] = useState('')
  const values = useValues(filter, typed)
  const isMany = takesMany(filter.operator)
  const chosen = isMany ? listOf(filter.value) : []
  const texts = chosen.map(String)
  const choices = useMemo(() => values.map(choiceOf).filter(({ name }) => !texts.includes(name)), [values, texts.join('\n')])
  const add = (text: string) => {
    setTyped('')
    const value = readAs(text, kind)
    if (text !== '' && !chosen.includes(value)) onChange([...chosen, value])
  }
  const take = isMany ? add : onChange
  return (
    <>
      {chosen.map((one) => (
        <span class="chip" key={String(one)}>
          {String(one)}
          <button
            type="button"
            class="plain"
            aria-label={`Remove ${String(one)}`}
            onClick={() => onChange(chosen.filter((other) => other !== one))}
          >
            ✕
          </button>
        </span>
      ))}
      <Picker
        label="Value"
        placeholder={chosen.length > 0 ? 'or' : 'Value'}
        text={isMany ? '' : textOf(filter.value)}
        choices={choices}
        isMany={isMany}
        // A part of a text is rarely a whole value.
        typed={{ take, place: isMany ? 'last' : 'first' }}
        onTyping={setTyped}
        onChoose={take}
      />
    </>
  )
}
