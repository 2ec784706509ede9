import { type Chart, clipped } from './chart.ts'
import { chartWords, draw, summaryOf } from './draw.ts'
import { timeText } from './format.ts'
import { element, type Markup, render } from './markup.ts'
import { readChart } from './read-chart.ts'
import { fitted, label } from './sheet.ts'
import { lightPictureStyle, pictureStyle } from './style.ts'
import { world } from './world.ts'

export interface PictureOptions {
  readonly title: string
  readonly description?: string
  readonly timezone: string
  /** When the answer was computed. */
  readonly asOf?: Date | null
  readonly width?: number
  /** Of charts with axes; tables and funnels are as high as they have rows. */
  readonly height?: number
  /** Also for a reader in dark mode. */
  readonly isLight?: boolean
}

/** An SVG of the answer to a query, as wide as asked and never more than some dozen rows high. */
export const pictureOf = (query: unknown, answer: unknown, options: PictureOptions): string =>
  drawChart(readChart(query, answer, options.timezone), options)

const margin = 20
const defaultWidth = 760
const defaultHeight = 320

export function drawChart(
  chart: Chart,
  { title, description = '', timezone, asOf = null, width = defaultWidth, height = defaultHeight, isLight = false }: PictureOptions,
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
  const { nodes, height: used } = draw(chart, { left: margin, top, right: width - margin, bottom: top + height }, world)
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
      element('style', {}, isLight ? lightPictureStyle : pictureStyle),
      element('rect', { width, height: total, class: 'paper' }),
      heading,
      nodes,
      notes.map((text, i) => label(fitted(text, inner, 11), margin, foot + i * 16, { className: 'faint', size: 11 })),
    ),
  )
}
