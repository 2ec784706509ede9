import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { TileAnswer, WholeDashboardAnswer } from '../../doors/answers/dashboards.ts'
import type { Placed } from '../../service/pictures/grid.ts'
import type { Layout } from '../../service/pictures/tile-places.ts'
import { SubscriptionsDialog } from '../alerts/dialog.tsx'
import { SharingDialog } from '../insights/sharing.tsx'
import { ApiError, get, patch, post } from '../lib/api.ts'
import { type Place as Address, go, linkTo } from '../lib/router.ts'
import { useProject } from '../lib/session.ts'
import { useLoaded } from '../lib/use-loaded.ts'
import { Refused } from '../ui/forms.tsx'
import { Empty, ErrorBox, NotHere, PageHead, Working } from '../ui/parts.tsx'
import { AddInsight, DeleteDialog, EditText, RenameDialog } from './add-tile.tsx'
import { BoardFiltersBar } from './board-filters.tsx'
import { createQueue, type Queue } from './loading.ts'
import { Menu } from './menu.tsx'
import { type BoardFilters, changesOf } from './model.ts'
import { TextTile } from './text-tile.tsx'
import { InsightTile, insightLink, insightName } from './tile.tsx'
import { Tiles } from './tiles.tsx'

type Open =
  | { readonly what: 'insight' | 'text' | 'rename' | 'share' | 'subscribe' | 'delete' }
  | { readonly what: 'edit' | 'name'; readonly tile: TileAnswer }

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
  const { api, link } = useProject()
  const [open, setOpen] = useState<Open | null>(null)
  const [failure, setFailure] = useState<Error | null>(null)
  const [removed, setRemoved] = useState<TileAnswer | null>(null)
  const [asking, setAsking] = useState({ round: 0, isForced: false })
  const [isArranging, setArranging] = useState(false)
  const queue = useMemo(createQueue, [])
  const board = useRef<HTMLDivElement>(null)
  useEffect(() => whenPrinted(queue.wakeAll), [])
  const path = api(`dashboards/${dashboard.id}/`)

  const override = filtersOf(place.search.get('filters'))
  const filters = { ...dashboard.filters, ...override }
  const look = (next: BoardFilters | null) => {
    setAsking((before) => ({ ...before, isForced: false }))
    go(linkTo(link(`dashboards/${dashboard.id}`), { filters: next && JSON.stringify(next) }), true)
  }

  // As it is stored; drawn a little later.
  const stored = useRef(dashboard)
  const change = async (body: unknown) => {
    stored.current = await patch<WholeDashboardAnswer>(path, body)
    onChanged(stored.current)
  }
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
  const removeTile = (tile: TileAnswer) => tryTo(change({ tiles: [{ id: tile.id, deleted: true }] }).then(() => setRemoved(tile)))
  const undo = () => removed && tryTo(change({ tiles: [{ id: removed.id, deleted: false }] }).then(() => setRemoved(null)))
  const duplicate = async () => {
    const made = await post<WholeDashboardAnswer>(api('dashboards/'), { name: `${dashboard.name} (copy)`, use_dashboard: dashboard.id })
    go(linkTo(link(`dashboards/${made.id}`)))
  }

  // One after the other, each with what differs from what the one before has stored.
  const saving = useRef<Promise<unknown>>(Promise.resolve())
  const save = (layout: Layout, places: readonly Placed[]) => {
    setFailure(null)
    saving.current = saving.current
      .then(async () => {
        const tiles = changesOf(stored.current.tiles, layout, places)
        if (tiles.length > 0) await change({ tiles })
      })
      .catch(setFailure)
    return saving.current
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
        <Menu label="More">
          <button type="button" class="plain" onClick={() => tryTo(toggleFullScreen(board.current!))}>
            Full screen
          </button>
          <button type="button" class="plain" onClick={() => void print(queue, board.current!)}>
            Print
          </button>
          <button type="button" class="plain" onClick={() => setOpen({ what: 'subscribe' })}>
            Subscribe
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
      {failure && <Refused error={failure} />}
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
          onSave={save}
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
            onChanged(await get<WholeDashboardAnswer>(path))
          }}
          onClose={() => setOpen(null)}
        />
      )}
      {open?.what === 'rename' && <RenameDialog name={dashboard.name} onSave={(name) => change({ name })} onClose={() => setOpen(null)} />}
      {open?.what === 'share' && <SharingDialog of={{ what: 'dashboard', id: dashboard.id, name: title }} onClose={() => setOpen(null)} />}
      {open?.what === 'subscribe' && <SubscriptionsDialog of={{ dashboard: dashboard.id }} onClose={() => setOpen(null)} />}
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

/** Calls back when the page goes to paper, or is shown as if it did. */
function whenPrinted(wake: () => void): () => void {
  const paper = matchMedia('print')
  const changed = () => paper.matches && wake()
  paper.addEventListener('change', changed)
  addEventListener('beforeprint', wake)
  return () => {
    paper.removeEventListener('change', changed)
    removeEventListener('beforeprint', wake)
  }
}

/** A browser does not wait for what a page still computes: all tiles come first. */
async function print(queue: Queue, board: HTMLElement): Promise<void> {
  queue.wakeAll()
  const isReady = () => board.querySelector('.tile-body[aria-busy="true"]') === null
  await new Promise((resolve) => setTimeout(resolve))
  if (!isReady())
    await new Promise<void>((resolve) => {
      const observer = new MutationObserver(() => {
        if (!isReady()) return
        observer.disconnect()
        resolve()
      })
      observer.observe(board, { subtree: true, attributes: true, attributeFilter: ['aria-busy'] })
    })
  window.print()
}
