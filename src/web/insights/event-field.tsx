import { useState } from 'preact/hooks'
import { type EventChoice, eventText, useEventChoices } from '../lib/named-choices.ts'
import { useProject } from '../lib/session.ts'
import { Picker } from '../ui/picker.tsx'

const nameOf = (choice: EventChoice): string =>
  choice === null ? '' : 'event' in choice ? choice.event : `Action: ${choice.name || choice.action}`

/** An event or an action. */
export function EventField({
  label,
  value,
  all = 'All events',
  placeholder = all,
  hasActions = true,
  isMany = false,
  onChange,
}: {
  label: string
  value: EventChoice
  /** What stands for no choice; empty: there is none. */
  all?: string
  placeholder?: string
  hasActions?: boolean
  isMany?: boolean
  onChange: (choice: EventChoice) => void
}) {
  const { id } = useProject()
  const [typed, setTyped] = useState('')
  const { choices, isReading } = useEventChoices(typed, { ...(all !== '' && { all }), hasActions })
  return (
    <Picker
      label={label}
      placeholder={placeholder}
      text={eventText(value)}
      name={nameOf(value)}
      choices={choices}
      isReading={isReading}
      recent={`${id}.events`}
      isMany={isMany}
      typed={{ take: (event) => onChange({ event }), place: 'last' }}
      onTyping={setTyped}
      onChoose={onChange}
    />
  )
}

/** The name of an event; empty: none. */
export function EventNameField({
  value,
  onChange,
  ...field
}: {
  label: string
  value: string
  all?: string
  placeholder?: string
  isMany?: boolean
  onChange: (name: string) => void
}) {
  return (
    <EventField
      {...field}
      value={value === '' ? null : { event: value }}
      hasActions={false}
      onChange={(choice) => onChange(choice !== null && 'event' in choice ? choice.event : '')}
    />
  )
}
