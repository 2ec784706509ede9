import type { ComponentChildren } from 'preact'

/** A part of the question, under its name in small capitals. */
export function Section({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <fieldset>
      <legend class="group-name">{title}</legend>
      {children}
    </fieldset>
  )
}
