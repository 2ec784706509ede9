// A minimal database port for storage parts that only need statements: it fits DuckDB and PostgreSQL.

export type SqlValue = string | number | bigint | boolean | null
export type SqlRow = Record<string, unknown>

export interface Sql {
  /** Returns the number of rows changed. Parameters are `$1`, `$2`, … */
  run(sql: string, params?: readonly SqlValue[]): Promise<number>
  rows<R extends SqlRow = SqlRow>(sql: string, params?: readonly SqlValue[]): Promise<R[]>
  /** All or nothing; `work` must use the port it is given. */
  transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T>
}
