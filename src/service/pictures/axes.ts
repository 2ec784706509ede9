import type { Series } from './chart.ts'
import { axisText, type NumberFormat } from './format.ts'
import type { Markup } from './markup.ts'
import { type Linear, linear, spread } from './scales.ts'
import { type Area, fitted, label, line, textWidth } from './sheet.ts'

/** The area of a chart over time, and the scale of its values. */
export interface Plot {
  readonly area: Area
  readonly scale: Linear
  readonly marks: readonly string[]
}

const axisHeight = 24

/** Leaves room for the numbers of the axis. */
export function plotOf(values: Iterable<number | null>, { left, top, right, bottom }: Area, format: NumberFormat): Plot {
  const scale = linear(values, [bottom - axisHeight, top])
  const marks = scale.ticks.map((tick) => axisText(tick, format))
  const room = Math.min(140, Math.max(...marks.map((text) => textWidth(text)))) + 10
  return { area: { left: left + room, top, right, bottom: bottom - axisHeight }, scale, marks }
}

export const drawScale = ({ area, scale, marks }: Plot): Markup[] =>
  scale.ticks.flatMap((tick, i) => {
    const y = scale.at(tick)
    return [
      line(area.left, y, area.right, y, tick === 0 ? 'inkline' : 'rule'),
      label(fitted(marks[i]!, 140), area.left - 6, y + 4, { anchor: 'end', className: 'faint' }),
    ]
  })

const dayOfYear = /^(\d{1,2})-([A-Z][a-z]{2})-(\d{4})(?= |$)/

/** Days of one year are told without it: `5 Jan`. */
export function axisLabels(labels: readonly string[]): readonly string[] {
  const years = new Set(labels.map((text) => dayOfYear.exec(text)?.[3]))
  return years.size === 1 && !years.has(undefined) ? labels.map((text) => text.replace(dayOfYear, '$1 $2')) : labels
}

/** As many labels as stand beside each other. */
export function drawLabels(all: readonly string[], { area }: Plot, at: (index: number) => number): Markup[] {
  const labels = axisLabels(all)
  const widest = Math.max(1, ...labels.map((text) => textWidth(text))) + 14
  const shown = spread(labels.length, Math.floor((area.right - area.left) / widest))
  return shown.map((i) => {
    const x = at(i)
    const half = textWidth(labels[i]!) / 2
    // The first and the last one do not leave the picture.
    const anchor = x + half > area.right + 8 ? 'end' : x - half < 0 ? 'start' : 'middle'
    const from = { end: area.right + 8, start: 2, middle: x }[anchor]
    return label(labels[i]!, from, area.bottom + 17, { anchor, className: 'faint' })
  })
}

export function* valuesOf(series: readonly Series[]): Generator<number | null> {
  for (const { values } of series) yield* values
}
