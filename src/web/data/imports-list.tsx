import { useEffect } from 'preact/hooks'
import type { ImportAnswer } from '../../doors/answers/historical-import.ts'
import { post } from '../lib/api.ts'
import { agoText, counted, momentText, numberText } from '../lib/format.ts'
import { useProject } from '../lib/session.ts'
import { personName } from '../settings/organization-of.ts'
import { ConfirmButton } from '../ui/forms.tsx'
import { type Listed, ListTable } from '../ui/list-table.tsx'

const words: Readonly<Record<ImportAnswer['status'], string>> = {
  running: 'running',
  done: 'done',
  stopped: 'stopped',
  undoing: 'being undone',
  undone: 'undone',
}
const tone = (status: ImportAnswer['status']) => (status === 'done' ? ' good' : status === 'undone' ? '' : ' warn')
const lookAgainMs = 1_000

function stateOf({ status, events, events_left, removed_events, removed_persons, latest_error }: ImportAnswer): string | null {
  if (status === 'undoing')
    return (
      latest_error ??
      (events_left === null ? null : `${numberText(Math.max(0, events - events_left))} of ${numberText(events)} events removed`)
    )
  if (status !== 'undone') return null
  return `${counted(removed_events ?? 0, 'event', 'events')} and ${counted(removed_persons ?? 0, 'person', 'people')} removed`
}

/** What was imported before, each to be undone as a whole. */
export function ImportsList({ list }: { list: Listed<ImportAnswer> }) {
  const { api, timezone, mayChange } = useProject()
  const isAtWork = list.rows?.some(({ status }) => status === 'undoing') === true
  useEffect(() => {
    if (!isAtWork || list.isLoading) return
    const timer = setTimeout(list.reload, lookAgainMs)
    return () => clearTimeout(timer)
  }, [isAtWork, list.rows, list.isLoading])
  return (
    <section class="panel" aria-label="Imports">
      <h2>Imports</h2>
      <ListTable
        list={list}
        what="imports"
        head={[
          'File',
          { title: 'Stored', by: ({ events }) => events, isNumber: true },
          { title: 'Duplicates', by: ({ duplicates }) => duplicates, isNumber: true },
          'State',
          'By',
          { title: 'Began', by: ({ created_at }) => created_at },
          null,
        ]}
        empty="Nothing was imported yet."
        row={(one) => (
          <tr key={one.id}>
            <td class="wrap">{one.file}</td>
            <td class="number">{numberText(one.events)}</td>
            <td class="number">{numberText(one.duplicates)}</td>
            <td>
              <span class={`state${tone(one.status)}`}>{words[one.status]}</span>
              {stateOf(one) && <div class="note">{stateOf(one)}</div>}
              {one.status === 'undoing' && one.events_left !== null && one.events > 0 && (
                <progress max={one.events} value={Math.max(0, one.events - one.events_left)} aria-label={`Removed of ${one.file}`} />
              )}
            </td>
            <td class="clip">{one.created_by ? personName(one.created_by) : 'the command line'}</td>
            <td class="when" title={momentText(one.created_at, timezone)}>
              {agoText(one.created_at)}
            </td>
            <td class="cell-actions">
              {mayChange && one.status !== 'undone' && one.status !== 'undoing' && (
                <ConfirmButton
                  look="cell"
                  label="Undo"
                  of={one.file}
                  title={`Undo the import of ${one.file}`}
                  submit="Remove its events"
                  action={async () => {
                    await post(api(`imports/${one.id}/undo/`))
                    list.reload()
                  }}
                >
                  <p>
                    {counted(one.events, 'event that it has', 'events that it has')} stored will be removed, and people whom only it has
                    made. What was there before stays. This cannot be taken back, but the file can be imported again.
                  </p>
                </ConfirmButton>
              )}
            </td>
          </tr>
        )}
      />
    </section>
  )
}
