import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type LocalWaymark, open } from '../../../src/engine.ts'
import { parseQuery } from '../../../src/language/parser/parse.ts'
import type { LocalProject } from '../../../src/project.ts'
import { groupedEvents } from '../../../src/queries/sql/groups/grouped.ts'
import { assertGenerated } from '../../harness/assert-generated.ts'

// Statements that group events: what the lists of the core count for them equals what the engine answers over the events.

let waymark: LocalWaymark
let project: LocalProject
const countries = ['de', 'fr', 'Österreich', '', null, undefined, true, ['a'], '0', '1']
const numbers = [1.5, '2', true, 'x', null, 3, -4.25, undefined, 1e9, '1e3', ' 7']

/** A statement in which a property of texts has numbers too. */
const mixed = [1, 'a', 2, '10', null]

beforeAll(async () => {
  waymark = await open({ dataDir: ':memory:', clock: () => new Date('2026-04-10T12:00:00Z') })
  project = await waymark.createProject({ name: 'Groups', timezone: 'Europe/Berlin', week_start_day: 1 })
  // Clocks are put forward on 29 March: hours before and after it.
  const from = Date.UTC(2026, 2, 26)
  const batch = Array.from({ length: 1500 }, (_, i) => {
    const user = `user-${(i * 7) % 41}`
    return {
      event: ['visit', 'buy', 'leave'][(i * i) % 3]!,
      distinct_id: user,
      timestamp: new Date(from + ((i * 7919) % 1500) * 700_001).toISOString(),
      properties: {
        country: countries[i % countries.length],
        plan: ['pro', 'free'][(i >> 2) % 2],
        n: numbers[(i * 3) % numbers.length],
        mixed: mixed[i % mixed.length],
        ...(i % 100 === 0 && { $set: { tier: ['gold', 'silver', null][(i / 100) % 3] } }),
        ...(i % 211 === 0 && { $process_person_profile: false }),
      },
    }
  })
  await project.ingest({ batch } as never)
  await project.ingest({
    batch: [{ event: '$identify', distinct_id: 'user-1', timestamp: '2026-03-30T10:00:00Z', properties: { $anon_distinct_id: 'user-2' } }],
  } as never)
})
afterAll(() => waymark.close())

interface SqlAnswer {
  readonly types: unknown
  readonly results: readonly (readonly unknown[])[]
  readonly hasMore: boolean
  readonly explain: readonly { readonly road?: string; readonly reason?: string }[]
}
const ask = async (query: string, road?: 'core' | 'sql'): Promise<SqlAnswer> =>
  (await project.query({
    kind: 'SqlLikeQuery',
    query,
    explain: true,
    ...(road && { modifiers: { road } }),
  } as never)) as unknown as SqlAnswer

/** Sums of the same numbers in another order differ in their last digits. */
function expectSame(core: SqlAnswer, sql: SqlAnswer, isOrdered: boolean): void {
  expect([core.types, core.hasMore]).toEqual([sql.types, sql.hasMore])
  const rows = ({ results }: SqlAnswer) =>
    isOrdered ? results : results.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
  const rounded = (all: readonly (readonly unknown[])[]) =>
    all.map((row) => row.map((cell) => (typeof cell === 'number' ? Number(cell.toPrecision(12)) : cell)))
  expect(rounded(rows(core))).toEqual(rounded(rows(sql)))
}

const keys = [
  'event',
  'properties.country',
  'properties.plan',
  'person.properties.tier',
  "concat(event, '/', properties.plan)",
  'lower(properties.country)',
  "if(properties.n = 3, 'three', 'other')",
  'distinct_id',
]
const intervals = [
  'toStartOfDay(timestamp)',
  'toDate(timestamp)',
  'toStartOfWeek(timestamp)',
  'toStartOfWeek(timestamp, 3)',
  'toMonday(timestamp)',
  'toStartOfMonth(timestamp)',
  'toStartOfHour(timestamp)',
  "dateTrunc('hour', timestamp)",
  "dateTrunc('week', timestamp)",
  'toYYYYMM(timestamp)',
]
const measures = [
  'count()',
  'count(*)',
  'count(properties.country)',
  'uniq(person_id)',
  'count(distinct person_id)',
  'uniqExact(person.id)',
  'sum(properties.n)',
  'avg(toFloat(properties.n))',
  'min(toFloat(properties.n))',
  'max(toFloat(properties.n))',
  "countIf(properties.plan = 'pro')",
  "sumIf(toFloat(properties.n), event = 'buy')",
  "avgIf(toFloat(properties.n), properties.country = 'de')",
  "uniqIf(person_id, event = 'buy')",
  "count() filter (where properties.plan = 'free')",
  'round(avg(toFloat(properties.n)) * 2 + count(), 3)',
  "countIf(event = 'buy') / count()",
]
const conditions = [
  "event = 'buy'",
  "event in ('buy', 'visit')",
  "properties.country != 'de'",
  "properties.plan = 'pro' or event = 'leave'",
  "person.properties.tier = 'gold'",
  'properties.n > 1',
  "event = 'missing'",
]
const times = [
  "timestamp >= '2026-03-27'",
  "timestamp > '2026-03-28 13:14:15' and timestamp < '2026-04-02T01:02:03Z'",
  "timestamp between '2026-03-29' and toDateTime('2026-04-05 00:00:00')",
  'timestamp > now() - interval 10 day',
  'timestamp >= today() - 8 and timestamp < today()',
  "timestamp >= toStartOfWeek(now() - toIntervalWeek(1)) and '2026-04-03' >= timestamp",
]

type Drawn = typeof statementArb extends fc.Arbitrary<infer T> ? T : never
const statementArb = fc.record({
  keys: fc.subarray(keys, { maxLength: 2 }),
  interval: fc.option(fc.constantFrom(...intervals)),
  measures: fc.subarray(measures, { minLength: 1, maxLength: 4 }),
  condition: fc.option(fc.constantFrom(...conditions)),
  time: fc.option(fc.constantFrom(...times)),
  having: fc.boolean(),
  named: fc.boolean(),
  limit: fc.option(fc.integer({ min: 1, max: 5 })),
})

function statementOf({ keys, interval, measures, condition, time, having, named, limit }: Drawn): {
  query: string
  isOrdered: boolean
} {
  const grouped = [...(interval ? [interval] : []), ...keys]
  const columns = [...grouped, ...measures]
  const where = [condition && `(${condition})`, time].filter(Boolean).join(' and ')
  const by = grouped.map((key, i) => (named ? `c${i}` : key)).join(', ')
  const isOrdered = limit !== null && grouped.length > 0
  const query = [
    `select ${columns.map((column, i) => (named ? `${column} as c${i}` : column)).join(', ')} from events`,
    where && `where ${where}`,
    by && `group by ${by}`,
    having && by && `having count() > 2`,
    isOrdered && `order by ${by}`,
    `limit ${isOrdered ? limit : 10_000}`,
  ]
  return { query: query.filter(Boolean).join(' '), isOrdered }
}

let tooMany = 0
const runs = Number(process.env.WAYMARK_RUNS ?? 120)

test('generated statements have the same answers by the lists and by the engine', async () => {
  await assertGenerated(
    fc.asyncProperty(statementArb, async (drawn) => {
      const { query, isOrdered } = statementOf(drawn)
      const sql = await ask(query, 'sql')
      const core = await ask(query, 'core').catch((error: Error) => {
        expect(error.message).toContain('too many values')
        return null
      })
      tooMany += core ? 0 : 1
      if (!core) return
      expect([query, core.explain[0]!.road]).toEqual([query, 'core'])
      expectSame(core, sql, isOrdered)
    }),
    { numRuns: runs },
  )
  expect(tooMany).toBeLessThan(runs / 4)
})

test.each([
  ['names of columns in other columns', 'select event as e, count() as n, n * 2 as twice from events group by e order by twice desc, e'],
  ['columns by their places', 'select event, count() from events group by 1 order by 2 desc, 1'],
  ['nothing to group by', 'select count(), sum(toFloat(properties.n)), uniq(person_id) from events'],
  ['nothing at all', "select count(), sum(toFloat(properties.n)), uniq(person_id) from events where event = 'missing'"],
  ['no groups', "select event, count() from events where event = 'missing' group by event"],
  ['groups without an aggregate', 'select event from events group by event order by event desc'],
  ['a key that is not shown', 'select count() from events group by event order by count()'],
  ['a key twice', 'select event, event as again, count() from events group by event, again order by event'],
  ['an offset', 'select distinct_id, count() from events group by distinct_id order by distinct_id limit 3 offset 5'],
  ['a name like that of a field', 'select event as event, count() from events group by event order by event'],
])('%s', async (_, query) => {
  const [core, sql] = [await ask(query, 'core'), await ask(query, 'sql')]
  expect(core.explain[0]!.road).toBe('core')
  expectSame(core, sql, query.includes('order by'))
})

test.each([
  ['select event, quantile(0.5)(toFloat(properties.n)) from events group by event', 'this use of quantile'],
  ['select event, uniq(distinct_id) from events group by event', 'this use of uniq'],
  ['select event, max(timestamp) from events group by event', 'the types of its columns'],
  ['select properties.mixed as m, count() from events group by m', 'groups of other values than texts'],
  ["select concat(properties.country, '!') as c, properties.country from events group by properties.country", 'groups of other values'],
  ['select event from events group by event with totals', 'this GROUP BY'],
  ['select toHour(timestamp) as h, count() from events group by h', 'groups of other values than texts'],
  ["select toStartOfHour(timestamp) as h, count() from events where timestamp > '2020-01-01' group by h limit 10000", 'so many intervals'],
  ["select toDate(timestamp) as d, count() from events where timestamp < '2026-03-20' group by d", null],
  ["select properties.secret as s, count() from events where properties.secret = '\u0001' group by s", null],
])('%s is left to the engine', async (query, reason) => {
  if (reason === null) return expectSame(await ask(query), await ask(query, 'sql'), false)
  await expect(ask(query, 'core')).rejects.toThrow(reason)
  expectSame(await ask(query), await ask(query, 'sql'), false)
})

test.each(['select event, count() from events', 'select uuid from events limit 1'])('%s has no such road', async (query) => {
  const answer = ask(query).then(
    ({ explain }) => explain.every(({ road }) => road === undefined),
    (error: Error) => error.message.includes('event'),
  )
  expect(await answer).toBe(true)
})

test('names that use each other many times are not copied without end', async () => {
  const names = Array.from(
    { length: 12 },
    (_, i) =>
      `${Array(60)
        .fill(i === 0 ? 'count()' : `n${i - 1}`)
        .join(' + ')} as n${i}`,
  )
  const statement = parseQuery(`select event, ${names.join(', ')} from events group by event`)
  expect(groupedEvents(statement)).toMatchObject({ reason: expect.stringContaining('names that use each other so often') })
})

test.each(['Asia/Kathmandu', 'Australia/Lord_Howe', 'America/New_York'])('hours of %s', async (timezone) => {
  // Clocks of Lord Howe are put back by half an hour on 5 April.
  const other = await waymark.createProject({ name: timezone, timezone })
  const batch = Array.from({ length: 600 }, (_, i) => ({
    event: 'visit',
    distinct_id: `user-${i % 7}`,
    timestamp: new Date(Date.UTC(2026, 3, 4) + i * 331_337).toISOString(),
  }))
  await other.ingest({ batch } as never)
  const query =
    "select toStartOfHour(timestamp) as h, count(), uniq(person_id) from events where timestamp > '2026-04-03' group by h order by h"
  const of = async (road: 'core' | 'sql') =>
    ((await other.query({ kind: 'SqlLikeQuery', query, modifiers: { road } } as never)) as unknown as SqlAnswer).results
  expect(await of('core')).toEqual(await of('sql'))
})

test('with the least memory, the statements about intervals and groups are planned as well', async () => {
  const small = await open({
    dataDir: ':memory:',
    memoryLimit: '64MiB',
    listMemory: '32MiB',
    clock: () => new Date('2026-04-10T12:00:00Z'),
  })
  try {
    const own = await small.createProject({ name: 'Small', timezone: 'Europe/Berlin' })
    const batch = Array.from({ length: 2000 }, (_, i) => ({
      event: 'visit',
      distinct_id: `user-${i % 990}`,
      timestamp: new Date(Date.UTC(2026, 3, 9) - i * 30_000).toISOString(),
    }))
    await own.ingest({ batch } as never)
    for (const query of [
      "select toStartOfHour(timestamp) as h, count() from events where timestamp > '2026-02-14' group by h order by h",
      'select toStartOfWeek(timestamp) as w, count() from events group by w order by w',
      'select distinct_id, count(), uniq(person_id), avg(toFloat(properties.n)) from events group by distinct_id order by distinct_id',
    ]) {
      const of = async (road: 'core' | 'sql') =>
        ((await own.query({ kind: 'SqlLikeQuery', query, modifiers: { road } } as never)) as unknown as SqlAnswer).results
      expect(await of('core')).toEqual(await of('sql'))
    }
  } finally {
    await small.close()
  }
})

test('few events are read by a statement, unless the lists are asked for', async () => {
  const { explain } = await ask('select event, count() from events group by event')
  expect(explain[0]).toMatchObject({ road: 'sql', reason: 'a statement reads so few events as fast' })
})
