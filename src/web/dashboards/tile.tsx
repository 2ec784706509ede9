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
import { type Look, lookParameters, unfiltered } from './model.ts'

interface Props {
  readonly insight: SavedInsightAnswer
  readonly dashboard: number
  readonly look: Look
  /** What somebody wrote about the insight is shown too. */
  readonly hasDescription: boolean
  readonly round: number
  readonly isForced: boolean
  /** Where the events end that the answer is to have, if it follows them. */
  readonly position: number | null
  readonly queue: Queue
  readonly height: number
}

export const insightName = ({ name, derived_name, query }: SavedInsightAnswer): string =>
  name || derived_name || unwrapped(query).kind.replace(/Query$/, '')

/** Where the question of a tile can be changed. */
export const insightLink = (link: (path: string) => string, { short_id }: SavedInsightAnswer): string =>
  linkTo(link(`insights/${short_id}`))

/** The answer that came with an insight, as that of its query. */
export const answerOf = (answered: AnsweredInsightAnswer): Answer => ({ ...(answered as unknown as Answer), results: answered.result })

/** The answer of an insight where it is shown. It is asked for when it comes into view, or when nothing else is to be asked. */
export function InsightTile({ insight, dashboard, look, hasDescription, round, isForced, position, queue, height }: Props) {
  const { api } = useProject()
  const [ref, isSeen, isInView] = useSeen(queue)
  // What nobody looks at does not follow.
  const followed = useRef(position)
  if (isInView) followed.current = position
  const [progress, setProgress] = useState<Progress>('unseen')
  const parameters = new URLSearchParams({
    from_dashboard: String(dashboard),
    refresh: isForced ? 'force_blocking' : 'blocking',
    ...lookParameters(look, unwrapped(insight.query)),
  })
  const { value, error, isLoading, reload, cancel } = useLoaded(
    async (signal): Promise<AnsweredInsightAnswer | null> => {
      if (!isSeen) return null
      setProgress('waiting')
      const ask = () => get<AnsweredInsightAnswer>(api(`insights/${insight.id}/?${parameters}`), signal)
      return queue.run(ask, signal, () => setProgress('computing'))
    },
    [isSeen, insight.id, String(parameters), round, followed.current],
  )
  const { filters } = look
  const isNarrowed = Boolean(filters.date_from || filters.date_to || filters.properties?.length)
  const reason = isNarrowed ? unfiltered(unwrapped(insight.query)) : null
  return (
    // A table in it may be larger than the tile.
    <div
      class="tile-body"
      ref={ref}
      {...busy(isSeen && !(value && position !== null) && (isLoading || (!value && !error)))}
      tabIndex={0}
      role="group"
      aria-label={`Answer: ${insightName(insight)}`}
    >
      {hasDescription && insight.description && <p class="note">{insight.description}</p>}
      {error && !isLoading && <ErrorBox error={error} retry={reload} />}
      {(!error || isLoading) && value && (
        <ChartPlaceContext.Provider value={{ insight: insight.id, dashboard }}>
          <Drawn query={insight.query} answered={value} title={insightName(insight)} height={height} />
        </ChartPlaceContext.Provider>
      )}
      {(isLoading || (!value && !error)) &&
        !(value && position !== null) &&
        (progress === 'computing' ? (
          <Working what="Computing" look={value ? 'bar' : 'chart'} cancel={cancel} />
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
  const answer = answerOf(answered)
  const shown = unwrapped(query)
  if (shown.kind === 'HogQLQuery')
    return (
      <div class="result">
        <ChartView chart={readChart(query, answer, timezone)} title={title} height={height} />
      </div>
    )
  return <Result query={shown} answer={answer} title={title} height={height} isPlain />
}

/** Whether the element was in view, or nearly, or is due although nobody looks at it; and whether it is in view now. */
function useSeen(queue: Queue) {
  const ref = useRef<HTMLDivElement>(null)
  const [isSeen, setSeen] = useState(false)
  const [isInView, setInView] = useState(false)
  useEffect(() => {
    const observer = new IntersectionObserver(
      (entries) => {
        const isNow = entries.at(-1)!.isIntersecting
        setInView(isNow)
        if (isNow) setSeen(true)
      },
      { rootMargin: '300px' },
    )
    observer.observe(ref.current!)
    return () => observer.disconnect()
  }, [])
  useEffect(() => (isSeen ? undefined : queue.whenIdle(() => setSeen(true))), [isSeen])
  return [ref, isSeen, isInView] as const
}
