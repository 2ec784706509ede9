import { type OpenOptions, open as openDirectory, type Waymark } from '../../../src/index.ts'
import { openChdb } from '../chdb.ts'

// What the conformance runner takes for the package: the same library on ClickHouse.

export async function open(options: OpenOptions): Promise<Waymark> {
  const client = await openChdb()
  const waymark = await openDirectory({ ...options, engine: { clickhouse: { client } } })
  const close = waymark.close.bind(waymark)
  return Object.assign(waymark, {
    close: async () => {
      await close()
      await client.close()
    },
  })
}
