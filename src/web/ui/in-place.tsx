import { useRef, useState } from 'preact/hooks'
import { useAction } from './forms.tsx'
import { focusOnce } from './tags.tsx'
import './in-place.css'

interface Props {
  /** What it is: `Name`. */
  readonly label: string
  readonly value: string
  /** What is shown while there is none. */
  readonly empty: string
  readonly most: number
  /** Several lines: Ctrl+Enter saves. */
  readonly hasLines?: boolean
  onSave(value: string): Promise<unknown>
}

/** A text that is a field once it is clicked. Enter saves, and so does leaving the field; Escape takes back what was typed. */
export function InPlace({ label, value, empty, most, hasLines = false, onSave }: Props) {
  const [draft, setDraft] = useState<string | null>(null)
  const opener = useRef<HTMLButtonElement>(null)
  const { act, isBusy, failure } = useAction()
  // A field that is taken away while it has the focus is left, too.
  const isOpen = useRef(false)
  const close = (isByKey: boolean) => {
    isOpen.current = false
    setDraft(null)
    if (isByKey) requestAnimationFrame(() => opener.current?.focus())
  }
  const save = (isByKey: boolean) => {
    const text = draft?.trim() ?? ''
    if (draft === null || isBusy || !isOpen.current) return
    if (text === value.trim()) return close(isByKey)
    act(() => onSave(text).then(() => close(isByKey)))
  }
  if (draft === null)
    return (
      <button
        ref={opener}
        type="button"
        class={`plain in-place${value === '' ? ' unset' : ''}`}
        title={`Change: ${label}`}
        onClick={() => {
          isOpen.current = true
          setDraft(value)
        }}
      >
        {value === '' ? empty : value}
      </button>
    )
  const field = {
    class: 'in-place',
    'aria-label': label,
    value: draft,
    maxLength: most,
    readOnly: isBusy,
    ref: focusOnce,
    onInput: (event: { readonly currentTarget: { readonly value: string } }) => setDraft(event.currentTarget.value),
    onBlur: () => save(false),
    onKeyDown: (event: KeyboardEvent) => {
      if (event.key === 'Escape') {
        event.stopPropagation()
        close(true)
      } else if (event.key === 'Enter' && (!hasLines || event.ctrlKey || event.metaKey)) {
        event.preventDefault()
        save(true)
      }
    },
  }
  return (
    <span class="in-place-field">
      {hasLines ? <textarea rows={Math.min(8, draft.split('\n').length + 1)} {...field} /> : <input {...field} />}
      {failure}
    </span>
  )
}
