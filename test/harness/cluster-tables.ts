import { connectToPostgres, type Postgres } from '../../src/engine/storage/postgres/client.ts'
import { prepareTables } from '../../src/engine/storage/postgres/tables.ts'
import { startPostgres } from './postgres.ts'

/** The tables that servers share, in a PostgreSQL of its own. */
export async function startClusterTables(): Promise<{ readonly postgres: Postgres; stop(): Promise<void> }> {
  const server = await startPostgres()
  const postgres = await connectToPostgres({ url: `postgres://waymark@127.0.0.1:${server.port}/postgres` })
  await prepareTables(postgres, async () => undefined)
  return {
    postgres,
    async stop() {
      await postgres.close()
      await server.stop()
    },
  }
}
