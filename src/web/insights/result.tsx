import { useMemo, useState } from 'preact/hooks'
import type { Chart } from '../../pictures/chart.ts'
import { durationText, numberText } from '../../pictures/format.ts'
import { readChart } from '../../pictures/read-chart.ts'
import { ChartView, type Picked } from '../charts/chart-view.tsx'
import type { Answer, Query } from '../lib/api.ts'
import { useProject } from '../lib/session.ts'
import { People } from './people.tsx'
import { objectIn } from './query.ts'

type Row = Readonly<Record<string, unknown>>
interface Chosen {
  readonly title: string
  readonly source: Query
}

const rowsOf = (answer: Answer): readonly Row[] => (Array.isArray(answer.results) ? (answer.results as Row[]) : [])

/** The answer to an insight: its chart, its numbers, and the people behind each of them. */
export function Result({
  query,
  answer,
  title,
  height = 340,
  isPlain = false,
}: {
  query: Query
  answer: Answer
  title: string
  height?: number
  isPlain?: boolean
}) {
  const { timezone } = useProject()
  const [chosen, setChosen] = useState<Chosen | null>(null)
  const chart = useMemo(() => readChart(query, answer, timezone), [answer])
  const pick = isPlain ? undefined : (picked: Picked) => setChosen(peopleAt(query, answer, chart, picked))
  return (
    <div class="result">
      {query.kind === 'RetentionQuery' && !isPlain ? (
        <RetentionGrid answer={answer} onChoose={(row, interval, cell) => setChosen(retained(query, row, interval, cell))} />
      ) : (
        <ChartView chart={chart} title={title} height={height} {...(pick && { onPick: pick })} />
      )}
      {!isPlain && query.kind === 'TrendsQuery' && chart.kind !== 'number' && (
        <TrendsTable answer={answer} chart={chart} onChoose={(series) => pick?.({ series, index: -1 })} />
      )}
      {!isPlain && query.kind === 'FunnelsQuery' && chart.kind === 'funnel' && (
        <FunnelTable answer={answer} onChoose={(step, name, group) => setChosen(inStep(query, step, name, group))} />
      )}
      {(answer.warnings ?? []).map(({ message }) => (
        <p class="warning" key={message}>
          {message}
        </p>
      ))}
      {chosen && <People title={chosen.title} source={chosen.source} onClose={() => setChosen(null)} />}
    </div>
  )
}

const insightActors = (query: Query, more: Row): Query => ({ kind: 'InsightActorsQuery', source: query, ...more })

/** `index` below 0: the people of the whole series. */
function peopleAt(query: Query, answer: Answer, chart: Chart, { series, index }: Picked): Chosen | null {
  const row = rowsOf(answer)[series]
  if (!row) return null
  const label = String(row.label ?? '')
  const days = Array.isArray(row.days) ? (row.days as unknown[]) : []
  const labels = chart.kind === 'lines' || chart.kind === 'bars' ? chart.labels : []
  const when = index < 0 ? '' : `, ${labels[index] ?? ''}`
  if (query.kind === 'FunnelsQuery') {
    if (objectIn(query, 'funnelsFilter').funnelVizType !== 'trends') return null
    const source = { kind: 'FunnelsActorsQuery', source: query, funnelTrendsEntrancePeriodStart: days[index], funnelTrendsDropOff: false }
    return { title: `Converted${when}`, source }
  }
  if (query.kind === 'LifecycleQuery')
    return { title: `${label}${when}`, source: insightActors(query, { day: days[index], status: row.status }) }
  if (query.kind === 'StickinessQuery') return { title: `${label}${when}`, source: insightActors(query, { day: days[index], series }) }
  const action = row.action as { order?: number } | null
  const source = insightActors(query, {
    ...(index >= 0 && { day: days[index] }),
    series: action?.order ?? series,
    ...(row.breakdown_value !== undefined && row.breakdown_value !== null && { breakdown: row.breakdown_value }),
    ...(typeof row.compare_label === 'string' && { compare: row.compare_label }),
  })
  return { title: `${label}${when}`, source }
}

function TrendsTable({ answer, chart, onChoose }: { answer: Answer; chart: Chart; onChoose: (series: number) => void }) {
  const rows = rowsOf(answer)
  const format =
    chart.kind === 'lines' || chart.kind === 'bars' || chart.kind === 'totals' || chart.kind === 'pie' ? chart.format : undefined
  if (rows.length === 0) return null
  return (
    <details>
      <summary>Numbers</summary>
      <div class="scroll" tabIndex={0} role="region" aria-label="Numbers">
        <table class="rows">
          <thead>
            <tr>
              <th>Series</th>
              <th class="number">Total</th>
              {chart.kind === 'lines' || chart.kind === 'bars'
                ? chart.labels.map((label) => (
                    <th class="number" key={label}>
                      {label}
                    </th>
                  ))
                : null}
            </tr>
          </thead>
          <tbody>
            {rows.map((row, i) => (
              <tr key={i}>
                <td>
                  <button type="button" class="plain cell" onClick={() => onChoose(i)}>
                    {String(row.label ?? 'All events')}
                    {row.compare_label === 'previous' ? ' (previous)' : ''}
                  </button>
                </td>
                <td class="number">{numberText(Number(row.aggregated_value ?? row.count ?? 0), format)}</td>
                {chart.kind === 'lines' || chart.kind === 'bars'
                  ? chart.labels.map((label, at) => (
                      <td class="number" key={label}>
                        {numberText(Array.isArray(row.data) ? ((row.data[at] as number | null | undefined) ?? null) : null, format)}
                      </td>
                    ))
                  : null}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  )
}

interface Step extends Row {
  readonly name: string
  readonly count: number
  readonly average_conversion_time?: number | null
  readonly median_conversion_time?: number | null
  readonly breakdown_value?: unknown
}

/** `step` below 0: those who left before it. */
function inStep(query: Query, step: number, name: string, group: unknown): Chosen {
  const source = { kind: 'FunnelsActorsQuery', source: query, funnelStep: step, ...(group !== undefined && { funnelStepBreakdown: group }) }
  return { title: step < 0 ? `Left before ${name}` : `Reached ${name}`, source }
}

function FunnelTable({ answer, onChoose }: { answer: Answer; onChoose: (step: number, name: string, group: unknown) => void }) {
  const groups = (
    Array.isArray(answer.results) && Array.isArray(answer.results[0]) ? answer.results : [answer.results]
  ) as readonly (readonly Step[])[]
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Steps">
      <table class="rows">
        <thead>
          <tr>
            <th>Step</th>
            <th class="number">Reached</th>
            <th class="number">Left before</th>
            <th class="number">Of all</th>
            <th class="number">Time from the step before</th>
          </tr>
        </thead>
        <tbody>
          {groups.flatMap((steps, g) =>
            steps.map((step, i) => {
              const group = groups.length > 1 ? step.breakdown_value : undefined
              const name = String(step.custom_name ?? step.name)
              const lost = i === 0 ? 0 : steps[i - 1]!.count - step.count
              return (
                <tr key={`${g} ${i}`}>
                  <td>
                    {i + 1}. {name}
                    {group !== undefined ? ` (${String(Array.isArray(group) ? group.join(', ') : group)})` : ''}
                  </td>
                  <td class="number">
                    <button type="button" class="plain cell" onClick={() => onChoose(i + 1, name, group)}>
                      {numberText(step.count)}
                    </button>
                  </td>
                  <td class="number">
                    {i === 0 ? (
                      '–'
                    ) : (
                      <button type="button" class="plain cell" onClick={() => onChoose(-(i + 1), name, group)}>
                        {numberText(lost)}
                      </button>
                    )}
                  </td>
                  <td class="number">{steps[0]!.count === 0 ? '–' : `${((100 * step.count) / steps[0]!.count).toFixed(1)}%`}</td>
                  <td class="number">
                    {typeof step.median_conversion_time === 'number' ? `median ${durationText(step.median_conversion_time)}` : '–'}
                  </td>
                </tr>
              )
            }),
          )}
        </tbody>
      </table>
    </div>
  )
}

interface Cohort {
  readonly label: string
  readonly date: string
  readonly values: readonly { readonly count: number }[]
}
const retained = (query: Query, row: number, interval: number, cell: string): Chosen => ({
  title: cell,
  source: insightActors(query, { interval: row, ...(interval > 0 && { day: interval }) }),
})

function RetentionGrid({ answer, onChoose }: { answer: Answer; onChoose: (row: number, interval: number, cell: string) => void }) {
  const { timezone } = useProject()
  const cohorts = rowsOf(answer) as unknown as readonly Cohort[]
  const widest = Math.max(0, ...cohorts.map(({ values }) => values.length))
  const day = (date: string) => new Date(date).toLocaleDateString('en-CA', { timeZone: timezone })
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Retention">
      <table class="retention">
        <thead>
          <tr>
            <th>Began</th>
            <th class="number">People</th>
            {Array.from({ length: widest }, (_, i) => (
              <th class="number" key={i}>
                {cohorts[i]?.label ?? i}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {cohorts.map((cohort, row) => {
            const size = cohort.values[0]?.count ?? 0
            return (
              <tr key={row}>
                <th scope="row">{day(cohort.date)}</th>
                <td class="number">
                  <button type="button" class="plain cell" onClick={() => onChoose(row, 0, `Began ${day(cohort.date)}`)}>
                    {numberText(size)}
                  </button>
                </td>
                {cohort.values.map(({ count }, i) => {
                  const share = size === 0 ? 0 : count / size
                  const level = Math.min(10, Math.ceil(share * 10))
                  return (
                    <td key={i} class={`number heat-${level}`} title={`${count} of ${size}`}>
                      {size === 0 ? '–' : `${(share * 100).toFixed(1)}%`}
                    </td>
                  )
                })}
              </tr>
            )
          })}
        </tbody>
      </table>
    </div>
  )
}
