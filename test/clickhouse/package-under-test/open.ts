import { type OpenOptions, open as openDirectory, type Waymark } from '../../../src/index.ts'
import { startClickHouseServer } from '../http-server.ts'

// What the conformance runner takes for the package: the same library on ClickHouse, over HTTP.

export async function open(options: OpenOptions): Promise<Waymark> {
  const server = await startClickHouseServer()
  const { origin, username, password } = new URL(server.url)
  const clickhouse = { url: origin, username, password: decodeURIComponent(password) }
  const waymark = await openDirectory({ ...options, engine: { clickhouse } })
  const close = waymark.close.bind(waymark)
  return Object.assign(waymark, {
    close: async () => {
      await close()
      await server.close()
    },
  })
}
