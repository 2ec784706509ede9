import { useMemo, useRef, useState } from 'preact/hooks'
import type { TileAnswer } from '../../doors/answers/dashboards.ts'
import type { Placed } from '../../service/pictures/grid.ts'
import type { Layout } from '../../service/pictures/tile-places.ts'
import { placesOf } from './model.ts'

export type SavePlaces = (layout: Layout, places: readonly Placed[]) => Promise<unknown>

/** Places of the tiles: as stored, or as shown before they are. A step may follow before the one before it is stored. */
export function usePlaces(tiles: readonly TileAnswer[], layout: Layout, onSave: SavePlaces) {
  const known = useMemo(() => placesOf(tiles, layout), [tiles, layout])
  const [preview, setPreview] = useState<{ readonly layout: Layout; readonly places: readonly Placed[] } | null>(null)
  const unsaved = useRef(0)
  const shown = useRef<readonly Placed[]>(known)
  const places = preview?.layout === layout ? preview.places : known
  shown.current = places
  const show = (next: readonly Placed[]) => {
    shown.current = next
    setPreview({ layout, places: next })
  }
  const keep = (next: readonly Placed[]) => {
    show(next)
    unsaved.current++
    void onSave(layout, next).then(() => {
      unsaved.current--
      if (unsaved.current === 0) setPreview(null)
    })
  }
  /** Ends a drag that is not kept. `before`: the places from which it began. */
  const revert = (before: readonly Placed[]) => (unsaved.current === 0 ? setPreview(null) : show(before))
  return { places, shown, show, keep, revert }
}
