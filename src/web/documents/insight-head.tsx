import { useState } from 'preact/hooks'
import type { AnsweredInsightAnswer, SavedInsightAnswer } from '../../doors/answers/insights.ts'
import { useTileOf } from '../insights/add-to-dashboard.tsx'
import type { What } from '../insights/editor-dialog.tsx'
import { unwrapped } from '../insights/query.ts'
import { type Answer, patch, type Query } from '../lib/api.ts'
import { boardIn } from '../lib/begun-on.ts'
import { current, go, linkTo } from '../lib/router.ts'
import { useProject } from '../lib/session.ts'
import { offerUndo } from '../lib/undo.ts'
import { startDownload } from '../sql/download.ts'
import { AboutDocument } from '../ui/about-document.tsx'
import { ForMembers } from '../ui/for-members.tsx'
import { Refused } from '../ui/forms.tsx'
import { InPlace } from '../ui/in-place.tsx'
import { Menu } from '../ui/menu.tsx'
import { PageHead } from '../ui/parts.tsx'
import { Star } from '../ui/tags.tsx'
import { downloadPicture, type PictureFormat } from './downloads.ts'

// An insight as a document: its name, what somebody wrote about it, and what is done with it.

interface Props {
  readonly title: string
  readonly query: Query
  /** Null: there is none yet, or it is not of this query. */
  readonly answer: Answer | null
  readonly saved: SavedInsightAnswer | null
  /** The query is not the saved one. */
  readonly isChanged: boolean
  readonly isEditing: boolean
  onEdit(isEditing: boolean): void
  onDialog(what: What): void
  onSaved(saved: SavedInsightAnswer): void
  /** Back to the saved query. */
  onDiscard(): void
}

export function InsightHead(props: Props) {
  const { title, query, saved, isChanged, isEditing, onEdit, onDialog, onSaved, onDiscard } = props
  const { api, link } = useProject()
  const board = boardIn(current()).dashboard
  const [failure, setFailure] = useState<Error | null>(null)
  const tryTo = (work: Promise<unknown>) => {
    setFailure(null)
    work.catch(setFailure)
  }
  const change = (body: object): Promise<unknown> => patch<AnsweredInsightAnswer>(api(`insights/${saved!.id}/`), body).then(onSaved)
  const canChange = saved?.user_access_level !== 'viewer'
  const remove = async () => {
    await patch(api(`insights/${saved!.id}/`), { deleted: true })
    go(linkTo(link('insights')))
    offerUndo({
      text: `${title} is deleted.`,
      undo: async () => {
        await patch(api(`insights/${saved!.id}/`), { deleted: false })
        go(linkTo(link(`insights/${saved!.short_id}`)))
      },
    })
  }
  return (
    <>
      <PageHead
        title={title}
        heading={
          saved && canChange ? (
            <InPlace label="Name" value={saved.name ?? ''} empty={title} most={400} onSave={(name) => change({ name })} />
          ) : (
            title
          )
        }
        beside={saved && canChange && <Star of={title} isOn={saved.favorited} onChange={(favorited) => tryTo(change({ favorited }))} />}
      >
        {saved && canChange && isChanged && (
          <>
            <button type="button" onClick={onDiscard}>
              Discard changes
            </button>
            <button
              type="button"
              class="primary"
              onClick={() =>
                tryTo(
                  change({ query: query.kind === unwrapped(saved.query).kind ? { kind: 'InsightVizNode', source: query } : query }).then(
                    onDiscard,
                  ),
                )
              }
            >
              Save changes
            </button>
          </>
        )}
        {saved && (
          <>
            <button type="button" aria-pressed={isEditing} onClick={() => onEdit(!isEditing)}>
              {isEditing ? 'Done' : 'Edit'}
            </button>
            <button type="button" onClick={() => onDialog('share')}>
              Share
            </button>
            <button type="button" onClick={() => onDialog('notifications')}>
              Alerts
            </button>
          </>
        )}
        {(isEditing || !saved) && (
          <button type="button" onClick={() => onDialog('json')}>
            Query
          </button>
        )}
        {!saved && (
          <ForMembers>
            <AsTile query={query} onDialog={onDialog} tryTo={tryTo} />
            <button type="button" class={board === null ? 'primary' : ''} onClick={() => onDialog('save')}>
              Save
            </button>
          </ForMembers>
        )}
        <MoreMenu {...props} onFailure={setFailure} onRemove={() => tryTo(remove())} canChange={canChange} />
      </PageHead>
      {failure && <Refused error={failure} />}
      {saved && <About saved={saved} change={canChange ? change : null} onDashboards={() => onDialog('dashboards')} />}
    </>
  )
}

/** Of a question that is no insight. One that was begun on a dashboard goes there. */
function AsTile({ query, onDialog, tryTo }: { query: Query; onDialog: (what: What) => void; tryTo: (work: Promise<unknown>) => void }) {
  const { dashboard } = boardIn(current())
  const add = useTileOf(query)
  if (dashboard === null)
    return (
      <button type="button" onClick={() => onDialog('tile')}>
        Add to a dashboard
      </button>
    )
  return (
    <button type="button" class="primary" onClick={() => tryTo(add(Number(dashboard)))}>
      Add to the dashboard
    </button>
  )
}

function MoreMenu({
  title,
  query,
  answer,
  saved,
  isEditing,
  canChange,
  onDialog,
  onFailure,
  onRemove,
}: Props & { canChange: boolean; onFailure: (error: Error) => void; onRemove: () => void }) {
  const { api, timezone, mayChange } = useProject()
  const picture = (format: PictureFormat) =>
    downloadPicture({ query, answer: answer!, title, description: saved?.description ?? '', timezone }, format).catch(onFailure)
  return (
    <Menu label="More">
      {saved && !isEditing && (
        <button type="button" class="plain" onClick={() => onDialog('json')}>
          Query
        </button>
      )}
      {saved && mayChange && (
        <button type="button" class="plain" onClick={() => onDialog('save')}>
          Save a copy
        </button>
      )}
      {answer && (
        <>
          <button
            type="button"
            class="plain"
            onClick={() => startDownload(api('query/export/'), unwrapped(query), 'spreadsheet', onFailure)}
          >
            Download numbers (CSV)
          </button>
          <button type="button" class="plain" onClick={() => void picture('png')}>
            Download picture (PNG)
          </button>
          <button type="button" class="plain" onClick={() => void picture('svg')}>
            Download picture (SVG)
          </button>
        </>
      )}
      {saved && (
        <>
          {canChange && (
            <button type="button" class="plain" onClick={() => onDialog('dashboards')}>
              Dashboards…
            </button>
          )}
          <button type="button" class="plain" onClick={() => onDialog('history')}>
            History
          </button>
          {canChange && (
            <button type="button" class="plain" onClick={onRemove}>
              Delete
            </button>
          )}
        </>
      )}
    </Menu>
  )
}

function About({
  saved,
  change,
  onDashboards,
}: {
  saved: SavedInsightAnswer
  change: ((body: object) => Promise<unknown>) | null
  onDashboards: () => void
}) {
  const { link } = useProject()
  const { description, tags, created_by: author, last_modified_at: at, last_modified_by: by } = saved
  const [first, ...others] = saved.dashboards
  return (
    <AboutDocument description={description} tags={tags} author={author} changed={{ at, by }} change={change}>
      {first !== undefined &&
        (others.length === 0 ? (
          <a href={linkTo(link(`dashboards/${first}`))}>On a dashboard</a>
        ) : (
          <button type="button" class="plain link" onClick={onDashboards}>
            On {saved.dashboards.length} dashboards
          </button>
        ))}
    </AboutDocument>
  )
}
