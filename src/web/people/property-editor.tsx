import { useState } from 'preact/hooks'
import { useAction } from '../lib/use-action.ts'
import { Confirm } from '../ui/lists.tsx'
import { Dialog, ErrorBox, Field } from '../ui/parts.tsx'
import { type Properties, shownValue } from './types.ts'

type Kind = 'text' | 'number' | 'boolean' | 'json'
const kinds: readonly (readonly [Kind, string])[] = [
  ['text', 'Text'],
  ['number', 'Number'],
  ['boolean', 'True or false'],
  ['json', 'JSON'],
]
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
    if (text.trim() === '' || !Number.isFinite(number)) throw new Error('Expected a number, such as 12 or 3.5.')
    return number
  }
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new Error(`Expected JSON: ${(cause as Error).message}`)
  }
}

/** Those of the product first, then those that client libraries set. */
const sorted = (properties: Properties) =>
  Object.entries(properties).sort(([a], [b]) => (a.startsWith('$') === b.startsWith('$') ? a.localeCompare(b) : a.startsWith('$') ? 1 : -1))

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
  const [edited, setEdited] = useState<{ key: string | null } | null>(null)
  const [removed, setRemoved] = useState<string | null>(null)
  const entries = sorted(properties)
  return (
    <section aria-label="Properties">
      <div class="head-row">
        <h2>Properties</h2>
        <button type="button" class="plain add" onClick={() => setEdited({ key: null })}>
          + Add a property
        </button>
      </div>
      {entries.length === 0 && <p class="note">None yet.</p>}
      <table class="editable">
        <tbody>
          {entries.map(([key, value]) => (
            <tr key={key}>
              <th scope="row">{key}</th>
              <td>{shownValue(value)}</td>
              <td class="tools">
                <button type="button" class="plain" aria-label={`Edit ${key}`} onClick={() => setEdited({ key })}>
                  ✎
                </button>
                <button type="button" class="plain" aria-label={`Remove ${key}`} onClick={() => setRemoved(key)}>
                  ✕
                </button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {edited && (
        <PropertyDialog
          name={edited.key}
          value={edited.key === null ? undefined : properties[edited.key]}
          set={set}
          onClose={() => setEdited(null)}
        />
      )}
      {removed !== null && (
        <Confirm title="Remove the property" action="Remove" onConfirm={() => unset(removed)} onClose={() => setRemoved(null)}>
          <p class="wrap">
            <strong>{removed}</strong> is removed. Events keep the value that they were sent with.
          </p>
        </Confirm>
      )}
    </section>
  )
}

function PropertyDialog({
  name,
  value,
  set,
  onClose,
}: {
  name: string | null
  value: unknown
  set: (key: string, value: unknown) => Promise<unknown>
  onClose: () => void
}) {
  const [key, setKey] = useState(name ?? '')
  const [kind, setKind] = useState<Kind>(kindOf(value))
  const [text, setText] = useState(value === undefined ? '' : shownValue(value))
  const { error, isBusy, run } = useAction()
  const save = async (event: SubmitEvent) => {
    event.preventDefault()
    if (await run(async () => set(key.trim(), readValue(kind, kind === 'boolean' && text !== 'true' ? 'false' : text)))) onClose()
  }
  return (
    <Dialog title={name === null ? 'Add a property' : 'Edit the property'} onClose={onClose}>
      <form onSubmit={(event) => void save(event)}>
        {name === null ? (
          <Field label="Name">
            {(id) => <input id={id} required autofocus value={key} onInput={(event) => setKey(event.currentTarget.value)} />}
          </Field>
        ) : (
          <p class="wrap">
            <strong>{name}</strong>
          </p>
        )}
        <Field label="Kind of value">
          {(id) => (
            <select id={id} value={kind} onChange={(event) => setKind(event.currentTarget.value as Kind)}>
              {kinds.map(([one, label]) => (
                <option key={one} value={one}>
                  {label}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Field label="Value">
          {(id) =>
            kind === 'boolean' ? (
              <select id={id} value={text === 'true' ? 'true' : 'false'} onChange={(event) => setText(event.currentTarget.value)}>
                <option value="true">true</option>
                <option value="false">false</option>
              </select>
            ) : kind === 'json' ? (
              <textarea id={id} rows={6} value={text} onInput={(event) => setText(event.currentTarget.value)} />
            ) : (
              <input
                id={id}
                value={text}
                {...(kind === 'number' && { inputMode: 'decimal' })}
                autofocus={name !== null}
                onInput={(event) => setText(event.currentTarget.value)}
              />
            )
          }
        </Field>
        {error && <ErrorBox error={error} />}
        <button type="submit" class="primary" disabled={isBusy}>
          Save
        </button>
      </form>
    </Dialog>
  )
}
