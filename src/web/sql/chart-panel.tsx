import { useMemo } from 'preact/hooks'
import { readChart } from '../../service/pictures/read-chart.ts'
import { ChartView } from '../charts/chart-view.tsx'
import type { Answer, Query } from '../lib/api.ts'
import { useProject } from '../lib/session.ts'
import { Select } from '../ui/parts.tsx'
import { type ChartChoice, chartNode, fittingChart } from './chart-choice.ts'
import { columnsOf, rowsOf } from './columns.ts'

// An answer as a chart: which column is the axis, and which are drawn.

const displays = [
  { value: 'ActionsLineGraph', label: 'Lines' },
  { value: 'ActionsAreaGraph', label: 'Areas' },
  { value: 'ActionsBar', label: 'Bars' },
  { value: 'ActionsStackedBar', label: 'Bars, stacked' },
  { value: 'BoldNumber', label: 'Number' },
]
const withSplit = ({ split: _, ...choice }: ChartChoice, split: string): ChartChoice => (split === '' ? choice : { ...choice, split })

export function ChartPanel({
  answer,
  query,
  choice,
  onChoose,
}: {
  answer: Answer
  query: Query
  choice: ChartChoice | null
  onChoose: (choice: ChartChoice) => void
}) {
  const { timezone } = useProject()
  const columns = useMemo(() => columnsOf(answer), [answer])
  const rows = useMemo(() => rowsOf(answer), [answer])
  const chosen = fittingChart(choice, columns, rows)
  const chart = useMemo(() => {
    if (!chosen) return null
    // A number is its first column: the chosen one.
    const at = columns.findIndex(({ name }) => name === chosen.y[0])
    const shown =
      chosen.display === 'BoldNumber' ? { ...answer, columns: [chosen.y[0]!], results: rows.slice(0, 1).map((row) => [row[at]]) } : answer
    return readChart(chartNode(query, chosen), shown, timezone)
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
            <Select
              label="Split by"
              isHidden={false}
              value={chosen.split ?? ''}
              options={[{ value: '', label: 'nothing' }, ...names.filter(({ value }) => value !== chosen.x && !chosen.y.includes(value))]}
              onChange={(split) => onChoose(withSplit(chosen, split))}
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
      <ChartView chart={chart} title="Answer of the statement" />
    </>
  )
}
