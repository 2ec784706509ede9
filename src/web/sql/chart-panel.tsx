import { useMemo, useState } from 'preact/hooks'
import { readChart } from '../../pictures/read-chart.ts'
import { ChartView } from '../charts/chart-view.tsx'
import type { Answer, Query } from '../lib/api.ts'
import { useProject } from '../lib/session.ts'
import { Select } from '../ui/parts.tsx'
import { type Column, columnsOf, rowsOf } from './columns.ts'

// An answer as a chart: which column is the axis, and which are drawn.

export interface ChartChoice {
  readonly display: string
  readonly x: string
  readonly y: readonly string[]
}

const displays = [
  { value: 'ActionsLineGraph', label: 'Lines' },
  { value: 'ActionsAreaGraph', label: 'Areas' },
  { value: 'ActionsBar', label: 'Bars' },
  { value: 'ActionsStackedBar', label: 'Bars, stacked' },
  { value: 'BoldNumber', label: 'Number' },
]
const mostSeries = 6

/** What fits the columns. Null: there is no number among them. */
export function guessChart(columns: readonly Column[], rows: readonly (readonly unknown[])[]): ChartChoice | null {
  const numbers = columns.filter(({ kind }) => kind === 'number').map(({ name }) => name)
  if (numbers.length === 0 || rows.length === 0) return null
  const time = columns.find(({ kind }) => kind === 'time')
  const axis = time ?? columns.find(({ kind }) => kind === 'text' || kind === 'other')
  if (!axis) {
    if (rows.length === 1 || numbers.length === 1) return { display: 'BoldNumber', x: '', y: numbers.slice(0, 1) }
    return { display: 'ActionsLineGraph', x: numbers[0]!, y: numbers.slice(1, 1 + mostSeries) }
  }
  return { display: time ? 'ActionsLineGraph' : 'ActionsBar', x: axis.name, y: numbers.slice(0, mostSeries) }
}

/** The node that says how a statement is drawn, as insights and dashboards keep it. */
export const chartNode = (source: Query, { display, x, y }: ChartChoice): Query => ({
  kind: 'DataVisualizationNode',
  source,
  display,
  ...(display !== 'BoldNumber' && { chartSettings: { xAxis: { column: x }, yAxis: y.map((column) => ({ column })) } }),
})

/** The chosen columns that the answer still has. */
export function fittingChart(
  choice: ChartChoice | null,
  columns: readonly Column[],
  rows: readonly (readonly unknown[])[],
): ChartChoice | null {
  const names = new Set(columns.map(({ name }) => name))
  const y = choice?.y.filter((name) => names.has(name)) ?? []
  const isFit = choice !== null && y.length > 0 && (choice.display === 'BoldNumber' || names.has(choice.x))
  return isFit ? { ...choice, y } : guessChart(columns, rows)
}

export function ChartPanel({
  answer,
  statement,
  choice,
  onChoose,
}: {
  answer: Answer
  statement: string
  choice: ChartChoice | null
  onChoose: (choice: ChartChoice) => void
}) {
  const { timezone } = useProject()
  const columns = useMemo(() => columnsOf(answer), [answer])
  const rows = useMemo(() => rowsOf(answer), [answer])
  const chosen = fittingChart(choice, columns, rows)
  const [title] = useState('Answer of the statement')
  const chart = useMemo(() => {
    if (!chosen) return null
    // A number is its first column: the chosen one.
    const at = columns.findIndex(({ name }) => name === chosen.y[0])
    const shown =
      chosen.display === 'BoldNumber' ? { ...answer, columns: [chosen.y[0]!], results: rows.slice(0, 1).map((row) => [row[at]]) } : answer
    return readChart(chartNode({ kind: 'HogQLQuery', query: statement }, chosen), shown, timezone)
  }, [answer, JSON.stringify(chosen)])
  if (!chosen || !chart)
    return (
      <p class="note">
        A chart needs rows and a column of numbers. Select one, such as <code>count()</code>, and run again.
      </p>
    )
  const names = columns.map(({ name }) => ({ value: name, label: name }))
  const numbers = columns.filter(({ kind, name }) => kind === 'number' && name !== chosen.x)
  const toggle = (name: string, isOn: boolean) => {
    const y = isOn ? [...chosen.y, name] : chosen.y.filter((one) => one !== name)
    if (y.length > 0) onChoose({ ...chosen, y })
  }
  const setDisplay = (display: string) => {
    if (display === 'BoldNumber' || chosen.x !== '') return onChoose({ ...chosen, display })
    onChoose({ display, x: columns.find(({ name }) => name !== chosen.y[0])?.name ?? chosen.y[0]!, y: chosen.y })
  }
  return (
    <>
      <div class="toolbar" role="toolbar" aria-label="How it is drawn">
        <Select label="Chart" value={chosen.display} options={displays} onChange={setDisplay} />
        {chosen.display === 'BoldNumber' ? (
          <Select
            label="Number"
            value={chosen.y[0]!}
            options={columns.filter(({ kind }) => kind === 'number').map(({ name }) => ({ value: name, label: name }))}
            onChange={(name) => onChoose({ ...chosen, y: [name] })}
          />
        ) : (
          <>
            <Select
              label="Axis"
              isHidden={false}
              value={chosen.x}
              options={names}
              onChange={(x) => onChoose({ ...chosen, x, y: chosen.y })}
            />
            {numbers.map(({ name }) => (
              <label class="inline" key={name}>
                <input type="checkbox" checked={chosen.y.includes(name)} onChange={(event) => toggle(name, event.currentTarget.checked)} />{' '}
                {name}
              </label>
            ))}
          </>
        )}
      </div>
      <ChartView chart={chart} title={title} />
    </>
  )
}
