import { readFileSync } from 'node:fs'
import { join } from 'node:path'

// The questions of docs/first-questions.md, as they stand there.

type Rows = readonly (readonly unknown[])[]

export interface Question {
  readonly number: number
  readonly text: string
  readonly sql: string
  readonly kind: Readonly<Record<string, unknown>>
  /** For the three events of the page. */
  readonly answers: { readonly sql: Rows; readonly kind: Rows }
}

const block = /\*\*(\d+)\. (.+)\*\*\n\n```sql\n(.+)\n```\n\nAnswer: `(.+)`\n\n```json\n(.+)\n```\n\nAnswer: `(.+)`/g

export const questions = (): readonly Question[] =>
  [...readFileSync(join(import.meta.dirname, '../../docs/first-questions.md'), 'utf8').matchAll(block)].map(
    ([, number, text, sql, ofSql, kind, ofKind]) => ({
      number: Number(number),
      text: text!,
      sql: sql!,
      kind: JSON.parse(kind!) as Question['kind'],
      answers: { sql: JSON.parse(ofSql!) as Rows, kind: JSON.parse(ofKind!) as Rows },
    }),
  )

interface Series {
  readonly data: readonly number[]
  readonly aggregated_value?: number | null
  readonly breakdown_value?: unknown
  readonly status?: string
}
interface Step {
  readonly count: number
  readonly average_conversion_time: number | null
}

/** What the page shows of an answer. */
export function shown({ text, kind }: Pick<Question, 'text' | 'kind'>, results: unknown): Rows {
  if (kind.kind === 'FunnelsQuery') {
    const steps = results as readonly Step[]
    return text.includes('seconds') ? [[steps.at(-1)!.average_conversion_time]] : [steps.map(({ count }) => count)]
  }
  const series = results as readonly Series[]
  if (kind.kind === 'LifecycleQuery') return series.filter(({ status }) => status === 'new').map(({ data }) => data)
  if (kind.kind !== 'TrendsQuery') return results as Rows
  const values = series.map(({ data, aggregated_value: total, breakdown_value: by }) => [
    ...(by === undefined ? [] : [Array.isArray(by) ? by[0] : by]),
    ...(typeof total === 'number' ? [total] : data),
  ])
  return kind.breakdownFilter ? [...values].sort((a, b) => (String(a[0]) < String(b[0]) ? -1 : 1)) : values
}
