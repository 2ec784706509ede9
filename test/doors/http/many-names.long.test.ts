import { DuckDBConnection } from '@duckdb/node-api'
import fc from 'fast-check'
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import type { KnownEvent, KnownProperty } from '../../../src/index.ts'
import { assertGenerated } from '../../harness/assert-generated.ts'
import { withHome } from './conversation.ts'

// A project can have 200,000 names of events. A list of them is one page, found, ordered and counted by the store: what a request reads does not depend on
// how many there are, and what the parameters mean is the same as if all of them had been read.

const held = withHome()
const at = (path: string) => `/api/projects/@current/${path}`
const send = (method: string, path: string, body?: unknown) => held.home.call(method, at(path), { as: held.home.owner, body })
const listed = async (path: string): Promise<{ count: number; names: string[] }> => {
  const { body } = await send('GET', path)
  return { count: body.count, names: body.results.map((one: { name: string }) => one.name) }
}
const data = async () => held.home.world.projectData(held.home.project.id)

const names = [
  ['$pageview', 9],
  ['$autocapture', 9],
  ['$feature_flag_called', 2],
  ['$initial_thing', 2],
  ['$initial_geoip_city_name', 3],
  ['page loaded', 5],
  ['Page Loaded', 5],
  ["it's \\ 100% _odd_", 1],
  ['ärger', 2],
  ['ÄRGER', 1],
  ['😀 smile', 1],
  ['\uffee high', 1],
  ['paid', 4],
  ['a,b', 1],
] as const
const properties = [
  '$current_url',
  '$lib_version',
  '$initial_referrer',
  '$session_entry_url',
  '$feature/new',
  'utm_source',
  '$group_7',
  'plan',
  'Plan',
  'price',
] as const

beforeAll(async () => {
  const day = (n: number) => new Date(Date.UTC(2026, 0, 1 + n)).toISOString()
  const event = (name: string, n: number, more: object = {}) => ({ event: name, distinct_id: 'ann', timestamp: day(n), properties: more })
  await (await data()).ingest({
    batch: names.flatMap(([name, count], i) =>
      Array.from({ length: count }, (_, j) =>
        event(name, (i * 7 + j) % 20, { [properties[(i + j) % properties.length]!]: j % 2 ? j : `${j}x`, price: 5 }),
      ),
    ),
  })
  const given = [{ tags: ['a', 'b'] }, { verified: true }, { hidden: true }, { tags: ['b'], verified: true }, { description: 'x' }]
  for (const [kind, some] of [
    ['event_definitions', names.map(([name]) => name)],
    ['property_definitions', properties],
  ] as const) {
    const { body } = await send('GET', `${kind}/`)
    for (const [i, note] of given.entries()) {
      const found = body.results.find((one: { name: string }) => one.name === some[i * 2])
      if (found) expect((await send('PATCH', `${kind}/${found.id}/`, note)).status).toBe(200)
    }
  }
  const removed = (await send('GET', 'event_definitions/?names=["a,b"]')).body.results[0]
  expect((await send('DELETE', `event_definitions/${removed.id}/`)).status).toBe(204)
})

describe('the parameters mean what they meant when every name was read', () => {
  interface Note {
    readonly tags: readonly string[]
    readonly verified: boolean
    readonly hidden: boolean
  }
  const order = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b))
  const time = (at: Date | null) => at?.getTime() ?? 0
  const fits = (name: string, words: string, label: RegExp | null) =>
    words
      .toLowerCase()
      .split(' ')
      .every((word) => name.toLowerCase().includes(word)) || label?.test(name) === true
  /** Searches, and the names whose labels have the words although they do not. */
  const searches: readonly (readonly [string, RegExp | null])[] = [
    ['page', /^\$current_url$/],
    ['loaded page', null],
    ['PAGE l', /^\$current_url$/],
    ['ärger', null],
    ['city first', /^\$initial_geoip_city_name$/],
    ['first thing', /^\$initial_thing$/],
    ['library version', /^\$lib_version$/],
    ["it's", null],
    ['%', null],
    ['_', null],
    ['flag', /^\$feature\//],
    ['session entry', /^\$session_entry_/],
    ['click', /^\$autocapture$/],
  ]
  const orderings = ['name', '-name', 'count', '-count', 'created_at', '-last_seen_at', 'verified', '-verified'] as const
  const asked = fc.record(
    {
      search: fc.constantFrom(...searches),
      ordering: fc.array(fc.constantFrom(...orderings), { minLength: 1, maxLength: 3 }),
      verified: fc.constantFrom('true', 'false', 'maybe'),
      exclude_hidden: fc.constantFrom('true', 'false'),
      tags: fc.subarray(['a', 'b', 'c']),
      limit: fc.integer({ min: 1, max: 6 }),
      offset: fc.integer({ min: 0, max: 16 }),
    },
    { requiredKeys: [] },
  )
  type Asked = typeof asked extends fc.Arbitrary<infer T> ? T : never
  interface One {
    readonly name: string
    readonly count: number
    readonly first_seen: Date | null
    readonly last_seen: Date | null
  }

  function naive(all: readonly One[], notes: ReadonlyMap<string, Note>, byDefault: string, one: Asked) {
    const note = (name: string) => notes.get(name)!
    const found = all.filter(
      ({ name }) =>
        notes.has(name) &&
        (!one.search || fits(name, ...one.search)) &&
        (one.verified === undefined || String(note(name).verified) === one.verified) &&
        !(one.exclude_hidden === 'true' && note(name).hidden) &&
        (!one.tags?.length || one.tags.some((tag) => note(name).tags.includes(tag))),
    )
    const by: Record<string, (a: One, b: One) => number> = {
      name: (a, b) => order(a.name, b.name),
      count: (a, b) => a.count - b.count,
      created_at: (a, b) => time(a.first_seen) - time(b.first_seen),
      last_seen_at: (a, b) => time(a.last_seen) - time(b.last_seen),
      verified: (a, b) => Number(note(a.name).verified) - Number(note(b.name).verified),
    }
    const criteria = [...(one.ordering ?? [byDefault]), 'name']
    const sorted = [...found].sort((a, b) => {
      for (const each of criteria) {
        const result = by[each.replace('-', '')]!(a, b) * (each.startsWith('-') ? -1 : 1)
        if (result !== 0) return result
      }
      return 0
    })
    const from = one.offset ?? 0
    return { count: sorted.length, names: sorted.slice(from, from + (one.limit ?? 100)).map(({ name }) => name) }
  }

  const queryOf = ({ search, ordering, tags, ...plain }: Asked): string => {
    const query = new URLSearchParams(Object.entries(plain).map(([key, value]): [string, string] => [key, String(value)]))
    if (search) query.set('search', search[0])
    if (tags) query.set('tags', JSON.stringify(tags))
    for (const each of ordering ?? []) query.append('ordering', each)
    return query.toString()
  }
  const notesIn = async (path: string) =>
    new Map<string, Note>((await send('GET', path)).body.results.map((one: Note & { name: string }) => [one.name, one]))

  test('of events', async () => {
    const all: readonly KnownEvent[] = await (await held.home.world.waymark.project(held.home.project.id)).events()
    const notes = await notesIn('event_definitions/')
    expect(notes.has('a,b')).toBe(false)
    await assertGenerated(
      fc.asyncProperty(asked, fc.constantFrom('', 'event_custom', 'event_posthog'), async (one, type) => {
        const some = all.filter(({ name }) => type === '' || name.startsWith('$') === (type === 'event_posthog'))
        expect(await listed(`event_definitions/?event_type=${type}&${queryOf(one)}`)).toEqual(naive(some, notes, '-count', one))
      }),
      { numRuns: 150 },
    )
  })

  test('of properties', async () => {
    const known: readonly KnownProperty[] = await (await held.home.world.waymark.project(held.home.project.id)).properties()
    const all = known
      .filter(({ scope }) => scope === 'event')
      .map((one) => ({ ...one, count: Object.values(one.counts).reduce((sum, n) => sum + n, 0) }))
    const notes = await notesIn('property_definitions/')
    expect([...notes.keys()].sort(order)).toEqual(properties.filter((name) => !/^\$initial_|^\$session_entry_/.test(name)).sort(order))
    const more = fc.record(
      {
        is_numerical: fc.constantFrom('true', 'false', 'x'),
        is_feature_flag: fc.constantFrom('true', 'false'),
        exclude_core_properties: fc.constantFrom('true', 'false'),
        excluded_properties: fc.subarray([...properties]),
        properties: fc.subarray([...properties], { minLength: 1 }),
      },
      { requiredKeys: [] },
    )
    await assertGenerated(
      fc.asyncProperty(asked, more, async (one, { excluded_properties: without, properties: only, ...plain }) => {
        const some = all.filter(
          ({ name, count, counts }) =>
            (plain.is_numerical === undefined || String(counts.numeric === count) === plain.is_numerical) &&
            (plain.is_feature_flag === undefined || String(name.startsWith('$feature/')) === plain.is_feature_flag) &&
            !(plain.exclude_core_properties === 'true' && /^(\$|utm_)/.test(name)) &&
            !without?.includes(name as never) &&
            only?.includes(name as never) !== false,
        )
        const query = new URLSearchParams(plain)
        if (without) query.set('excluded_properties', JSON.stringify(without))
        if (only) query.set('properties', JSON.stringify(only))
        expect(await listed(`property_definitions/?${query}&${queryOf(one)}`)).toEqual(naive(some, notes, 'name', one))
      }),
      { numRuns: 150 },
    )
  })

  test('one of them, by its name or its id, also where it was removed and came again', async () => {
    const [found] = (await send('GET', 'event_definitions/?search=smile')).body.results
    for (const by of [encodeURIComponent('😀 smile'), found.id, found.id.toUpperCase()])
      expect((await send('GET', `event_definitions/${by}/`)).body, by).toMatchObject({ id: found.id, name: '😀 smile' })
    const [other] = (await send('GET', 'property_definitions/?search=price')).body.results
    expect((await send('GET', `property_definitions/${other.id}/`)).body).toMatchObject({ name: 'price' })
    for (const gone of ['event_definitions/a%2Cb/', `property_definitions/${found.id}/`, 'property_definitions/price/'])
      expect((await send('GET', gone)).status, gone).toBe(404)
    await (await data()).ingest([{ event: 'a,b', distinct_id: 'ann', timestamp: '2026-01-05', properties: {} }])
    expect((await listed('event_definitions/?names=["a,b"]')).names).toEqual(['a,b'])
  })
})

describe('with 200,000 names', () => {
  const many = 200_000
  /** The rows of each statement that is read as a whole. */
  const reads: { sql: string; rows: number }[] = []
  let engine: DuckDBConnection | null = null

  beforeAll(async () => {
    const read = DuckDBConnection.prototype.runAndReadAll
    vi.spyOn(DuckDBConnection.prototype, 'runAndReadAll').mockImplementation(async function (this: DuckDBConnection, sql, ...rest) {
      engine = this
      const found = await read.call(this, sql, ...rest)
      reads.push({ sql, rows: found.currentRowCount })
      return found
    })
    await send('GET', 'event_definitions/')
    const table = /"[^"]+"\.main\.event_names/.exec(reads.find(({ sql }) => sql.includes('event_names'))!.sql)![0]
    await engine!.run(
      `INSERT INTO ${table} SELECT 1000 + i, 'name ' || i, TIMESTAMP '2026-01-01', TIMESTAMP '2026-01-02', 1 + i % 10 FROM range(${many}) AS r(i)`,
    )
    const keys = table.replace('event_names', 'property_keys')
    await engine!.run(
      `INSERT INTO ${keys} BY NAME SELECT 'event' AS scope, 'key ' || i AS name, '' AS slots, '' AS ready_slots, 1 AS count_numeric, 0 AS count_string, 0 AS count_boolean, 0 AS count_datetime, 0 AS count_other, 0 AS count_numeric_string FROM range(20000) AS r(i)`,
    )
  })
  afterEach(() => {
    reads.length = 0
  })

  test.each([
    ['event_definitions/', 100],
    ['event_definitions/?limit=10&offset=150000&ordering=-name', 10],
    ['event_definitions/?search=name 19999&ordering=last_seen_at', 12],
    ['event_definitions/?verified=false&exclude_hidden=true&limit=5', 5],
    ['event_definitions/?tags=["a"]&ordering=-verified', 1],
    ['property_definitions/', 100],
    ['property_definitions/?is_numerical=true&search=key 199&limit=30', 30],
    ['property_definitions/?event_names=["paid"]&limit=7', 7],
  ])('%s reads the page', async (path, most) => {
    const { names: shown } = await listed(path)
    expect(shown.length).toBe(most)
    const ofNames = reads.filter(({ sql }) => /event_names|property_keys/.test(sql) && !sql.includes("'seq' AS fact"))
    expect(ofNames.length).toBeGreaterThan(0)
    for (const { rows, sql } of ofNames) expect(rows, sql.slice(0, 200)).toBeLessThanOrEqual(Math.max(most, 1))
  })

  test('one of them reads one row', async () => {
    const [found] = (await send('GET', 'event_definitions/?search=name 123456')).body.results
    reads.length = 0
    expect((await send('GET', `event_definitions/${found.id}/`)).body).toMatchObject({ name: 'name 123456', count: 7 })
    expect((await send('GET', `event_definitions/${encodeURIComponent('name 5')}/`)).body).toMatchObject({ name: 'name 5' })
    for (const { rows, sql } of reads.filter(({ sql }) => sql.includes('event_names'))) expect(rows, sql).toBeLessThanOrEqual(1)
  })

  test('counts are those of all pages', async () => {
    expect((await listed('event_definitions/?search=name&event_type=event_custom&limit=1')).count).toBe(many)
    expect(await listed(`event_definitions/?limit=3&offset=${2 * many}`)).toMatchObject({ names: [] })
  })
})
