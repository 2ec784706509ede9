import type { EngineChoice } from '../../../engine.ts'
import { type Values, wrongUsage } from '../command.ts'

const form = 'http://user:password@host:8123/database'

export const clickhouseOption = {
  value: 'URL',
  summary: `ClickHouse server that stores the events, ${form};  needs the package @clickhouse/client`,
} as const

export const postgresOption = {
  value: 'URL',
  summary: `PostgreSQL that several servers share, postgres://user:password@host:5432/database; with --clickhouse; needs the package pg`,
} as const

const wrong = (message: string) => wrongUsage(`--clickhouse takes ${form}: ${message}.`)

/** The path of the URL is the database, its query string the server's settings for queries, and `cluster`, the name of one, with `sharded`. */
export function engineOf(values: Values): EngineChoice | undefined {
  const text = values.text('clickhouse')
  const postgres = values.text('postgres')
  if (text === undefined && postgres !== undefined) throw wrongUsage('--postgres needs --clickhouse too: events are stored there.')
  if (text === undefined) return undefined
  if (!URL.canParse(text) || !/^https?:/.test(text)) throw wrong('this is not an http or https URL')
  const { origin, pathname, searchParams, username, password } = new URL(text)
  const [database = '', ...more] = pathname.slice(1).split('/')
  if (more.some((part) => part !== '')) throw wrong(`the path is the name of a database, not ${pathname}`)
  const { cluster, sharded, ...settings } = Object.fromEntries(searchParams)
  if (cluster === '') throw wrong('cluster= takes the name of a cluster')
  if (sharded !== undefined && sharded !== 'true' && sharded !== 'false') throw wrong('sharded= takes true or false')
  if (sharded === 'true' && cluster === undefined) throw wrong('sharded=true needs cluster= with the name of the cluster')
  return {
    clickhouse: {
      url: origin,
      database: part(database),
      username: part(username),
      password: part(password),
      settings,
      ...(cluster !== undefined && { cluster }),
      ...(sharded !== undefined && { sharded: sharded === 'true' }),
    },
    ...(postgres !== undefined && { postgres }),
  }
}

function part(text: string): string | undefined {
  if (text === '') return undefined
  try {
    return decodeURIComponent(text)
  } catch {
    throw wrong('write a % in the user, the password or the database as %25')
  }
}
