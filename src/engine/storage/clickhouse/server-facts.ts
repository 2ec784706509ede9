import type { ClickHouseClient } from './client.ts'
import { shardTable } from './layout.ts'
import { literal } from './sql.ts'

// The ClickHouse server, for operators: read from its system tables, which a user may not be allowed to read.

export interface TableFacts {
  readonly table: string
  readonly parts: number
  /** Parts of the partition that has most. */
  readonly mostParts: number
  readonly rows: number
  readonly bytes: number
}

export interface ReplicaFacts {
  readonly table: string
  readonly delaySeconds: number
}

/** Each array a row. Ends after `ms`, here and on the server. */
export async function rowsWithin<T extends readonly unknown[]>(client: ClickHouseClient, query: string, ms: number): Promise<T[]> {
  const { stream } = await client.exec({
    query: `${query} FORMAT JSONCompactEachRow`,
    clickhouse_settings: { output_format_json_quote_64bit_integers: 0, max_execution_time: Math.ceil(ms / 1000) },
    abort_signal: AbortSignal.timeout(ms),
  })
  const chunks: Uint8Array[] = []
  for await (const chunk of stream) chunks.push(chunk)
  const lines = Buffer.concat(chunks).toString().split('\n')
  return lines.flatMap((line) => (line === '' ? [] : [JSON.parse(line) as T]))
}

/** Of shards: those of the server that answers. */
export async function readTableFacts(client: ClickHouseClient, ms: number): Promise<readonly TableFacts[]> {
  const rows = await rowsWithin<[string, number, number, number, number]>(
    client,
    `SELECT of_table, sum(parts) AS all_parts, max(parts), sum(all_rows), sum(all_bytes) FROM (
       SELECT if(table = ${literal(shardTable)}, 'events', table) AS of_table, partition_id, count() AS parts, sum(rows) AS all_rows, sum(bytes_on_disk) AS all_bytes
       FROM system.parts WHERE active AND database = currentDatabase() GROUP BY of_table, partition_id)
     GROUP BY of_table ORDER BY of_table`,
    ms,
  )
  return rows.map(([table, parts, mostParts, all, bytes]) => ({ table, parts, mostParts, rows: all, bytes }))
}

/** None where the tables are not replicated. */
export async function readReplicaFacts(client: ClickHouseClient, ms: number): Promise<readonly ReplicaFacts[]> {
  const query = 'SELECT table, max(absolute_delay) FROM system.replicas WHERE database = currentDatabase() GROUP BY table ORDER BY table'
  return (await rowsWithin<[string, number]>(client, query, ms)).map(([table, delaySeconds]) => ({ table, delaySeconds }))
}
