import { useGroupTypes, type Whose } from '../lib/names.ts'
import { type Option, Select } from '../ui/parts.tsx'

// Whose property a filter or a breakdown takes. A type and the index of a group type are one choice.

export interface Typed {
  readonly type: string
  readonly group_type_index?: number | null
}

export const whoseOf = ({ type, group_type_index: index }: Typed): string => (type === 'group' ? `group:${index ?? 0}` : type)
function typeOf(whose: string): Typed {
  const [type = 'event', index] = whose.split(':')
  return index === undefined ? { type } : { type, group_type_index: Number(index) }
}
/** Of which there are names to suggest. */
export const namedWhose = (whose: string): Whose => (/^(person|session|group:\d)$/.test(whose) ? (whose as Whose) : 'event')

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

export function WhoseSelect({
  value,
  more,
  onChange,
}: {
  value: Typed
  /** What else can be chosen. */
  more: readonly Option[]
  onChange: (typed: Typed) => void
}) {
  const groups = useGroupTypes()
  const options = [
    { value: 'event', label: 'Event' },
    { value: 'person', label: 'Person' },
    { value: 'session', label: 'Session' },
    ...groups.map(({ group_type, group_type_index, name_singular }) => ({
      value: `group:${group_type_index}`,
      label: name_singular || capital(group_type),
    })),
    ...more,
  ]
  return <Select label="Whose property" value={whoseOf(value)} options={options} onChange={(whose) => onChange(typeOf(whose))} />
}
