import { useState } from 'preact/hooks'
import { FieldError } from '../lib/error-fields.ts'
import { ForMembers } from '../ui/for-members.tsx'
import { ChoiceField, DialogButton, Form, RemoveButton, TextField, textOf } from '../ui/forms.tsx'
import { type Properties, shownValue, sorted } from './types.ts'

type Kind = 'text' | 'number' | 'boolean' | 'json'
const kinds = [
  { value: 'text', label: 'Text' },
  { value: 'number', label: 'Number' },
  { value: 'boolean', label: 'True or false' },
  { value: 'json', label: 'JSON' },
]
const truths = ['true', 'false'].map((value) => ({ value, label: value }))
const kindOf = (value: unknown): Kind =>
  value === undefined || typeof value === 'string'
    ? 'text'
    : typeof value === 'number'
      ? 'number'
      : typeof value === 'boolean'
        ? 'boolean'
        : 'json'

function readValue(kind: Kind, text: string): unknown {
  if (kind === 'text') return text
  if (kind === 'boolean') return text === 'true'
  if (kind === 'number') {
    const number = Number(text)
    if (text.trim() === '' || !Number.isFinite(number)) throw new FieldError('value', 'Expected a number, such as 12 or 3.5.')
    return number
  }
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new FieldError('value', `Expected JSON: ${(cause as Error).message}`)
  }
}

/** The properties of a person or a group, which can be changed one by one. */
export function PropertyEditor({
  properties,
  set,
  unset,
}: {
  properties: Properties
  set: (key: string, value: unknown) => Promise<unknown>
  unset: (key: string) => Promise<unknown>
}) {
  const entries = sorted(properties)
  const form = (name: string | null) => (close: () => void) => (
    <PropertyForm name={name} value={name === null ? undefined : properties[name]} set={set} onSaved={close} />
  )
  return (
    <section aria-label="Properties">
      <div class="head-row">
        <h2>Properties</h2>
        <ForMembers>
          <DialogButton label="+ Add a property" title="Add a property" look="plain">
            {form(null)}
          </DialogButton>
        </ForMembers>
      </div>
      {entries.length === 0 && <p class="note">None yet.</p>}
      <table class="editable">
        <tbody>
          {entries.map(([key, value]) => (
            <tr key={key}>
              <th scope="row">{key}</th>
              <td>{shownValue(value)}</td>
              <td class="tools">
                <ForMembers>
                  <DialogButton label="Edit" of={key} icon="pen" title="Edit the property">
                    {form(key)}
                  </DialogButton>
                  <RemoveButton
                    label="Remove"
                    of={key}
                    icon="cross"
                    text={`${key} is removed. Events keep the value that they were sent with.`}
                    remove={() => unset(key)}
                    undo={() => set(key, value)}
                  />
                </ForMembers>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

function PropertyForm({
  name,
  value,
  set,
  onSaved,
}: {
  name: string | null
  value: unknown
  set: (key: string, value: unknown) => Promise<unknown>
  onSaved: () => void
}) {
  const [kind, setKind] = useState<Kind>(kindOf(value))
  const text = value === undefined ? '' : shownValue(value)
  const send = (form: HTMLFormElement) => {
    const typed = kind === 'text' ? String(new FormData(form).get('value')) : textOf(form, 'value')
    return set(name ?? textOf(form, 'key'), readValue(kind, typed)).then(onSaved)
  }
  return (
    <Form submit="Save" send={async (form) => send(form)}>
      {name === null ? (
        <TextField name="key" label="Name" required autofocus />
      ) : (
        <p class="wrap">
          <strong>{name}</strong>
        </p>
      )}
      <ChoiceField name="kind" label="Kind of value" value={kind} options={kinds} onChange={(next) => setKind(next as Kind)} />
      {kind === 'boolean' ? (
        <ChoiceField name="value" label="Value" value={text === 'true' ? 'true' : 'false'} options={truths} key={kind} />
      ) : (
        <TextField
          name="value"
          label="Value"
          value={text}
          autofocus={name !== null}
          {...(kind === 'json' && { rows: 6 })}
          key={kind === 'json'}
        />
      )}
    </Form>
  )
}
