import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ClickHouseClient } from '../../src/engine/storage/clickhouse/client.ts'
import { type LocalWaymark, open } from '../../src/engine.ts'
import type { LocalProject } from '../../src/project.ts'
import { hasClickHouse, openChdb } from './chdb.ts'

// What an answer holds is the same on both engines, whatever the type of the value.

const expressions: readonly (readonly [why: string, expression: string])[] = [
  ['a UUID', 'uuid'],
  ['UUIDs inside', '[uuid]'],
  ['a UUID in a tuple with NULL', 'tuple(timestamp, [uuid], null)'],
  ['a UUID in a map', "map('k', uuid)"],
  ['a UUID that may be NULL', "if(event = 'x', uuid, null)"],
  ['microseconds', 'timestamp'],
  ['times inside', '[timestamp]'],
  ['a time that may be NULL', "if(event = 'x', timestamp, null)"],
  ['seconds', "toDateTime('2024-01-01 10:00:00')"],
  ['seconds inside', "[toDateTime('2024-01-01 10:00:00')]"],
  ['milliseconds in another zone', "toDateTime64('2024-01-01 10:00:00.5', 3, 'Asia/Tokyo')"],
  ['a time of another zone', "toTimeZone(timestamp, 'Asia/Tokyo')"],
  ['a day', "toDate('2024-01-05')"],
  ['a day and NULL', "[toDate('2024-01-05'), null]"],
  ['a 128-bit integer', 'cast(5 as Int128)'],
  ['one without a sign', 'cast(5 as UInt128)'],
  ['one below 0', 'cast(-5 as Int128)'],
  ['a 256-bit integer', "cast('170141183460469231731687303715884105727' as Int256)"],
  ['a decimal', 'toDecimal(1.5, 3)'],
  ['a decimal below 0', 'toDecimal(-1.5, 3)'],
  ['a decimal of many digits', "cast('1.5' as Decimal(38, 30))"],
  ['NULL', 'null'],
  ['an array of NULL', '[null]'],
  ['an empty array', '[]'],
  ['a boolean', 'true'],
  ['booleans', '[true, false]'],
  ['a text of a dictionary', 'event'],
  ['a text that may be NULL', "cast('x' as Nullable(String))"],
  ['a count', 'count() over ()'],
  ['32 bits with a fraction', 'cast(1.1 as Float32)'],
  ['an IPv4 address', "toIPv4('1.2.3.4')"],
  ['an IPv6 address', "toIPv6('2001:db8::1')"],
  ['nested arrays', '[[1, 2], [3]]'],
  ['tuples inside', "[('a', 1)]"],
  ['a map of arrays', "map('a', [1, 2])"],
  ['more than 2^63', '18446744073709551615'],
  ['more than 2^53', '9007199254740993'],
  ['a JSON document', 'properties'],
  ['a property', 'properties.a'],
  ['no number', '0 / 0'],
]

/** Integers have the width of their type here, and often a larger one in the embedded store. */
const widthless = (type: string) => type.replaceAll(/U?[iI]nt\d+|Decimal\[38e0\]/g, 'integer')

describe.skipIf(!hasClickHouse)('answers of ClickHouse', () => {
  let client: ClickHouseClient
  let waymarks: LocalWaymark[]
  let projects: readonly [LocalProject, LocalProject]
  const first = (query: string) => ({ kind: 'SqlLikeQuery', query }) as const

  beforeAll(async () => {
    client = await openChdb()
    waymarks = [await open({ dataDir: ':memory:', engine: { clickhouse: { client } } }), await open({ dataDir: ':memory:' })]
    const made: LocalProject[] = []
    for (const waymark of waymarks) {
      const project = await waymark.createProject({ name: 'Values', timezone: 'Europe/Berlin' })
      await project.ingest({
        batch: [
          {
            event: 'signup',
            distinct_id: 'u1',
            uuid: '01a2048e-63aa-7000-b588-1fe98d207ac4',
            timestamp: '2026-01-05T10:00:00.123456Z',
            properties: { a: 1 },
          },
        ],
      })
      made.push(project)
    }
    projects = [made[0]!, made[1]!]
  })
  afterAll(async () => {
    for (const waymark of waymarks) await waymark.close()
    await client.close()
  })

  test.each(expressions)('%s: %s', async (_, expression) => {
    const query = first(`select ${expression} as v, ${expression} as w from events`)
    const [here, there] = await Promise.all(projects.map((project) => project.query(query)))
    expect([here!.types, here!.results]).toEqual([there!.types, there!.results])
    const shapes = await Promise.all(
      projects.map(async (project) => {
        const { schema } = await project.queryArrow(query)
        return schema.fields.map((field) => [field.name, widthless(String(field.type)), [...field.metadata]])
      }),
    )
    expect(shapes[0]).toEqual(shapes[1])
  })

  test('rows of several blocks are one column each', async () => {
    const small = await open({ dataDir: ':memory:', engine: { clickhouse: { client, settings: { max_block_size: 7 } } } })
    const columns =
      "number, if(number % 3 = 0, null, concat('t', toString(number))), [number, null], number % 2 = 0, tuple(toString(number), null)"
    const project = await small.createProject({ name: 'Small' })
    const query = first(`select ${columns} from numbers(50) order by number`)
    expect((await project.query(query)).results).toEqual((await projects[1].query(query)).results)
    await small.close()
  })

  test('batches come as they are read, and a stop stops the statement', async () => {
    const stop = new AbortController()
    const reading = projects[0].queryArrowBatches(first('select number from numbers(1000000)'), { signal: stop.signal })
    const { value } = await reading.next()
    expect(value!.numRows).toBeGreaterThan(0)
    stop.abort()
    await expect(reading.next()).rejects.toMatchObject({ code: 'query-cancelled' })
  })

  test('what the server refuses is a mistake of the statement, with its reason', async () => {
    await expect(projects[0].query(first('select toString(number) from numbers(1)'))).resolves.toBeDefined()
    await expect(projects[0].query(first("select match(toString(number), '(') from numbers(1)"))).rejects.toMatchObject({
      code: 'engine-refused',
    })
  })

  test('a database belongs to one data directory', async () => {
    const [a, b] = [await mkdtemp(join(tmpdir(), 'waymark-')), await mkdtemp(join(tmpdir(), 'waymark-'))]
    const engine = { clickhouse: { client } }
    try {
      const waymark = await open({ dataDir: a, engine })
      const project = await waymark.createProject({ name: 'Kept' })
      await project.ingest({ batch: [{ event: 'kept', distinct_id: 'u' }] })
      await waymark.close()
      await expect(open({ dataDir: b, engine })).rejects.toMatchObject({ code: 'unusable-directory' })
      await expect(open({ dataDir: ':memory:', engine })).rejects.toMatchObject({ code: 'unusable-directory' })
      await expect(open({ dataDir: a })).rejects.toMatchObject({ code: 'unusable-directory' })
      const again = await open({ dataDir: a, engine })
      const found = await (await again.project('Kept')).query(first('select event, count() from events group by event'))
      expect(found.results).toEqual([['kept', 1]])
      await again.close()
    } finally {
      await client.command({ query: 'ALTER TABLE meta DELETE WHERE project_id = 0 SETTINGS mutations_sync = 1' })
      for (const folder of [a, b]) await rm(folder, { recursive: true })
    }
  })
})
