import { arranged, columnCount, type GridPlace, inOrder, type Placed } from './grid.ts'

// Where the tiles of a dashboard stand: in the interface and on public pages.

/** Arrangements by the width of the screen, as the API names them: on a narrow one tiles stand in one column. */
export type Layout = 'sm' | 'xs'

export interface Tile {
  readonly id: number
  readonly layouts: unknown
  /** Null: it shows an insight. */
  readonly text: string | null
}

/** In pixels. A board narrower than `wideBoard` has one column; `aroundChart`: the title and the lines under the chart. */
export const [rowHeight, tileGap, wideBoard] = [80, 16, 640]
const aroundChart = 118
/** Of the chart of a tile that is so many rows high. */
export const chartHeight = (h: number, row: number = rowHeight): number => Math.max(80, h * row + (h - 1) * tileGap - aroundChart)

/** The place of a tile in an arrangement, if it has one. */
export function placeOf({ layouts }: Pick<Tile, 'layouts'>, layout: Layout): GridPlace | null {
  const { x, y, w, h } = ((layouts as Readonly<Record<string, unknown>> | null)?.[layout] ?? {}) as Partial<GridPlace>
  if (![x, y, w, h].every((one) => typeof one === 'number' && Number.isFinite(one))) return null
  return layout === 'sm' ? { x: x!, y: y!, w: w!, h: h! } : { x: 0, y: y!, w: columnCount, h: h! }
}

const charactersInLine = 36
/** Of a tile that has no place yet. */
function usualSize(tile: Tile, layout: Layout): Pick<GridPlace, 'w' | 'h'> {
  const { text } = tile
  if (layout === 'sm') return text === null ? { w: 6, h: 5 } : { w: 6, h: 2 }
  const lines = (text ?? '').split('\n').reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / charactersInLine)), 0)
  return { w: columnCount, h: text === null ? Math.min(4, placeOf(tile, 'sm')?.h ?? 4) : Math.min(6, 1 + Math.ceil(lines / 4)) }
}

export function placesOf(tiles: readonly Tile[], layout: Layout): readonly Placed[] {
  const placed = (of: readonly Tile[], on: Layout) =>
    arranged(of.map((tile) => ({ id: tile.id, place: placeOf(tile, on), size: usualSize(tile, on) })))
  if (layout === 'sm') return placed(tiles, layout)
  // Without an order of its own a narrow screen has that of the wide one.
  const order = inOrder(placed(tiles, 'sm')).map(({ id }) => tiles.find((tile) => tile.id === id)!)
  return placed(order, layout)
}
