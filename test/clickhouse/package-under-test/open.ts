import { type OpenOptions, open as openDirectory, type Waymark } from '../../../src/index.ts'
import { testLayout } from '../chdb.ts'
import { startClickHouseServer } from '../http-server.ts'

// What the conformance runner takes for the package: the same library on ClickHouse, over HTTP. With WAYMARK_TEST_SHARDS, its events are divided among two shards.

export async function open(options: OpenOptions): Promise<Waymark> {
  const server = await startClickHouseServer()
  const { origin, username, password } = new URL(server.url)
  const clickhouse = { url: origin, username, password: decodeURIComponent(password), ...testLayout }
  const waymark = await openDirectory({ ...options, engine: { clickhouse } })
  const close = waymark.close.bind(waymark)
  return Object.assign(waymark, {
    close: async () => {
      await close()
      await server.close()
    },
  })
}
