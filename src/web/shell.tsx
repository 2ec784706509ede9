import type { ComponentType } from 'preact'
import { useEffect, useErrorBoundary, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { signOut } from './lib/api.ts'
import type { PageProps } from './lib/page.ts'
import { go, linkTo, type Place } from './lib/router.ts'
import { useProject, useSession } from './lib/session.ts'
import { applyTheme, storedTheme, type Theme } from './lib/theme.ts'
import { useLoaded } from './lib/use-loaded.ts'
import { type PageEntry, type PageGroup, pages } from './pages/all.ts'
import { Palette } from './palette/palette.tsx'
import { Face, initialsOf } from './ui/face.tsx'
import { Flag, Icon } from './ui/icon.tsx'
import { Menu } from './ui/menu.tsx'
import { ErrorBox, Select, Working } from './ui/parts.tsx'
import { UndoBar } from './ui/undo-bar.tsx'

// What surrounds every page: navigation, the choice of a project, and the command palette.

const themes = [
  { value: 'system', label: 'System' },
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
]
const groups: readonly PageGroup[] = ['now', 'questions', 'people and data', 'more']
const isMac = /mac/i.test(navigator.platform)
const isTyping = (event: KeyboardEvent) => {
  // Inside a shadow root too.
  const target = event.composedPath()[0] as HTMLElement
  return target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) || target.closest('dialog') !== null
}

/** Organizations that show nothing until there is a second factor. */
export const RequiredFactor = ({ by, link }: { by: readonly { readonly name: string }[]; link: string }) =>
  by.length === 0 ? null : (
    <p class="hint">
      {by.map(({ name }) => name).join(', ')} {by.length === 1 ? 'shows' : 'show'} you nothing until you have{' '}
      <a href={link}>set up a second factor</a>.
    </p>
  )

export function Shell({ page, place }: { page: PageEntry; place: Place }) {
  const { project, requires2fa } = useSession()
  const { link } = useProject()
  const [isOpen, setOpen] = useState(false)
  const [hasPalette, setPalette] = useState(false)
  const [hasKeys, setKeys] = useState(false)
  const [theme, setTheme] = useState<Theme>(storedTheme())
  const main = useRef<HTMLElement>(null)

  useEffect(() => {
    let isAfterG = false
    const listen = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault()
        setPalette(true)
        return
      }
      if (isTyping(event) || event.ctrlKey || event.metaKey || event.altKey) return
      if (event.key === '?') setKeys(true)
      const to = isAfterG ? pages.find(({ key }) => key === event.key) : undefined
      isAfterG = event.key === 'g'
      if (to) go(linkTo(link(to.name)))
    }
    window.addEventListener('keydown', listen)
    return () => window.removeEventListener('keydown', listen)
  }, [project.id])
  useEffect(() => setOpen(false), [place.path])
  // Until the page has a title of its own, and where it cannot be read.
  useLayoutEffect(() => {
    document.title = `${page.title} · Waymark`
  }, [place.path])

  const leave = async () => {
    await signOut().catch(() => undefined) // what failed is seen after loading: the user is still signed in
    location.hash = ''
    location.reload()
  }
  const choose = (value: string) => {
    setTheme(value as Theme)
    applyTheme(value as Theme)
  }

  const skip = (event: Event) => {
    event.preventDefault()
    main.current?.focus()
  }

  return (
    <div class="shell">
      <a class="skip" href="#main" onClick={skip}>
        Skip to the page
      </a>
      <nav aria-label="Pages" class={isOpen ? 'open' : ''}>
        <div class="brand">
          <span class="name">
            <Flag />
            Waymark
          </span>
          <button type="button" class="plain menu" aria-expanded={isOpen} aria-label="Menu" onClick={() => setOpen(!isOpen)}>
            ☰
          </button>
        </div>
        <div class="nav-body">
          <ProjectSwitch page={page} />
          <button type="button" class="jump" aria-keyshortcuts="Control+K Meta+K" onClick={() => setPalette(true)}>
            Search or jump to <kbd>{isMac ? '⌘K' : 'Ctrl K'}</kbd>
          </button>
          <div class="nav-pages">
            {groups.map((group) => (
              <ul key={group} aria-label={group}>
                {pages
                  .filter((one) => one.group === group)
                  .map(({ name, title }) => (
                    <li key={name}>
                      <a href={linkTo(link(name))} aria-current={name === page.name ? 'page' : undefined}>
                        <Icon name={name} />
                        {title}
                      </a>
                    </li>
                  ))}
              </ul>
            ))}
          </div>
          <UserMenu theme={theme} choose={choose} leave={leave} showKeys={() => setKeys(true)} />
        </div>
      </nav>
      <main id="main" ref={main} tabIndex={-1}>
        {page.name !== 'settings' && <RequiredFactor by={requires2fa} link={linkTo(link('settings/account'))} />}
        <Trail page={page} rest={place.parts.slice(3)} />
        <PageBody page={page} place={place} key={`${project.id}/${page.name}`} />
      </main>
      <UndoBar />
      {hasPalette && (
        <Palette themes={themes} onClose={() => setPalette(false)} leave={leave} choose={choose} showKeys={() => setKeys(true)} />
      )}
      {hasKeys && <KeysWhenLoaded onClose={() => setKeys(false)} />}
    </div>
  )
}

/** Over the page of a record: the list that it is in. */
function Trail({ page, rest }: { page: PageEntry; rest: readonly string[] }) {
  const { link } = useProject()
  const section = page.sections?.find(({ name }) => name === rest[0])
  const listAt = page.sections ? 1 : rest[0] === 'groups' ? 2 : 0
  if (rest.length <= listAt) return null
  const steps = [
    { path: page.name, title: page.title },
    ...(section ? [{ path: `${page.name}/${section.name}`, title: section.title }] : []),
  ]
  return (
    <nav aria-label="Where this page is" class="trail">
      {steps.map(({ path, title }) => (
        <a key={path} href={linkTo(link(path))}>
          {title}
        </a>
      ))}
    </nav>
  )
}

function ProjectSwitch({ page }: { page: PageEntry }) {
  const { projects, project } = useSession()
  return (
    <div class="project-switch">
      <span class="tile-letter" aria-hidden="true">
        {initialsOf(project.name, 1)}
      </span>
      <Select
        label="Project"
        value={String(project.id)}
        options={projects.map(({ id, name }) => ({ value: String(id), label: name }))}
        onChange={(id) => go(linkTo(`project/${id}/${page.name}`))}
      />
    </div>
  )
}

/** The person, at the foot of the navigation. */
function UserMenu({
  theme,
  choose,
  leave,
  showKeys,
}: {
  theme: Theme
  choose: (theme: string) => void
  leave: () => Promise<void>
  showKeys: () => void
}) {
  const { user } = useSession()
  const { link } = useProject()
  const name = user.first_name || user.email
  return (
    <div class="user-menu">
      <Menu
        isAbove
        summary={
          <>
            <Face name={name} />
            <span class="user-name">
              <span class="hidden">Your menu: </span>
              {name}
            </span>
            <Icon name="more" />
          </>
        }
      >
        <p class="note">{user.email}</p>
        <a href={linkTo(link('settings/account'))}>Your account</a>
        <a href={linkTo(link('settings/keys'))}>API keys</a>
        <button type="button" class="plain" onClick={showKeys}>
          Keyboard shortcuts
        </button>
        <div class="segments" role="group" aria-label="Theme">
          {themes.map(({ value, label }) => (
            <button type="button" key={value} aria-pressed={theme === value} onClick={() => choose(value)}>
              {label}
            </button>
          ))}
        </div>
        {user.issuer === null && (
          <button type="button" class="plain" onClick={() => void leave()}>
            Sign out
          </button>
        )}
      </Menu>
    </div>
  )
}

/** Few look at them. */
function KeysWhenLoaded({ onClose }: { onClose: () => void }) {
  const { value: Keys } = useLoaded(async () => (await import('./palette/keys.tsx')).Keys, [])
  return Keys ? <Keys onClose={onClose} /> : null
}

function PageBody({ page, place }: { page: PageEntry; place: Place }) {
  const [Body, setBody] = useState<ComponentType<PageProps> | null>(null)
  const [error, setError] = useState<Error | null>(null)
  useEffect(() => {
    page.load().then((component) => setBody(() => component), setError)
  }, [page])
  const [failure, forget] = useErrorBoundary()
  useEffect(() => failure && forget(), [place.path])
  if (error)
    return (
      <ErrorBox
        error={new Error('This page could not be loaded. The server cannot be reached, or it was updated meanwhile.')}
        retry={() => location.reload()}
      />
    )
  if (failure) return <ErrorBox error={new Error(`This page failed: ${(failure as Error).message}`)} retry={forget} />
  return Body ? <Body place={place} rest={place.parts.slice(3)} /> : <Working />
}
