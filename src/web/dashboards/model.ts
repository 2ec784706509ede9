import type { TileAnswer, WholeDashboardAnswer } from '../../doors/answers/dashboards.ts'
import type { Placed } from '../../service/pictures/grid.ts'
import { type Layout, placeOf, type Tile, placesOf as tilePlaces } from '../../service/pictures/tile-places.ts'
import { type Filter, isStatement, unwrapped } from '../insights/query.ts'
import type { Query } from '../lib/api.ts'
import { type Variables, variablesIn } from '../sql/variables.ts'

// Dashboards as the API answers them.

export interface BoardFilters {
  readonly date_from?: string | null
  readonly date_to?: string | null
  /** Of a range in which days would be one dot. */
  readonly interval?: string | null
  readonly properties?: readonly Filter[]
}

/** What a dashboard shows now. */
export interface Look {
  /** Filters of this look only; null: those that the dashboard has for everybody. */
  readonly override: BoardFilters | null
  /** Those that hold now, from either. */
  readonly filters: BoardFilters
  /** Values of variables of this look only, by id. */
  readonly values: Readonly<Record<string, unknown>>
  /** All variables of the statements on it, with the values that hold now. */
  readonly variables: Variables
}

/** The variables of the statements on a dashboard: with its own values, or else those of the first statement that has them. */
export function variablesOfTiles({ tiles, variables }: Pick<WholeDashboardAnswer, 'tiles' | 'variables'>): Variables {
  const ofStatements = tiles.flatMap(({ insight }) => (insight ? Object.entries(variablesIn(unwrapped(insight.query).variables)) : []))
  const used = Object.fromEntries(ofStatements.toReversed())
  const own = Object.entries(variablesIn(variables)).filter(([id]) => Object.hasOwn(used, id))
  return { ...used, ...Object.fromEntries(own) }
}

/** What is stored when a look is kept for everybody. */
export const keptVariables = ({ variables }: Pick<WholeDashboardAnswer, 'variables'>, look: Look): Variables => ({
  ...variablesIn(variables),
  ...Object.fromEntries(Object.entries(look.variables).filter(([id]) => Object.hasOwn(look.values, id) || Object.hasOwn(variables, id))),
})

/** Variables whose values this look changes, as the API lays them over a statement. */
const changedVariables = ({ values, variables }: Look): Variables =>
  Object.fromEntries(Object.entries(variables).filter(([id]) => Object.hasOwn(values, id)))

/** Parameters of the answer of a tile. */
export function lookParameters(look: Look, query: Query): Readonly<Record<string, string>> {
  const changed = changedVariables(look)
  return {
    ...(look.override && { filters_override: JSON.stringify(look.override) }),
    ...(isStatement(query) && Object.keys(changed).length > 0 && { variables_override: JSON.stringify(changed) }),
  }
}

/** What is laid over the query of a tile that is asked by itself. */
export const laidOver = (look: Look, query: Query, tile: Pick<TileAnswer, 'filters_overrides'>) => ({
  ...(unfiltered(query) === null && { filters_override: { ...look.filters, ...tile.filters_overrides, ...look.override } }),
  ...(isStatement(query) && Object.keys(look.variables).length > 0 && { variables_override: look.variables }),
})

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
