import type { ComponentChild } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { useWidth } from '../charts/chart-view.tsx'
import { ApiError, get, patch, post } from '../lib/api.ts'
import { type Place as Address, go, linkTo } from '../lib/router.ts'
import { useProject } from '../lib/session.ts'
import { useLoaded } from '../lib/use-loaded.ts'
import { Empty, ErrorBox, PageHead, Working } from '../ui/parts.tsx'
import { AddInsight, DeleteDialog, EditText, RenameDialog } from './add-tile.tsx'
import { BoardFiltersBar } from './board-filters.tsx'
import { arranged, columnCount, inOrder, moved, nudged, type Placed, resized } from './grid.ts'
import { createQueue } from './loading.ts'
import { Menu } from './menu.tsx'
import { type BoardFilters, type DashboardTile, placeOf, usualSize, type WholeDashboard } from './model.ts'
import { SharingDialog } from './sharing.tsx'
import { TextTile } from './text-tile.tsx'
import { InsightTile, insightLink, insightName } from './tile.tsx'

const [rowHeight, gap] = [80, 16]
/** Below, tiles stand in one column. */
const wide = 640
const narrowRows = 4
/** Of the title and the lines below the chart. */
const aroundChart = 108
const heightOf = (h: number) => h * rowHeight + (h - 1) * gap

type Open =
  | { readonly what: 'insight' | 'text' | 'rename' | 'share' | 'delete' }
  | { readonly what: 'edit' | 'name'; readonly tile: DashboardTile }

const filtersOf = (text: string | null): BoardFilters | null => {
  try {
    const value: unknown = text === null ? null : JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null
  } catch {
    return null
  }
}

export function Board({ id, place }: { id: string; place: Address }) {
  const { api } = useProject()
  const { value, error, reload } = useLoaded((signal) => get<WholeDashboard>(api(`dashboards/${encodeURIComponent(id)}/`), signal), [id])
  const [changed, setChanged] = useState<WholeDashboard | null>(null)
  if (error instanceof ApiError && error.status === 404) return <Missing />
  if (error) return <ErrorBox error={error} retry={reload} />
  if (!value) return <Working what="Reading the dashboard" />
  return <OpenBoard dashboard={changed?.id === value.id ? changed : value} onChanged={setChanged} place={place} />
}

function Missing() {
  const { link } = useProject()
  return (
    <Empty title="This dashboard does not exist any more">
      <p>
        <a href={linkTo(link('dashboards'))}>All dashboards</a>
      </p>
    </Empty>
  )
}

function OpenBoard({
  dashboard,
  onChanged,
  place,
}: {
  dashboard: WholeDashboard
  onChanged: (dashboard: WholeDashboard) => void
  place: Address
}) {
  const { api, link } = useProject()
  const [open, setOpen] = useState<Open | null>(null)
  const [failure, setFailure] = useState<Error | null>(null)
  const [removed, setRemoved] = useState<DashboardTile | null>(null)
  const [asking, setAsking] = useState({ round: 0, isForced: false })
  const [isArranging, setArranging] = useState(false)
  const [said, setSaid] = useState('')
  const queue = useMemo(createQueue, [])
  const board = useRef<HTMLDivElement>(null)
  const path = api(`dashboards/${dashboard.id}/`)

  const override = filtersOf(place.search.get('filters'))
  const filters = { ...dashboard.filters, ...override }
  const look = (next: BoardFilters | null) => {
    setAsking((before) => ({ ...before, isForced: false }))
    go(linkTo(link(`dashboards/${dashboard.id}`), { filters: next && JSON.stringify(next) }), true)
  }

  const change = async (body: unknown) => onChanged(await patch<WholeDashboard>(path, body))
  const tryTo = (work: Promise<unknown>) => {
    setFailure(null)
    work.catch(setFailure)
  }
  const keep = () =>
    tryTo(
      change({ filters }).then(() => {
        look(null)
        setAsking((before) => ({ round: before.round + 1, isForced: false }))
      }),
    )
  const removeTile = (tile: DashboardTile) => tryTo(change({ tiles: [{ id: tile.id, deleted: true }] }).then(() => setRemoved(tile)))
  const undo = () => removed && tryTo(change({ tiles: [{ id: removed.id, deleted: false }] }).then(() => setRemoved(null)))
  const duplicate = async () => {
    const made = await post<WholeDashboard>(api('dashboards/'), { name: `${dashboard.name} (copy)`, use_dashboard: dashboard.id })
    go(linkTo(link(`dashboards/${made.id}`)))
  }

  const known = useMemo(
    () => arranged(dashboard.tiles.map((tile) => ({ id: tile.id, place: placeOf(tile), size: usualSize(tile) }))),
    [dashboard],
  )
  const [places, setPlaces] = useState<readonly Placed[]>(known)
  useEffect(() => setPlaces(known), [known])
  const save = (next: readonly Placed[]) => {
    setPlaces(next)
    const tiles = next.flatMap(({ id, x, y, w, h }) => {
      const tile = dashboard.tiles.find((one) => one.id === id)
      const before = tile && placeOf(tile)
      const isSame = before && before.x === x && before.y === y && before.w === w && before.h === h
      return tile && !isSame ? [{ id, layouts: { ...tile.layouts, sm: { ...(tile.layouts.sm as object | undefined), x, y, w, h } } }] : []
    })
    if (tiles.length > 0) tryTo(change({ tiles }))
  }

  const title = dashboard.name || 'Dashboard'
  return (
    <div class="board-page" ref={board}>
      <PageHead title={title}>
        <button type="button" onClick={() => setOpen({ what: 'insight' })}>
          Add an insight
        </button>
        <button type="button" onClick={() => setOpen({ what: 'text' })}>
          Add a text
        </button>
        <button type="button" aria-pressed={isArranging} onClick={() => setArranging(!isArranging)}>
          {isArranging ? 'Done' : 'Arrange'}
        </button>
        <button type="button" onClick={() => setAsking((before) => ({ round: before.round + 1, isForced: true }))}>
          Refresh
        </button>
        <button type="button" onClick={() => setOpen({ what: 'share' })}>
          Share
        </button>
        <Menu label="More" text="⋯">
          <button type="button" class="plain" onClick={() => tryTo(toggleFullScreen(board.current!))}>
            Full screen
          </button>
          <button type="button" class="plain" onClick={() => setOpen({ what: 'rename' })}>
            Rename
          </button>
          <button type="button" class="plain" onClick={() => tryTo(change({ pinned: !dashboard.pinned }))}>
            {dashboard.pinned ? 'Unpin' : 'Pin'}
          </button>
          <button type="button" class="plain" onClick={() => tryTo(duplicate())}>
            Duplicate
          </button>
          <button type="button" class="plain" onClick={() => setOpen({ what: 'delete' })}>
            Delete
          </button>
        </Menu>
      </PageHead>
      {dashboard.description && <p>{dashboard.description}</p>}
      {failure && <ErrorBox error={failure} />}
      <BoardFiltersBar filters={filters} isChanged={override !== null} onChange={look} onKeep={keep} onReset={() => look(null)} />
      {removed && (
        <p class="hint" role="status">
          The tile is gone.{' '}
          <button type="button" class="plain link" onClick={undo}>
            Bring it back
          </button>
        </p>
      )}
      {isArranging && (
        <p class="note">Drag ✥ to move a tile and ⤡ to resize it. With the keyboard: focus one of them and press the arrow keys.</p>
      )}
      <p class="hidden" role="status" aria-live="polite">
        {said}
      </p>
      {dashboard.tiles.length === 0 ? (
        <Empty title="Nothing on it yet">
          <p>Add an insight or a text above, or build a new insight and save it here.</p>
        </Empty>
      ) : (
        <Tiles
          places={places}
          isArranging={isArranging}
          onPreview={setPlaces}
          onPlace={(next, id) => {
            const tile = next.find((one) => one.id === id)
            if (tile) setSaid(`Column ${tile.x + 1}, row ${tile.y + 1}, ${tile.w} wide, ${tile.h} high`)
            save(next)
          }}
          render={(tile, height) =>
            tile.insight ? (
              <InsightTile
                insight={tile.insight}
                dashboard={dashboard.id}
                override={override}
                round={asking.round}
                isForced={asking.isForced}
                queue={queue}
                height={height}
              />
            ) : (
              <TextTile body={tile.text?.body ?? ''} />
            )
          }
          menu={(tile) => (
            <>
              {tile.insight ? (
                <>
                  <a href={insightLink(link, tile.insight)}>Open the insight</a>
                  <button type="button" class="plain" onClick={() => setOpen({ what: 'name', tile })}>
                    Rename
                  </button>
                </>
              ) : (
                <button type="button" class="plain" onClick={() => setOpen({ what: 'edit', tile })}>
                  Edit
                </button>
              )}
              <button type="button" class="plain" onClick={() => removeTile(tile)}>
                Take off the dashboard
              </button>
            </>
          )}
          tiles={dashboard.tiles}
        />
      )}
      {open?.what === 'insight' && (
        <AddInsight
          known={new Set(dashboard.tiles.flatMap(({ insight }) => insight?.id ?? []))}
          onAdd={async (insight) => {
            await change({ tiles: [{ insight }] })
            setOpen(null)
          }}
          onClose={() => setOpen(null)}
        />
      )}
      {open?.what === 'text' && (
        <EditText body="" onSave={(body) => change({ tiles: [{ text: { body } }] })} onClose={() => setOpen(null)} />
      )}
      {open?.what === 'edit' && (
        <EditText
          body={open.tile.text?.body ?? ''}
          onSave={(body) => change({ tiles: [{ id: open.tile.id, text: { body } }] })}
          onClose={() => setOpen(null)}
        />
      )}
      {open?.what === 'name' && (
        <RenameDialog
          name={insightName(open.tile.insight!)}
          onSave={async (name) => {
            await patch(api(`insights/${open.tile.insight!.id}/`), { name })
            onChanged(await get<WholeDashboard>(path))
          }}
          onClose={() => setOpen(null)}
        />
      )}
      {open?.what === 'rename' && <RenameDialog name={dashboard.name} onSave={(name) => change({ name })} onClose={() => setOpen(null)} />}
      {open?.what === 'share' && <SharingDialog dashboard={dashboard.id} onClose={() => setOpen(null)} />}
      {open?.what === 'delete' && (
        <DeleteDialog
          title={title}
          onDelete={() => patch(path, { deleted: true }).then(() => go(linkTo(link('dashboards'))))}
          onClose={() => setOpen(null)}
        />
      )}
    </div>
  )
}

const toggleFullScreen = (element: HTMLElement) => (document.fullscreenElement ? document.exitFullscreen() : element.requestFullscreen())

interface TilesProps {
  readonly tiles: readonly DashboardTile[]
  readonly places: readonly Placed[]
  readonly isArranging: boolean
  onPreview(places: readonly Placed[]): void
  onPlace(places: readonly Placed[], id: number): void
  render(tile: DashboardTile, height: number): ComponentChild
  menu(tile: DashboardTile): ComponentChild
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

function Tiles({ tiles, places, isArranging, onPreview, onPlace, render, menu }: TilesProps) {
  const { link } = useProject()
  const [ref, width] = useWidth<HTMLDivElement>()
  const [drag, setDrag] = useState<Drag | null>(null)
  const isWide = width >= wide
  const column = (width + gap) / columnCount

  const during = ({ clientX, clientY }: PointerEvent, { id, what, from, places: before }: Drag) => {
    const [dx, dy] = [Math.round((clientX - from.x) / column), Math.round((clientY - from.y) / (rowHeight + gap))]
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
    onPointerMove: (event: PointerEvent) => drag?.id === id && onPreview(during(event, drag)),
    onPointerUp: (event: PointerEvent) => {
      if (drag?.id !== id) return
      setDrag(null)
      onPlace(during(event, drag), id)
    },
    onPointerCancel: () => {
      if (drag?.id === id) onPreview(drag.places)
      setDrag(null)
    },
    onKeyDown: (event: KeyboardEvent) => {
      if (event.key === 'Escape' && drag) {
        onPreview(drag.places)
        return setDrag(null)
      }
      const by = Object.hasOwn(arrows, event.key) ? arrows[event.key] : undefined
      if (!by || drag) return
      event.preventDefault()
      onPlace(what === 'move' ? nudged(places, id, ...by) : resized(places, id, ...by), id)
    },
  })
  const byId = new Map(tiles.map((tile) => [tile.id, tile]))
  // The order of reading is that of the places; it stays while a tile is dragged.
  const shown = useMemo(() => inOrder(drag?.places ?? places).map(({ id }) => id), [drag === null, drag === null ? places : null])
  return (
    <div class={`board${isWide ? ' wide' : ''}${isArranging ? ' arranging' : ''}`} ref={ref}>
      {width > 0 &&
        shown.map((id) => {
          const [tile, at] = [byId.get(id), places.find((one) => one.id === id)]
          if (!tile || !at) return null
          const name = tile.insight ? insightName(tile.insight) : 'Text'
          const style = isWide
            ? { gridColumn: `${at.x + 1} / span ${at.w}`, gridRow: `${at.y + 1} / span ${at.h}` }
            : { minHeight: tile.insight ? `${heightOf(narrowRows)}px` : 'auto' }
          const height = heightOf(isWide ? at.h : narrowRows) - aroundChart
          return (
            <section
              class={`tile${drag?.id === id ? ' dragged' : ''}${tile.insight ? '' : ' of-text'}`}
              key={id}
              style={style}
              aria-label={name}
            >
              <header>
                {tile.insight ? (
                  <h2>
                    <a href={insightLink(link, tile.insight)}>{name}</a>
                  </h2>
                ) : (
                  <span />
                )}
                <span class="tile-tools">
                  {isArranging && isWide && (
                    <button type="button" class="plain handle" aria-label={`Move ${name}: arrow keys`} {...handle(id, 'move')}>
                      ✥
                    </button>
                  )}
                  {isArranging && isWide && (
                    <button type="button" class="plain handle" aria-label={`Resize ${name}: arrow keys`} {...handle(id, 'resize')}>
                      ⤡
                    </button>
                  )}
                  <Menu label={`More for ${name}`} text="⋯">
                    {menu(tile)}
                  </Menu>
                </span>
              </header>
              {render(tile, Math.max(80, height))}
            </section>
          )
        })}
    </div>
  )
}
