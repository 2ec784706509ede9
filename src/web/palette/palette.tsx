import { useEffect, useMemo, useState } from 'preact/hooks'
import { kinds } from '../insights/query.ts'
import { rankOf } from '../lib/matching.ts'
import { go, linkTo } from '../lib/router.ts'
import { useProject, useSession } from '../lib/session.ts'
import { pages } from '../pages/all.ts'
import { Dialog } from '../ui/parts.tsx'
import type { FoundGroup } from './find.ts'
import './palette.css'

interface Entry {
  readonly title: string
  /** Keys that do the same without the palette. */
  readonly keys?: string
  readonly note?: string | undefined
  run(): void
}
interface Group {
  readonly title: string
  readonly entries: readonly Entry[]
}

const typingMs = 150

/** What the project has under these words; those of before stay until the first answer. */
function useFound(text: string): readonly FoundGroup[] {
  const project = useProject()
  const [found, setFound] = useState<readonly FoundGroup[]>([])
  const search = text.trim()
  useEffect(() => {
    if (search === '') return setFound([])
    const control = new AbortController()
    const timer = setTimeout(async () => {
      // What is read before the first search need not be there when the page is.
      const { findInProject } = await import('./find.ts')
      const asked = findInProject(project, search, control.signal)
      const answered: (FoundGroup | undefined)[] = asked.map(() => undefined)
      for (const [i, one] of asked.entries())
        void one.then((group) => {
          answered[i] = group
          // In their own order, whichever is there first.
          if (!control.signal.aborted) setFound(answered.flatMap((group) => (group && group.found.length > 0 ? [group] : [])))
        })
    }, typingMs)
    return () => {
      clearTimeout(timer)
      control.abort()
    }
  }, [search, project.id])
  return found
}

function useCommands({ leave, choose, showKeys, themes }: Omit<Props, 'onClose'>): readonly Entry[] {
  const { projects, user } = useSession()
  const { link } = useProject()
  return useMemo(
    () => [
      ...pages.map(({ name, title, about, key }) => ({
        title: `Go to ${title}`,
        note: about,
        keys: `g ${key}`,
        run: () => go(linkTo(link(name))),
      })),
      ...pages.flatMap(({ name, title, sections = [] }) =>
        sections.map((one) => ({ title: `Go to ${title}: ${one.title}`, run: () => go(linkTo(link(`${name}/${one.name}`))) })),
      ),
      ...kinds.map(({ name, title }) => ({ title: `New insight: ${title}`, run: () => go(linkTo(link('insights/new'), { kind: name })) })),
      { title: 'New cohort', run: () => go(linkTo(link('cohorts/new'))) },
      { title: 'New feature flag', run: () => go(linkTo(link('flags/new'))) },
      { title: 'New batch export', run: () => go(linkTo(link('pipelines/exports/new'))) },
      ...projects.map(({ id, name }) => ({ title: `Project: ${name}`, run: () => go(linkTo(`project/${id}/${pages[0]!.name}`)) })),
      ...themes.map(({ value, label }) => ({ title: `Theme: ${label}`, run: () => choose(value) })),
      { title: 'Show the keys', keys: '?', run: showKeys },
      ...(user.issuer === null ? [{ title: 'Sign out', run: () => void leave() }] : []),
    ],
    [projects, link('')],
  )
}

interface Props {
  readonly themes: readonly { readonly value: string; readonly label: string }[]
  onClose(): void
  leave(): Promise<void>
  choose(theme: string): void
  showKeys(): void
}

/** Commands, and everything of the project that has a name. */
export function Palette({ onClose, ...props }: Props) {
  const [text, setText] = useState('')
  const [at, setAt] = useState(0)
  const commands = useCommands(props)
  const found = useFound(text)
  const groups = useMemo(() => {
    const fitting = commands.flatMap((command) => {
      const rank =
        text.trim() === '' ? 0 : rankOf({ of: null, name: command.title, label: command.title, group: '', about: command.note }, text)
      return rank === null ? [] : [{ command, rank }]
    })
    const best = fitting.toSorted((a, b) => a.rank - b.rank).map(({ command }) => command)
    const ofProject = found.map(({ title, found: all }) => ({
      title,
      entries: all.map(({ title: name, note, link }) => ({ title: name, note, run: () => go(link) })),
    }))
    return [{ title: 'Commands', entries: best }, ...ofProject].filter(({ entries }) => entries.length > 0)
  }, [commands, text, found])
  const all = groups.flatMap(({ entries }) => entries)
  useEffect(() => document.getElementById(`command-${at}`)?.scrollIntoView({ block: 'nearest' }), [at])
  const run = (entry: Entry | undefined) => {
    if (!entry) return
    onClose()
    entry.run()
  }
  const steer = (event: KeyboardEvent) => {
    const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (by !== 0) {
      event.preventDefault()
      setAt(Math.max(0, Math.min(all.length - 1, at + by)))
    }
    if (event.key === 'Enter') run(all[at])
  }
  return (
    <Dialog title="Commands" onClose={onClose}>
      <input
        aria-label="Search commands"
        role="combobox"
        aria-expanded="true"
        aria-controls="commands"
        aria-activedescendant={all[at] ? `command-${at}` : undefined}
        placeholder="Type to search commands, insights, people, events…"
        autofocus
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value)
          setAt(0)
        }}
        onKeyDown={steer}
      />
      <div class="commands" role="listbox" id="commands" aria-label="Commands">
        <Groups groups={groups} at={at} onRun={run} />
      </div>
      {all.length === 0 && <p class="note">No results</p>}
    </Dialog>
  )
}

function Groups({ groups, at, onRun }: { groups: readonly Group[]; at: number; onRun: (entry: Entry) => void }) {
  let next = 0
  return (
    <>
      {groups.map(({ title, entries }) => {
        const first = next
        next += entries.length
        return (
          <div role="group" aria-label={title} key={title}>
            {groups.length > 1 && (
              <div class="group-title" aria-hidden="true">
                {title}
              </div>
            )}
            {entries.map((entry, i) => (
              <div
                class="command"
                key={`${entry.title} ${i}`}
                id={`command-${first + i}`}
                role="option"
                aria-selected={first + i === at}
                onClick={() => onRun(entry)}
              >
                <span>
                  {entry.title} {entry.note && <span class="note">{entry.note}</span>}
                </span>
                {entry.keys && <kbd>{entry.keys}</kbd>}
              </div>
            ))}
          </div>
        )
      })}
    </>
  )
}
