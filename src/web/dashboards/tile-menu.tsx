import type { TileAnswer, WholeDashboardAnswer } from '../../doors/answers/dashboards.ts'
import type { AnsweredInsightAnswer } from '../../doors/answers/insights.ts'
import { downloadPicture, type PictureFormat } from '../documents/downloads.ts'
import { unwrapped } from '../insights/query.ts'
import { get, patch } from '../lib/api.ts'
import { linkTo } from '../lib/router.ts'
import { useProject } from '../lib/session.ts'
import { startDownload } from '../sql/download.ts'
import type { Open } from './board-dialog.tsx'
import { type Look, laidOver, lookParameters } from './model.ts'
import { answerOf, insightLink, insightName } from './tile.tsx'
import type { Change } from './use-changes.ts'

interface Props {
  readonly tile: TileAnswer
  readonly dashboard: WholeDashboardAnswer
  readonly look: Look
  readonly change: Change
  /** Shows the failure of what a click began. */
  tryTo(work: Promise<unknown>): void
  onOpen(open: Open): void
  onRemove(): void
}

export function TileMenu({ tile, dashboard, look, change, tryTo, onOpen, onRemove }: Props) {
  return (
    <>
      {tile.insight ? (
        <OfInsight insight={tile.insight} {...{ tile, dashboard, look, change, tryTo, onOpen }} />
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

type OfInsightProps = Omit<Props, 'onRemove'> & { readonly insight: NonNullable<TileAnswer['insight']> }

function OfInsight({ insight, tile, dashboard, look, change, tryTo, onOpen }: OfInsightProps) {
  const { api, link, timezone } = useProject()
  const query = unwrapped(insight.query)
  const numbers = () =>
    new Promise<never>((_, refused) => startDownload(api('query/export/'), query, 'spreadsheet', refused, laidOver(look, query, tile)))
  const picture = async (format: PictureFormat) => {
    const parameters = new URLSearchParams({ from_dashboard: String(dashboard.id), refresh: 'blocking', ...lookParameters(look, query) })
    const answered = await get<AnsweredInsightAnswer>(api(`insights/${insight.id}/?${parameters}`))
    const { description } = insight
    await downloadPicture({ query: insight.query, answer: answerOf(answered), title: insightName(insight), description, timezone }, format)
  }
  return (
    <>
      <a href={insightLink(link, insight)}>Open the {insight.saved ? 'insight' : 'question'}</a>
      <a href={linkTo(link(`insights/${insight.short_id}`), { edit: '1' })}>Edit the {insight.saved ? 'insight' : 'question'}</a>
      {!insight.saved && (
        <button
          type="button"
          class="plain"
          onClick={() => tryTo(patch(api(`insights/${insight.id}/`), { saved: true }).then(() => change({})))}
        >
          Save as an insight
        </button>
      )}
      <button type="button" class="plain" onClick={() => onOpen({ what: 'name', tile })}>
        Rename
      </button>
      {insight.description && (
        <button
          type="button"
          class="plain"
          onClick={() => tryTo(change({ tiles: [{ id: tile.id, show_description: !tile.show_description }] }))}
        >
          {tile.show_description ? 'Hide the description' : 'Show the description'}
        </button>
      )}
      <button type="button" class="plain" onClick={() => tryTo(numbers())}>
        Download numbers (CSV)
      </button>
      <button type="button" class="plain" onClick={() => tryTo(picture('png'))}>
        Download picture (PNG)
      </button>
      <button type="button" class="plain" onClick={() => tryTo(picture('svg'))}>
        Download picture (SVG)
      </button>
    </>
  )
}
