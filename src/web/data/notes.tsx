import type { ComponentChildren } from 'preact'
import type { NotesAnswer } from '../../doors/answers/definition-fields.ts'
import { CheckField, Form, isChecked, linesOf, TextField, textOf } from '../ui/forms.tsx'

// What somebody wrote about an event or a property.

export type Notes = Pick<NotesAnswer, 'description' | 'tags' | 'verified' | 'hidden'>

export const Marks = ({ of }: { of: Notes }) => (
  <>
    {of.verified && <span class="state good">verified</span>} {of.hidden && <span class="state">hidden</span>}
    {of.tags.map((tag) => (
      <span class="state" key={tag}>
        {tag}
      </span>
    ))}
  </>
)

export function NotesForm({
  of,
  save,
  children,
}: {
  of: Notes
  save: (notes: Notes, form: HTMLFormElement) => Promise<unknown>
  children?: ComponentChildren
}) {
  const send = (form: HTMLFormElement) =>
    save(
      {
        description: textOf(form, 'description'),
        tags: linesOf(form, 'tags', ','),
        verified: isChecked(form, 'verified'),
        hidden: isChecked(form, 'hidden'),
      },
      form,
    )
  return (
    <Form submit="Save" send={send}>
      {children}
      <TextField name="description" label="Description" value={of.description} maxLength={4000} autofocus />
      <TextField name="tags" label="Tags" value={of.tags.join(', ')} hint="With commas between them." />
      <div class="row">
        <CheckField name="verified" label="Verified" value={of.verified} />
        <CheckField name="hidden" label="Hidden from suggestions" value={of.hidden} />
      </div>
    </Form>
  )
}
