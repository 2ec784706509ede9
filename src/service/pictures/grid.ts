// Places of tiles on a grid of 12 columns. Nothing overlaps, and every tile is as far up as those above it let it.

export interface GridPlace {
  readonly x: number
  readonly y: number
  readonly w: number
  readonly h: number
}
export interface Placed extends GridPlace {
  readonly id: number
}

export const columnCount = 12
const [leastWidth, leastHeight, mostHeight] = [2, 2, 40]

const between = (value: number, from: number, to: number) => Math.max(from, Math.min(to, Math.round(value)))
const shareColumns = (a: GridPlace, b: GridPlace) => a.x < b.x + b.w && b.x < a.x + a.w

/** Within the grid. */
const fitted = <P extends GridPlace>(place: P): P => {
  const w = between(place.w, leastWidth, columnCount)
  return {
    ...place,
    w,
    h: between(place.h, leastHeight, mostHeight),
    x: between(place.x, 0, columnCount - w),
    y: Math.max(0, Math.round(place.y)),
  }
}

/** Each below those before it that share a column. */
function stacked(places: readonly Placed[]): readonly Placed[] {
  const done: Placed[] = []
  for (const place of places) {
    const y = done.reduce((lowest, one) => (shareColumns(one, place) ? Math.max(lowest, one.y + one.h) : lowest), 0)
    done.push({ ...place, y })
  }
  return done
}

export const inOrder = (places: readonly Placed[]): readonly Placed[] => [...places].sort((a, b) => a.y - b.y || a.x - b.x || a.id - b.id)
export const compacted = (places: readonly Placed[]): readonly Placed[] => stacked(inOrder(places.map(fitted)))

/** The tiles after one of them got another place. It passes a neighbour when its edge passes the neighbour's middle. */
export function moved(places: readonly Placed[], id: number, to: GridPlace): readonly Placed[] {
  const before = places.find((one) => one.id === id)
  if (!before) return places
  const tile = { ...fitted(to), id }
  const others = inOrder(places.filter((one) => one.id !== id))
  const isDown = tile.y > before.y && tile.h === before.h && tile.w === before.w
  const middle = (one: Placed) => one.y + one.h / 2
  const sharing = others.filter((one) => shareColumns(one, tile))
  const last = isDown ? sharing.findLast((one) => middle(one) < tile.y + tile.h) : undefined
  const next = isDown ? undefined : sharing.find((one) => middle(one) > tile.y)
  const at = last
    ? others.indexOf(last) + 1
    : next
      ? others.indexOf(next)
      : isDown
        ? others.findIndex((one) => one.y >= tile.y)
        : others.length
  const index = at < 0 ? others.length : at
  return stacked([...others.slice(0, index), tile, ...others.slice(index)])
}

const isSame = (a: readonly Placed[], b: readonly Placed[]) =>
  a.every((one) => {
    const other = b.find(({ id }) => id === one.id)
    return other && other.x === one.x && other.y === one.y && other.w === one.w && other.h === one.h
  })

/** One step of the keyboard: the nearest place in that direction where something changes. */
export function nudged(places: readonly Placed[], id: number, dx: number, dy: number): readonly Placed[] {
  const tile = places.find((one) => one.id === id)
  if (!tile) return places
  const bottom = Math.max(...places.map(({ y, h }) => y + h))
  for (let far = 1; far <= bottom + 1; far++) {
    const next = moved(places, id, { ...tile, x: tile.x + dx * far, y: tile.y + dy * far })
    if (!isSame(next, places)) return next
    if (tile.y + dy * far < 0 || (dx !== 0 && far > columnCount)) break
  }
  return places
}

export const resized = (places: readonly Placed[], id: number, dw: number, dh: number): readonly Placed[] => {
  const tile = places.find((one) => one.id === id)
  if (!tile) return places
  return moved(places, id, { ...tile, w: between(tile.w + dw, leastWidth, columnCount - tile.x), h: tile.h + dh })
}

/** Tiles without a place come last, beside each other while there is room. */
export function arranged(
  tiles: readonly { readonly id: number; readonly place: GridPlace | null; readonly size: Pick<GridPlace, 'w' | 'h'> }[],
): readonly Placed[] {
  const known = compacted(tiles.flatMap(({ id, place }) => (place ? [{ id, ...place }] : [])))
  let y = Math.max(0, ...known.map((one) => one.y + one.h))
  let [x, row] = [0, 0]
  const added: Placed[] = []
  for (const { id, place, size } of tiles) {
    if (place) continue
    if (x + size.w > columnCount) [x, y, row] = [0, y + row, 0]
    added.push({ id, x, y, ...size })
    ;[x, row] = [x + size.w, Math.max(row, size.h)]
  }
  return compacted([...known, ...added])
}
