import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { open, type Project, type Waymark, WaymarkError } from '../../src/index.ts'
import { otherNames } from '../../src/language/functions/other-names.ts'
import { lookup } from '../../src/language/functions/registry.ts'

// The error of a mistake in a statement: its position, the most similar name, and what was expected.

let waymark: Waymark
let project: Project
beforeAll(async () => {
  waymark = await open({ dataDir: ':memory:' })
  project = await waymark.createProject()
  await project.ingest({ batch: [{ event: 'signup', distinct_id: 'ann', properties: { price: 10, $set: { plan: 'pro' } } }] })
})
afterAll(() => waymark.close())

const failureOf = async (work: Promise<unknown>): Promise<WaymarkError> => {
  const error = await work.then(
    () => new Error('it was answered'),
    (error: unknown) => error,
  )
  if (error instanceof WaymarkError) return error
  throw error
}
const ask = (query: string) => failureOf(project.query({ kind: 'SqlLikeQuery', query }))

/** The statement, with the mistake in brackets; then the message. */
const rows: readonly (readonly [
  statement: string,
  says: Partial<Record<'code' | 'message' | 'expected', string>> & { suggestions?: string[] },
])[] = [
  ['select [evnt] from events', { code: 'unknown-field', suggestions: ['event'] }],
  ['select event\nfrom [evnts]', { code: 'unknown-table', suggestions: ['events'] }],
  ['select event,\n  [countt()]\nfrom events', { code: 'unknown-function', suggestions: ['count', 'countIf'] }],
  ['select [round(1, 2, 3)]', { code: 'wrong-arity', expected: '1 to 2 arguments' }],
  ['select count() fron [events]', { code: 'syntax-error', expected: 'the end of the statement' }],
  ['select count() from events where', { code: 'syntax-error', expected: 'an expression' }],
  ['select event[)] from events', { code: 'syntax-error', expected: 'the end of the statement' }],
  [
    'select count() from events where event = ["signup"]',
    {
      code: 'unknown-field',
      message: "Unable to resolve field: signup. Double quotes mark an identifier; write a string in single quotes: 'signup'.",
    },
  ],
  ['select [{missing}]', { code: 'unknown-placeholder' }],
  [
    'select [interval 1] dya',
    { code: 'syntax-error', suggestions: ['day'], expected: 'second, minute, hour, day, week, month, quarter, year' },
  ],
  ["select [interval '1 dya']", { code: 'syntax-error', suggestions: ['day'] }],
  ["select [cast('a' as Strng)]", { code: 'wrong-type', message: 'Unknown type: Strng. Did you mean: String?', suggestions: ['String'] }],
  ['select [cast(event as Nullable(DateTme))] from events', { code: 'wrong-type', suggestions: ['DateTime'] }],
  ["select [accurateCast(5, 'Flot64')]", { code: 'wrong-type', suggestions: ['Float64'] }],
  ['select 1 from events where [sum(1)] > 1', { code: 'invalid-query' }],
  [
    'select sum([event]) from events',
    { code: 'type-mismatch', message: "'sum' needs a number, but 'event' is String. Use toFloat(event).", expected: 'a number' },
  ],
  [
    "select [toStartOfWeek(timestamp, 'Asia/Tokyo')] from events",
    {
      code: 'wrong-type',
      message:
        "The second argument of 'toStartOfWeek' is a week mode, a whole number from 0 to 9, but got String. The time zone is the third: toStartOfWeek(t, 0, 'UTC')",
    },
  ],
  ["select 1, [throwIf(event = 'signup', 'stop here')] from events", { code: 'engine-refused', message: 'stop here' }],
  ['select [intDiv(1, length(event) - 6)] from events', { code: 'engine-refused', message: 'Division by zero' }],
  ['select [toIPv4(event)] from events', { code: 'engine-refused' }],
  ["select [accurateCast(event, 'Int64')] from events", { code: 'engine-refused' }],
  ['select [toLastDayOfWeek(timestamp, event)] from events', { code: 'wrong-type', expected: 'a whole number from 0 to 9' }],
  ['select [toWeek(timestamp, 1.5)] from events', { code: 'wrong-type', expected: 'a whole number from 0 to 9' }],
  ['select [toYearWeek(timestamp, null)] from events', { code: 'wrong-type', expected: 'a whole number from 0 to 9' }],
  ["select [toDayOfWeek(timestamp, 'UTC')] from events", { code: 'wrong-type', expected: 'a whole number from 0 to 3' }],
  [
    'select arrayJoin([properties.tags]) from events',
    {
      code: 'type-mismatch',
      message:
        "'arrayJoin' needs an array, but 'properties.tags' is a property without a declared type. Use JSONExtract(properties.tags, 'Array(String)').",
    },
  ],
  [
    'select event from events array join [properties.tags] as tag',
    {
      code: 'type-mismatch',
      message:
        "'ARRAY JOIN' needs an array, but 'properties.tags' is a property without a declared type. Use JSONExtract(properties.tags, 'Array(String)').",
    },
  ],
  ['select event from events array join [timestamp] as t', { code: 'type-mismatch', expected: 'an array' }],
  [
    'select [arraySum(g.1)] from (select groupArray((event, 1)) as g from events)',
    {
      code: 'type-mismatch',
      message: "'arraySum' needs numbers, but an argument is String. Use arrayMap(x -> toFloat(x), array).",
      expected: 'numbers',
    },
  ],
  ['select [arrayCumSum(groupArray(timestamp))] from events', { code: 'type-mismatch', expected: 'numbers' }],
  ['select [arrayProduct(groupArray(event))] from events', { code: 'type-mismatch', expected: 'numbers' }],
  ['select [arrayDifference(groupArray(event))] from events', { code: 'type-mismatch', expected: 'numbers' }],
  [
    'select histogram(5)([timestamp]) from events',
    {
      code: 'type-mismatch',
      message: "'histogram' needs a number, but 'timestamp' is DateTime64(6). Use toUnixTimestamp(timestamp).",
      expected: 'a number',
    },
  ],
  [
    'select event from events where timestamp > [2026-01-01]',
    {
      code: 'type-mismatch',
      message: "'>' needs a time, but '2026-01-01' is Int64. Use '2026-01-01', a date in quotes.",
      expected: 'a time',
    },
  ],
  ['select event from events where timestamp between [2026-01-01] and 2026-02-01', { code: 'type-mismatch', expected: 'a time' }],
  [
    'select event from events where timestamp = [5]',
    { code: 'type-mismatch', message: "'=' needs a time, but '5' is UInt8. Use toDateTime(5)." },
  ],
  [
    'select avg([timestamp]) from events',
    { code: 'type-mismatch', message: "'avg' needs a number, but 'timestamp' is DateTime64(6). Use toUnixTimestamp(timestamp)." },
  ],
  [
    'select event from events where [toString(properties.price)] > 6',
    {
      code: 'type-mismatch',
      message: "'>' needs a number, but 'toString(properties.price)' is Nullable(String). Use toFloat(toString(properties.price)).",
    },
  ],
  ['select event from events where 6 < [lower(event) || 1]', { code: 'type-mismatch', expected: 'a number' }],
  ['select event from events where [event] between 1 and 2', { code: 'type-mismatch', expected: 'a number' }],
  [
    "select number from numbers(['a'])",
    { code: 'type-mismatch', message: "'numbers' needs a number, but ''a'' is String. Use toInt('a')." },
  ],
  ['select corr([event], 1) from events', { code: 'type-mismatch', expected: 'a number' }],
  ['select avgWeighted(1, [event]) from events', { code: 'type-mismatch', expected: 'a number' }],
  ['select simpleLinearRegression([event], 1) from events', { code: 'type-mismatch', expected: 'a number' }],
  ['select deltaSum([event]) from events', { code: 'type-mismatch', expected: 'a number' }],
  [
    'select sum([array(1, 2)])',
    { code: 'type-mismatch', message: "'sum' needs a number, but 'array(1, 2)' is Array(UInt8). Use sumArray(array(1, 2))." },
  ],
  ['select sum([timestamp]) from events', { code: 'type-mismatch', expected: 'a number' }],
  [
    'select sumIf(1, [event]) from events',
    { code: 'type-mismatch', message: "'sumIf' needs a condition, but 'event' is String. Use notEmpty(event)." },
  ],
  ['select toYear([properties]) from events', { code: 'type-mismatch', expected: 'a time' }],
  ['select toYear([2024])', { code: 'type-mismatch', message: "'toYear' needs a time, but '2024' is UInt16. Use toDateTime(2024)." }],
  ['select [now() + now()]', { code: 'wrong-type', expected: 'an interval or a number' }],
  ['select [_toUInt128(-1)]', { code: 'engine-refused' }],
  [
    'select [cast(-1 as UInt8)]',
    { code: 'engine-refused', message: "'-1' is not UInt8, a whole number from 0 to 255. Use accurateCastOrNull for null there" },
  ],
  ["select [cast('a' as UInt8)]", { code: 'engine-refused' }],
  ['select [mapAdd(map(1, 2), 5)]', { code: 'wrong-type', expected: 'maps, or tuples of an array of keys and an array of values' }],
  ['select arrayMap([x -> x + (select count() from events)], range(2))', { code: 'unsupported-syntax' }],
  ["select arrayFilter([x -> x in (select event from events)], array('a'))", { code: 'unsupported-syntax' }],
  [
    'select arrayMap(x -> (select count() from events where event = [x]), groupArray(event)) from events',
    {
      code: 'unknown-field',
      message:
        'Unable to resolve field: x. It is a parameter of the lambda around this subquery. A subquery cannot read lambda parameters: use ARRAY JOIN and a join.',
    },
  ],
  [
    'select event, (select count() from events f where f.event = [e.event]) from events e',
    {
      code: 'unknown-field',
      message:
        'Unable to resolve field: e.event. It is a column of the outer query, which only EXISTS, IN and LATERAL can read: use `LEFT JOIN LATERAL (SELECT …) t ON true`, or join a grouped subquery.',
    },
  ],
  ['select event from events e join (select count() as n from events f where f.event = [e.event]) t on true', { code: 'unknown-field' }],
  [
    'select [groupArray(2)(event)] from events',
    {
      code: 'wrong-parameters',
      message: "Aggregation 'groupArray' expects 0 parameters, found 1. Use arraySlice(groupArray(event), 1, 2).",
      expected: '0 parameters',
    },
  ],
  [
    'select [sum(2)(properties.price)] from events',
    { code: 'wrong-parameters', message: "Aggregation 'sum' expects 0 parameters, found 1. Use sum(properties.price)." },
  ],
  [
    'select [topK(event, 3)] from events',
    { code: 'wrong-arity', message: "Aggregation 'topK' expects 1 argument, found 2. Use topK(3)(event)." },
  ],
  [
    'select [quantile(properties.price)] from events',
    {
      code: 'missing-parameters',
      message: "Aggregation 'quantile' requires parameters in addition to arguments. Use quantile(0.5)(properties.price).",
    },
  ],
  [
    'select arrayMap(x -> x, [properties.tags]) from events',
    {
      code: 'type-mismatch',
      message: "'arrayMap' needs an array, but 'properties.tags' is Nullable(String). Use JSONExtract(properties.tags, 'Array(String)').",
      expected: 'an array',
    },
  ],
  ["select has([properties.tags], 'a') from events", { code: 'type-mismatch', expected: 'an array' }],
  ["select arrayFilter(x -> x = 'a', [event]) from events", { code: 'type-mismatch', expected: 'an array' }],
  ['select event, [distinct_id] * 2 from events', { code: 'type-mismatch', expected: 'a number' }],
  ['select upper([1])', { code: 'type-mismatch', message: "'upper' needs text, but '1' is UInt8. Use toString(1).", expected: 'text' }],
]

describe('a statement', () => {
  test.each(rows)('%s', async (marked, says) => {
    const open = marked.indexOf('[')
    const statement = marked.replace('[', '').replace(']', '')
    const length = open < 0 ? 1 : marked.indexOf(']') - open - 1
    const offset = open < 0 ? statement.length : open
    const before = statement.slice(0, offset).split('\n')
    const error = await ask(statement)
    expect(error).toMatchObject({ ...says, source: statement })
    expect(error.position).toEqual({ line: before.length, column: before.at(-1)!.length + 1, offset, length })
  })

  test('the same through Arrow, and through the stream of rows', async () => {
    const query = { kind: 'SqlLikeQuery', query: 'select evnt from events' } as const
    const position = { line: 1, column: 8, offset: 7, length: 4 }
    expect((await failureOf(project.queryArrow(query))).position).toEqual(position)
    const batches = async () => {
      for await (const _ of project.queryArrowBatches(query));
    }
    expect((await failureOf(batches())).position).toEqual(position)
    const refused = await failureOf(project.queryArrow({ kind: 'SqlLikeQuery', query: 'select avg(event) from events' }))
    expect(refused).toMatchObject({ code: 'type-mismatch', position: { column: 12, length: 5 } })
  })

  test.each([
    [
      "select arrayReduce('sum', [event]) from events",
      '[event]',
      "'arrayReduce' needs an array of numbers, but '[event]' is Array(String)",
    ],
    ["select arrayStringConcat(['a'], 5)", '5', "'arrayStringConcat' needs text, but '5' is UInt8. Use toString(5)."],
    ['select nullif(event, 5) from events', 'event', "'nullif' needs a number, but 'event' is String. Use toFloat(event)."],
    ["select has([1], 'a')", '[1]', "'has' needs an array of texts, but '[1]' is Array(UInt8)"],
    ['select 1 + 2, toInt(9223372036854775807) + 1', 'toInt(9223372036854775807) + 1', "The result of 'plus' is out of range"],
    ['select sum(x) from (select arrayJoin([9223372036854775807, 5]) as x)', 'sum(x)', "The result of 'sum' is out of range"],
    ['select mapAdd(([1, 2], [1]), ([1], [1]))', 'mapAdd(([1, 2], [1]), ([1], [1]))', "The arrays of 'mapAdd' have different lengths"],
  ])('what only the engine refuses is said of its call: %s', async (statement, place, message) => {
    const error = await ask(statement)
    expect(error.message).toBe(message)
    expect(error.position).toMatchObject({ offset: statement.indexOf(place), length: place.length })
  })

  test('every mistake of a statement that cannot be read has its place', async () => {
    const { position, others } = await ask('select from events where )')
    expect([position, ...others.map((other) => other.position)].map((one) => one?.offset)).toEqual([7, 25])
  })
})

test('a property that nobody sent, called nearly as one that was, is answered with a warning', async () => {
  const warningsOf = async (query: string) => (await project.query({ kind: 'SqlLikeQuery', query })).warnings
  expect(await warningsOf('select sum(properties.prise), any(properties.prise) from events')).toEqual([
    {
      code: 'unknown-property',
      property: 'prise',
      scope: 'event',
      suggestions: ['price'],
      message: 'No event has ever had the property "prise". Did you mean: price?',
    },
  ])
  expect(await warningsOf('select properties.price, properties.something_else from events')).toBeUndefined()
  expect(await warningsOf("select person.properties['plann'] from events")).toMatchObject([{ scope: 'person', suggestions: ['plan'] }])
})

test('names that other languages have lead to those that are there', () => {
  const all = Object.entries(otherNames)
  expect(all.filter(([name]) => lookup(name)).map(([name]) => name)).toEqual([])
  expect(all.flatMap(([, meant]) => meant).filter((name) => !lookup(name))).toEqual([])
})

test('an expression of a field: the place in it, beside the name of the field', async () => {
  const series = [{ kind: 'EventsNode', event: 'signup', math: 'hogql', math_hogql: 'sum(properties.price) + cuont()' }] as const
  expect(await failureOf(project.query({ kind: 'TrendsQuery', series }))).toMatchObject({
    code: 'unknown-function',
    attr: 'series__0__math_hogql',
    suggestions: ['count'],
    source: 'sum(properties.price) + cuont()',
    position: { line: 1, column: 25, length: 7 },
  })
})

test('other mistakes have no place', async () => {
  expect(await failureOf(project.query({ kind: 'TrendsQuery', series: [] } as never))).toMatchObject({ position: null, source: null })
})

const long = (i: number) => `${'abcdefgh'.repeat(11)}${String(i).padStart(4, '0')}`
const named = (count: number, write: (i: number) => string) => Array.from({ length: count }, (_, i) => write(i)).join(', ')
test.each<[string, string, string]>([
  ['a window function in a lambda', 'select arrayMap(x -> lag(x) over (), [1, 2])', 'invalid-query'],
  ['rows before and behind in a lambda', 'select arrayMap(x -> neighbor(x, 1), [1, 2])', 'invalid-query'],
  ['rows before and behind in WHERE', 'select 1 from numbers(3) where neighbor(number, 1) = 2', 'invalid-query'],
  ['a CUBE of many', `select count() from numbers(3) group by cube(${named(17, (i) => `number + ${i}`)})`, 'invalid-query'],
  ['very many names of WITH', `with ${named(5000, (i) => `a${i} as (select 1)`)} select 1 from a1`, 'too-large'],
  [
    'a long pattern',
    `select sequenceMatch('${'(?1)'.repeat(60_000)}')(toDateTime(number), number = 1, number = 2) from numbers(3)`,
    'wrong-type',
  ],
  ['a half-life below 0', 'select exponentialMovingAverage(-1)(number, number) from numbers(3)', 'wrong-type'],
  [
    'many long names that are nearly known',
    `select ${named(300, (i) => `1 as ${long(i)}`)}, ${named(49, (i) => `${long(i)}x`)}`,
    'unknown-field',
  ],
])('%s is refused, and soon', async (_, statement, code) => {
  const before = process.cpuUsage().user
  expect((await ask(statement)).code).toBe(code)
  expect((process.cpuUsage().user - before) / 1e6).toBeLessThan(3)
})

test('an average that forgets is linear in its rows', async () => {
  const before = process.cpuUsage().user
  await project.query({ kind: 'SqlLikeQuery', query: 'select exponentialMovingAverage(10)(number, number) from numbers(300000)' })
  expect((process.cpuUsage().user - before) / 1e6).toBeLessThan(5)
})
