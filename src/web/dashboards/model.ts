import type { Filter } from '../insights/query.ts'
import type { Query } from '../lib/api.ts'
import { arranged, columnCount, inOrder, type Place, type Placed } from './grid.ts'

// Dashboards as the API answers them.

export interface DashboardRow {
  readonly id: number
  readonly name: string
  readonly description: string
  readonly pinned: boolean
  readonly last_modified_at: string | null
}
export interface TileInsight {
  readonly id: number
  readonly short_id: string
  readonly name: string | null
  readonly derived_name: string | null
  readonly query: Query
}
export interface DashboardTile {
  readonly id: number
  readonly insight: TileInsight | null
  readonly text: { readonly body: string } | null
  readonly layouts: Readonly<Record<string, unknown>>
}
export interface BoardFilters {
  readonly date_from?: string | null
  readonly date_to?: string | null
  /** Of a range in which days would be one dot. */
  readonly interval?: string | null
  readonly properties?: readonly Filter[]
}
export interface WholeDashboard extends DashboardRow {
  readonly filters: BoardFilters
  readonly tiles: readonly DashboardTile[]
}

/** Arrangements by the width of the screen, as the API names them: on a narrow one tiles stand in one column. */
export type Layout = 'sm' | 'xs'

/** The place of a tile in an arrangement, if it has one. */
function placeOf({ layouts }: DashboardTile, layout: Layout): Place | null {
  const { x, y, w, h } = (layouts[layout] ?? {}) as Partial<Place>
  if (![x, y, w, h].every((one) => typeof one === 'number' && Number.isFinite(one))) return null
  return layout === 'sm' ? { x: x!, y: y!, w: w!, h: h! } : { x: 0, y: y!, w: columnCount, h: h! }
}

const charactersInLine = 36
/** Of a tile that has no place yet. */
function usualSize(tile: DashboardTile, layout: Layout): Pick<Place, 'w' | 'h'> {
  const { insight, text } = tile
  if (layout === 'sm') return insight ? { w: 6, h: 5 } : { w: 6, h: 2 }
  const lines = (text?.body ?? '').split('\n').reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / charactersInLine)), 0)
  return { w: columnCount, h: insight ? Math.min(4, placeOf(tile, 'sm')?.h ?? 4) : Math.min(6, 1 + Math.ceil(lines / 4)) }
}

export function placesOf(tiles: readonly DashboardTile[], layout: Layout): readonly Placed[] {
  const placed = (of: readonly DashboardTile[], on: Layout) =>
    arranged(of.map((tile) => ({ id: tile.id, place: placeOf(tile, on), size: usualSize(tile, on) })))
  if (layout === 'sm') return placed(tiles, layout)
  // Without an order of its own a narrow screen has that of the wide one.
  const order = inOrder(placed(tiles, 'sm')).map(({ id }) => tiles.find((tile) => tile.id === id)!)
  return placed(order, layout)
}

/** The tiles of an arrangement whose place has changed, as the API takes them. */
export const changesOf = (tiles: readonly DashboardTile[], layout: Layout, places: readonly Placed[]) =>
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
