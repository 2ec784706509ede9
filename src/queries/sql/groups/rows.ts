import { noSpan } from '../../../errors/span.ts'
import { alias, call, equals, field, literal, select } from '../../../language/ast/build.ts'
import type { Expr, Query } from '../../../language/ast/nodes.ts'
import { keyColumn, measureColumn } from './grouped.ts'
import { timestampOf } from './times.ts'

// The rows of groups as a table of a statement: each column is an array of literals.

export interface RowColumns {
  readonly rows: number
  /** `1` and the text, or `0`: null. */
  readonly keys: readonly (readonly string[])[]
  /** Of numbers, an empty text is null; all others are counts. */
  readonly measures: readonly { readonly isNumber: boolean; readonly texts: readonly string[] }[]
  /** A time of each row. */
  readonly times: readonly string[] | null
}

/** More than any text has. */
const longest = 2 ** 31 - 1

/** An array without items has no type. */
const noText = ['']
/** Each is a literal of a statement. */
export const mostCells = 8_000

export function groupRows({ rows, keys, measures, times }: RowColumns, areNullable: readonly boolean[]): Query {
  const texts = new Map<string, readonly string[]>()
  const columns: Expr[] = []
  const add = (name: string, column: readonly string[], value: (text: Expr) => Expr) => {
    texts.set(`${name}_text`, column)
    columns.push(alias(value(field(`${name}_text`)), name))
  }
  for (const [i, key] of keys.entries())
    add(keyColumn(i), key, (text) => {
      const value = call('substring', text, literal(2), literal(longest))
      return areNullable[i] ? call('if', equals(text, literal('0')), literal(null), value) : value
    })
  for (const [i, { isNumber, texts: values }] of measures.entries())
    add(measureColumn(i), values, (text) => (isNumber ? call('toFloat', text) : call('_toUInt64', text)))
  if (times) add('timestamp', times, timestampOf)
  const lists = [...texts].map(([name, values]) =>
    alias({ kind: 'array', items: (rows === 0 ? noText : values).map(literal), span: noSpan }, name),
  )
  return select({
    columns,
    arrayJoin: { kind: 'arrayJoin', left: false, items: lists, span: noSpan },
    where: rows === 0 ? literal(false) : null,
  })
}
