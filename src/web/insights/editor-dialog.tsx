import type { SavedInsightAnswer } from '../../doors/answers/insights.ts'
import { NotificationsDialog } from '../alerts/dialog.tsx'
import type { Query } from '../lib/api.ts'
import { AddToDashboard } from './add-to-dashboard.tsx'
import { unwrapped } from './query.ts'
import { QueryDialog } from './query-dialog.tsx'
import { DashboardsDialog, HistoryDialog, SaveDialog, shownName } from './saved.tsx'
import { SharingDialog } from './sharing.tsx'

export type What = 'save' | 'tile' | 'json' | 'share' | 'notifications' | 'dashboards' | 'history'

interface Props {
  readonly what: What
  readonly query: Query
  readonly saved: SavedInsightAnswer | null
  /** The query is not the saved one. */
  readonly isChanged: boolean
  onChange(query: Query): void
  onSaved(saved: SavedInsightAnswer): void
  onClose(): void
}

export const EditorDialog = ({ what, query, saved, isChanged, onChange, onSaved, onClose }: Props) => (
  <>
    {what === 'json' && <QueryDialog query={query} onChange={onChange} onClose={onClose} />}
    {what === 'share' && saved && (
      <SharingDialog
        of={{ what: 'insight', id: saved.id, name: shownName(saved) }}
        note={isChanged ? 'The link shows the insight as it was saved, without your changes.' : undefined}
        onClose={onClose}
      />
    )}
    {what === 'notifications' && saved && (
      <NotificationsDialog insight={{ id: saved.id, query: unwrapped(saved.query) }} onClose={onClose} />
    )}
    {what === 'dashboards' && saved && <DashboardsDialog saved={saved} onSaved={onSaved} onClose={onClose} />}
    {what === 'history' && saved && <HistoryDialog saved={saved} onChange={onChange} onClose={onClose} />}
    {what === 'tile' && <AddToDashboard query={query} onClose={onClose} />}
    {what === 'save' && <SaveDialog query={query} name={saved ? `${shownName(saved)} (copy)` : ''} onClose={onClose} />}
  </>
)
