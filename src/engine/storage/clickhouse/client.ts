import { WaymarkError } from '../../../errors/errors.ts'
import { reasonOf, serverCode } from './connection-errors.ts'
import { onCluster } from './layout.ts'
import type { ClickHouseClient, Settings } from './requests.ts'
import { onShards } from './shards.ts'
import { literal, quotedName } from './sql.ts'

export type { ClickHouseClient, Settings } from './requests.ts'

export interface ClickHouseServer {
  /** `http://host:8123` */
  readonly url: string
  /** Created if it does not exist. Default: `waymark`. */
  readonly database?: string
  readonly username?: string
  readonly password?: string
  /** Replicas of one another, by the name that they have as a cluster (`system.clusters`); the address is that of their load balancer. */
  readonly cluster?: string
  /** Events are divided among the shards of the cluster; each server has all other rows. */
  readonly sharded?: boolean
}

/** The oldest supported version: statements are written for its planner and functions. */
const oldestVersion = [24, 3] as const
/** One for each stream that is read slowly. */
const mostConnections = 1_000
/** For `@clickhouse/client`: Waymark reports errors itself, without the statement. */
const logNothing = { level: 127 }

/** Connects with the optional package `@clickhouse/client`. `mayCreate`: creates the database if it is missing. */
export async function connectToClickHouse(
  { url, database = 'waymark', username, password, cluster, sharded = false }: ClickHouseServer,
  mayCreate = true,
): Promise<ClickHouseClient> {
  const name = '@clickhouse/client' // not an import that a bundler should look for
  const module = (await import(name).catch((error: unknown) => {
    const message = 'A ClickHouse server needs the package @clickhouse/client: npm install @clickhouse/client'
    throw new WaymarkError('wrong-usage', { message }, { cause: error })
  })) as { createClient(options: object): ClickHouseClient }
  const options = {
    url,
    username,
    password,
    request_timeout: 3_600_000, // statements have limits of their own
    max_open_connections: mostConnections,
    log: logNothing,
  }
  const client = module.createClient(options)
  let shards = 1
  try {
    await mustBeUsable(client, { database, cluster, mayCreate })
    if (sharded) shards = Number(await textOf(client, `SELECT max(shard_num) ${inCluster(cluster!)} FORMAT TabSeparated`))
  } catch (error) {
    const message = `ClickHouse at ${new URL(url).host} cannot be used: ${error instanceof Unusable ? error.message : explained(error)}`
    throw new WaymarkError('command-failed', { message }, { cause: error })
  } finally {
    await client.close()
  }
  const made = module.createClient({ ...options, database })
  if (cluster === undefined) return made
  const replicas = onReplicas(made, cluster)
  return sharded ? onShards(replicas, { cluster, count: shards }) : replicas
}

const inCluster = (cluster: string) => `FROM system.clusters WHERE cluster = ${literal(cluster)}`

class Unusable extends Error {}

interface Wanted {
  readonly database: string
  readonly cluster: string | undefined
  readonly mayCreate: boolean
}

async function mustBeUsable(client: ClickHouseClient, { database, cluster, mayCreate }: Wanted): Promise<void> {
  const version = await textOf(client, 'SELECT version() FORMAT TabSeparated')
  const [, major, minor] = /^(\d+)\.(\d+)\.[\w.-]+$/.exec(version) ?? []
  if (major === undefined) throw new Unusable(notClickHouse)
  const [oldestMajor, oldestMinor] = oldestVersion
  if (Number(major) < oldestMajor || (Number(major) === oldestMajor && Number(minor) < oldestMinor))
    throw new Unusable(`it is version ${version}, and Waymark needs ${oldestVersion.join('.')} or later.`)
  // A user who may not create databases may be given one.
  const count = (rest: string) => textOf(client, `SELECT count() FROM system.${rest} FORMAT TabSeparated`)
  if (cluster !== undefined && (await textOf(client, `SELECT count() ${inCluster(cluster)} FORMAT TabSeparated`)) === '0')
    throw new Unusable(`it has no cluster ${cluster} in system.clusters.`)
  if ((await count(`databases WHERE name = ${literal(database)}`)) !== '0') return
  if (!mayCreate) throw new Unusable(`it has no database ${database}.`)
  await client.command({ query: `CREATE DATABASE IF NOT EXISTS ${quotedName(database)}${onCluster(cluster ?? null)}` })
}

async function textOf(client: ClickHouseClient, query: string): Promise<string> {
  const { stream } = await client.exec({ query })
  const chunks: Uint8Array[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks).toString().trim()
}

const notClickHouse = 'the server at this URL is not ClickHouse. Check the URL: the port of its HTTP interface is 8123, or 8443 for https.'

function explained(error: unknown): string {
  if (serverCode(error) !== null) return `${reasonOf(error)}. Check the username and the password.`
  const { code } = error as NodeJS.ErrnoException
  return code === undefined ? notClickHouse : `${reasonOf(error)}. Check the URL, and that the server runs.`
}

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
    layout: { cluster, isSharded: false },
  }
}
