import { type Chart, clipped, cut, type Look, most, nothing, plainLook, type Series } from '../chart.ts'
import type { NumberFormat } from '../format.ts'

/** The largest of each `size` values in a row, above or below zero. */
const peaks = (values: readonly (number | null)[], size: number): (number | null)[] =>
  Array.from({ length: Math.ceil(values.length / size) }, (_, i) => {
    let peak: number | null = null
    for (let at = i * size; at < Math.min(values.length, (i + 1) * size); at++) {
      const value = values[at] ?? null
      if (value !== null && (peak === null || Math.abs(value) > Math.abs(peak))) peak = value
    }
    return peak
  })

const total = ({ values }: Series) => values.reduce<number>((sum, value) => sum + Math.abs(value ?? 0), 0)

const ranked = (all: readonly Series[]): Series[] => {
  const totals = new Map(all.map((one) => [one, total(one)]))
  return [...all].sort((a, b) => totals.get(b)! - totals.get(a)!)
}

export interface OverTimeOptions {
  readonly kind: 'lines' | 'bars'
  readonly isFilled?: boolean
  readonly isStacked?: boolean
  readonly format: NumberFormat
  readonly unfinished?: number
  /** When each interval begins, on the clock of the project, and how long it is: of a chart whose axis is time. */
  readonly begins?: readonly string[]
  readonly interval?: string
  readonly isSlope?: boolean
  readonly look?: Look
}

/** Lines or bars over the intervals of a range. Of many series the largest are drawn. */
export function overTime(labels: readonly string[], all: readonly Series[], { kind, format, ...more }: OverTimeOptions): Chart {
  if (labels.length === 0 || all.length === 0) return nothing()
  const largest = all.length > most.series ? ranked(all) : all
  const { kept, leftOut } = cut(largest, most.series, 'series', 'series')
  const length = kind === 'lines' ? most.points : most.bars
  const size = Math.ceil(labels.length / length)
  const series = kept.map((one) => ({ ...one, label: clipped(one.label), values: size > 1 ? peaks(one.values, size) : one.values }))
  const shown = labels.filter((_, i) => i % size === 0).map((label) => clipped(label, 24))
  const thinned = size > 1 ? [`each point is the largest of ${size} intervals`] : []
  const base = {
    labels: shown,
    step: size,
    series,
    format,
    unfinished: Math.ceil((more.unfinished ?? 0) / size),
    begins: (more.begins ?? []).filter((_, i) => i % size === 0),
    interval: more.interval ?? '',
    look: more.look ?? plainLook,
    leftOut: [...leftOut, ...thinned],
  }
  return kind === 'lines'
    ? { kind, isFilled: more.isFilled ?? false, isSlope: more.isSlope ?? false, ...base }
    : { kind, isStacked: more.isStacked ?? false, ...base }
}
