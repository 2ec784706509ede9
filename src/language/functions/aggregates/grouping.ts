import { always } from '../results.ts'
import type { FunctionRow, SqlCell } from '../row.ts'

const cell: SqlCell = (args) => `(GROUPING(${args.map(({ sql }) => sql).join(', ')}) > 0)`

/** Whether a row belongs to a grouping set without one of these keys. Statements cannot name it. */
export const groupingRow: FunctionRow & { readonly name: string } = {
  name: '@grouping',
  kind: 'scalar',
  args: [1, null],
  takes: 'value',
  returns: always('Bool'),
  summary: 'Whether the row stands for more than one value of the keys.',
  sql: { duckdb: cell, clickhouse: cell },
  cases: [],
}
