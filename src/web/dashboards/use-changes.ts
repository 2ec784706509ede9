import { useRef, useState } from 'preact/hooks'
import type { WholeDashboardAnswer } from '../../doors/answers/dashboards.ts'
import type { Placed } from '../../service/pictures/grid.ts'
import type { Layout } from '../../service/pictures/tile-places.ts'
import { patch } from '../lib/api.ts'
import { useProject } from '../lib/session.ts'
import { changesOf } from './model.ts'

/** Stores fields of the dashboard, or its tiles. */
export type Change = (body: unknown) => Promise<void>

/** Changes of the stored dashboard, and the failure of the last one. */
export function useChanges(dashboard: WholeDashboardAnswer, onChanged: (dashboard: WholeDashboardAnswer) => void) {
  const { api } = useProject()
  const [failure, setFailure] = useState<Error | null>(null)
  // As it is stored; drawn a little later.
  const stored = useRef(dashboard)
  const change: Change = async (body) => {
    stored.current = await patch<WholeDashboardAnswer>(api(`dashboards/${dashboard.id}/`), body)
    onChanged(stored.current)
  }
  /** Shows the failure of what a click began. */
  const tryTo = (work: Promise<unknown>) => {
    setFailure(null)
    work.catch(setFailure)
  }

  // One after the other, each with what differs from what the one before has stored.
  const saving = useRef<Promise<unknown>>(Promise.resolve())
  const savePlaces = (layout: Layout, places: readonly Placed[]) => {
    setFailure(null)
    saving.current = saving.current
      .then(async () => {
        const tiles = changesOf(stored.current.tiles, layout, places)
        if (tiles.length > 0) await change({ tiles })
      })
      .catch(setFailure)
    return saving.current
  }
  return { change, tryTo, savePlaces, failure }
}
