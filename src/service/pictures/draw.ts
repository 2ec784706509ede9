import type { Chart } from './chart.ts'
import { drawBars } from './draw/bars.ts'
import { drawBoxes } from './draw/boxes.ts'
import { drawFlow } from './draw/flow.ts'
import { drawFunnel } from './draw/funnel.ts'
import { drawGrid, leastGridWidth } from './draw/grid.ts'
import { drawLines } from './draw/lines.ts'
import { drawMap } from './draw/map.ts'
import { drawNumber } from './draw/number.ts'
import { drawPie } from './draw/pie.ts'
import { drawTable } from './draw/table.ts'
import { drawTotals } from './draw/totals.ts'
import { type Area, type Drawn, label } from './sheet.ts'
import type { World } from './world.ts'

/** The shapes of a chart, in an area of a drawing. A map needs the shapes of the countries, which not every page loads. */
export function draw(chart: Chart, area: Area, world: World | null = null): Drawn {
  switch (chart.kind) {
    case 'lines':
      return drawLines(chart, area)
    case 'bars':
      return drawBars(chart, area)
    case 'totals':
      return drawTotals(chart, area)
    case 'pie':
      return drawPie(chart, area)
    case 'number':
      return drawNumber(chart, area)
    case 'table':
      return drawTable(chart, area)
    case 'funnel':
      return drawFunnel(chart, area)
    case 'grid':
      return drawGrid(chart, area)
    case 'flow':
      return drawFlow(chart, area)
    case 'boxes':
      return drawBoxes(chart, area)
    case 'map':
      return world ? drawMap(chart, area, world) : { nodes: [], height: 0 }
    case 'nothing':
      return {
        nodes: [label(chart.reason, (area.left + area.right) / 2, area.top + 60, { anchor: 'middle', className: 'faint', size: 14 })],
        height: 110,
      }
  }
}

/** What needs more room for its names and numbers than there is stays that wide, and is scrolled sideways. */
export function leastWidth(chart: Chart): number {
  if (chart.kind === 'flow') return 104 * (1 + new Set(chart.edges.map(({ from }) => from.split('_', 1)[0])).size)
  return chart.kind === 'grid' ? leastGridWidth(chart) : 0
}

export const chartWords: Readonly<Record<Chart['kind'], string>> = {
  lines: 'Line chart',
  bars: 'Bar chart',
  totals: 'Bar chart of totals',
  pie: 'Pie chart',
  number: 'Number',
  table: 'Table',
  funnel: 'Funnel',
  grid: 'Grid',
  flow: 'Paths',
  boxes: 'Box plot',
  map: 'World map',
  nothing: 'No data',
}

/** For those who hear the picture. */
export function summaryOf(chart: Chart): string {
  switch (chart.kind) {
    case 'lines':
    case 'bars':
      return `${chart.series.length} series over ${chart.labels.length} intervals, from ${chart.labels[0]} to ${chart.labels.at(-1)}: ${chart.series
        .slice(0, 5)
        .map((one) => one.label)
        .join(', ')}.`
    case 'boxes': {
      const names = [...new Set(chart.boxes.map(({ label }) => label))]
      return `${names.length} series over ${chart.labels.length} intervals, from ${chart.labels[0]} to ${chart.labels.at(-1)}: ${names.slice(0, 5).join(', ')}.`
    }
    case 'funnel':
      return chart.groups
        .slice(0, 1)
        .flatMap(({ steps }) => steps.map(({ name, count }) => `${name}: ${count}`))
        .join(', ')
    case 'table':
      return `${chart.rows.length} rows, ${chart.columns.join(', ')}.`
    case 'number':
      return `${chart.label}: ${chart.value ?? 'nothing'}.`
    case 'map':
      return chart.places
        .slice(0, 10)
        .map(({ label, value }) => `${label}: ${value}`)
        .join(', ')
    case 'totals':
    case 'pie':
      return chart.items
        .slice(0, 10)
        .map((item) => `${item.label}: ${item.value}`)
        .join(', ')
    default:
      return ''
  }
}
