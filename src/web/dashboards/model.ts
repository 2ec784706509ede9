import type { TileAnswer, WholeDashboardAnswer } from '../../doors/answers/dashboards.ts'
import type { Placed } from '../../service/pictures/grid.ts'
import { type Layout, placeOf, type Tile, placesOf as tilePlaces } from '../../service/pictures/tile-places.ts'
import type { Filter } from '../insights/query.ts'
import type { Query } from '../lib/api.ts'

// Dashboards as the API answers them.

export interface BoardFilters {
  readonly date_from?: string | null
  readonly date_to?: string | null
  /** Of a range in which days would be one dot. */
  readonly interval?: string | null
  readonly properties?: readonly Filter[]
}

export const boardTitle = ({ name }: Pick<WholeDashboardAnswer, 'name'>): string => name || 'Dashboard'

const asTile = ({ id, layouts, insight, text }: TileAnswer): Tile => ({ id, layouts, text: insight ? null : (text?.body ?? '') })

export const placesOf = (tiles: readonly TileAnswer[], layout: Layout): readonly Placed[] => tilePlaces(tiles.map(asTile), layout)

/** The tiles of an arrangement whose place has changed, as the API takes them. */
export const changesOf = (tiles: readonly TileAnswer[], layout: Layout, places: readonly Placed[]) =>
  places.flatMap(({ id, x, y, w, h }) => {
    const tile = tiles.find((one) => one.id === id)
    const before = tile && placeOf(tile, layout)
    if (!tile || (before && before.x === x && before.y === y && before.w === w && before.h === h)) return []
    const stored = { ...(tile.layouts[layout] as object | undefined), x, y, w: layout === 'sm' ? w : 1, h }
    return [{ id, layouts: { ...tile.layouts, [layout]: stored } }]
  })

/** Why dates and filters of the dashboard do not change the answer of a query; null: they do. */
export function unfiltered(query: Query): string | null {
  if (query.kind === 'HogQLQuery' || query.kind === 'SqlLikeQuery')
    return /\{\s*filters\b/.test(String(query.query)) ? null : 'Its statement does not contain {filters}'
  return query.kind === 'ActorsQuery' && !query.source ? 'People have no dates' : null
}
