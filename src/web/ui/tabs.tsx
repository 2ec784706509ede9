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
