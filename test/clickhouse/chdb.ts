import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { type ClickHouseClient, createClient } from '@clickhouse/client'

// ClickHouse inside this process, where it is installed. It has a package file and a lock of its own, because it takes more room than all else together.

/** A bench is built into a folder of its own, two levels from here. */
const directory = [import.meta.dirname, join(import.meta.dirname, '../test/clickhouse')].find((place) =>
  existsSync(join(place, 'node_modules/chdb')),
)
export const hasClickHouse = directory !== undefined
export const howToInstallClickHouse = '`npm run setup:clickhouse` installs it (550 MB).'

/** One per process: a test file that needs it opens it once. */
export async function openChdb(): Promise<ClickHouseClient> {
  if (directory === undefined) throw new Error(`This needs ClickHouse. ${howToInstallClickHouse}`)
  const { createChdbConnection } = createRequire(join(directory, 'chdb.ts'))('chdb/connection') as {
    createChdbConnection(options: { path: string }): object
  }
  return createClient({ connection: writable(createChdbConnection({ path: ':memory:' })) as never }) // its types are of another copy of the client's
}

interface Request {
  readonly clickhouse_settings?: Readonly<Record<string, unknown>>
}

/** A server forgets the settings of a request after it. This engine has one session, which would be read-only from then on. */
const writable = (connection: object): object =>
  new Proxy(connection, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name)
      if (typeof member !== 'function') return member
      return (request?: Request, ...more: unknown[]) => {
        const { readonly: _, ...settings } = request?.clickhouse_settings ?? {}
        return member.call(target, request?.clickhouse_settings ? { ...request, clickhouse_settings: settings } : request, ...more)
      }
    },
  })
