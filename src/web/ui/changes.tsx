import type { ComponentChildren } from 'preact'
import type { ActivityEntryAnswer } from '../../doors/answers/activity.ts'
import { actorOf, type Change, documentChangeText } from '../lib/activity.ts'
import { momentText } from '../lib/format.ts'
import { useProject } from '../lib/session.ts'
import { ListState, useList } from './list-table.tsx'
import { Dialog } from './parts.tsx'

/** How the activity log calls it. */
const creations = ['created']

/** Who changed an insight or a dashboard, when and how. `path`: of the record, with a slash at the end. `more`: beside a change. */
export function ChangesDialog({
  path,
  more = () => null,
  onClose,
}: {
  path: string
  more?: (change: Change) => ComponentChildren
  onClose: () => void
}) {
  const { timezone } = useProject()
  const list = useList<ActivityEntryAnswer>(`${path}activity/?limit=20`)
  return (
    <Dialog title="History" onClose={onClose}>
      <ListState list={list} what="changes" empty="No change of it is known.">
        {(entries) => (
          <ul class="lines">
            {entries.map((entry) => (
              <li key={entry.id}>
                <span>
                  {actorOf(entry)}{' '}
                  {creations.includes(entry.activity)
                    ? 'created it'
                    : (entry.detail.changes ?? []).map((change, i) => (
                        <span key={i}>
                          {i > 0 && ', '}
                          {documentChangeText(change)}
                          {more(change)}
                        </span>
                      ))}
                </span>
                <span class="note">{momentText(entry.created_at, timezone)}</span>
              </li>
            ))}
          </ul>
        )}
      </ListState>
    </Dialog>
  )
}
