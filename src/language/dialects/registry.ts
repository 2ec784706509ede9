import { clickhouse } from './clickhouse/dialect.ts'
import type { Dialect } from './dialect.ts'
import { duckdb } from './duckdb/dialect.ts'

/** A dialect consists of functions. Another thread finds it by its name. */
export const dialects = { duckdb, clickhouse } as const satisfies Record<string, Dialect>
export type DialectName = keyof typeof dialects

export const dialectName = (dialect: Dialect): DialectName =>
  (Object.keys(dialects) as DialectName[]).find((name) => dialects[name] === dialect)!
