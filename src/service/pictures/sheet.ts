import { clipped } from './chart.ts'
import { type Element, element, type Markup } from './markup.ts'
import { filled } from './style.ts'

// What pictures have in common: texts of a known width, a legend, the axes.

export interface Area {
  readonly left: number
  readonly top: number
  readonly right: number
  readonly bottom: number
}

/** A drawn chart, below its title. */
export interface Drawn {
  readonly nodes: readonly Markup[]
  /** The height that it has taken. */
  readonly height: number
}

const fontSize = 12
/** Wide letters of a usual font: a text never takes more. */
const letter = 0.6

export const letterWidth = (size: number): number => size * letter
export const textWidth = (text: string, size = fontSize): number => [...text].length * size * letter
/** As much of a text as fits. */
export const fitted = (text: string, width: number, size = fontSize): string =>
  clipped(text, Math.max(1, Math.floor(width / (size * letter))))

interface TextOptions {
  readonly anchor?: 'start' | 'middle' | 'end'
  readonly size?: number
  readonly className?: string
  readonly isBold?: boolean
  /** The row of the answer that a click on it means, or more of its place. */
  readonly pick?: number | string
}
export const label = (text: string, x: number, y: number, options: TextOptions = {}): Element =>
  element(
    'text',
    {
      x,
      y,
      class: options.className ?? 'ink',
      'font-size': options.size ?? fontSize,
      'text-anchor': options.anchor === undefined || options.anchor === 'start' ? null : options.anchor,
      'font-weight': options.isBold ? 600 : null,
      'data-pick': options.pick ?? null,
    },
    text,
  )

export const box = (area: Area, attributes: Readonly<Record<string, string | number | null>>): Element =>
  element('rect', {
    x: area.left,
    y: area.top,
    width: Math.max(0, area.right - area.left),
    height: Math.max(0, area.bottom - area.top),
    ...attributes,
  })

export const line = (x1: number, y1: number, x2: number, y2: number, className = 'rule'): Element =>
  element('line', { x1, y1, x2, y2, class: className, 'stroke-width': 1 })

const hatchGap = 6
/** Rising strokes, cut at the edges of the bar. */
export function hatchOf({ left, right, top, bottom }: Area): string {
  const [width, height] = [right - left, bottom - top]
  const strokes: string[] = []
  for (let at = hatchGap; at < width + height; at += hatchGap) {
    // From the left or the lower edge to the upper or the right one.
    const [x1, y1] = at < height ? [0, at] : [at - height, height]
    const [x2, y2] = at < width ? [at, 0] : [width, at - width]
    strokes.push(`M${(left + x1).toFixed(1)} ${(top + y1).toFixed(1)}L${(left + x2).toFixed(1)} ${(top + y2).toFixed(1)}`)
  }
  return strokes.join('')
}

export interface LegendItem {
  readonly label: string
  readonly color: number
  readonly isPrevious: boolean
}
const legendRow = 18

/** In rows, as many as needed; none where the page names them. */
export function legend(items: readonly LegendItem[], { left, top, right }: Area, isNamedApart = false): Drawn {
  if (isNamedApart) return { nodes: [], height: 0 }
  const width = right - left
  let x = left
  let y = top + 12
  const nodes: Markup[] = []
  for (const { label: text, color, isPrevious } of items) {
    const shown = fitted(text, width - 20)
    const needed = 16 + textWidth(shown) + 14
    if (x > left && x + needed > left + width) {
      x = left
      y += legendRow
    }
    nodes.push(element('rect', { x, y: y - 9, width: 10, height: 10, rx: 2, class: filled(color), opacity: isPrevious ? 0.5 : null }))
    nodes.push(label(shown, x + 15, y))
    x += needed
  }
  return { nodes, height: items.length === 0 ? 0 : y - top + 10 }
}
