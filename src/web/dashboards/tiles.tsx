import type { ComponentChild } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import type { TileAnswer } from '../../doors/answers/dashboards.ts'
import { columnCount, inOrder, moved, nudged, type Placed, resized } from '../../service/pictures/grid.ts'
import { chartHeight, type Layout, rowHeight, tileGap, wideBoard } from '../../service/pictures/tile-places.ts'
import { useWidth } from '../charts/chart-view.tsx'
import { useProject } from '../lib/session.ts'
import { Menu } from '../ui/menu.tsx'
import { insightLink, insightName } from './tile.tsx'
import { type SavePlaces, usePlaces } from './use-places.ts'

interface Props {
  readonly tiles: readonly TileAnswer[]
  readonly isArranging: boolean
  /** All of them in this height, without what changes them; null: as high as they are. */
  readonly fitInto: number | null
  readonly onSave: SavePlaces
  render(tile: TileAnswer, height: number): ComponentChild
  menu(tile: TileAnswer): ComponentChild
}

/** A drag by the pointer, from where it began. */
interface Drag {
  readonly id: number
  readonly what: 'move' | 'resize'
  readonly from: { readonly x: number; readonly y: number }
  readonly places: readonly Placed[]
}
const arrows: Readonly<Record<string, readonly [number, number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
}

/** Of a row that is fitted into a screen: with less, charts cannot be read. */
const [leastRow, mostRow] = [44, 200]

/** The tiles on their grid, which can be moved and resized by pointer, touch, keys and buttons. */
export function Tiles({ tiles, isArranging, fitInto, onSave, render, menu }: Props) {
  const { link } = useProject()
  const [ref, width] = useWidth<HTMLDivElement>()
  const [drag, setDrag] = useState<Drag | null>(null)
  const [said, setSaid] = useState('')
  const layout: Layout = width >= wideBoard ? 'sm' : 'xs'
  const { places, shown: shownPlaces, show, keep, revert } = usePlaces(tiles, layout, onSave)
  const column = (width + tileGap) / columnCount
  const rows = Math.max(1, ...places.map(({ y, h }) => y + h))
  const row = fitInto === null ? rowHeight : Math.min(mostRow, Math.max(leastRow, Math.floor((fitInto + tileGap) / rows) - tileGap))

  const put = (next: readonly Placed[], id: number) => {
    const tile = next.find((one) => one.id === id)
    if (tile) setSaid(`${layout === 'sm' ? `Column ${tile.x + 1}, ` : ''}row ${tile.y + 1}, ${tile.w} wide, ${tile.h} high`)
    keep(next)
  }
  /** One step; in one column only up and down. */
  const step = (id: number, what: Drag['what'], [dx, dy]: readonly [number, number]) => {
    if (layout === 'xs' && dx !== 0) return
    const now = shownPlaces.current
    put(what === 'move' ? nudged(now, id, dx, dy) : resized(now, id, dx, dy), id)
  }
  const during = ({ clientX, clientY }: PointerEvent, { id, what, from, places: before }: Drag) => {
    const dx = layout === 'sm' ? Math.round((clientX - from.x) / column) : 0
    const dy = Math.round((clientY - from.y) / (rowHeight + tileGap))
    if (what === 'resize') return resized(before, id, dx, dy)
    const tile = before.find((one) => one.id === id)!
    return moved(before, id, { ...tile, x: tile.x + dx, y: tile.y + dy })
  }
  const handle = (id: number, what: Drag['what']) => ({
    onPointerDown: (event: PointerEvent) => {
      if (event.button !== 0) return
      event.preventDefault()
      const target = event.currentTarget as HTMLElement
      target.setPointerCapture(event.pointerId)
      target.focus()
      setDrag({ id, what, from: { x: event.clientX, y: event.clientY }, places })
    },
    onPointerMove: (event: PointerEvent) => drag?.id === id && show(during(event, drag)),
    onPointerUp: (event: PointerEvent) => {
      if (drag?.id !== id) return
      setDrag(null)
      put(during(event, drag), id)
    },
    onPointerCancel: () => {
      if (drag?.id === id) revert(drag.places)
      setDrag(null)
    },
    onKeyDown: (event: KeyboardEvent) => {
      if (event.key === 'Escape' && drag) {
        revert(drag.places)
        return setDrag(null)
      }
      const by = Object.hasOwn(arrows, event.key) ? arrows[event.key] : undefined
      if (!by || drag) return
      event.preventDefault()
      step(id, what, by)
    },
  })
  const byId = new Map(tiles.map((tile) => [tile.id, tile]))
  // The order of reading is that of the places; it stays while a tile is dragged.
  const shown = useMemo(() => inOrder(drag?.places ?? places).map(({ id }) => id), [drag === null, drag === null ? places : null])
  return (
    <>
      <p class="hidden" role="status" aria-live="polite">
        {said}
      </p>
      <div class={`board${isArranging ? ' arranging' : ''}`} ref={ref} style={{ gridAutoRows: `${row}px` }}>
        {width > 0 &&
          shown.map((id) => {
            const [tile, at] = [byId.get(id), places.find((one) => one.id === id)]
            if (!tile || !at) return null
            const name = tile.insight ? insightName(tile.insight) : 'Text'
            return (
              <section
                class={`tile${drag?.id === id ? ' dragged' : ''}${tile.insight ? '' : ' of-text'}`}
                key={id}
                style={{ gridColumn: `${at.x + 1} / span ${at.w}`, gridRow: `${at.y + 1} / span ${at.h}` }}
                aria-label={name}
              >
                <header>
                  {tile.insight ? <h2>{fitInto === null ? <a href={insightLink(link, tile.insight)}>{name}</a> : name}</h2> : <span />}
                  {fitInto === null && (
                    <span class="tile-tools">
                      {isArranging && (
                        <>
                          <button type="button" class="plain handle" aria-label={`Move ${name}: arrow keys`} {...handle(id, 'move')}>
                            ✥
                          </button>
                          <button type="button" class="plain handle" aria-label={`Resize ${name}: arrow keys`} {...handle(id, 'resize')}>
                            ⤡
                          </button>
                        </>
                      )}
                      <Menu label={`More for ${name}`}>
                        {isArranging && <Steps layout={layout} step={(what, by) => step(id, what, by)} />}
                        {menu(tile)}
                      </Menu>
                    </span>
                  )}
                </header>
                {render(tile, chartHeight(at.h, row))}
              </section>
            )
          })}
      </div>
    </>
  )
}

const steps: readonly { readonly title: string; readonly what: Drag['what']; readonly by: readonly [number, number] }[] = [
  { title: 'Move up', what: 'move', by: [0, -1] },
  { title: 'Move down', what: 'move', by: [0, 1] },
  { title: 'Move left', what: 'move', by: [-1, 0] },
  { title: 'Move right', what: 'move', by: [1, 0] },
  { title: 'Taller', what: 'resize', by: [0, 1] },
  { title: 'Less tall', what: 'resize', by: [0, -1] },
  { title: 'Wider', what: 'resize', by: [1, 0] },
  { title: 'Less wide', what: 'resize', by: [-1, 0] },
]

/** For those who neither drag nor have a keyboard. */
const Steps = ({ layout, step }: { layout: Layout; step: (what: Drag['what'], by: readonly [number, number]) => void }) => (
  <>
    {steps
      .filter(({ by: [dx] }) => layout === 'sm' || dx === 0)
      .map(({ title, what, by }) => (
        <button type="button" class="plain" key={title} onClick={() => step(what, by)}>
          {title}
        </button>
      ))}
  </>
)
