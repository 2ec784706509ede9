import { useEffect, useRef } from 'preact/hooks'

export interface Tab {
  readonly name: string
  readonly title: string
  readonly link: string
}

/** Where tabs are scrolled sideways, the chosen one is in sight. */
export function useChosenInSight(current: string) {
  const ref = useRef<HTMLElement>(null)
  useEffect(() => {
    const chosen = ref.current?.querySelector<HTMLElement>('[aria-current="page"], [aria-selected="true"]')
    if (ref.current && chosen)
      ref.current.scrollLeft = chosen.offsetLeft - ref.current.offsetLeft - (ref.current.clientWidth - chosen.offsetWidth) / 2
  }, [current])
  return ref
}

/** Each tab is an address of its own. */
export function Tabs({ label, tabs, current }: { label: string; tabs: readonly Tab[]; current: string }) {
  return (
    <nav class="tabs" aria-label={label} ref={useChosenInSight(current)}>
      {tabs.map(({ name, title, link }) => (
        <a key={name} href={link} aria-current={name === current ? 'page' : undefined}>
          {title}
        </a>
      ))}
    </nav>
  )
}
