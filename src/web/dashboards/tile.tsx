import { useEffect, useRef, useState } from 'preact/hooks'
import type { AnsweredInsightAnswer, SavedInsightAnswer } from '../../doors/answers/insights.ts'
import { readChart } from '../../service/pictures/read-chart.ts'
import { ChartPlaceContext } from '../annotations/chart-place.ts'
import { ChartView } from '../charts/chart-view.tsx'
import { unwrapped } from '../insights/query.ts'
import { Result } from '../insights/result.tsx'
import { type Answer, get, type Query } from '../lib/api.ts'
import { agoText } from '../lib/format.ts'
import { linkTo } from '../lib/router.ts'
import { useProject } from '../lib/session.ts'
import { useLoaded } from '../lib/use-loaded.ts'
import { busy } from '../ui/answer-of.tsx'
import { ErrorBox, Working } from '../ui/parts.tsx'
import type { Progress, Queue } from './loading.ts'
import { type BoardFilters, unfiltered } from './model.ts'

interface Props {
  readonly insight: SavedInsightAnswer
  readonly dashboard: number
  /** Of this look only; null: those that the dashboard has for everybody. */
  readonly override: BoardFilters | null
  /** Those that hold now, from either. */
  readonly filters: BoardFilters
  readonly round: number
  readonly isForced: boolean
  readonly queue: Queue
  readonly height: number
}

export const insightName = ({ name, derived_name, query }: SavedInsightAnswer): string =>
  name || derived_name || unwrapped(query).kind.replace(/Query$/, '')

/** Where the question of a tile can be changed. */
export const insightLink = (link: (path: string) => string, { short_id, query }: SavedInsightAnswer): string =>
  unwrapped(query).kind === 'HogQLQuery' ? linkTo(link('sql'), { insight: short_id }) : linkTo(link(`insights/${short_id}`))

/** The answer of an insight where it is shown. It is asked for when it comes into view, or when nothing else is to be asked. */
export function InsightTile({ insight, dashboard, override, filters, round, isForced, queue, height }: Props) {
  const { api } = useProject()
  const [ref, isSeen] = useSeen(queue)
  const [progress, setProgress] = useState<Progress>('unseen')
  const parameters = new URLSearchParams({
    from_dashboard: String(dashboard),
    refresh: isForced ? 'force_blocking' : 'blocking',
    ...(override && { filters_override: JSON.stringify(override) }),
  })
  const { value, error, isLoading, reload, cancel } = useLoaded(
    async (signal): Promise<AnsweredInsightAnswer | null> => {
      if (!isSeen) return null
      setProgress('waiting')
      const ask = () => get<AnsweredInsightAnswer>(api(`insights/${insight.id}/?${parameters}`), signal)
      return queue.run(ask, signal, () => setProgress('computing'))
    },
    [isSeen, insight.id, JSON.stringify(override), round],
  )
  const isNarrowed = Boolean(filters.date_from || filters.date_to || filters.properties?.length)
  const reason = isNarrowed ? unfiltered(unwrapped(insight.query)) : null
  return (
    // A table in it may be larger than the tile.
    <div
      class="tile-body"
      ref={ref}
      {...busy(isSeen && (isLoading || (!value && !error)))}
      tabIndex={0}
      role="group"
      aria-label={`Answer: ${insightName(insight)}`}
    >
      {error && !isLoading && <ErrorBox error={error} retry={reload} />}
      {(!error || isLoading) && value && (
        <ChartPlaceContext.Provider value={{ insight: insight.id, dashboard }}>
          <Drawn query={insight.query} answered={value} title={insightName(insight)} height={height} />
        </ChartPlaceContext.Provider>
      )}
      {(isLoading || (!value && !error)) &&
        (progress === 'computing' ? (
          <Working what="Computing" cancel={cancel} />
        ) : (
          progress === (isSeen ? 'waiting' : 'unseen') && (
            <p class="note">{isSeen ? 'Waits for the tiles that are being computed.' : 'Not computed yet: it is once you scroll to it.'}</p>
          )
        ))}
      {reason && <p class="note">{reason}: dates and filters of the dashboard do not change it.</p>}
      {!error && value?.last_refresh && <p class="note tile-age">Computed {agoText(value.last_refresh)}</p>}
    </div>
  )
}

function Drawn({ query, answered, title, height }: { query: Query; answered: AnsweredInsightAnswer; title: string; height: number }) {
  const { timezone } = useProject()
  const answer: Answer = { ...(answered as unknown as Answer), results: answered.result }
  const shown = unwrapped(query)
  if (shown.kind === 'HogQLQuery')
    return (
      <div class="result">
        <ChartView chart={readChart(query, answer, timezone)} title={title} height={height} />
      </div>
    )
  return <Result query={shown} answer={answer} title={title} height={height} isPlain />
}

/** Whether the element was in view, or nearly; or is due although nobody looks at it. */
function useSeen(queue: Queue) {
  const ref = useRef<HTMLDivElement>(null)
  const [isSeen, setSeen] = useState(false)
  useEffect(() => {
    const observer = new IntersectionObserver(
      (entries) => {
        if (!entries.some(({ isIntersecting }) => isIntersecting)) return
        setSeen(true)
        observer.disconnect()
      },
      { rootMargin: '300px' },
    )
    observer.observe(ref.current!)
    return () => observer.disconnect()
  }, [])
  useEffect(() => (isSeen ? undefined : queue.whenIdle(() => setSeen(true))), [isSeen])
  return [ref, isSeen] as const
}
