import type { AddressInfo } from 'node:net'
import { createServer, type Server } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { postgres } from '../../../src/service/exports/destinations/postgres.ts'
import { type Postgres, startPostgres, whyNoPostgres } from '../../harness/postgres.ts'
import { eventOf, openShop, outside, type Shop } from './shop.ts'

const why = whyNoPostgres()
if (why) console.warn(`NOT RUN: exports to PostgreSQL: ${why}`)

let shop: Shop
beforeAll(async () => {
  shop = await openShop()
  await shop.ingest(1000)
})
afterAll(() => shop.close())

const { signal } = new AbortController()

describe.skipIf(why !== null)('a PostgreSQL server', () => {
  let server: Postgres
  const config = (more: object = {}) => ({
    user: 'waymark',
    password: 'any',
    host: '127.0.0.1',
    port: server.port,
    database: 'postgres',
    ...more,
  })
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server?.stop())
  beforeEach(async () => {
    for (const statement of ['DROP TABLE IF EXISTS events', 'DROP TABLE IF EXISTS people', 'DROP TABLE IF EXISTS waymark_published_runs'])
      await server.sql.run(`CREATE TABLE IF NOT EXISTS unused(); ${statement}`)
  })
  const rows = (sql: string) => server.sql.rows(sql)
  const sums = () =>
    rows(`SELECT count(*)::int AS n, count(DISTINCT uuid)::int AS uuids, sum((properties->>'price')::int)::int AS total FROM events`)
  const wanted = (n: number) => [{ n, uuids: n, total: (n * (n - 1)) / 2 }]

  test('every row has the values of its event, and publishing twice leaves each once', async () => {
    for (const attempt of [1, 2]) {
      expect(await shop.run(postgres, config(), { attempt })).toMatchObject({ rows: 1000 })
      expect(await sums()).toEqual(wanted(1000))
    }
    const types = await rows(
      "SELECT attname AS name, format_type(atttypid, atttypmod) AS type FROM pg_attribute WHERE attrelid = 'events'::regclass AND attnum > 0 ORDER BY attnum",
    )
    expect(types.map(({ name, type }) => `${name} ${type}`)).toEqual([
      'uuid uuid',
      'event text',
      'properties jsonb',
      'elements text',
      'set jsonb',
      'set_once jsonb',
      'distinct_id text',
      'team_id bigint',
      'ip text',
      'site_url text',
      'timestamp timestamp with time zone',
    ])
    const read = await rows(
      "SELECT uuid, event, distinct_id, team_id, ip, site_url, properties->>'note' AS note, set, set_once, to_char(timestamp AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"') AS timestamp FROM events ORDER BY uuid LIMIT 20",
    )
    expect(read).toEqual(
      Array.from({ length: 20 }, (_, n) => {
        const { uuid, event, distinct_id, timestamp, properties } = eventOf(n)
        return {
          uuid,
          event,
          distinct_id,
          team_id: shop.project.id,
          ip: '10.0.0.1',
          site_url: null,
          note: properties.note,
          set: { plan: 'pro' },
          set_once: null,
          timestamp,
        }
      }),
    )
  })

  test('a table that is there keeps its types, and gets the columns that it lacks', async () => {
    await server.sql.run('CREATE TABLE IF NOT EXISTS events (uuid varchar(200), event varchar(200), properties json, own integer)')
    await shop.run(postgres, config())
    await shop.run(postgres, config())
    expect(await rows('SELECT count(*)::int AS n, count(own)::int AS own, count(timestamp)::int AS times FROM events')).toEqual([
      { n: 1000, own: 0, times: 1000 },
    ])
    expect(await rows("SELECT properties->>'note' AS note FROM events ORDER BY uuid LIMIT 1")).toEqual([{ note: 'plain' }])
  })

  test('persons replace what was exported before', async () => {
    const people = config({ table_name: 'people' })
    const about = { model: 'persons' as const }
    await shop.run(postgres, people, about)
    await shop.run(postgres, people, about)
    expect(await rows('SELECT count(*)::int AS n, count(DISTINCT distinct_id)::int AS ids FROM people')).toEqual([{ n: 7, ids: 7 }])
  })

  test('of rows with one identity, the last one stays', async () => {
    const columns = [
      { alias: 'uuid', expression: 'distinct_id' },
      { alias: 'price', expression: 'toInt(properties.price)' },
    ]
    await shop.run({ ...postgres, columns: () => columns }, config())
    expect(await rows('SELECT uuid, price FROM events ORDER BY price')).toEqual(
      Array.from({ length: 7 }, (_, i) => ({ uuid: `user ${(993 + i) % 7}`, price: 993 + i })),
    )
  })

  test('rows without an identity are added once for a run', async () => {
    for (const key of ['a', 'a', 'b']) await shop.run(postgres, config(), { identity: [], key })
    expect(await rows('SELECT count(*)::int AS n FROM events')).toEqual([{ n: 2000 }])
  })

  test('a NUL that an expression makes is left out of texts', async () => {
    const odd = {
      ...postgres,
      columns: () => [
        { alias: 'text', expression: "unhex('610062')" },
        { alias: 'uuid', expression: 'uuid' },
      ],
    }
    await shop.run(odd, config())
    expect(await rows('SELECT DISTINCT text FROM events')).toEqual([{ text: 'ab' }])
  })

  test('texts that formats give a meaning keep theirs: alone in a row, and beside others', async () => {
    const texts = [
      '\\.',
      null,
      '',
      '\\N',
      '\u0001',
      '\t',
      '\n',
      '\r\n',
      '\\',
      ' ',
      '"',
      'NULL',
      'a\u0001b\tc',
      '\u0001\u0001',
      '\u007f',
      '漢字\n\\.\n',
    ]
    const hex = (text: string) => `unhex('${Buffer.from(text).toString('hex')}')`
    const nth = texts.map((text, i) => `toInt(properties.price) = ${i}, ${text === null ? 'NULL' : text === '' ? "''" : hex(text)}`)
    const expression = `multiIf(${nth.join(', ')}, 'rest')`
    const odd = { alias: 'odd', expression }
    for (const fields of [[odd], [odd, { alias: 'n', expression: 'toInt(properties.price)' }], [{ ...odd, alias: 'first' }, odd]]) {
      await server.sql.run('CREATE TABLE IF NOT EXISTS unused(); DROP TABLE IF EXISTS events')
      await shop.run({ ...postgres, columns: () => fields }, config(), { identity: [], key: fields.map(({ alias }) => alias).join('-') })
      const found = await rows("SELECT odd FROM events WHERE odd IS DISTINCT FROM 'rest'")
      expect(found.map((row) => row.odd).sort()).toEqual([...texts].sort())
      expect(await rows('SELECT count(*)::int AS n FROM events')).toEqual([{ n: 1000 }])
    }
  })

  test('nothing is visible before the end, and a run that fails leaves nothing', async () => {
    const failing = {
      ...postgres,
      open: async (...given: Parameters<typeof postgres.open>) => {
        const sink = await postgres.open(...given)
        const publish = async () => {
          expect(await rows('SELECT count(*)::int AS n FROM events')).toEqual([{ n: 0 }])
          throw new Error('killed')
        }
        return { write: sink.write.bind(sink), discard: sink.discard.bind(sink), publish }
      },
    }
    await expect(shop.run(failing, config())).rejects.toThrow('killed')
    expect(await rows('SELECT count(*)::int AS n FROM events')).toEqual([{ n: 0 }])
    await expect.poll(() => rows("SELECT count(*)::int AS n FROM pg_stat_activity WHERE application_name = 'waymark'")).toEqual([{ n: 0 }])
  })

  test('a connection that the server ends in the middle', async () => {
    const cut = {
      ...postgres,
      open: async (...given: Parameters<typeof postgres.open>) => {
        const sink = await postgres.open(...given)
        const write: typeof sink.write = async (...file) => {
          await sink.write(...file)
          await rows("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'waymark'")
        }
        return { write, discard: sink.discard.bind(sink), publish: sink.publish.bind(sink) }
      },
    }
    await expect(shop.run(cut, config())).rejects.toMatchObject({
      isRetryable: true,
      message: expect.stringMatching(/^PostgreSQL at 127\.0\.0\.1:\d+ (was shut down during the run|closed the connection)/),
    })
    expect(await rows('SELECT count(*)::int AS n FROM events')).toEqual([{ n: 0 }])
    await shop.run(postgres, config())
    expect(await sums()).toEqual(wanted(1000))
  })

  test('rows that do not fit say which, and a cancelled run stops its statement', async () => {
    await server.sql.run('CREATE TABLE IF NOT EXISTS events (uuid uuid, event varchar(4))')
    await expect(shop.run(postgres, config())).rejects.toMatchObject({
      isRetryable: false,
      message: expect.stringMatching(
        /refused the rows: value too long for type character varying\(4\)\. COPY waymark_staging, line \d+, column event: "(purchase|pageview)"/,
      ),
    })
    const long = { ...postgres, columns: () => [{ alias: 'é'.repeat(32), expression: 'event' }] }
    await expect(shop.run(long, config(), { identity: [] })).rejects.toMatchObject({
      isRetryable: false,
      message: `PostgreSQL supports column names of up to 63 bytes. Rename "${'é'.repeat(32)}" with AS.`,
    })
    const stopped = new AbortController()
    const slow = {
      ...postgres,
      open: async (...given: Parameters<typeof postgres.open>) => {
        const sink = await postgres.open(...given)
        return {
          write: sink.write.bind(sink),
          discard: sink.discard.bind(sink),
          publish: (by: AbortSignal) => {
            stopped.abort(new Error('cancelled'))
            return sink.publish(by)
          },
        }
      },
    }
    await expect(shop.run(slow, config({ table_name: 'people' }), { signal: stopped.signal })).rejects.toThrow('cancelled')
    expect(await rows('SELECT count(*)::int AS n FROM people')).toEqual([{ n: 0 }])
  })

  test('settings are checked step by step', async () => {
    const check = async (more: object) => {
      for (const step of postgres.steps(postgres.config.parse(config(more)), outside)) {
        const failure = await step.run(signal).then(
          () => null,
          (error: Error) => error.message,
        )
        if (failure) return [step.name, failure]
      }
      return null
    }
    expect(await check({})).toBe(null)
    expect(await check({ database: 'nowhere' })).toEqual([
      'Check PostgreSQL connection',
      expect.stringMatching(/has no database nowhere\. Create it, or change database\.$/),
    ])
    expect(await check({ schema: 'nowhere' })).toEqual([
      'Check PostgreSQL schema exists',
      'The database postgres has no schema nowhere. Create it, or change schema.',
    ])
    expect(await check({ user: 'nobody' })).toEqual([
      'Check PostgreSQL connection',
      expect.stringMatching(/refuses the user nobody|role "nobody" does not exist/),
    ])
    await server.sql.run('CREATE TABLE IF NOT EXISTS unused()')
    expect(await check({ has_self_signed_cert: true })).toEqual([
      'Check PostgreSQL connection',
      expect.stringContaining('does not support TLS'),
    ])
  })
})

describe('a server that fails', () => {
  let server: Server
  let port = 0
  beforeAll(async () => {
    server = createServer((socket) => socket.on('error', () => undefined).once('data', () => socket.destroy()))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    port = (server.address() as AddressInfo).port
  })
  afterAll(() => void server.close())
  const config = () => ({ user: 'waymark', password: 'any', host: '127.0.0.1', port, database: 'postgres' })

  test('a connection that is closed, refused or not allowed', async () => {
    await expect(shop.run(postgres, config())).rejects.toMatchObject({
      isRetryable: true,
      message: expect.stringMatching(/closed the connection/),
    })
    await expect(shop.run(postgres, { ...config(), port: 1 })).rejects.toMatchObject({
      isRetryable: true,
      message: 'PostgreSQL at 127.0.0.1:1 refused the connection. Check the host and the port, and that the server is running.',
    })
    const walled = {
      ...outside,
      mustBeAllowed: (host: string) => {
        throw new Error(`${host} is private`)
      },
    }
    const [step] = postgres.steps(postgres.config.parse(config()), walled)
    await expect(step!.run(signal)).rejects.toThrow('127.0.0.1 is private')
  })
})
