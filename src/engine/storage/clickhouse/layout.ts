import { quotedName } from './sql.ts'

/** How the tables lie on servers that belong together. */
export interface Layout {
  /** The name of the servers as a cluster; null: there is one. */
  readonly cluster: string | null
  /** Events are divided among the shards of the cluster, and each server has all other rows. Otherwise each has all rows. */
  readonly isSharded: boolean
}

export const oneServer: Layout = { cluster: null, isSharded: false }

/** The table that has the events of one shard; `events` reads all of them. */
export const shardTable = 'events_local'

/** Where the rows of events are: statements that change them name this table. */
export const eventsTable = ({ isSharded }: Layout): string => (isSharded ? shardTable : 'events')

export const onCluster = (cluster: string | null): string => (cluster === null ? '' : ` ON CLUSTER ${quotedName(cluster)}`)
