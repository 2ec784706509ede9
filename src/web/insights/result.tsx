import { useMemo, useState } from 'preact/hooks'
import type { Chart } from '../../service/pictures/chart.ts'
import { namedParts } from '../../service/pictures/named-parts.ts'
import { readChart } from '../../service/pictures/read-chart.ts'
import { answerInWords, type Whole } from '../answers/answer-in-words.ts'
import { AnswerWords } from '../answers/answer-words.tsx'
import { AttachedAges } from '../answers/attached-ages.tsx'
import { LegendTable } from '../answers/legend-table.tsx'
import { splitInWords, type Totals } from '../answers/split-in-words.ts'
import { ChartView } from '../charts/chart-view.tsx'
import { useLegend } from '../charts/legend.tsx'
import type { Picked } from '../charts/picked.ts'
import type { Answer, Query } from '../lib/api.ts'
import { useProject } from '../lib/session.ts'
import { useBaseline } from './baseline.ts'
import { Correlation, canCorrelate } from './correlation.tsx'
import { People } from './people.tsx'
import { type Chosen, inStep, onEdge, peopleAt, retained, rowsOf } from './people-of.ts'
import { BinTable, BoxTable, CountryTable, FunnelTable, PathTable, RetentionGrid, SeriesTable } from './tables.tsx'
import { useTotals, useWholes } from './totals.ts'
import { canZoom, zoomed } from './zoom.ts'

const mostOnTile = 2
/** Of the words on a tile, with what is under them. */
const wordsHeight = 76

/** A tile asks nothing but its chart: of a number that would be asked for the whole range it says that of the last interval. */
const asKnown = (whole: Whole): Whole => ({ ...whole, now: whole.now ?? null, before: whole.before ?? null })

/** Of what is split, what its values say where nothing is asked of all together. */
function inWords(query: Query, answer: Answer, chart: Chart, wholes: readonly Whole[], totals: Totals, isPlain: boolean) {
  const isOfValues = query.kind === 'TrendsQuery' ? wholes.every(({ now }) => now === null) : isPlain && chart.kind === 'funnel'
  return isOfValues && query.breakdownFilter != null
    ? splitInWords(query, answer, chart, totals)
    : answerInWords(query, answer, chart, wholes)
}

/** The answer to an insight: its chart, its numbers, and the people behind each of them. */
export function Result({
  query,
  answer: asked,
  title,
  height = 340,
  isPlain = false,
  isOpen = false,
  onZoom,
}: {
  query: Query
  answer: Answer
  title: string
  height?: number
  /** As a tile: without the tables and the people, with few words. */
  isPlain?: boolean
  /** With what it says in words, and the numbers in sight. */
  isOpen?: boolean
  /** To the dates of some intervals of the chart. */
  onZoom?: (query: Query) => void
}) {
  const { timezone } = useProject()
  const answer = useBaseline(query, asked, !isPlain)
  const [chosen, setChosen] = useState<Chosen | null>(null)
  const chart = useMemo(() => readChart(query, answer, timezone), [answer])
  const pick = isPlain ? undefined : (picked: Picked) => setChosen(peopleAt(query, answer, chart, picked))
  const ofRow = (series: number) => pick?.({ series, index: -1 })
  const isShareOverTime = query.kind === 'FunnelsQuery' && chart.kind === 'lines'
  const isTrend = query.kind === 'TrendsQuery'
  const totals = useTotals(query, answer, isOpen && isTrend)
  const wholes = useWholes(query, answer, totals, isOpen)
  const said = isOpen || isPlain ? inWords(query, answer, chart, isPlain ? wholes.map(asKnown) : wholes, totals, isPlain) : []
  const parts = namedParts(chart)
  const legend = useLegend(parts)
  const hasSeries =
    isShareOverTime ||
    (['TrendsQuery', 'StickinessQuery', 'LifecycleQuery'].includes(query.kind) && chart.kind !== 'map' && chart.kind !== 'grid')
  const isOverTime = chart.kind === 'lines' || chart.kind === 'bars'
  const hasLegendTable = isOpen && hasSeries && isOverTime
  return (
    <div class="result">
      <AnswerWords said={isPlain ? said.slice(0, mostOnTile) : said} />
      {query.kind === 'RetentionQuery' && !isPlain ? (
        <>
          {chart.kind === 'lines' && <ChartView chart={chart} title={title} height={height} {...(pick && { onPick: pick })} />}
          <RetentionGrid
            query={query}
            answer={answer}
            onChoose={(row, interval, name) => setChosen(retained(query, answer, row, interval, name))}
          />
        </>
      ) : (
        <div class={chart.kind === 'map' && !isPlain ? 'map-with-table' : ''}>
          <ChartView
            chart={chart}
            title={title}
            height={isPlain && said.length > 0 ? height - wordsHeight : height}
            {...(hasLegendTable && { legend })}
            {...(pick && { onPick: pick })}
            {...(onZoom && canZoom(query) && { onZoom: (from, to) => onZoom(zoomed(query, chart, from, to)) })}
          />
          {chart.kind === 'map' && !isPlain && <CountryTable chart={chart} onChoose={ofRow} />}
        </div>
      )}
      {hasLegendTable && (
        <LegendTable
          query={query}
          answer={answer}
          chart={chart}
          parts={parts}
          legend={legend}
          totals={totals}
          wholes={wholes}
          onChoose={(picked) => pick?.(picked)}
        />
      )}
      {!isPlain && hasSeries && (
        <SeriesTable
          query={query}
          answer={answer}
          chart={chart}
          {...(isOpen && { totals })}
          isOpen={isOpen && !hasLegendTable}
          onChoose={(picked) => pick?.(picked)}
        />
      )}
      {!isPlain && chart.kind === 'boxes' && <BoxTable chart={chart} isOpen={isOpen} onChoose={ofRow} />}
      {!isPlain && query.kind === 'FunnelsQuery' && chart.kind === 'bars' && <BinTable chart={chart} />}
      {!isPlain && query.kind === 'FunnelsQuery' && chart.kind === 'funnel' && (
        <>
          <FunnelTable answer={answer} onChoose={(step, row) => setChosen(inStep(query, step, row))} />
          {canCorrelate(query) && <Correlation query={query} onChoose={setChosen} />}
        </>
      )}
      {!isPlain && query.kind === 'PathsQuery' && chart.kind === 'flow' && (
        <PathTable answer={answer} onChoose={(row) => setChosen(onEdge(query, rowsOf(answer)[row]))} />
      )}
      <AttachedAges answer={answer} />
      {(answer.warnings ?? []).map(({ message }) => (
        <p class="warning" key={message}>
          {message}
        </p>
      ))}
      {chosen && <People title={chosen.title} source={chosen.source} onClose={() => setChosen(null)} />}
    </div>
  )
}
