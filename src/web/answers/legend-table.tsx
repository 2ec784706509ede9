import type { Chart, Series } from '../../service/pictures/chart.ts'
import { type NumberFormat, numberText, percentages } from '../../service/pictures/format.ts'
import type { NamedPart } from '../../service/pictures/named-parts.ts'
import { Swatch, type useLegend } from '../charts/legend.tsx'
import type { Picked } from '../charts/picked.ts'
import { Spark } from '../charts/spark.tsx'
import { type AnswerRow, rowsOf } from '../insights/people-of.ts'
import { textIn } from '../insights/query.ts'
import { PeopleButton, Scrolling } from '../insights/tables.tsx'
import type { Answer, Query } from '../lib/api.ts'
import { type SortValue, sortedBy } from '../ui/sorted-by.ts'
import { SortHead, useOrder } from '../ui/sorting.tsx'
import { changeOf, type Whole } from './answer-in-words.ts'
import { ChangeSign } from './answer-words.tsx'

type TimeChart = Extract<Chart, { kind: 'lines' | 'bars' }>

interface Row {
  readonly part: NamedPart
  readonly series: Series
  /** What it is compared with. */
  readonly previous: { readonly part: NamedPart; readonly series: Series } | null
}

const keyOf = ({ order, breakdown_value: value, status }: AnswerRow) => JSON.stringify([order ?? 0, value ?? null, status ?? null])

/** A series and the one of the period before are one row. */
function rowsIn(chart: TimeChart, parts: readonly NamedPart[], answered: readonly AnswerRow[]): readonly Row[] {
  const all = chart.series.map((series, i) => ({ series, part: parts[i]!, key: keyOf(answered[series.row] ?? {}) }))
  return all
    .filter(({ series }) => !series.isPrevious)
    .map(({ series, part, key }) => ({ series, part, previous: all.find((one) => one.series.isPrevious && one.key === key) ?? null }))
}

/** Of the intervals that are over. */
function meanOf({ values }: Series, over: number): number | null {
  const known = values.slice(0, over).filter((value) => value !== null)
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0) / known.length
}

/** An average of whole numbers needs no more than one decimal. */
const average = (value: number | null, format: NumberFormat): string =>
  numberText(
    value,
    format.decimals === null && format.style === 'numeric' ? { ...format, decimals: value !== null && value < 100 ? 1 : 0 } : format,
  )

const keysOf = ({ part, previous }: Row) => [part.key, ...(previous ? [previous.part.key] : [])]

/** A click hides the series, twice leaves it alone. */
function NameOf({ row, isAlone, hasOnly, legend }: { row: Row; isAlone: boolean; hasOnly: boolean; legend: ReturnType<typeof useLegend> }) {
  const { part } = row
  return (
    <span class="name">
      <Swatch {...part} />
      {isAlone ? (
        part.label
      ) : (
        <button
          type="button"
          class="plain cell"
          aria-pressed={!legend.hidden.has(part.key)}
          title="Hide or show it; twice: leave it alone"
          onClick={() => legend.toggle(...keysOf(row))}
          onDblClick={() => legend.only(...keysOf(row))}
        >
          {part.label}
        </button>
      )}
      {hasOnly && (
        <button type="button" class="plain only" aria-label={`Only ${part.label}`} onClick={() => legend.only(...keysOf(row))}>
          only
        </button>
      )}
    </span>
  )
}

/** The legend of a chart over time, with what each series comes to. A name hides its series, twice leaves it alone. */
export function LegendTable({
  query,
  answer,
  chart,
  parts,
  legend,
  totals,
  wholes,
  onChoose,
}: {
  query: Query
  answer: Answer
  chart: TimeChart
  parts: readonly NamedPart[]
  legend: ReturnType<typeof useLegend>
  totals: readonly (number | null | undefined)[]
  wholes: readonly Whole[]
  onChoose: (picked: Picked) => void
}) {
  const answered = rowsOf(answer)
  const rows = rowsIn(chart, parts, answered)
  const isTrend = query.kind === 'TrendsQuery'
  const isCompared = isTrend && rows.some(({ previous }) => previous !== null)
  const isSplit = isTrend && query.breakdownFilter != null
  const over = Math.max(1, chart.labels.length - chart.unfinished)
  const interval = textIn(query, 'interval') || 'day'
  const hasTime = query.kind !== 'StickinessQuery'
  const total = (value: number | null | undefined) => (value === undefined ? '…' : numberText(value, chart.format))
  // People of the last days are no number of the whole range: then the last interval stands for it.
  const hasTotals = !rows.every(({ series }) => totals[series.row] === null)
  const totalOrLatest = ({ row, values }: Series) => (hasTotals ? total(totals[row]) : numberText(values[over - 1] ?? null, chart.format))
  const shareOf = ({ series }: Row): string => {
    const whole = wholes.find(({ order }) => order === Number(answered[series.row]?.order ?? 0))?.now
    const own = totals[series.row]
    return whole == null || whole <= 0 || own == null ? '–' : numberText((100 * own) / whole, { ...percentages, decimals: 1 })
  }
  const use = useOrder()
  const valueIn = ({ part, series, previous }: Row, column: number): SortValue =>
    [
      part.label,
      hasTotals ? totals[series.row] : series.values[over - 1],
      previous === null ? null : (totals[series.row] ?? 0) - (totals[previous.series.row] ?? 0),
      meanOf(series, over),
    ][column]
  const { order } = use
  const shown = order === null ? rows : sortedBy(rows, (row) => valueIn(row, order.column), order.isDown)
  const head = (title: string, column: number) => <SortHead title={title} column={column} isNumber={column > 0} use={use} />
  return (
    <div class="legend-table">
      <Scrolling label="Series">
        <table class="rows">
          <thead>
            <tr>
              {head('Series', 0)}
              {isTrend && head(hasTotals ? 'Total' : 'Latest', 1)}
              {isCompared && head('Change', 2)}
              {hasTime && <th class="wide-only">Trend</th>}
              {hasTime && head(`Average by ${interval}`, 3)}
              {isSplit && hasTotals && <th class="number">Share</th>}
            </tr>
          </thead>
          <tbody>
            {shown.map((row) => {
              const { part, series, previous } = row
              const change = previous ? changeOf(totals[series.row], totals[previous.series.row], chart.format) : null
              return (
                <tr key={part.key} onPointerEnter={() => legend.light(part.mark)} onPointerLeave={() => legend.light(null)}>
                  <td>
                    <NameOf row={row} isAlone={rows.length === 1} hasOnly={rows.length > 2} legend={legend} />
                  </td>
                  {isTrend && (
                    <td class="number">
                      {totals[series.row] == null || answered[series.row]?.action === null ? (
                        totalOrLatest(series)
                      ) : (
                        <PeopleButton
                          label={`${total(totals[series.row])}: ${part.label}`}
                          onClick={() => onChoose({ series: series.row, index: -1 })}
                        >
                          {total(totals[series.row])}
                        </PeopleButton>
                      )}
                    </td>
                  )}
                  {isCompared && <td class="number">{change ? <ChangeSign of={change} /> : '–'}</td>}
                  {hasTime && (
                    <td class="wide-only">
                      <Spark values={series.values.slice(0, over).map((value) => value ?? 0)} color={series.color} height={22} />
                    </td>
                  )}
                  {hasTime && <td class="number">{average(meanOf(series, over), chart.format)}</td>}
                  {isSplit && hasTotals && <td class="number">{shareOf(row)}</td>}
                </tr>
              )
            })}
          </tbody>
        </table>
      </Scrolling>
      {parts.some(({ key }) => legend.hidden.has(key)) && (
        <button type="button" class="plain link" onClick={legend.showAll}>
          Show all
        </button>
      )}
    </div>
  )
}
