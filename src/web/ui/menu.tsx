import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'
import { Icon } from './icon.tsx'
import './menu.css'

/** Buttons and links behind one button. It closes with Escape, with a choice, and when the focus leaves it; arrow keys move in it. */
export function Menu({
  label,
  summary = <Icon name="more" />,
  isAbove = false,
  children,
}: {
  /** Of a button that is an icon. */
  label?: string
  /** What the button shows. */
  summary?: ComponentChildren
  /** The list opens upward. */
  isAbove?: boolean
  children: ComponentChildren
}) {
  const ref = useRef<HTMLDetailsElement>(null)
  const close = () => {
    if (ref.current) ref.current.open = false
  }
  const move = (by: number) => {
    const all = [...ref.current!.querySelectorAll<HTMLElement>('.menu-list :is(a, button)')]
    const at = all.findIndex((one) => one === document.activeElement)
    all.at(at < 0 ? (by > 0 ? 0 : -1) : (at + by) % all.length)?.focus()
  }
  const onKey = (event: KeyboardEvent) => {
    if (event.key === 'Escape') {
      close()
      ref.current?.querySelector('summary')?.focus()
    }
    if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return
    event.preventDefault()
    ref.current!.open = true
    move(event.key === 'ArrowDown' ? 1 : -1)
  }
  return (
    <details
      class={`menu-of${isAbove ? ' above' : ''}`}
      ref={ref}
      onFocusOut={(event) => ref.current?.contains(event.relatedTarget as Node | null) === false && close()}
      onClick={(event) => (event.target as Element).closest('.menu-list :is(a, button)') && close()}
      onKeyDown={onKey}
    >
      <summary {...(label !== undefined && { 'aria-label': label })}>{summary}</summary>
      <div class="menu-list">{children}</div>
    </details>
  )
}
