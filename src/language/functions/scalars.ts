import { type Arity, type Cell, call, type FunctionFamily, type FunctionRow } from './row.ts'

// A short notation for rows of scalar functions.

export interface ScalarSpec extends Omit<FunctionRow, 'kind' | 'args' | 'sql'> {
  /** A number: exactly this many. */
  readonly args: number | Arity
  readonly duckdb: Cell
  /** ClickHouse's name if it differs, or a cell. */
  readonly clickhouse?: string | Cell
}

export function scalars(specs: Readonly<Record<string, ScalarSpec>>): FunctionFamily {
  const rows = Object.entries(specs).map(([name, { args, duckdb, clickhouse = name, ...rest }]): [string, FunctionRow] => [
    name,
    {
      ...rest,
      kind: 'scalar',
      args: typeof args === 'number' ? [args, args] : args,
      sql: { duckdb, clickhouse: typeof clickhouse === 'string' ? call(clickhouse) : clickhouse },
    },
  ])
  return Object.fromEntries(rows)
}
