import { nullValue, otherValue } from '../series/breakdown-values.ts'
import { evaluate, parseFormula } from './formula.ts'
import { type FormulaText, isCumulative, isTotal, type TrendsQuery } from './schema.ts'
import type { BreakdownValue, TrendsRow } from './shape.ts'

/** Combines rows of the series to rows of the formula, by breakdown value and period; missing ones count as zeros. */
export function applyFormula(text: FormulaText, order: number, rows: readonly TrendsRow[], query: TrendsQuery): TrendsRow[] {
  const parsed = parseFormula(text.formula, query.series.length)
  if ('problem' in parsed) return []
  const sets = new Map<string, TrendsRow[]>()
  for (const row of rows) {
    const key = JSON.stringify([row.compare_label ?? null, row.breakdown_value ?? null])
    const set = sets.get(key)
    if (set) set.push(row)
    else sets.set(key, [row])
  }
  const made = [...sets.values()].map((set) => {
    const model = set[0]!
    const dataOf = (row: TrendsRow) => (isTotal(query) ? [row.aggregated_value ?? 0] : (row.data ?? []))
    const series = query.series.map((_, i) => set.find((row) => row.order === i))
    const data = dataOf(model).map((_, bucket) =>
      evaluate(
        parsed.formula,
        series.map((row) => (row ? (dataOf(row)[bucket] ?? 0) : 0)),
      ),
    )
    const sum = data.reduce((total, value) => total + value, 0)
    const base: TrendsRow = { ...model, label: text.name ?? `Formula (${text.formula})`, action: null, order }
    return isTotal(query)
      ? { ...base, data: null, count: 0, aggregated_value: sum }
      : { ...base, data, count: isCumulative(query) ? (data.at(-1) ?? 0) : sum }
  })
  return query.compareFilter?.compare ? made.sort(byPeriod) : made.sort(bySize)
}

const textOf = (value: BreakdownValue | undefined): string =>
  value === undefined ? '' : Array.isArray(value) ? value.join('::') : String(value)
const natural = new Intl.Collator('en', { numeric: true, sensitivity: 'base' })
const sizeOf = (row: TrendsRow): number => row.aggregated_value ?? row.count

function byPeriod(a: TrendsRow, b: TrendsRow): number {
  const [x, y] = [a.compare_label ?? '', b.compare_label ?? '']
  return x !== y ? (x < y ? -1 : 1) : b.count - a.count || natural.compare(textOf(a.breakdown_value), textOf(b.breakdown_value))
}

const classOf = ({ breakdown_value: value }: TrendsRow): number => {
  const parts = Array.isArray(value) ? value : [value]
  return parts.includes(otherValue) ? 2 : parts.includes(nullValue) ? 1 : 0
}

function bySize(a: TrendsRow, b: TrendsRow): number {
  return classOf(a) - classOf(b) || sizeOf(b) - sizeOf(a) || (textOf(b.breakdown_value) < textOf(a.breakdown_value) ? -1 : 1)
}
