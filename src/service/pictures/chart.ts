import type { NumberFormat } from './format.ts'

// What a picture shows, read from an answer and cut to a size that can be drawn. No coordinates yet.

export interface Series {
  readonly label: string
  readonly values: readonly (number | null)[]
  /** Of the palette. */
  readonly color: number
  /** Of a comparison: drawn weaker. */
  readonly isPrevious: boolean
  /** Of the answer. */
  readonly row: number
  /** Its numbers are those of the axis on the right. */
  readonly isRight?: boolean
}
export interface Item {
  readonly label: string
  readonly value: number
  readonly color: number
  readonly isPrevious: boolean
  /** Of the answer; null: of several rows. */
  readonly row: number | null
}

/** A line across the chart at a number that is to be reached. */
export interface Goal {
  readonly label: string
  readonly value: number
}
/** What is drawn beside the values, and along which axis. */
export interface Look {
  readonly isLogarithmic: boolean
  /** Of a stack: shares of its total. */
  readonly isPercent: boolean
  /** At each point or bar. */
  readonly hasValues: boolean
  /** The straight line that is nearest to the values. */
  readonly hasTrend: boolean
  /** Each point is the mean of so many values up to it; 0: no such line. */
  readonly movingAverage: number
  readonly goals: readonly Goal[]
}
export const plainLook: Look = { isLogarithmic: false, isPercent: false, hasValues: false, hasTrend: false, movingAverage: 0, goals: [] }

interface OverTime {
  readonly labels: readonly string[]
  /** Intervals of the answer in one of the labels. */
  readonly step: number
  /** Labels at the end whose interval is not over. */
  readonly unfinished: number
  /** When each label begins, on the clock of the project: `2026-01-05`, `2026-01-05 11:00:00`. Empty: the axis is not time. */
  readonly begins: readonly string[]
  /** Of the answer: `day`. */
  readonly interval: string
  readonly series: readonly Series[]
  readonly format: NumberFormat
  readonly look: Look
}
export interface FunnelStep {
  readonly name: string
  readonly count: number
  /** The median of the seconds since the step before; null: nobody. */
  readonly time: number | null
}
export interface FunnelGroup {
  readonly label: string | null
  readonly color: number
  readonly isPrevious: boolean
  readonly steps: readonly FunnelStep[]
  /** Its place among the groups of the answer. */
  readonly row: number
}
export interface GridRow {
  readonly label: string
  /** Beside the label: the size of the row. */
  readonly note: string
  /** `shade` from 0 to 1; null: an empty cell. */
  readonly cells: readonly ({ readonly text: string; readonly shade: number } | null)[]
}
export interface FlowEdge {
  readonly from: string
  readonly to: string
  readonly value: number
  /** Of the answer. */
  readonly row: number
  /** The value of the same edge in another period; null: without a comparison, or there is none. */
  readonly previous: number | null
}
/** A value of a country, or of what is none. */
export interface MapValue {
  /** ISO 3166, two letters. */
  readonly code: string | null
  readonly label: string
  readonly value: number
  /** Of the answer. */
  readonly row: number
}
export interface Box {
  /** Of the labels. */
  readonly at: number
  readonly label: string
  /** Its own interval: of a previous period, another one than the label. */
  readonly when: string
  readonly color: number
  readonly isPrevious: boolean
  /** Of the answer. */
  readonly row: number
  readonly min: number
  readonly p25: number
  readonly median: number
  readonly p75: number
  readonly max: number
  readonly mean: number
}

export type ChartBody =
  | ({
      readonly kind: 'lines'
      readonly isFilled: boolean
      /** From the first to the last interval of a range, with nothing in between. */
      readonly isSlope: boolean
    } & OverTime)
  | ({ readonly kind: 'bars'; readonly isStacked: boolean } & OverTime)
  | { readonly kind: 'totals'; readonly items: readonly Item[]; readonly format: NumberFormat }
  | { readonly kind: 'pie'; readonly items: readonly Item[]; readonly format: NumberFormat }
  | {
      readonly kind: 'number'
      readonly label: string
      readonly value: number | null
      readonly previous: number | null
      readonly format: NumberFormat
    }
  | { readonly kind: 'table'; readonly columns: readonly string[]; readonly rows: readonly (readonly string[])[] }
  | { readonly kind: 'funnel'; readonly groups: readonly FunnelGroup[] }
  | { readonly kind: 'grid'; readonly columns: readonly string[]; readonly rows: readonly GridRow[] }
  | { readonly kind: 'flow'; readonly edges: readonly FlowEdge[] }
  | {
      readonly kind: 'boxes'
      readonly labels: readonly string[]
      /** As of lines and bars; an empty text: a label of a previous period. */
      readonly begins: readonly string[]
      readonly interval: string
      readonly boxes: readonly Box[]
      readonly format: NumberFormat
    }
  | { readonly kind: 'map'; readonly places: readonly MapValue[]; readonly format: NumberFormat }
  | { readonly kind: 'nothing'; readonly reason: string }

export type Chart = ChartBody & {
  /** What was left out: `12 more rows`. */
  readonly leftOut: readonly string[]
  /** The series are named beside the drawing. */
  readonly isNamedApart?: boolean
}

export const nothing = (reason = 'No data for this range'): Chart => ({ kind: 'nothing', reason, leftOut: [] })

export const most = {
  series: 20,
  /** Points of a line, in pixels of the picture. */
  points: 400,
  bars: 120,
  items: 20,
  slices: 10,
  goals: 10,
  rows: 25,
  columns: 8,
  groups: 5,
  steps: 20,
  gridRows: 32,
  gridColumns: 32,
  edges: 50,
  boxes: 100,
  places: 300,
  text: 60,
} as const

/** The first `count`, and what to say about the others. */
export function cut<T>(
  all: readonly T[],
  count: number,
  one: string,
  many: string,
): { readonly kept: readonly T[]; readonly leftOut: string[] } {
  const more = all.length - count
  return { kept: all.slice(0, count), leftOut: more > 0 ? [`${more} more ${more === 1 ? one : many}`] : [] }
}

/** At most that many characters, on one line. */
export function clipped(text: string, count: number = most.text): string {
  const line = text
    .slice(0, 4 * count + 16)
    .replace(/\s+/g, ' ')
    .trim()
  const characters = [...line]
  return characters.length > count ? `${characters.slice(0, count - 1).join('')}…` : line
}
