import type { Chart } from '../pictures/chart.ts'
import { chartRows } from '../pictures/chart-rows.ts'
import { picks } from '../pictures/draw/flow.ts'
import { chartWords, draw, leastWidth, summaryOf } from '../pictures/draw.ts'
import { intervalPlaces } from '../pictures/intervals.ts'
import { element, type Markup } from '../pictures/markup.ts'
import { box } from '../pictures/sheet.ts'
import { world } from '../pictures/world.ts'

// An answer on the page of a public link: its picture in several widths, and the table of its numbers, whose rows are what the script of the page shows over the picture.

/** Pictures of one arrangement. */
export interface Sizes {
  readonly className: 'in-grid' | 'one-column' | 'alone'
  readonly widths: readonly number[]
  readonly height: number
}

/** Those of `steps` that are the widest that fits somewhere between two widths. */
export function widthsBetween(steps: readonly number[], from: number, to: number): readonly number[] {
  const first = steps.findLast((step) => step <= from) ?? steps[0]!
  return steps.filter((step) => step === first || (step > first && step <= to))
}

/** The row of the table, and its column if one cell is meant, by the value that a click on a shape would choose; null: none. */
type TipOf = (pick: string) => string | null

const numbersIn = (pick: string): readonly number[] => pick.split(' ').map(Number)

function tipOf(chart: Chart): TipOf {
  const rowOf =
    (rows: readonly { readonly row: number | null }[]): TipOf =>
    (pick) => {
      const at = rows.findIndex(({ row }) => row === Number(pick))
      return at < 0 ? null : String(at)
    }
  switch (chart.kind) {
    case 'totals':
    case 'pie':
      return rowOf(chart.items)
    case 'map':
      return rowOf(chart.places)
    case 'flow':
      // A node has no row of its own.
      return (pick) => (numbersIn(pick)[1] === picks.edge ? rowOf(chart.edges)(pick.split(' ')[0]!) : null)
    case 'funnel':
      return (pick) => {
        const [group = 0, step = 0] = numbersIn(pick)
        return String(chart.groups.slice(0, group).reduce((sum, { steps }) => sum + steps.length, step))
      }
    case 'grid': {
      const names = chart.rows.some(({ note }) => note) ? 2 : 1
      return (pick) => {
        const [row = 0, column = 0] = numbersIn(pick)
        return `${row} ${column + names}`
      }
    }
    case 'boxes': {
      // They are drawn in the order of the table.
      let drawn = 0
      return () => String(drawn++)
    }
    default:
      return () => null
  }
}

function withTips(markup: Markup, of: TipOf): Markup {
  if (typeof markup === 'string') return markup
  // The page of the product needs these.
  const { 'data-pick': pick = null, 'data-mark': _mark, 'data-series': _series, ...attributes } = markup.attributes
  const tip = pick === null ? null : of(String(pick))
  const children = markup.children
    // The browser would show it beside the tip.
    .filter((child) => typeof child === 'string' || child.name !== 'title')
    .map((child) => withTips(child, of))
  return { ...markup, attributes: { ...attributes, ...(tip !== null && { 'data-tip': tip }) }, children }
}

const edge = 4

function picture(chart: Chart, title: string, width: number, height: number, className: string): Markup {
  const area = { left: edge, top: edge, right: width - edge, bottom: height }
  const { nodes, height: used } = draw(chart, area, world)
  const of = tipOf(chart)
  const total = Math.ceil(used + 12)
  return element(
    'svg',
    {
      class: className || null,
      width,
      height: total,
      viewBox: `0 0 ${width} ${total}`,
      role: 'img',
      'aria-label': `${chartWords[chart.kind]}: ${title}. ${summaryOf(chart)}`,
    },
    nodes.map((node) => withTips(node, of)),
    intervalsOf(chart, area),
  )
}

/** The intervals of a chart over time, each as high as the chart. */
function intervalsOf(chart: Chart, area: Parameters<typeof intervalPlaces>[1]): readonly Markup[] {
  if (chart.kind !== 'lines' && chart.kind !== 'bars') return []
  const { plot, at } = intervalPlaces(chart, area)
  const last = chart.labels.length - 1
  const border = (i: number) => (i < 0 ? plot.area.left : i >= last ? plot.area.right : (at(i) + at(i + 1)) / 2)
  return chart.labels.map((_, i) =>
    box({ left: border(i - 1), right: border(i), top: plot.area.top, bottom: plot.area.bottom }, { class: 'hit', 'data-tip': i }),
  )
}

const pictures = (chart: Chart, title: string, { className, widths, height }: Sizes): Markup => {
  const least = leastWidth(chart)
  // The shapes of the countries are large, and have few texts.
  const drawn = chart.kind === 'map' ? widths.filter((_, i) => i % 2 === 0) : widths
  const shown = drawn.filter((width, i) => width >= least || (drawn[i + 1] ?? Number.POSITIVE_INFINITY) > least)
  return element(
    'div',
    { class: className },
    shown.map((width, i) => {
      const next = shown[i + 1]
      // A map is drawn larger between two widths: it has next to no text, and none becomes smaller.
      const classes = [
        ...(chart.kind === 'map' ? ['map'] : []),
        ...(i > 0 ? [`from-${width}`] : []),
        ...(next === undefined ? [] : [`until-${next}`]),
      ]
      return picture(chart, title, Math.max(width, least), height, classes.join(' '))
    }),
  )
}

const table = (columns: readonly string[], rows: readonly (readonly string[])[]): Markup =>
  element(
    'table',
    {},
    element(
      'thead',
      {},
      element(
        'tr',
        {},
        columns.map((name) => element('th', { scope: 'col' }, name)),
      ),
    ),
    element(
      'tbody',
      {},
      rows.map((row) =>
        element(
          'tr',
          {},
          columns.map((_, i) => element('td', {}, row[i] ?? '')),
        ),
      ),
    ),
  )

/** All that a picture shows. */
const whole = { rows: 400, series: 20 }

/** The contents of a tile, without its title. */
export function tilePicture(chart: Chart, title: string, sizes: readonly Sizes[]): readonly Markup[] {
  const { columns, rows, leftOut } = chartRows(chart, whole)
  const more = leftOut.length > 0 ? [element('p', { class: 'left-out' }, `Not shown: ${leftOut.join(', ')}.`)] : []
  if (chart.kind === 'nothing') return [element('p', {}, chart.reason), ...more]
  if (chart.kind === 'table') return [table(columns, rows), ...more]
  return [
    element(
      'div',
      { class: 'room' },
      sizes.map((one) => pictures(chart, title, one)),
    ),
    ...more,
    element('details', {}, element('summary', {}, 'Numbers'), table(columns, rows)),
  ]
}
