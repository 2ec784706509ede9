import { useState } from 'preact/hooks'
import { readableProperty } from '../../service/pictures/readable.ts'
import { type PropertyChoice, type PropertyChoicesAsked, usePropertyChoices } from '../lib/named-choices.ts'
import { useCohorts, useGroupTypes } from '../lib/names.ts'
import { useProject } from '../lib/session.ts'
import { Picker } from '../ui/picker.tsx'
import type { Typed } from './whose.ts'

// A property of anything, a cohort, or an expression, from one list.

const isOf = (type: string): type is 'event' | 'person' | 'session' => type === 'event' || type === 'person' || type === 'session'

/** Null: nothing is chosen yet. */
export function propertyChoice({ type, group_type_index: index }: Typed, key: string | number | null | undefined): PropertyChoice | null {
  if (type === 'hogql') return { type }
  if (key == null || key === '') return null
  if (type === 'cohort') return { type, id: key === 'all' ? key : Number(key) }
  if (type === 'group') return { type, group_type_index: index ?? 0, key: String(key) }
  return { type: isOf(type) ? type : 'event', key: String(key) }
}

/** What a choice is of: the fields of a filter or a breakdown that name it. */
export function typedOf(choice: PropertyChoice): Typed {
  return choice.type === 'group' ? { type: choice.type, group_type_index: choice.group_type_index } : { type: choice.type }
}

/** `Plan of the person`; of events the property alone. */
function usePropertyText(): (choice: PropertyChoice | null, isPlain: boolean) => string {
  const types = useGroupTypes()
  const cohorts = useCohorts()
  return (choice, isPlain) => {
    if (choice === null) return ''
    if (choice.type === 'hogql') return 'SQL expression'
    if (choice.type === 'cohort')
      return choice.id === 'all' ? 'Everybody' : cohorts.find(({ id }) => id === choice.id)?.name || `Cohort ${choice.id}`
    const label = readableProperty(choice.key)
    if (isPlain || choice.type === 'event') return label
    const group = choice.type === 'group' ? types.find(({ group_type_index }) => group_type_index === choice.group_type_index) : undefined
    return `${label} of the ${group ? group.name_singular || group.group_type : choice.type}`
  }
}

export function PropertyField({
  label,
  value,
  placeholder = 'Property',
  isMany = false,
  onChoose,
  ...asked
}: PropertyChoicesAsked & {
  label: string
  value: PropertyChoice | null
  placeholder?: string
  isMany?: boolean
  onChoose: (choice: PropertyChoice) => void
}) {
  const { id } = useProject()
  const [typed, setTyped] = useState('')
  const { choices, isReading } = usePropertyChoices(typed, asked)
  const textOf = usePropertyText()
  const isPlain = asked.whose?.length === 1
  // A name that has not been seen yet is one of the kind that was chosen before.
  const typedAs =
    value !== null && value.type !== 'cohort' && value.type !== 'hogql' ? value : { type: asked.whose?.[0] ?? ('event' as const) }
  return (
    <Picker
      label={label}
      placeholder={placeholder}
      text={textOf(value, isPlain)}
      {...(value !== null && 'key' in value && { name: value.key })}
      choices={choices}
      isReading={isReading}
      recent={`${id}.properties.${asked.whose?.join('.') ?? 'all'}`}
      isMany={isMany}
      typed={{ take: (key) => onChoose({ ...typedAs, key } as PropertyChoice), place: 'last' }}
      onTyping={setTyped}
      onChoose={onChoose}
    />
  )
}
