import { paletteSize } from '../style.ts'
import { type Fields, otherValue, textOf } from './values.ts'

/** The first colors of the palette are furthest from each other. */
const firstColors = 8

/** A number of the text that is the same on each machine and day (FNV-1a). */
function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return hash >>> 0
}

/** One of `count` colors from `first` on: the own one of the text, or the next that is free. */
function freeColor(text: string, first: number, count: number, taken: ReadonlySet<number>): number | null {
  const wanted = hashOf(text) % count
  for (let at = 0; at < count; at++) {
    const color = first + ((wanted + at) % count)
    if (!taken.has(color)) return color
  }
  return null
}

/** Colors by the values of a breakdown: a value keeps its own whatever its rank is, unless another one has taken it. Keys of one value, those of several series, have different ones. */
export function colorsByValue(rows: readonly { readonly key: string; readonly value: unknown }[]): ReadonlyMap<string, number> {
  const values = new Map(rows.map(({ key, value }) => [key, [value].flat().map(textOf).join('::')]))
  const colors = new Map<string, number>()
  const taken = new Set<number>()
  let more = paletteSize
  let others = -1
  for (const [key, value] of [...values].sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (value === otherValue) {
      colors.set(key, others--)
      continue
    }
    const rest = paletteSize - firstColors
    // More than there are colors share them, with numbers of their own.
    const color = freeColor(value, 0, firstColors, taken) ?? freeColor(value, firstColors, rest, taken) ?? more++
    taken.add(color)
    colors.set(key, color)
  }
  return colors
}

/** A row and what it is compared with have one color. */
export function colorsOf(rows: readonly Fields[]): readonly number[] {
  const keys = rows.map((row) => JSON.stringify([row.breakdown_value ?? null, row.order ?? null, row.label ?? null]))
  const isValue = ({ breakdown_value: value }: Fields) => value !== undefined && value !== null
  const byValue = colorsByValue(rows.flatMap((row, i) => (isValue(row) ? [{ key: keys[i]!, value: row.breakdown_value }] : [])))
  const others = [...new Set(keys.filter((key) => !byValue.has(key)))]
  return keys.map((key) => byValue.get(key) ?? others.indexOf(key))
}
