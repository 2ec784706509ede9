import type { TileAnswer, WholeDashboardAnswer } from '../../doors/answers/dashboards.ts'
import { SubscriptionsDialog } from '../alerts/dialog.tsx'
import { SharingDialog } from '../insights/sharing.tsx'
import { get, patch } from '../lib/api.ts'
import { useProject } from '../lib/session.ts'
import { ChangesDialog } from '../ui/changes.tsx'
import { AddInsight, EditText, RenameDialog } from './add-tile.tsx'
import { boardTitle } from './model.ts'
import { insightName } from './tile.tsx'
import type { Change } from './use-changes.ts'

/** The dialog that is open on a dashboard. */
export type Open =
  | { readonly what: 'insight' | 'text' | 'history' | 'share' | 'subscribe' }
  | { readonly what: 'edit' | 'name'; readonly tile: TileAnswer }

interface Props {
  readonly open: Open
  readonly dashboard: WholeDashboardAnswer
  /** Changes the stored dashboard. */
  readonly change: Change
  onChanged(dashboard: WholeDashboardAnswer): void
  onClose(): void
}

export function BoardDialog({ open, dashboard, change, onChanged, onClose }: Props) {
  const { api } = useProject()
  const path = api(`dashboards/${dashboard.id}/`)
  const title = boardTitle(dashboard)
  return (
    <>
      {open.what === 'insight' && (
        <AddInsight
          known={new Set(dashboard.tiles.flatMap(({ insight }) => insight?.id ?? []))}
          onAdd={({ id }) => change({ tiles: [{ insight: id }] })}
          onClose={onClose}
        />
      )}
      {open.what === 'text' && <EditText body="" onSave={(body) => change({ tiles: [{ text: { body } }] })} onClose={onClose} />}
      {open.what === 'edit' && (
        <EditText
          body={open.tile.text?.body ?? ''}
          onSave={(body) => change({ tiles: [{ id: open.tile.id, text: { body } }] })}
          onClose={onClose}
        />
      )}
      {open.what === 'name' && (
        <RenameDialog
          name={insightName(open.tile.insight!)}
          onSave={async (name) => {
            await patch(api(`insights/${open.tile.insight!.id}/`), { name })
            onChanged(await get<WholeDashboardAnswer>(path))
          }}
          onClose={onClose}
        />
      )}
      {open.what === 'history' && <ChangesDialog path={path} onClose={onClose} />}
      {open.what === 'share' && <SharingDialog of={{ what: 'dashboard', id: dashboard.id, name: title }} onClose={onClose} />}
      {open.what === 'subscribe' && <SubscriptionsDialog of={{ dashboard: dashboard.id }} onClose={onClose} />}
    </>
  )
}
