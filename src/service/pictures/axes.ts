import { axisText, type NumberFormat } from './format.ts'
import type { Markup } from './markup.ts'
import { linear, type Scale, spread } from './scales.ts'
import { type Area, fitted, label, line, textWidth } from './sheet.ts'

/** The area of a chart over time, and the scale of its values. */
export interface Plot {
  readonly area: Area
  readonly scale: Scale
  readonly marks: readonly string[]
}

const axisHeight = 24
/** Of the numbers and dates at the axes. */
const size = 11

/** An axis, with the room that its numbers need. */
export interface Axis {
  readonly scale: Scale
  readonly marks: readonly string[]
  readonly room: number
}

/** From the bottom of an area to its top. */
export const rangeOf = ({ top, bottom }: Area): readonly [from: number, to: number] => [bottom - axisHeight, top]

export function axisOf(scale: Scale, format: NumberFormat): Axis {
  const marks = scale.ticks.map((tick) => axisText(tick, format))
  return { scale, marks, room: Math.min(140, Math.max(...marks.map((text) => textWidth(text, size)))) + 10 }
}

/** Leaves room for the numbers of an axis, or of two. */
export function besideAxes({ left, top, right, bottom }: Area, { room }: Axis, other: Axis | null = null): Area {
  return { left: left + room, top, right: right - (other?.room ?? 0), bottom: bottom - axisHeight }
}

export function plotOf(values: Iterable<number | null>, area: Area, format: NumberFormat): Plot {
  const axis = axisOf(linear(values, rangeOf(area)), format)
  return { area: besideAxes(area, axis), scale: axis.scale, marks: axis.marks }
}

export const drawScale = ({ area, scale, marks }: Plot): Markup[] =>
  scale.ticks.flatMap((tick, i) => {
    const y = scale.at(tick)
    return [
      line(area.left, y, area.right, y, tick === 0 && scale.domain[0] < 0 ? 'inkline' : 'rule'),
      label(fitted(marks[i]!, 140, size), area.left - 8, y + 4, { anchor: 'end', className: 'faint', size }),
    ]
  })

/** The numbers of a second axis; its lines would not fit those of the first. */
export const drawRightScale = ({ right }: Area, { scale, marks }: Axis): Markup[] =>
  scale.ticks.map((tick, i) => label(fitted(marks[i]!, 140, size), right + 6, scale.at(tick) + 4, { className: 'faint', size }))

const dayOfYear = /^(\d{1,2})-([A-Z][a-z]{2})-(\d{4})(?= |$)/

/** Days of one year are told without it: `5 Jan`. */
export function axisLabels(labels: readonly string[]): readonly string[] {
  const years = new Set(labels.map((text) => dayOfYear.exec(text)?.[3]))
  return years.size === 1 && !years.has(undefined) ? labels.map((text) => text.replace(dayOfYear, '$1 $2')) : labels
}

/** As many labels as stand beside each other. */
export function drawLabels(all: readonly string[], { area }: Plot, at: (index: number) => number): Markup[] {
  const labels = axisLabels(all)
  const widest = Math.max(1, ...labels.map((text) => textWidth(text, size))) + 14
  const shown = spread(labels.length, Math.floor((area.right - area.left) / widest))
  return shown.map((i) => {
    const x = at(i)
    const half = textWidth(labels[i]!, size) / 2
    // The first and the last one do not leave the picture.
    const anchor = x + half > area.right + 8 ? 'end' : x - half < 0 ? 'start' : 'middle'
    const from = { end: area.right + 8, start: 2, middle: x }[anchor]
    return label(labels[i]!, from, area.bottom + 17, { anchor, className: 'faint', size })
  })
}
