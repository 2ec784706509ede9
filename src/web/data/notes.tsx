import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { useAction } from '../lib/use-action.ts'
import { ErrorBox, Field } from '../ui/parts.tsx'

// What somebody wrote about an event or a property.

export interface Notes {
  readonly description: string
  readonly tags: readonly string[]
  readonly verified: boolean
  readonly hidden: boolean
}

export const Marks = ({ of }: { of: Notes }) => (
  <>
    {of.verified && <span class="badge good">verified</span>} {of.hidden && <span class="badge">hidden</span>}
    {of.tags.map((tag) => (
      <span class="badge" key={tag}>
        {tag}
      </span>
    ))}
  </>
)

export function NotesForm({ of, save, children }: { of: Notes; save: (notes: Notes) => Promise<unknown>; children?: ComponentChildren }) {
  const [description, setDescription] = useState(of.description)
  const [tags, setTags] = useState(of.tags.join(', '))
  const [verified, setVerified] = useState(of.verified)
  const [hidden, setHidden] = useState(of.hidden)
  const { error, isBusy, run } = useAction()
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    const list = tags
      .split(',')
      .map((one) => one.trim())
      .filter((one) => one !== '')
    void run(() => save({ description, tags: list, verified, hidden }))
  }
  return (
    <form class="form" onSubmit={submit}>
      {children}
      <Field label="Description">
        {(id) => (
          <input id={id} autofocus maxLength={4000} value={description} onInput={(event) => setDescription(event.currentTarget.value)} />
        )}
      </Field>
      <Field label="Tags" hint="With commas between them.">
        {(id) => <input id={id} value={tags} onInput={(event) => setTags(event.currentTarget.value)} />}
      </Field>
      <div class="actions">
        <label>
          <input type="checkbox" checked={verified} onChange={(event) => setVerified(event.currentTarget.checked)} /> Verified
        </label>
        <label>
          <input type="checkbox" checked={hidden} onChange={(event) => setHidden(event.currentTarget.checked)} /> Hidden from suggestions
        </label>
        <button type="submit" class="primary" disabled={isBusy}>
          Save
        </button>
      </div>
      {error && <ErrorBox error={error} />}
    </form>
  )
}
