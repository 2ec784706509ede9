import type { Filter } from '../insights/query.ts'
import type { Query } from '../lib/api.ts'
import type { Place } from './grid.ts'

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
  readonly properties?: readonly Filter[]
}
export interface WholeDashboard extends DashboardRow {
  readonly filters: BoardFilters
  readonly tiles: readonly DashboardTile[]
}

/** The place of a tile on a wide screen, if it has one. */
export function placeOf({ layouts }: DashboardTile): Place | null {
  const { x, y, w, h } = (layouts.sm ?? {}) as Partial<Place>
  return [x, y, w, h].every((one) => typeof one === 'number' && Number.isFinite(one)) ? { x: x!, y: y!, w: w!, h: h! } : null
}

/** Of a tile that has no place yet. */
export const usualSize = ({ insight }: DashboardTile): Pick<Place, 'w' | 'h'> => (insight ? { w: 6, h: 5 } : { w: 6, h: 2 })
