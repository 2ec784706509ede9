import type { RefObject } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { TileAnswer, WholeDashboardAnswer } from '../../doors/answers/dashboards.ts'
import { ApiError, get, post } from '../lib/api.ts'
import { type Place as Address, go, linkTo } from '../lib/router.ts'
import { useProject } from '../lib/session.ts'
import { useLoaded } from '../lib/use-loaded.ts'
import { Refused } from '../ui/forms.tsx'
import { Empty, ErrorBox, NotHere, PageHead, Working } from '../ui/parts.tsx'
import { BoardDialog, type Open } from './board-dialog.tsx'
import { BoardFiltersBar } from './board-filters.tsx'
import { createQueue, type Queue } from './loading.ts'
import { Menu } from './menu.tsx'
import { type BoardFilters, boardTitle } from './model.ts'
import { print, whenPrinted } from './printing.ts'
import { TextTile } from './text-tile.tsx'
import { InsightTile, insightLink } from './tile.tsx'
import { Tiles } from './tiles.tsx'
import { type Change, useChanges } from './use-changes.ts'

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
  const { value, error, reload } = useLoaded(
    (signal) => get<WholeDashboardAnswer>(api(`dashboards/${encodeURIComponent(id)}/`), signal),
    [id],
  )
  const [changed, setChanged] = useState<WholeDashboardAnswer | null>(null)
  if (error instanceof ApiError && error.status === 404) return <Missing />
  if (error) return <ErrorBox error={error} retry={reload} />
  if (!value) return <Working what="Reading the dashboard" />
  return <OpenBoard dashboard={changed?.id === value.id ? changed : value} onChanged={setChanged} place={place} />
}

function Missing() {
  const { link } = useProject()
  return (
    <NotHere title="This dashboard does not exist any more">
      <p>
        <a href={linkTo(link('dashboards'))}>All dashboards</a>
      </p>
    </NotHere>
  )
}

function OpenBoard({
  dashboard,
  onChanged,
  place,
}: {
  dashboard: WholeDashboardAnswer
  onChanged: (dashboard: WholeDashboardAnswer) => void
  place: Address
}) {
  const { link } = useProject()
  const [open, setOpen] = useState<Open | null>(null)
  const { change, tryTo, savePlaces, failure } = useChanges(dashboard, onChanged)
  const [removed, setRemoved] = useState<TileAnswer | null>(null)
  const [asking, setAsking] = useState({ round: 0, isForced: false })
  const [isArranging, setArranging] = useState(false)
  const queue = useMemo(createQueue, [])
  const board = useRef<HTMLDivElement>(null)
  useEffect(() => whenPrinted(queue.wakeAll), [])

  const override = filtersOf(place.search.get('filters'))
  const filters = { ...dashboard.filters, ...override }
  const look = (next: BoardFilters | null) => {
    setAsking((before) => ({ ...before, isForced: false }))
    go(linkTo(link(`dashboards/${dashboard.id}`), { filters: next && JSON.stringify(next) }), true)
  }

  const keep = () =>
    tryTo(
      change({ filters }).then(() => {
        look(null)
        setAsking((before) => ({ round: before.round + 1, isForced: false }))
      }),
    )
  const removeTile = (tile: TileAnswer) => tryTo(change({ tiles: [{ id: tile.id, deleted: true }] }).then(() => setRemoved(tile)))
  const undo = () => removed && tryTo(change({ tiles: [{ id: removed.id, deleted: false }] }).then(() => setRemoved(null)))

  return (
    <div class="board-page" ref={board}>
      <PageHead title={boardTitle(dashboard)}>
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
        <MoreMenu dashboard={dashboard} board={board} queue={queue} change={change} tryTo={tryTo} onOpen={setOpen} />
      </PageHead>
      {dashboard.description && <p>{dashboard.description}</p>}
      {failure && <Refused error={failure} />}
      <BoardFiltersBar filters={filters} isChanged={override !== null} onChange={look} onKeep={keep} onReset={() => look(null)} />
      {removed && (
        <p class="hint" role="status">
          The tile is gone.{' '}
          <button type="button" class="plain link" onClick={undo}>
            Undo
          </button>
        </p>
      )}
      {isArranging && (
        <p class="note">
          Drag ✥ to move a tile and ⤡ to resize it. With the keyboard: focus one of them and press the arrow keys. The menu of a tile can do
          the same. A narrow screen has an arrangement of its own.
        </p>
      )}
      {dashboard.tiles.length === 0 ? (
        <Empty title="Nothing on it yet">
          <p>Add an insight or a text above, or build a new insight and save it here.</p>
        </Empty>
      ) : (
        <Tiles
          tiles={dashboard.tiles}
          isArranging={isArranging}
          onSave={savePlaces}
          render={(tile, height) =>
            tile.insight ? (
              <InsightTile
                insight={tile.insight}
                dashboard={dashboard.id}
                override={override}
                filters={filters}
                round={asking.round}
                isForced={asking.isForced}
                queue={queue}
                height={height}
              />
            ) : (
              <TextTile body={tile.text?.body ?? ''} />
            )
          }
          menu={(tile) => <TileMenu tile={tile} onOpen={setOpen} onRemove={() => removeTile(tile)} />}
        />
      )}
      {open && <BoardDialog open={open} dashboard={dashboard} change={change} onChanged={onChanged} onClose={() => setOpen(null)} />}
    </div>
  )
}

const toggleFullScreen = (element: HTMLElement) => (document.fullscreenElement ? document.exitFullscreen() : element.requestFullscreen())

interface MoreProps {
  readonly dashboard: WholeDashboardAnswer
  readonly board: RefObject<HTMLDivElement | null>
  readonly queue: Queue
  readonly change: Change
  tryTo(work: Promise<unknown>): void
  onOpen(open: Open): void
}

function MoreMenu({ dashboard, board, queue, change, tryTo, onOpen }: MoreProps) {
  const { api, link } = useProject()
  const duplicate = async () => {
    const made = await post<WholeDashboardAnswer>(api('dashboards/'), { name: `${dashboard.name} (copy)`, use_dashboard: dashboard.id })
    go(linkTo(link(`dashboards/${made.id}`)))
  }
  return (
    <Menu label="More">
      <button type="button" class="plain" onClick={() => tryTo(toggleFullScreen(board.current!))}>
        Full screen
      </button>
      <button type="button" class="plain" onClick={() => void print(queue, board.current!)}>
        Print
      </button>
      <button type="button" class="plain" onClick={() => onOpen({ what: 'subscribe' })}>
        Subscribe
      </button>
      <button type="button" class="plain" onClick={() => onOpen({ what: 'rename' })}>
        Rename
      </button>
      <button type="button" class="plain" onClick={() => tryTo(change({ pinned: !dashboard.pinned }))}>
        {dashboard.pinned ? 'Unpin' : 'Pin'}
      </button>
      <button type="button" class="plain" onClick={() => tryTo(duplicate())}>
        Duplicate
      </button>
      <button type="button" class="plain" onClick={() => onOpen({ what: 'delete' })}>
        Delete
      </button>
    </Menu>
  )
}

function TileMenu({ tile, onOpen, onRemove }: { tile: TileAnswer; onOpen: (open: Open) => void; onRemove: () => void }) {
  const { link } = useProject()
  return (
    <>
      {tile.insight ? (
        <>
          <a href={insightLink(link, tile.insight)}>Open the insight</a>
          <button type="button" class="plain" onClick={() => onOpen({ what: 'name', tile })}>
            Rename
          </button>
        </>
      ) : (
        <button type="button" class="plain" onClick={() => onOpen({ what: 'edit', tile })}>
          Edit
        </button>
      )}
      <button type="button" class="plain" onClick={onRemove}>
        Remove from dashboard
      </button>
    </>
  )
}
