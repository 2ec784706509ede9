import type { ComponentChildren } from 'preact'
import type { ActivityEntryAnswer } from '../../doors/answers/activity.ts'
import { actorOf, type Change, documentChangeText } from '../lib/activity.ts'
import { Ago } from './ago.tsx'
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
                <span class="note">
                  <Ago of={entry.created_at} />
                </span>
              </li>
            ))}
          </ul>
        )}
      </ListState>
    </Dialog>
  )
}
