import { type ComponentChildren, createContext } from 'preact'
import { useContext, useId, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { fieldOf, textAtField } from '../lib/error-fields.ts'

// An error is shown at the field that caused it; a banner is for errors that no field of the form fits. Fields tell their paths to the form around them.

interface Fields {
  /** The field that the error is about, and what is said there. */
  readonly at: string | null
  readonly text: string | null
  readonly takesFocus: () => boolean
  add(id: string, paths: readonly string[]): () => void
}
const Context = createContext<Fields | null>(null)

const typing = 'input, textarea, select'

/** `error`: the last one. `isTyped`: it may arrive while somebody types elsewhere, who keeps the focus. The children are given the error if no field fits. */
export function FieldErrors({
  error,
  isTyped = false,
  children,
}: {
  error: Error | null
  isTyped?: boolean
  children: (unplaced: Error | null) => ComponentChildren
}) {
  const fields = useRef(new Map<string, readonly string[]>())
  const [, drawAgain] = useState(0)
  const at = fieldOf(error, fields.current)
  useLayoutEffect(() => {
    // Fields that came with this very drawing have told their paths by now.
    if (fieldOf(error, fields.current) !== at) drawAgain((count) => count + 1)
  })
  const text = at !== null && error !== null ? textAtField(error, fields.current.get(at) ?? []) : null
  const value = useMemo<Fields>(
    () => ({
      at,
      text,
      takesFocus: () => !isTyped || !document.activeElement?.matches(typing),
      add(id, paths) {
        fields.current.set(id, paths)
        return () => {
          if (fields.current.get(id) === paths) fields.current.delete(id)
        }
      },
    }),
    [at, text, isTyped],
  )
  return <Context.Provider value={value}>{children(at === null ? error : null)}</Context.Provider>
}

/** The text of the error that is about a field with one of these paths; null: none is. */
export function useFieldError(paths: string | readonly string[]): string | null {
  const id = useId()
  const all = useContext(Context)
  const given = [paths].flat()
  const key = given.join(' ')
  useLayoutEffect(() => all?.add(id, given), [key, all === null])
  return all !== null && all.at === id ? all.text : null
}

/** Marks an input as the one that an error is about, and moves the focus there when the error is new. */
export function useMarked(input: () => HTMLElement | null, text: string | null, describedBy: string): void {
  const all = useContext(Context)
  useLayoutEffect(() => {
    const element = text === null ? null : input()
    if (!element) return
    const before = element.getAttribute('aria-describedby')
    element.setAttribute('aria-invalid', 'true')
    element.setAttribute('aria-describedby', [before, describedBy].filter(Boolean).join(' '))
    if (all?.takesFocus() ?? true) element.focus()
    return () => {
      element.removeAttribute('aria-invalid')
      if (before === null) element.removeAttribute('aria-describedby')
      else element.setAttribute('aria-describedby', before)
    }
  }, [text, describedBy])
}

const inputs = 'input:not([type=hidden]), select, textarea, button'

/** The first input from a node on, among what follows it up to the element with an id. */
function firstInput(from: Node | null, end: string): HTMLElement | null {
  for (let node = from; node instanceof HTMLElement && node.id !== end; node = node.nextElementSibling) {
    const found = node.matches(inputs) ? node : node.querySelector<HTMLElement>(inputs)
    if (found) return found
  }
  return null
}

/**
 * Around inputs without a frame of their own: an error of these paths is shown after them, and marks the first one. Without an error it adds no element, so that
 * layouts stay as they are.
 */
export function At({ of, children }: { of: string | readonly string[]; children: ComponentChildren }) {
  const text = useFieldError(of)
  const start = useRef<HTMLSpanElement>(null)
  const id = useId()
  useMarked(() => firstInput(start.current, id), text, id)
  return (
    <>
      {text !== null && <span hidden ref={start} />}
      {children}
      {text !== null && (
        <p class="field-error at-inputs" role="alert" id={id}>
          {text}
        </p>
      )}
    </>
  )
}
