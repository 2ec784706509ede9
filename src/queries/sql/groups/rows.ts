import { noSpan } from '../../../errors/span.ts'
import { alias, call, field, literal, select } from '../../../language/ast/build.ts'
import type { Expr, Literal, Query, ValuesSource } from '../../../language/ast/nodes.ts'
import { keyColumn, measureColumn } from './grouped.ts'
import { timestampOf } from './times.ts'

// The rows of groups as a table of a statement, of literals.

export interface RowColumns {
  readonly rows: number
  readonly keys: readonly (readonly (string | null)[])[]
  /** Numbers may be null; all others are counts. */
  readonly measures: readonly { readonly isNumber: boolean; readonly values: readonly (number | null)[] }[]
  /** A time of each row, as text. */
  readonly times: readonly string[] | null
}

/** Each is a literal of a statement. */
export const mostCells = 8_000

const float = (value: number | null): Literal => (value === null ? literal(null) : { ...literal(value), type: 'float' })

interface Column {
  readonly name: string
  readonly cells: readonly Literal[]
  /** A value for a table without rows. */
  readonly usual: Literal
  /** From the column of the literals, whose type depends on them. */
  readonly value: (cell: Expr) => Expr
}

export function groupRows({ rows, keys, measures, times }: RowColumns, areNullable: readonly boolean[]): Query {
  const columns: readonly Column[] = [
    ...keys.map((key, i): Column => {
      const value = (cell: Expr) => (areNullable[i] ? call('toNullable', cell) : cell)
      return { name: keyColumn(i), cells: key.map(literal), usual: literal(''), value }
    }),
    ...measures.map(({ isNumber, values }, i): Column => {
      const name = measureColumn(i)
      return isNumber
        ? { name, cells: values.map(float), usual: float(0.5), value: (cell) => call('toNullable', cell) }
        : {
            name,
            cells: values.map((count) => literal(count)),
            usual: literal(0),
            value: (cell) => ({ kind: 'cast', expr: cell, type: 'UInt64', isTry: false, span: noSpan }),
          }
    }),
    ...(times ? [{ name: 'timestamp', cells: times.map(literal), usual: literal(''), value: timestampOf }] : []),
  ]
  // A column of nothing but NULL has no type: a row that is left out gives it one.
  const marker = '@row'
  const usual = [literal(0), ...columns.map((column) => column.usual)]
  const source: ValuesSource = {
    kind: 'values',
    rows: [usual, ...Array.from({ length: rows }, (_, row) => [literal(1), ...columns.map(({ cells }) => cells[row]!)])],
    alias: '@groups',
    columnAliases: [marker, ...columns.map(({ name }) => `${name}_given`)],
    span: noSpan,
  }
  return select({
    columns: columns.map(({ name, value }) => alias(value(field(`${name}_given`)), name)),
    from: source,
    where: call('equals', field(marker), literal(1)),
  })
}
