import type { ClickHouseClient, Settings } from './client.ts'

// ClickHouse as a cluster of replicas: every table is replicated, each replica has all rows, and any of them takes statements. What one has stored, the others show.

/**
 * An INSERT is acknowledged by a majority, and a query waits until its replica has what was acknowledged before. ClickHouse promises the second one only if
 * INSERTs do not overlap.
 */
const replicaSettings: Settings = {
  insert_quorum: 'auto',
  insert_quorum_parallel: 0,
  select_sequential_consistency: 1,
  distributed_ddl_output_mode: 'none_only_active',
}

export const quotedName = (name: string): string => `\`${name.replaceAll('\\', '\\\\').replaceAll('`', '\\`')}\``

/** The same client, for a cluster whose replicas are behind one address. */
export function onReplicas(client: ClickHouseClient, cluster: string): ClickHouseClient {
  const settled = <R extends { readonly query: string; readonly clickhouse_settings?: Settings }>(request: R): R => ({
    ...request,
    query: request.query.replace(/^KILL QUERY /, `KILL QUERY ON CLUSTER ${quotedName(cluster)} `),
    clickhouse_settings: { ...replicaSettings, ...request.clickhouse_settings },
  })
  return {
    exec: (request) => client.exec(settled(request)),
    command: (request) => client.command(settled(request)),
    close: () => client.close(),
  }
}
