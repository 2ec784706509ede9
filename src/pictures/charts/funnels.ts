import { type Chart, clipped, cut, type FunnelGroup, type FunnelStep, most, nothing } from '../chart.ts'
import { durationText, percentages, plainNumbers } from '../format.ts'
import { overTime } from './over-time.ts'
import { breakdownText, type Fields, fieldsOf, isPreviousRow, listOf, numberOf, numbersOf, objectsOf, textOf, textsOf } from './values.ts'

const stepOf = (row: Fields): FunnelStep => ({
  name: clipped(textOf(row.custom_name) || textOf(row.name) || 'All events'),
  count: Math.max(0, numberOf(row.count) ?? 0),
  time: numberOf(row.average_conversion_time),
})

/** Of a breakdown and a comparison, each group is a list of steps. */
function groupsOf(results: readonly unknown[]): readonly (readonly Fields[])[] {
  if (results.some(Array.isArray)) return results.map(objectsOf)
  const rows = objectsOf(results)
  const previous = rows.filter(isPreviousRow)
  return previous.length > 0 ? [rows.filter((row) => !isPreviousRow(row)), previous] : [rows]
}

function stepsChart(results: readonly unknown[]): Chart {
  const groups = groupsOf(results).filter((steps) => steps.length > 0)
  if (groups.length === 0) return nothing()
  const names = new Map<string, number>()
  const all = groups.map((steps): FunnelGroup => {
    const [first] = steps
    const value = first?.breakdown_value
    const label = value === undefined ? null : clipped(breakdownText(value))
    const isPrevious = isPreviousRow(first!)
    const key = label ?? ''
    const color = names.get(key) ?? names.size
    names.set(key, color)
    return {
      label: isPrevious ? `${label ?? 'Previous'}${label === null ? '' : ' (previous)'}` : label,
      color,
      isPrevious,
      steps: steps.slice(0, most.steps).map(stepOf),
    }
  })
  const longest = Math.max(...groups.map((steps) => steps.length))
  const { kept, leftOut } = cut(all, most.groups, 'group', 'groups')
  const steps = longest > most.steps ? [`${longest - most.steps} more steps`] : []
  return { kind: 'funnel', groups: kept, leftOut: [...leftOut, ...steps] }
}

/** How many took how long. */
function timesChart(results: Fields): Chart {
  const bins = listOf(results.bins).filter(Array.isArray) as readonly (readonly unknown[])[]
  if (bins.length === 0) return nothing('Nobody converted in this range')
  const labels = bins.map(([from]) => durationText(numberOf(from) ?? 0))
  const values = bins.map(([, count]) => numberOf(count))
  return overTime(labels, [{ label: 'Conversions', values, color: 0, isPrevious: false, row: 0 }], { kind: 'bars', format: plainNumbers })
}

function shareChart(results: readonly Fields[]): Chart {
  const [first] = results
  if (!first) return nothing()
  const colors = new Map<string, number>()
  const series = results.map((row, i) => {
    const name = row.breakdown_value === undefined ? 'Conversion' : breakdownText(row.breakdown_value)
    const color = colors.get(name) ?? colors.size
    colors.set(name, color)
    const isPrevious = isPreviousRow(row)
    return { label: isPrevious ? `${name} (previous)` : name, values: numbersOf(row.data), color, isPrevious, row: i }
  })
  return overTime(textsOf(first.labels), series, { kind: 'lines', format: percentages })
}

export function funnelsChart(_query: Fields, answer: Fields): Chart {
  const { results } = answer
  if (!Array.isArray(results)) return timesChart(fieldsOf(results))
  const rows = objectsOf(results)
  return rows.some((row) => Array.isArray(row.data)) ? shareChart(rows) : stepsChart(results)
}
