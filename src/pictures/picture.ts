import { type Chart, clipped } from './chart.ts'
import { drawBars } from './draw/bars.ts'
import { drawBoxes } from './draw/boxes.ts'
import { drawFlow } from './draw/flow.ts'
import { drawFunnel } from './draw/funnel.ts'
import { drawGrid } from './draw/grid.ts'
import { drawLines } from './draw/lines.ts'
import { drawNumber } from './draw/number.ts'
import { drawPie } from './draw/pie.ts'
import { drawTable } from './draw/table.ts'
import { drawTotals } from './draw/totals.ts'
import { timeText } from './format.ts'
import { element, type Markup, render } from './markup.ts'
import { readChart } from './read-chart.ts'
import { type Area, type Drawn, fitted, label } from './sheet.ts'
import { pictureStyle } from './style.ts'

export interface PictureOptions {
  readonly title: string
  readonly description?: string
  readonly timezone: string
  /** When the answer was computed. */
  readonly asOf?: Date | null
  readonly width?: number
  /** Of charts with axes; tables and funnels are as high as they have rows. */
  readonly height?: number
}

/** An SVG of the answer to a query, as wide as asked and never more than some dozen rows high. */
export const pictureOf = (query: unknown, answer: unknown, options: PictureOptions): string =>
  drawChart(readChart(query, answer, options.timezone), options)

/** The shapes of a chart, in an area of a drawing. */
export function draw(chart: Chart, area: Area): Drawn {
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
    case 'nothing':
      return {
        nodes: [label(chart.reason, (area.left + area.right) / 2, area.top + 60, { anchor: 'middle', className: 'faint', size: 14 })],
        height: 110,
      }
  }
}

const margin = 20
const defaultWidth = 760
const defaultHeight = 320

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
  nothing: 'No data',
}

export function drawChart(
  chart: Chart,
  { title, description = '', timezone, asOf = null, width = defaultWidth, height = defaultHeight }: PictureOptions,
): string {
  const inner = width - 2 * margin
  const heading: Markup[] = []
  let top = margin
  if (title !== '') {
    heading.push(label(fitted(title, inner, 16), margin, top + 14, { size: 16, isBold: true }))
    top += 24
  }
  if (description !== '') {
    heading.push(label(fitted(description, inner), margin, top + 12, { className: 'faint' }))
    top += 20
  }
  const { nodes, height: used } = draw(chart, { left: margin, top, right: width - margin, bottom: top + height })
  const notes = [
    ...(chart.leftOut.length > 0 ? [`Not shown: ${chart.leftOut.join(', ')}.`] : []),
    ...(asOf ? [`As of ${timeText(asOf, timezone)} (${timezone}).`] : []),
  ]
  const foot = top + used + 18
  const total = Math.ceil(foot + notes.length * 16 + 6)
  const attributes = { xmlns: 'http://www.w3.org/2000/svg', width, height: total, viewBox: `0 0 ${width} ${total}`, role: 'img' }
  return render(
    element(
      'svg',
      attributes,
      element('title', {}, clipped(title, 200) || chartWords[chart.kind]),
      element('desc', {}, [`${chartWords[chart.kind]}.`, clipped(description, 400), summaryOf(chart), ...notes].filter(Boolean).join(' ')),
      element('style', {}, pictureStyle),
      element('rect', { width, height: total, class: 'paper' }),
      heading,
      nodes,
      notes.map((text, i) => label(fitted(text, inner, 11), margin, foot + i * 16, { className: 'faint', size: 11 })),
    ),
  )
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
    case 'funnel':
      return chart.groups
        .slice(0, 1)
        .flatMap(({ steps }) => steps.map(({ name, count }) => `${name}: ${count}`))
        .join(', ')
    case 'table':
      return `${chart.rows.length} rows, ${chart.columns.join(', ')}.`
    case 'number':
      return `${chart.label}: ${chart.value ?? 'nothing'}.`
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
