import { useState } from 'preact/hooks'
import type { SavedInsightAnswer } from '../../doors/answers/insights.ts'
import { get, type Page, type Query } from '../lib/api.ts'
import type { PageProps } from '../lib/page.ts'
import { useProject } from '../lib/session.ts'
import { useLoaded } from '../lib/use-loaded.ts'
import type { Side } from '../sql/side-tabs.tsx'
import '../sql/sql.css'
import { variablesIn } from '../sql/variables.ts'
import { findView } from '../sql/views.tsx'
import { type Opened, Workbench } from '../sql/workbench.tsx'
import { ErrorBox, NotHere, Working } from '../ui/parts.tsx'

const sample = `select event, count() as number
from events
where timestamp > now() - interval 30 day
group by event
order by number desc`

/** The address says what is open: a statement (`q`), a saved query (`view`), or an insight with a statement (`insight`). */
export function Sql({ place }: PageProps) {
  const { api } = useProject()
  const [view, insight] = [place.search.get('view'), place.search.get('insight')]
  const written = place.search.get('q')
  const [side, setSide] = useState<Side>('tables')
  const of = `${view ?? ''} ${insight ?? ''}`
  const { value, error, reload } = useLoaded(
    // `of`: what the address named.
    async (signal): Promise<Opened & { readonly of: string }> => {
      if (view !== null) {
        const found = await findView(api, view, signal)
        return { of, statement: found.query.query, variables: {}, view: found, insight: null, choice: null }
      }
      if (insight !== null) {
        const found = await get<Page<SavedInsightAnswer>>(api(`insights/?basic=true&short_id=${encodeURIComponent(insight)}`), signal)
        return { of, ...openInsight(found) }
      }
      return { of, statement: sample, variables: {}, view: null, insight: null, choice: null }
    },
    [view, insight],
  )
  if (error)
    return (
      <NotHere title="This saved query cannot be opened">
        <ErrorBox error={error} retry={reload} />
      </NotHere>
    )
  if (value?.of !== of) return <Working what="Reading the statement" />
  return <Workbench key={of} opened={value} written={written} keeps={{ view, insight }} onSaved={reload} side={side} onSide={setSide} />
}

/** Which columns the chart of a saved statement draws. */
interface Settings {
  readonly xAxis?: { readonly column: string }
  readonly yAxis?: readonly { readonly column: string }[]
  readonly seriesBreakdownColumn?: string | null
}

function openInsight({ results }: Page<SavedInsightAnswer>): Opened {
  const [found] = results
  if (!found) throw new Error('This insight does not exist any more.')
  const node = found.query as Query & { display?: string; chartSettings?: Settings }
  const source = (node.source ?? node) as Query & { query?: string }
  const y = node.chartSettings?.yAxis?.map(({ column }) => column) ?? []
  const split = node.chartSettings?.seriesBreakdownColumn
  const choice =
    typeof node.display === 'string'
      ? { display: node.display, x: node.chartSettings?.xAxis?.column ?? '', y, ...(typeof split === 'string' && { split }) }
      : null
  return {
    statement: String(source.query ?? ''),
    variables: variablesIn(source.variables),
    view: null,
    insight: { id: found.id, short_id: found.short_id, name: found.name || 'SQL', query: found.query },
    choice,
  }
}
