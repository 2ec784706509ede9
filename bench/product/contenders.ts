import type { Contender } from './contender.ts'
import { clickhouseBest } from './contenders/clickhouse-best.ts'
import { clickhouseReference } from './contenders/clickhouse-reference.ts'
import { duckdbJson } from './contenders/duckdb-json.ts'
import { duckdbTyped } from './contenders/duckdb-typed.ts'
import { waymarkCore } from './contenders/waymark-core.ts'
import { waymarkSql } from './contenders/waymark-sql.ts'

/** Those who take part, by the name of the option, in the order of the table. A new one is a file of contenders/ and a line here. */
export const contenders = {
  'waymark-core': waymarkCore,
  'waymark-sql': waymarkSql,
  'clickhouse-best': clickhouseBest,
  'clickhouse-reference': clickhouseReference,
  'duckdb-typed': duckdbTyped,
  'duckdb-json': duckdbJson,
} as const satisfies Readonly<Record<string, Contender>>

export type ContenderKey = keyof typeof contenders
/** What the others' times are divided by. */
export const yardstick: ContenderKey = 'clickhouse-best'
