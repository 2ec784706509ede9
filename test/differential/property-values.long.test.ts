import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { slotCount } from '../../src/events/ingestion/properties/property-keys.ts'
import { parseQuery } from '../../src/language/parser/parse.ts'
import type { JsonValue } from '../../src/queries/answers/rows.ts'
import { hasClickHouse } from '../clickhouse/chdb.ts'
import { howToSave, savedRegressions } from '../harness/assert-generated.ts'
import { type ClickHouse, openClickHouse } from '../harness/clickhouse.ts'
import { openTestProject, type TestProject } from '../harness/duckdb.ts'
import { answerStatement } from '../reference/statements/interpreter.ts'
import { CannotAnswer, written } from '../reference/statements/values.ts'
import { type Sent, worldOf } from '../reference/statements/world.ts'

// Drawn worlds of properties, each asked the same statements on both engines and by the naive interpreter: keys of one kind and of mixed ones, types that
// are declared before, between and behind the values and again, and so many values that some keys have columns of their own.

const calendar = { timezone: 'UTC', weekStartDay: 0 } as const
let clickhouse: ClickHouse
beforeAll(async () => {
  clickhouse = await openClickHouse()
})
afterAll(() => clickhouse.close())

const numbers = fc.constantFrom<unknown>(0, 1, 2, 9, 10, -1, 2.5, 100)
const numerals = fc.constantFrom<unknown>('10', '10.0', '9', '01234', '-1', '2.5', '1e2', '.5')
const words = fc.constantFrom<unknown>('a', 'b', 'true', '', ' 5', 'nan', '1,000', '2024-05-01')
const others = fc.constantFrom<unknown>(true, false, [1, 'a'], { k: 1 })
const nothing = fc.constantFrom<unknown>(null, undefined)
/** What the values of a key are drawn from. */
const kinds: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  numbers: fc.oneof({ weight: 6, arbitrary: numbers }, nothing),
  numerals: fc.oneof({ weight: 6, arbitrary: numerals }, nothing),
  words: fc.oneof({ weight: 6, arbitrary: words }, nothing),
  'truth values': fc.boolean(),
  'numbers and words': fc.oneof(numbers, words, nothing),
  'numbers and numerals': fc.oneof(numbers, numerals),
  'words and numerals': fc.oneof(words, numerals, nothing),
  anything: fc.oneof(numbers, numerals, words, others, nothing),
}
const names = ['a', 'b'] as const
type Declared = Sent['declared'][string]

interface World {
  readonly kinds: readonly string[]
  /** Values of `a` and `b`, batch by batch. */
  readonly batches: readonly (readonly (readonly unknown[])[])[]
  /** Before the batch of this number. */
  readonly declarations: readonly { readonly at: number; readonly name: (typeof names)[number]; readonly type: Declared }[]
}

const worldWith = (rows: number): fc.Arbitrary<World> =>
  fc.tuple(fc.constantFrom(...Object.keys(kinds)), fc.constantFrom(...Object.keys(kinds))).chain(([a, b]) =>
    fc.record({
      kinds: fc.constant([a, b]),
      batches: fc.array(fc.array(fc.tuple(kinds[a]!, kinds[b]!), { minLength: rows, maxLength: rows }), { minLength: 3, maxLength: 3 }),
      declarations: fc.array(
        fc.record({
          at: fc.integer({ min: 0, max: 3 }),
          name: fc.constantFrom(...names),
          type: fc.constantFrom<Declared>('Numeric', 'String', 'Boolean'),
        }),
        { maxLength: 2 },
      ),
    }),
  )

/** Over the properties `a` and `b`, and `i`, which tells the events apart. */
const statements = [
  'select e.properties.i, e.properties.a, e.properties.b from events e',
  'select e.properties.i, e.properties.a + 1, e.properties.b * 2 from events e',
  'select e.properties.i, e.properties.a > 5, e.properties.a = 10, e.properties.a between 1 and 10 from events e',
  "select e.properties.i, e.properties.a = '10', e.properties.a != '10', e.properties.b like '1%' from events e",
  "select e.properties.i, e.properties.a in (10, 'a', null), e.properties.a not in (9) from events e",
  'select e.properties.i, e.properties.a = e.properties.b, e.properties.a < e.properties.b, e.properties.a >= e.properties.b from events e',
  "select e.properties.i, coalesce(e.properties.a, '-'), coalesce(e.properties.a, e.properties.b), concat(e.properties.a, '.') from events e",
  'select e.properties.i, if(e.properties.i > 20, e.properties.a, e.properties.b) as x, x > 1, x is null from events e',
  'select e.properties.a, e.properties.i from events e order by e.properties.a, e.properties.i limit 9',
  'select e.properties.a, e.properties.i from events e order by e.properties.a desc, e.properties.b, e.properties.i limit 9',
  'select distinct e.properties.a as x from events e order by x',
  'select distinct e.properties.a, e.properties.b from events e',
  'select e.properties.a, count(), sum(e.properties.b), min(e.properties.b), max(e.properties.b) from events e group by e.properties.a',
  'select e.properties.a as k, avg(e.properties.b), uniq(e.properties.b) from events e group by k order by k desc limit 5',
  'select x, count() as n, max(x) as m from (select e.properties.a as x from events e) t group by x having n > 1',
  'select k, n from (select e.properties.a as k, count() as n from events e group by k) order by k limit 4',
  'select sum(e.properties.a), avg(e.properties.a), min(e.properties.a), max(e.properties.a), quantile(0.5)(e.properties.a) from events e',
  'select sum(x), max(x) from (select coalesce(e.properties.a, e.properties.b) as x from events e)',
  'select count(e.properties.a), count(distinct e.properties.a), argMax(e.properties.a, e.properties.i), countIf(e.properties.a > 1) from events e',
  'select x, i, max(x) over (partition by e order by i rows between 1 preceding and current row) as m, lag(x) over (order by i) from (select e.properties.a as x, e.properties.i as i, e.event as e from events e)',
  'select e.properties.a from events e union all select e.properties.b from events e',
  'select e.properties.a from events e union distinct select e.properties.b from events e',
  'select e.properties.a as x, e.properties.i from events e order by e.properties.i limit 1 by x',
  'select count() from events e where e.properties.a in (select e.properties.b from events e)',
  "select e.properties.nested.a as x, count() from events e where x != '9' group by x order by x desc",
]

async function opened(world: World): Promise<{ project: TestProject; sent: Sent }> {
  const project = await openTestProject(calendar)
  const declared: Record<string, Declared> = {}
  const declare = async (before: number) => {
    for (const { at, name, type } of world.declarations)
      if (at === before) {
        await project.project.definePropertyTypes([{ type: 'event', name, property_type: type }])
        declared[name] = type
      }
  }
  const events: Sent['events'][number][] = []
  for (const [n, batch] of world.batches.entries()) {
    await declare(n)
    const made = batch.map(([a, b]) => {
      const i = events.length
      const own = { ...(a === undefined ? {} : { a, nested: { a } }), ...(b === undefined ? {} : { b }) }
      const timestamp = new Date(1_714_521_600_000 + i * 1000).toISOString()
      const event = { event: `e${i % 3}`, distinct_id: `u${i % 2}`, timestamp, properties: { i, ...own } }
      events.push(event)
      return event
    })
    await project.project.ingest({ batch: made })
  }
  await declare(world.batches.length)
  return { project, sent: { events, persons: [], groups: [], same: {}, personless: [], cohort: [], declared } }
}

/** Waits until each slot that was given out is filled. */
async function slotsOf(project: TestProject): Promise<string[]> {
  await project.facts()
  for (;;) {
    const rows = await project.instance.rows<{ slots: string; ready: string }>(
      `SELECT slots, ready_slots AS ready FROM "p1".main.property_keys WHERE name IN ('a', 'b') ORDER BY name`,
    )
    if (rows.every(({ slots, ready }) => slots === ready)) return rows.map(({ slots }) => slots)
    await new Promise(setImmediate)
  }
}

const rounded = (value: JsonValue): JsonValue => (typeof value === 'number' ? Number(value.toPrecision(9)) : value)
const bag = (rows: readonly (readonly JsonValue[])[]) => rows.map((row) => JSON.stringify(row.map(rounded))).sort()

/** Some of the rows that only one of two sorted bags has. */
function difference(a: readonly string[], b: readonly string[]): readonly (readonly string[])[] {
  if (a.length === b.length && a.every((row, i) => row === b[i])) return [[], []]
  const rest = [...b]
  const only = a.filter((row) => {
    const at = rest.indexOf(row)
    if (at >= 0) rest.splice(at, 1)
    return at < 0
  })
  return [only.slice(0, 5), rest.slice(0, 5)]
}

/** Values of a declared type cannot stand everywhere. */
const orRefused = (work: Promise<JsonValue[][]>, { declared }: Sent): Promise<JsonValue[][] | null> =>
  Object.keys(declared).length ? work.catch(() => null) : work

/** The naive interpreter looks at all rows for each row. */
const isQuadratic = (statement: string): boolean => /over \(|in \(select/.test(statement)

async function compare(world: World, project: TestProject, sent: Sent, answered: Set<string>): Promise<void> {
  const naive = worldOf(sent)
  const asked = sent.events.length > 100 ? statements.filter((statement) => !isQuadratic(statement)) : statements
  for (const statement of asked) {
    const told = `${statement}\n${JSON.stringify({ kinds: world.kinds, declared: sent.declared })}\n${howToSave({ seed })}`
    const found = await orRefused(project.rows(statement), sent)
    if (!found) continue
    const rows = bag(found)
    const other = hasClickHouse ? await orRefused(clickhouse.rows(statement, project), sent) : null
    if (other) expect(difference(bag(other), rows), `ClickHouse, DuckDB: ${told}`).toEqual([[], []])
    try {
      const { rows: expected } = answerStatement(parseQuery(statement), naive, calendar)
      const shown = expected.map((row) => row.map((value) => written(value, 'UTC') as JsonValue))
      expect(difference(bag(shown), rows), `naive, DuckDB: ${told}`).toEqual([[], []])
      answered.add(statement)
    } catch (error) {
      if (!(error instanceof CannotAnswer)) throw error
    }
  }
}

const runs = Number(process.env.WAYMARK_RUNS ?? 5)
const seed = Number(process.env.WAYMARK_SEED ?? 11)
/** Those that failed once come first. */
const drawnWorlds = (of: ReturnType<typeof worldWith>, numRuns: number) =>
  [...savedRegressions().flatMap(({ seed }) => seed ?? []), seed].flatMap((seed) => fc.sample(of, { numRuns, seed }))

test('drawn worlds say the same on both engines and by the naive interpreter', async () => {
  const answered = new Set<string>()
  for (const world of drawnWorlds(worldWith(12), runs)) {
    const { project, sent } = await opened(world)
    if (hasClickHouse) await clickhouse.load(project)
    await compare(world, project, sent, answered)
    await project.close()
  }
  expect(answered.size).toBeGreaterThan(statements.length - 4)
})

test('and where keys have columns of their own', async () => {
  const met = new Set<string>()
  for (const world of drawnWorlds(worldWith(Math.ceil(slotCount / 2)), Math.ceil(runs / 3))) {
    const { project, sent } = await opened(world)
    for (const slots of await slotsOf(project)) met.add(slots.replace(/\d+/g, ''))
    // One more event, so that queries hear of the columns.
    const last = { event: 'e0', distinct_id: 'u0', timestamp: '2024-06-01T00:00:00.000Z', properties: { i: sent.events.length } }
    await project.project.ingest({ batch: [last] })
    if (hasClickHouse) await clickhouse.load(project)
    await compare(world, project, { ...sent, events: [...sent.events, last] }, new Set())
    await project.close()
  }
  expect(met.size).toBeGreaterThan(1)
})
