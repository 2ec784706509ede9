import { useEffect, useRef, useState } from 'preact/hooks'
import type { Query } from '../lib/api.ts'
import { NumberField } from '../ui/number-field.tsx'
import { DraftField, Select } from '../ui/parts.tsx'
import { isTotal, numberFormats, smoothings } from './choices.ts'
import { listIn, objectIn, textIn, within } from './query.ts'

// How a chart of trends is drawn: its numbers, its axes, and what is drawn beside the values.

interface Props {
  readonly query: Query
  onChange(query: Query): void
}

const lineDisplays = ['ActionsLineGraph', 'ActionsLineGraphCumulative', 'SlopeGraph']
const stackDisplays = ['ActionsAreaGraph', 'ActionsBar', 'ActionsStackedBar']
const barDisplays = ['ActionsUnstackedBar']

export function ChartOptions({ query, onChange }: Props) {
  const filter = objectIn(query, 'trendsFilter')
  const display = textIn(filter, 'display') || 'ActionsLineGraph'
  const set = (name: string, value: unknown) => onChange(within(query, 'trendsFilter', name, value === '' ? undefined : value))
  const check = (name: string, label: string) => (
    <label class="inline">
      <input type="checkbox" checked={filter[name] === true} onChange={(event) => set(name, event.currentTarget.checked || undefined)} />
      {label}
    </label>
  )
  const isLines = lineDisplays.includes(display)
  const isStack = stackDisplays.includes(display)
  const isDrawn = isLines || isStack || barDisplays.includes(display)
  const hasSeveral = listIn(query, 'series').length + listIn(filter, 'formulaNodes').length > 1
  const details = useClosing()
  return (
    <details class="inline-details" ref={details}>
      <summary>Options</summary>
      <div class="popup chart-options">
        <h3>Numbers</h3>
        <div class="inline">
          <Select
            label="Format of the numbers"
            value={textIn(filter, 'aggregationAxisFormat') || 'numeric'}
            options={numberFormats}
            onChange={(next) => set('aggregationAxisFormat', next === 'numeric' ? '' : next)}
          />
          <DraftField
            label="Text before the numbers"
            placeholder="Before: $"
            value={textIn(filter, 'aggregationAxisPrefix')}
            onChange={(text) => set('aggregationAxisPrefix', text)}
          />
          <DraftField
            label="Text after the numbers"
            placeholder="After: €"
            value={textIn(filter, 'aggregationAxisPostfix')}
            onChange={(text) => set('aggregationAxisPostfix', text)}
          />
          {!isTotal(display) && (
            <Select
              label="Smoothing"
              value={textIn(filter, 'smoothingIntervals') || '1'}
              options={smoothings}
              onChange={(next) => set('smoothingIntervals', next === '1' ? '' : Number(next))}
            />
          )}
        </div>
        {isDrawn && (
          <>
            <h3>Axes and lines</h3>
            <div class="inline">
              {check('showValuesOnSeries', 'Numbers on the chart')}
              {isStack && check('showPercentStackView', 'Shares of the total')}
              {!isStack && (
                <label class="inline">
                  <input
                    type="checkbox"
                    checked={filter.yAxisScaleType === 'log10'}
                    onChange={(event) => set('yAxisScaleType', event.currentTarget.checked ? 'log10' : undefined)}
                  />
                  Logarithmic axis
                </label>
              )}
              {!isStack && hasSeveral && check('showMultipleYAxes', 'Second axis')}
              {isLines && check('showTrendLines', 'Trend line')}
              {isLines && check('showMovingAverage', 'Moving average')}
              {isLines && filter.showMovingAverage === true && (
                <>
                  <span>of</span>
                  <NumberField
                    label="Intervals of the moving average"
                    value={filter.movingAverageIntervals ?? 7}
                    from={2}
                    most={90}
                    onChange={(count) => set('movingAverageIntervals', count)}
                  />
                  <span>intervals</span>
                </>
              )}
            </div>
            <h3>Goal lines</h3>
            <GoalLines
              goals={listIn<Goal>(filter, 'goalLines')}
              onChange={(goals) => set('goalLines', goals.length > 0 ? goals : undefined)}
            />
          </>
        )}
      </div>
    </details>
  )
}

/** Closes with Escape and with a press outside. */
function useClosing() {
  const details = useRef<HTMLDetailsElement>(null)
  useEffect(() => {
    const close = () => {
      if (details.current) details.current.open = false
    }
    const leave = ({ target }: Event) => {
      if (target instanceof Node && !details.current?.contains(target)) close()
    }
    const onEscape = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || !details.current?.open || event.defaultPrevented) return
      close()
      details.current.querySelector('summary')?.focus()
    }
    document.addEventListener('pointerdown', leave)
    document.addEventListener('keydown', onEscape)
    return () => {
      document.removeEventListener('pointerdown', leave)
      document.removeEventListener('keydown', onEscape)
    }
  }, [])
  return details
}

type Goal = Readonly<Record<string, unknown>>

function GoalLines({ goals, onChange }: { goals: readonly Goal[]; onChange: (goals: readonly Goal[]) => void }) {
  const [name, setName] = useState('')
  const [value, setValue] = useState('')
  const number = value.trim() === '' ? Number.NaN : Number(value)
  const add = (event: Event) => {
    event.preventDefault()
    if (Number.isNaN(number)) return
    onChange([...goals, { label: name.trim() || 'Goal', value: number }])
    setName('')
    setValue('')
  }
  return (
    <form class="inline" onSubmit={add} aria-label="Goal lines">
      {goals.map((goal, i) => (
        <span class="chip" key={i}>
          {`${String(goal.label ?? '')} ${String(goal.value ?? '')}`}
          <button
            type="button"
            class="plain"
            aria-label={`Remove the goal line ${String(goal.label ?? '')}`}
            onClick={() => onChange(goals.filter((_, at) => at !== i))}
          >
            ✕
          </button>
        </span>
      ))}
      <input
        aria-label="Name of the goal line"
        placeholder="Label, for example Goal"
        value={name}
        onInput={(event) => setName(event.currentTarget.value)}
      />
      <input
        aria-label="Number of the goal line"
        placeholder="Value"
        inputMode="decimal"
        size={8}
        value={value}
        onInput={(event) => setValue(event.currentTarget.value)}
      />
      <button type="submit" disabled={Number.isNaN(number)}>
        Add goal line
      </button>
    </form>
  )
}
