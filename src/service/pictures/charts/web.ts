import { type Chart, clipped, cut, most, nothing } from '../chart.ts'
import { changeText } from '../draw/number.ts'
import { type NumberFormat, numberText, plainNumbers } from '../format.ts'
import { type Fields, listOf, numberOf, objectsOf, textOf, textsOf } from './values.ts'

// What a site owner looks at first.

const formats: Readonly<Record<string, NumberFormat>> = {
  duration_s: { ...plainNumbers, style: 'duration' },
  percentage: { ...plainNumbers, style: 'percentage', decimals: 1 },
}
const spaced = (name: string) => name.replaceAll('_', ' ')

/** A row per measure, with its change. */
export function overviewChart(_query: Fields, answer: Fields): Chart {
  const { kept, leftOut } = cut(objectsOf(answer.results), most.rows, 'row', 'rows')
  if (kept.length === 0) return nothing()
  const rows = kept.map((row) => {
    const format = formats[textOf(row.kind)] ?? plainNumbers
    const [value, previous] = [numberOf(row.value), numberOf(row.previous)]
    return [
      clipped(spaced(textOf(row.key))),
      numberText(value, format),
      changeText(value, previous, (one) => numberText(one, format)) ?? '',
    ]
  })
  return { kind: 'table', columns: ['Measure', 'Value', 'Change'], rows, leftOut }
}

/** Columns for a page that shows the table. */
const isForDisplay = (name: string) => name === 'ui_fill_fraction' || name === 'cross_sell'

const isShare = (name: string) => /rate|percentage/.test(name)

/** A number now and in the comparison period, or a value. */
const cellOf = (value: unknown, format: NumberFormat): string => {
  if (!Array.isArray(value)) return typeof value === 'number' ? numberText(value, format) : textOf(value)
  const [now, before] = value
  if (typeof now === 'number' || now === null) {
    const text = numberText(numberOf(now), format)
    return numberOf(before) === null ? text : `${text} (${numberText(numberOf(before), format)})`
  }
  return listOf(value).map(textOf).join(' ')
}

/** Values with their numbers. */
export function webTableChart(_query: Fields, answer: Fields): Chart {
  const names = textsOf(answer.columns).map((name) => name.replace('context.columns.', ''))
  const shown = names.flatMap((name, i) => (isForDisplay(name) ? [] : [{ name, i }]))
  const { kept, leftOut } = cut(listOf(answer.results).filter(Array.isArray) as readonly (readonly unknown[])[], most.rows, 'row', 'rows')
  if (kept.length === 0 || shown.length === 0) return nothing('No rows')
  const columns = cut(shown, most.columns, 'column', 'columns')
  const rows = kept.map((row) =>
    columns.kept.map(({ name, i }) =>
      clipped(cellOf(row[i], isShare(name) ? { ...plainNumbers, style: 'percentage_scaled', decimals: 1 } : plainNumbers) || '(none)'),
    ),
  )
  return { kind: 'table', columns: columns.kept.map(({ name }) => clipped(spaced(name))), rows, leftOut: [...leftOut, ...columns.leftOut] }
}

/** Paths by how good their value is. */
export function vitalsPathsChart(_query: Fields, answer: Fields): Chart {
  const [bands = {}] = objectsOf(answer.results)
  const all = Object.entries(bands).flatMap(([band, paths]) =>
    objectsOf(paths).map((row) => [clipped(spaced(band)), clipped(textOf(row.path)), numberText(numberOf(row.value))]),
  )
  const { kept, leftOut } = cut(all, most.rows, 'row', 'rows')
  return kept.length === 0 ? nothing() : { kind: 'table', columns: ['Band', 'Path', 'Value'], rows: kept, leftOut }
}
