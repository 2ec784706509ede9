import { useState } from 'preact/hooks'
import { useActions, useEventNames } from '../lib/names.ts'
import { Suggesting } from '../ui/parts.tsx'

/** Null: all events. */
export type EventChoice = { readonly event: string } | { readonly action: number; readonly name: string } | null

const prefix = 'Action: '
const all = 'All events'
const actionText = (id: number, name: string | null): string => `${prefix}${name || id}`

/** An event or an action, by its name. */
export function EventField({ label, value, onChange }: { label: string; value: EventChoice; onChange: (choice: EventChoice) => void }) {
  const [typed, setTyped] = useState('')
  const names = useEventNames(typed)
  const actions = useActions()
  const text = value === null ? '' : 'event' in value ? value.event : actionText(value.action, value.name)
  const choose = (typed: string) => {
    const name = typed.trim()
    const action = actions.find((one) => actionText(one.id, one.name) === name)
    onChange(name === '' || name === all ? null : action ? { action: action.id, name: action.name ?? '' } : { event: name })
  }
  return (
    <Suggesting
      label={label}
      placeholder={all}
      value={text}
      suggestions={[...actions.map(({ id, name }) => actionText(id, name)), ...names]}
      onChange={choose}
      onTyping={setTyped}
    />
  )
}
