import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ClickHouseClient } from '../../src/engine/storage/clickhouse/client.ts'
import { type LocalWaymark, open } from '../../src/engine.ts'
import { slotCount } from '../../src/events/ingestion/properties/property-keys.ts'
import type { LocalProject } from '../../src/project.ts'
import { hasClickHouse, openChdb } from './chdb.ts'

// Properties with many values have columns, which change no answer: those of both engines agree, before there are columns and after.

const few: readonly unknown[] = ['free', 'pro', '', ' team', 'null', 'it\'s \\ "quoted"\n', 'Zoë 👋', '1', 'true']
const numbers: readonly unknown[] = [0, 1, -1, 1.5, 1e-7, 123456789012, 0.1, -0.000001, 100]
const mixed: readonly unknown[] = [
  '1',
  1,
  '01',
  '1.50',
  '1e3',
  true,
  'true',
  false,
  null,
  [1, 'a'],
  { a: { b: 1 } },
  ' 1',
  '0x10',
  'NaN',
  'x',
  '',
]
const flags: readonly unknown[] = [true, false]
/** A client chooses it, and it is part of a statement that adds a column. */
const odd = `it's \\ "odd"') COMMENT ''; --`
const kinds = { few, numbers, mixed, flags, [odd]: few }
const first = Date.parse('2026-01-05T00:00:00Z')
const batchOf = (from: number, count: number) =>
  Array.from({ length: count }, (_, k) => {
    const i = from + k
    const drawn = Object.entries(kinds).flatMap(([key, values]) => (i % 11 === 3 ? [] : [[key, values[(i * 7) % values.length]]]))
    const id = `00000000-0000-4000-8000-${String(i).padStart(12, '0')}`
    const properties = { ...Object.fromEntries(drawn), unique: `value ${i}` }
    return { event: 'seen', distinct_id: `u${i % 50}`, uuid: id, timestamp: new Date(first + i * 60_000).toISOString(), properties }
  })

const field = (key: string) => `properties.\`${key.replaceAll('\\', '\\\\')}\``
const statements = Object.keys({ ...kinds, unique: [] }).flatMap((key) => [
  `select ${field(key)} as v, count() from events group by v order by count() desc, v limit 40`,
  `select count(), max(toFloat(${field(key)})), min(toFloat(${field(key)})), countIf(isNull(${field(key)})), countIf(${field(key)} = '') from events`,
  `select count() from events where ${field(key)} = 'true' or ${field(key)} = '1' or ${field(key)} = 1`,
  `select count() from events where ${field(key)} > 1`,
  `select toString(${field(key)}) as v, max(length(toString(${field(key)}))) from events group by v order by v limit 30`,
  `select arrayMap(x -> concat(x, '!'), [ifNull(toString(${field(key)}), 'none')]) as v from events order by timestamp limit 30`,
])
/** Rows of equal counts are in no order. */
const byValue = (rows: unknown) =>
  (rows as { breakdown_value: unknown; data: unknown }[]).map(({ breakdown_value, data }) => JSON.stringify([breakdown_value, data])).sort()
const breakdown = (key: string) => ({
  kind: 'TrendsQuery',
  series: [{ kind: 'EventsNode', event: 'seen' }],
  dateRange: { date_from: '2026-01-05', date_to: '2026-01-09' },
  breakdownFilter: { breakdown: key, breakdown_type: 'event' },
})

describe.skipIf(!hasClickHouse)('properties with columns in ClickHouse', () => {
  let client: ClickHouseClient
  let waymarks: LocalWaymark[]
  let projects: readonly [LocalProject, LocalProject]
  const columns = async () => {
    const query =
      "SELECT name, comment, type FROM system.columns WHERE table = 'events' AND database = currentDatabase() AND default_kind = 'MATERIALIZED'"
    const { stream } = await client.exec({ query: `${query} FORMAT JSONCompactEachRow` })
    let text = ''
    for await (const chunk of stream) text += Buffer.from(chunk).toString()
    return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as [name: string, key: string, type: string]]))
  }
  const both = async (query: object) => {
    const answers: unknown[] = []
    for (const project of projects)
      answers.push(((await project.query(query as never, { refresh: 'force_blocking' })) as { results: unknown }).results)
    return answers
  }
  const agree = async () => {
    for (const query of statements) {
      const [there, here] = await both({ kind: 'SqlLikeQuery', query })
      expect(there, query).toEqual(here)
    }
    for (const key of ['few', 'mixed', 'numbers']) {
      const [there, here] = await both(breakdown(key))
      expect(byValue(there), key).toEqual(byValue(here))
    }
  }

  beforeAll(async () => {
    client = await openChdb()
    waymarks = [await open({ dataDir: ':memory:', engine: { clickhouse: { client } } }), await open({ dataDir: ':memory:' })]
    const made: LocalProject[] = []
    for (const waymark of waymarks) made.push(await waymark.createProject({ name: 'Columns' }))
    projects = [made[0]!, made[1]!]
  })
  afterAll(async () => {
    for (const waymark of waymarks) await waymark.close()
    await client.close()
  })

  const send = async (from: number, count: number) => {
    for (const project of projects) await project.ingest({ batch: batchOf(from, count) as never })
  }

  test('there are none for few values, and answers agree', async () => {
    await send(0, slotCount / 2)
    await agree()
    expect(await columns()).toEqual([])
  })

  test('many values get columns of their types, which rows from before and after are read from', async () => {
    await send(slotCount / 2, slotCount)
    await agree()
    await send(2 * slotCount, 100)
    await agree()
    const there = new Map((await columns()).map(([name, key, type]) => [`${key}: ${name[0]}`, type]))
    expect(there.get('few: s')).toBe('LowCardinality(Nullable(String))')
    expect(there.get('unique: s')).toBe('Nullable(String)')
    expect(there.get('numbers: n')).toBe('Nullable(Float64)')
    expect(there.get('flags: b')).toBe('Nullable(Bool)')
    expect(there.get(`${odd}: s`)).toBe('LowCardinality(Nullable(String))')
  })

  test('a statement reads the column and not the JSON', async () => {
    const query = { kind: 'SqlLikeQuery', query: 'select properties.few, count() from events group by 1', explain: true } as const
    const { explain } = (await projects[0].query(query as never, { refresh: 'force_blocking' })) as unknown as {
      explain: { sql: string }[]
    }
    const said = JSON.stringify(explain)
    expect(said).toMatch(/t\.s_[0-9a-f]{16}/)
    expect(said).not.toContain('JSONExtract')
  })

  test('a property that is removed is gone from its column', async () => {
    for (const project of projects) await project.removeProperty('event', 'few')
    await agree()
    const [there] = await both({ kind: 'SqlLikeQuery', query: 'select count() from events where properties.few is not null' })
    expect(there).toEqual([[0]])
  })
})
