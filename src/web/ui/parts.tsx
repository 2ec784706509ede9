import type { ComponentChildren, TargetedFocusEvent, TargetedInputEvent } from 'preact'
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { ApiError } from '../lib/api.ts'
import { copyText } from '../lib/copy-text.ts'
import { errorInWords } from '../lib/error-words.ts'
import type { Option } from '../lib/option.ts'
import { hasUnsaved } from '../lib/unsaved.ts'
import { useMarked } from './field-errors.tsx'

/** `text`: instead of that of the error. `isReply`: to what was just asked for, so it comes into view. */
export function ErrorBox({
  error,
  text = errorInWords(error.message),
  isReply = false,
  retry,
}: {
  error: Error
  text?: string
  isReply?: boolean
  retry?: (() => void) | undefined
}) {
  const box = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    if (isReply) box.current?.scrollIntoView({ block: 'nearest' })
  }, [error])
  const code = error instanceof ApiError && error.status >= 500 ? ` (status ${error.status})` : ''
  return (
    <div class="error-box" role="alert" ref={box}>
      <p>
        {text}
        {code}
      </p>
      {retry && (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  )
}

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {children}
    </div>
  )
}

/** In place of a page: what its address names does not exist. */
export function NotHere({ title, children }: { title: string; children: ComponentChildren }) {
  useTitle(title)
  return <Empty title={title}>{children}</Empty>
}

/** From then on, in seconds, it is said what is at work, with a button to end it. */
const shortWait = 2

/** In place of what is being read: its shape, and after a while what is at work. `since`: how long it has been at work. */
export function Working({
  what = 'Loading',
  cancel,
  since = 0,
  look = 'lines',
}: {
  what?: string
  cancel?: (() => void) | undefined
  since?: number
  /** `bar`: beside something that is there already. */
  look?: 'lines' | 'chart' | 'bar'
}) {
  const [isLong, setLong] = useState(since >= shortWait)
  useEffect(() => {
    const timer = setTimeout(() => setLong(true), (shortWait - since) * 1000)
    return () => clearTimeout(timer)
  }, [])
  return (
    <div class={`working ${look}`} role="status" aria-live="polite">
      <progress aria-label={what} class={look === 'bar' ? '' : 'hidden'} />
      {look !== 'bar' && (
        <div class="skeleton" aria-hidden="true">
          <span />
          <span />
          <span />
          <span />
        </div>
      )}
      {isLong && <span class="note">{what}</span>}
      {isLong && cancel && (
        <button type="button" onClick={cancel}>
          Cancel
        </button>
      )}
    </div>
  )
}

export function Field({
  label,
  error,
  hint,
  children,
}: {
  label: string
  error?: string | null
  hint?: string
  children: (id: string) => ComponentChildren
}) {
  const id = useId()
  const described = useId()
  useMarked(() => document.getElementById(id), error ?? null, described)
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children(id)}
      {hint && <span class="note">{hint}</span>}
      {error && (
        <span class="field-error" role="alert" id={described}>
          {error}
        </span>
      )}
    </div>
  )
}

/** Options of a group, in the order of the groups. */
function groupsOf(options: readonly Option[]): readonly (readonly [group: string | undefined, options: readonly Option[]])[] {
  const groups = new Map<string | undefined, Option[]>()
  for (const one of options) groups.set(one.group, [...(groups.get(one.group) ?? []), one])
  return [...groups]
}
const optionsOf = (all: readonly Option[]) =>
  all.map((one) => (
    <option key={one.value} value={one.value}>
      {one.label}
    </option>
  ))

export function Select({
  label,
  value,
  options,
  onChange,
  isHidden = true,
  hasRoom = false,
}: {
  label: string
  value: string
  options: readonly Option[]
  onChange: (value: string) => void
  /** The label is for screen readers only. */
  isHidden?: boolean
  /** As wide as most of its options, so that a choice moves nothing. */
  hasRoom?: boolean
}) {
  const id = useId()
  return (
    <span class={`select${hasRoom ? ' roomy' : ''}`}>
      <label for={id} class={isHidden ? 'hidden' : ''}>
        {label}
      </label>
      <select id={id} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {options.some((one) => one.value === value) ? null : <option value={value}>{value}</option>}
        {groupsOf(options).map(([group, all]) =>
          group === undefined ? (
            optionsOf(all)
          ) : (
            <optgroup key={group} label={group}>
              {optionsOf(all)}
            </optgroup>
          ),
        )}
      </select>
    </span>
  )
}

/**
 * While a field has the focus it shows what it showed then or what was typed, whatever value arrives meanwhile. What was typed is said with Enter, or when
 * the field is left.
 */
function useDraft(value: string, onChange: (value: string) => void) {
  const [draft, setDraft] = useState<{ readonly text: string; readonly isTyped: boolean } | null>(null)
  const say = (text: string) => {
    setDraft(null)
    if (text !== value) onChange(text)
  }
  return {
    value: draft?.text ?? value,
    onFocus: (event: TargetedFocusEvent<HTMLInputElement>) => setDraft({ text: event.currentTarget.value, isTyped: false }),
    onInput: (event: TargetedInputEvent<HTMLInputElement>) => {
      const { value: text } = event.currentTarget
      setDraft({ text, isTyped: true })
    },
    onKeyDown: (event: KeyboardEvent) => {
      if (event.key === 'Enter' && draft?.isTyped) say(draft.text)
    },
    onBlur: () => (draft?.isTyped ? say(draft.text) : setDraft(null)),
  }
}

/** A text field that says its value when it is done: with Enter, or when it is left. */
export function DraftField({
  label,
  value,
  placeholder = '',
  type = 'text',
  onChange,
}: {
  label: string
  value: string
  placeholder?: string
  type?: 'text' | 'number'
  onChange: (value: string) => void
}) {
  const draft = useDraft(value, onChange)
  return type === 'number' ? (
    <input type="number" step="any" aria-label={label} placeholder={placeholder} {...draft} />
  ) : (
    <input aria-label={label} placeholder={placeholder} {...draft} />
  )
}

/** The browser's own dialog: it holds the focus, and Escape closes it. What was typed in a form inside is not lost without a question. */
export function Dialog({
  title,
  onClose,
  isWide = false,
  children,
}: {
  title: string
  onClose: () => void
  /** For tables. */
  isWide?: boolean
  children: ComponentChildren
}) {
  const ref = useRef<HTMLDialogElement>(null)
  const heading = useId()
  const [isAsking, setAsking] = useState(false)
  // Before the next key: what is typed after a dialog was asked for is typed into it.
  useLayoutEffect(() => {
    const dialog = ref.current!
    dialog.showModal()
    return () => dialog.close()
  }, [])
  const ask = (event: Event) => {
    if (!hasUnsaved(ref.current!)) return
    event.preventDefault()
    setAsking(true)
  }
  const close = () => (hasUnsaved(ref.current!) ? setAsking(true) : onClose())
  return (
    <dialog
      ref={ref}
      class={isWide ? 'wide' : ''}
      aria-labelledby={heading}
      // Also said of a dialog that another one has replaced.
      onClose={() => ref.current && onClose()}
      onCancel={(event) => event.target === ref.current && ask(event)}
      // A browser fires `cancel` only after user activation; `keydown` can always be prevented.
      onKeyDown={(event) => event.key === 'Escape' && ask(event)}
      onClick={(event) => event.target === ref.current && close()}
    >
      <div class="dialog">
        <header>
          <h2 id={heading}>{title}</h2>
          <button type="button" class="plain" aria-label="Close" onClick={close}>
            ✕
          </button>
        </header>
        {isAsking && (
          <div class="hint row" role="alert">
            <span>What you typed is not saved.</span>
            <button type="button" autofocus onClick={() => setAsking(false)}>
              Keep editing
            </button>
            <button type="button" onClick={onClose}>
              Discard it
            </button>
          </div>
        )}
        {children}
      </div>
    </dialog>
  )
}

export function CopyButton({ text, label = 'Copy' }: { text: string; label?: string }) {
  const [said, setSaid] = useState<string | null>(null)
  const copy = async (button: Element) => {
    setSaid((await copyText(text, button)) ? 'Copied' : 'Copying failed')
    setTimeout(() => setSaid(null), 2000)
  }
  return (
    <button type="button" onClick={(event) => void copy(event.currentTarget)}>
      {said ?? label}
    </button>
  )
}

const useTitle = (title: string) =>
  useEffect(() => {
    document.title = `${title} · Waymark`
  }, [title])

/** `heading`: instead of the title as text. `beside`: after it. */
export function PageHead({
  title,
  heading,
  beside,
  children,
}: {
  title: string
  heading?: ComponentChildren
  beside?: ComponentChildren
  children?: ComponentChildren
}) {
  useTitle(title)
  return (
    <header class="page-head">
      <div class="page-title">
        <h1>{heading ?? title}</h1>
        {beside}
      </div>
      <div class="actions">{children}</div>
    </header>
  )
}
