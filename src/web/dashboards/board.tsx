import type { ComponentChildren, RefObject } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { TileAnswer, WholeDashboardAnswer } from '../../doors/answers/dashboards.ts'
import { ApiError, get, patch, post } from '../lib/api.ts'
import { boardOf } from '../lib/begun-on.ts'
import { type Place as Address, go, linkTo } from '../lib/router.ts'
import { useProject } from '../lib/session.ts'
import { offerUndo } from '../lib/undo.ts'
import { useLoaded } from '../lib/use-loaded.ts'
import { usePosition } from '../lib/use-position.ts'
import { VariablesBar } from '../sql/variables-bar.tsx'
import { AboutDocument } from '../ui/about-document.tsx'
import { Refused } from '../ui/forms.tsx'
import { InPlace } from '../ui/in-place.tsx'
import { Menu } from '../ui/menu.tsx'
import { Empty, ErrorBox, NotHere, PageHead, Working } from '../ui/parts.tsx'
import { BoardDialog, type Open } from './board-dialog.tsx'
import { BoardFiltersBar } from './board-filters.tsx'
import { createQueue, type Queue } from './loading.ts'
import { boardTitle, keptVariables, type Look } from './model.ts'
import { print, whenPrinted } from './printing.ts'
import { TextTile } from './text-tile.tsx'
import { InsightTile, insightName } from './tile.tsx'
import { TileMenu } from './tile-menu.tsx'
import { Tiles } from './tiles.tsx'
import { type Change, useChanges } from './use-changes.ts'
import { useLook } from './use-look.ts'
import type { SavePlaces } from './use-places.ts'
import { LiveSign, useWall, useWindowHeight, WallBar } from './wall.tsx'

/** Over and under the tiles of a wall, in pixels. */
const aroundWall = 66

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

function Additions({ dashboard, place, onOpen }: { dashboard: WholeDashboardAnswer; place: Address; onOpen: (open: Open) => void }) {
  const { link } = useProject()
  return (
    <>
      <button type="button" onClick={() => onOpen({ what: 'insight' })}>
        Add insight
      </button>
      <a class="button" href={linkTo(link('insights/new'), { ...boardOf(dashboard.id, place) })}>
        New chart
      </a>
      <button type="button" onClick={() => onOpen({ what: 'text' })}>
        Add text
      </button>
    </>
  )
}

/** Of members; viewers have less. */
const editorLevel = 37

function OpenBoard({
  dashboard,
  onChanged,
  place,
}: {
  dashboard: WholeDashboardAnswer
  onChanged: (dashboard: WholeDashboardAnswer) => void
  place: Address
}) {
  const [open, setOpen] = useState<Open | null>(null)
  const canChange = dashboard.effective_privilege_level >= editorLevel
  const { change, tryTo, savePlaces, failure } = useChanges(dashboard, onChanged)
  const [asking, setAsking] = useState({ round: 0, isForced: false })
  const [isArranging, setArranging] = useState(false)
  const queue = useMemo(createQueue, [])
  const { look, isChanged, isLive, isOnWall, lookAt, setLive, setWall } = useLook(dashboard, place, () =>
    setAsking((before) => ({ ...before, isForced: false })),
  )
  const { override, filters, values } = look
  const board = useRef<HTMLDivElement>(null)
  const position = usePosition(isLive, queue.isBusy)
  useEffect(() => whenPrinted(queue.wakeAll), [])
  useWall(isOnWall, () => setWall(false))

  const keep = () =>
    tryTo(
      change({ filters, variables: keptVariables(dashboard, look) }).then(() => {
        lookAt(null, {})
        setAsking((before) => ({ round: before.round + 1, isForced: false }))
      }),
    )
  /** The browser may refuse to take its own bars away; the tiles fill its window anyway. */
  const showOnWall = () => {
    setWall(true)
    document.documentElement.requestFullscreen?.().catch(() => undefined)
  }
  const removeTile = async (tile: TileAnswer) => {
    await change({ tiles: [{ id: tile.id, deleted: true }] })
    const name = tile.insight ? insightName(tile.insight) : 'The text'
    offerUndo({ text: `${name} was removed from the dashboard.`, undo: () => change({ tiles: [{ id: tile.id, deleted: false }] }) })
  }

  const tiles =
    dashboard.tiles.length === 0 ? (
      <Empty title="This dashboard is empty">
        <p>Add charts of insights, new charts or texts with the buttons above.</p>
      </Empty>
    ) : (
      <BoardTiles
        {...{ dashboard, look, position, queue, change, tryTo, savePlaces, removeTile, isOnWall, ...asking }}
        isArranging={isArranging && !isOnWall}
        onOpen={setOpen}
      />
    )
  if (isOnWall)
    return (
      <div class="board-page wall" ref={board}>
        {tiles}
        <WallBar title={boardTitle(dashboard)} position={position} onLeave={() => setWall(false)} />
      </div>
    )
  return (
    <div class="board-page" ref={board}>
      <BoardHead dashboard={dashboard} change={canChange ? change : null}>
        <Additions dashboard={dashboard} place={place} onOpen={setOpen} />
        <button type="button" aria-pressed={isArranging} onClick={() => setArranging(!isArranging)}>
          {isArranging ? 'Done' : 'Edit layout'}
        </button>
        <button type="button" aria-pressed={isLive} title="The tiles follow the events as they arrive" onClick={() => setLive(!isLive)}>
          {isLive ? <LiveSign position={position} /> : 'Live'}
        </button>
        <button type="button" title="Only the tiles, live: for a screen on a wall" onClick={showOnWall}>
          Full screen
        </button>
        <button type="button" onClick={() => setAsking((before) => ({ round: before.round + 1, isForced: true }))}>
          Refresh
        </button>
        <button type="button" onClick={() => setOpen({ what: 'share' })}>
          Share
        </button>
        <MoreMenu dashboard={dashboard} board={board} queue={queue} change={change} tryTo={tryTo} onOpen={setOpen} />
      </BoardHead>
      <AboutDocument
        description={dashboard.description}
        tags={dashboard.tags}
        author={dashboard.created_by}
        changed={dashboard.last_modified_at ? { at: dashboard.last_modified_at } : null}
        change={canChange ? change : null}
      />
      {failure && <Refused error={failure} />}
      <BoardFiltersBar
        filters={filters}
        isChanged={isChanged}
        onChange={(next) => lookAt(next, values)}
        onKeep={keep}
        onReset={() => lookAt(null, {})}
      />
      <VariablesBar variables={look.variables} onChange={(id, value) => lookAt(override, { ...values, [id]: value })} />
      {isArranging && (
        <p class="note">
          Drag ✥ to move a tile and ⤡ to resize it. With the keyboard: focus one of them and press the arrow keys. The menu of a tile can do
          the same. A narrow screen has an arrangement of its own.
        </p>
      )}
      {tiles}
      {open && <BoardDialog open={open} dashboard={dashboard} change={change} onChanged={onChanged} onClose={() => setOpen(null)} />}
    </div>
  )
}

interface TilesProps {
  readonly dashboard: WholeDashboardAnswer
  readonly look: Look
  readonly position: number | null
  readonly queue: Queue
  readonly change: Change
  readonly savePlaces: SavePlaces
  readonly isOnWall: boolean
  readonly isArranging: boolean
  readonly round: number
  readonly isForced: boolean
  tryTo(work: Promise<unknown>): void
  removeTile(tile: TileAnswer): Promise<void>
  onOpen(open: Open): void
}

function BoardTiles(props: TilesProps) {
  const { dashboard, look, position, queue, change, savePlaces, isOnWall, isArranging, round, isForced, tryTo, removeTile, onOpen } = props
  const height = useWindowHeight()
  return (
    <Tiles
      tiles={dashboard.tiles}
      isArranging={isArranging}
      fitInto={isOnWall ? height - aroundWall : null}
      onSave={savePlaces}
      render={(tile, chartHeight) =>
        tile.insight ? (
          <InsightTile
            insight={tile.insight}
            dashboard={dashboard.id}
            look={look}
            hasDescription={tile.show_description === true}
            round={round}
            isForced={isForced}
            position={position}
            queue={queue}
            height={chartHeight}
          />
        ) : (
          <TextTile body={tile.text?.body ?? ''} />
        )
      }
      menu={(tile) => (
        <TileMenu
          tile={tile}
          dashboard={dashboard}
          look={look}
          change={change}
          tryTo={tryTo}
          onOpen={onOpen}
          onRemove={() => tryTo(removeTile(tile))}
        />
      )}
    />
  )
}

function BoardHead({
  dashboard,
  change,
  children,
}: {
  dashboard: WholeDashboardAnswer
  /** Null: the reader may not. */
  change: Change | null
  children: ComponentChildren
}) {
  const title = boardTitle(dashboard)
  return (
    <PageHead
      title={title}
      heading={change && <InPlace label="Name" value={dashboard.name} empty={title} most={400} onSave={(name) => change({ name })} />}
    >
      {children}
    </PageHead>
  )
}

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
  const remove = async () => {
    const path = api(`dashboards/${dashboard.id}/`)
    await patch(path, { deleted: true })
    go(linkTo(link('dashboards')))
    offerUndo({
      text: `${boardTitle(dashboard)} is deleted. Its insights stay.`,
      undo: () => patch(path, { deleted: false }).then(() => go(linkTo(link(`dashboards/${dashboard.id}`)))),
    })
  }
  return (
    <Menu label="More">
      <button type="button" class="plain" onClick={() => void print(queue, board.current!)}>
        Print
      </button>
      <button type="button" class="plain" onClick={() => onOpen({ what: 'subscribe' })}>
        Subscribe
      </button>
      <button type="button" class="plain" onClick={() => onOpen({ what: 'history' })}>
        History
      </button>
      <button type="button" class="plain" onClick={() => tryTo(change({ pinned: !dashboard.pinned }))}>
        {dashboard.pinned ? 'Unpin' : 'Pin'}
      </button>
      <button type="button" class="plain" onClick={() => tryTo(duplicate())}>
        Duplicate
      </button>
      <button type="button" class="plain" onClick={() => tryTo(remove())}>
        Delete
      </button>
    </Menu>
  )
}
