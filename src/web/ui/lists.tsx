import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { numberText } from '../lib/format.ts'
import { useAction } from '../lib/use-action.ts'
import { Dialog, ErrorBox } from './parts.tsx'
import './lists.css'

// What lists of records have in common.

export interface Tab {
  readonly name: string
  readonly title: string
  readonly link: string
}

/** Each tab is an address of its own. */
export function Tabs({ label, tabs, current }: { label: string; tabs: readonly Tab[]; current: string }) {
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map(({ name, title, link }) => (
        <a key={name} href={link} aria-current={name === current ? 'page' : undefined}>
          {title}
        </a>
      ))}
    </nav>
  )
}

/** `count`: of all pages. */
export function Pager({
  offset,
  size,
  shown,
  count,
  onChange,
}: {
  offset: number
  size: number
  shown: number
  count: number | undefined
  onChange: (offset: number) => void
}) {
  if (offset === 0 && (count ?? shown) <= shown) return null
  const hasNext = count === undefined ? shown === size : offset + shown < count
  return (
    <nav class="pager" aria-label="Pages of the list">
      <button type="button" disabled={offset === 0} onClick={() => onChange(Math.max(0, offset - size))}>
        Previous
      </button>
      <span class="note">
        {shown === 0 ? 'None' : `${numberText(offset + 1)} to ${numberText(offset + shown)}`}
        {count === undefined ? '' : ` of ${numberText(count)}`}
      </span>
      <button type="button" disabled={!hasNext} onClick={() => onChange(offset + size)}>
        Next
      </button>
    </nav>
  )
}

/** A search field that asks when typing pauses or with Enter. */
export function Search({
  label,
  value,
  placeholder,
  onChange,
}: {
  label: string
  value: string
  placeholder: string
  onChange: (text: string) => void
}) {
  const [text, setText] = useState(value)
  const asked = useRef(value)
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  const ask = (next: string, after: number) => {
    setText(next)
    clearTimeout(timer.current)
    timer.current = setTimeout(() => {
      if (next.trim() === asked.current) return
      asked.current = next.trim()
      onChange(next.trim())
    }, after)
  }
  // What came from elsewhere, such as a link; not the echo of what was typed a moment ago.
  useEffect(() => {
    if (value === asked.current) return
    asked.current = value
    setText(value)
  }, [value])
  useEffect(() => () => clearTimeout(timer.current), [])
  return (
    <input
      type="search"
      class="search"
      aria-label={label}
      placeholder={placeholder}
      value={text}
      onInput={(event) => ask(event.currentTarget.value, 250)}
      onKeyDown={(event) => event.key === 'Enter' && ask(event.currentTarget.value, 0)}
    />
  )
}

/** Asks before something that cannot be undone. */
export function Confirm({
  title,
  action,
  onConfirm,
  onClose,
  children,
}: {
  title: string
  /** What the button says. */
  action: string
  onConfirm: () => Promise<unknown>
  onClose: () => void
  children: ComponentChildren
}) {
  const { error, isBusy, run } = useAction()
  return (
    <Dialog title={title} onClose={onClose}>
      {children}
      {error && <ErrorBox error={error} />}
      <div class="actions end">
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button type="button" class="danger" disabled={isBusy} onClick={() => void run(onConfirm).then((isDone) => isDone && onClose())}>
          {action}
        </button>
      </div>
    </Dialog>
  )
}

/** A table that scrolls sideways where the page is narrow. */
export function Scroll({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={label}>
      {children}
    </div>
  )
}
