import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'
import { Icon } from './icon.tsx'
import './menu.css'

/** Buttons behind one button. It closes with Escape, with a choice, and when the focus leaves it. */
export function Menu({ label, children }: { label: string; children: ComponentChildren }) {
  const ref = useRef<HTMLDetailsElement>(null)
  const close = () => {
    if (ref.current) ref.current.open = false
  }
  return (
    <details
      class="menu-of"
      ref={ref}
      onFocusOut={(event) => ref.current?.contains(event.relatedTarget as Node | null) === false && close()}
      onClick={(event) => (event.target as Element).closest('.menu-list') && close()}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return
        close()
        ref.current?.querySelector('summary')?.focus()
      }}
    >
      <summary aria-label={label}>
        <Icon name="more" />
      </summary>
      <div class="menu-list">{children}</div>
    </details>
  )
}
