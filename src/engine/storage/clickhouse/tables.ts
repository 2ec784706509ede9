import { WaymarkError } from '../../../errors/errors.ts'
import type { ClickHouseClient } from './client.ts'
import { connectionOf } from './connection.ts'
import { type Layout, oneServer } from './layout.ts'
import { createClickHouseTables } from './schema.ts'

/** Creates the tables that are missing. A database keeps the layout that it was created with. */
export async function createTables(client: ClickHouseClient): Promise<void> {
  const { layout = oneServer } = client
  const { rows } = connectionOf(client, 0)
  const [[database, engine] = ['', null]] = await rows<[database: string, engine: string | null]>(
    `SELECT currentDatabase(), (SELECT any(engine) FROM system.tables WHERE database = currentDatabase() AND name = 'events')`,
  )
  if (engine) mustBeOf(layout, engine, database)
  for (const query of createClickHouseTables(layout, database)) await client.command({ query })
}

function mustBeOf({ isSharded }: Layout, engine: string, database: string): void {
  if ((engine === 'Distributed') === isSharded) return
  const message = isSharded
    ? `the database ${database} in ClickHouse was created without \`sharded\`, and its events are not divided among shards. Open it as it was created, or move them into a new database.`
    : `the events of the database ${database} in ClickHouse are divided among shards. Open it with \`cluster\` and \`sharded\`.`
  throw new WaymarkError('command-failed', { message })
}
