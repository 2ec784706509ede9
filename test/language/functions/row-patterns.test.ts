import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { open, type Project, type Waymark } from '../../../src/index.ts'
import { registry } from '../../../src/language/functions/registry.ts'

// A regular expression that a row brings is compiled for each row, in steps that cannot be interrupted: a large one ends the statement with an error, in every
// function that takes one.

let waymark: Waymark
let project: Project
const hostile = {
  letters: '\\pL{1000}',
  nested: '(?:(?:a{10}){10}){10}',
  wide: '(?:[a-z]{200}){5}',
  long: 'a?'.repeat(2_000),
} as const
beforeAll(async () => {
  waymark = await open({ dataDir: ':memory:', memoryLimit: '512MiB' })
  project = await waymark.createProject({ name: 'Patterns' })
  const plain = { text: 'Ann-12 bought 3', pattern: '[a-z]+-(\\d{1,3})', like: 'a%b%c', by: '[, ]+', name: 'x' }
  await project.ingest({
    batch: [
      { event: 'plain', distinct_id: 'a', properties: { ...plain, url: 'https://a.test/?x=1&y=2' } },
      ...Object.entries(hostile).map(([event, pattern]) => ({
        event,
        distinct_id: 'a',
        properties: { ...plain, pattern, like: `%${'ab%'.repeat(700)}`, name: 'n'.repeat(2_000), url: 'https://a.test/?x=1' },
      })),
    ],
  })
})
afterAll(() => waymark.close())
const ask = async (expression: string, event: string) =>
  (await project.query({ kind: 'SqlLikeQuery', query: `select ${expression} from events where event = '${event}'` })).results[0]![0]

const p = 'toString(properties.pattern)'
const t = 'toString(properties.text)'
const calls: Readonly<Record<string, readonly [expression: string, value: unknown]>> = {
  match: [`match(${t}, ${p})`, 1],
  extract: [`extract(${t}, ${p})`, '12'],
  extractAll: [`extractAll(${t}, ${p})`, ['12']],
  regexpExtract: [`regexpExtract(${t}, ${p}, 0)`, 'nn-12'],
  countMatches: [`countMatches(${t}, ${p})`, 1],
  countMatchesCaseInsensitive: [`countMatchesCaseInsensitive(${t}, ${p})`, 1],
  multiMatchAny: [`multiMatchAny(${t}, [${p}, 'zzz'])`, 1],
  multiMatchAnyIndex: [`multiMatchAnyIndex(${t}, ['zzz', ${p}])`, 2],
  multiMatchAllIndices: [`multiMatchAllIndices(${t}, ['b', ${p}])`, [1, 2]],
  replaceRegexpOne: [`replaceRegexpOne(${t}, ${p}, '-')`, 'A- bought 3'],
  replaceRegexpAll: [`replaceRegexpAll(${t}, ${p}, '-')`, 'A- bought 3'],
  splitByRegexp: [`splitByRegexp(${p}, ${t})`, ['A', ' bought 3']],
}
/** The number of groups must be known, so these take constants only. */
const constantOnly = ['extractGroups', 'extractAllGroups', 'extractAllGroupsVertical', 'extractAllGroupsHorizontal']
const likes = ['like', 'ilike', 'notLike', 'notILike']
const texts = ['extractURLParameter', 'cutURLParameter']
const subsequences = ['', 'CaseInsensitive', 'UTF8', 'CaseInsensitiveUTF8'].map((suffix) => `hasSubsequence${suffix}`)

test('every function that compiles a pattern is here', () => {
  const compiling = [...registry].flatMap(([name, row]) => (row.compiles ? [name] : []))
  expect(compiling.sort()).toEqual([...Object.keys(calls), ...constantOnly, ...likes, ...texts, ...subsequences].sort())
  // And none that says so in its words was forgotten.
  const named = [...registry].flatMap(([name, row]) =>
    /regular expression/i.test(row.summary) && typeof row.sql.duckdb === 'function' && !name.startsWith('regexpQuote') ? [name] : [],
  )
  expect(named.filter((name) => !compiling.includes(name))).toEqual([])
})

describe.each(Object.entries(calls))('%s', (_, [expression, value]) => {
  test('of a small pattern of each row', async () => {
    expect(await ask(expression, 'plain')).toEqual(value)
  })
  test.each(Object.keys(hostile))('refuses one that takes long to compile: %s', async (event) => {
    await expect(ask(expression, event)).rejects.toThrow(/The regular expression is too large: .* can expand to at most 20000 steps/)
  })
})

test.each(likes)('%s of a long pattern of each row', async (name) => {
  expect(await ask(`${name}('axxbxxc', toString(properties.like))`, 'plain')).toBe(name.startsWith('not') ? 0 : 1)
  await expect(ask(`${name}('axxbxxc', toString(properties.like))`, 'long')).rejects.toThrow(/A pattern that differs by row is compiled/)
})

test.each(texts)('%s of a long name of each row', async (name) => {
  const expected = name === 'cutURLParameter' ? 'https://a.test/?y=2' : '1'
  expect(await ask(`${name}(toString(properties.url), toString(properties.name))`, 'plain')).toBe(expected)
  await expect(ask(`${name}(toString(properties.url), toString(properties.name))`, 'long')).rejects.toThrow(
    /A pattern that differs by row is compiled/,
  )
})

test('a pattern that is computed from constants is one', async () => {
  await expect(ask("match('a', repeat('a?', 2000))", 'plain')).rejects.toThrow(/too large/)
  expect(await ask("match('ab', concat('^a', 'b$'))", 'plain')).toBe(1)
})

test('NULL and the empty pattern are what they were', async () => {
  expect(await ask(`match(${t}, properties.none)`, 'plain')).toBe(0)
  expect(await ask("replaceRegexpAll('abc', substring(event, 100, 1), '-')", 'plain')).toBe('abc')
})

describe('constant patterns share a budget', () => {
  const open = (i: number) => `[ab]*a[ab]{12}${i}`
  const refused = { code: 'too-large', data: { budget: 'patterns' } }

  test('of one statement', async () => {
    const matches = (n: number) => Array.from({ length: n }, (_, i) => `match(event, '${open(i)}')`).join(' or ')
    expect(await ask(matches(20), 'plain')).toBe(0)
    await expect(ask(matches(70), 'plain')).rejects.toMatchObject(refused)
  })

  test('of filters', async () => {
    const of = (n: number) => ({
      kind: 'TrendsQuery',
      series: [{ kind: 'EventsNode', event: 'plain' }],
      properties: Array.from({ length: n }, (_, i) => ({ type: 'event', key: 'text', operator: 'not_regex', value: open(i) })),
    })
    await project.query(of(10) as never)
    await expect(project.query(of(70) as never)).rejects.toMatchObject(refused)
    await expect(project.query({ ...of(70), modifiers: { road: 'sql' } } as never)).rejects.toMatchObject(refused)
  })

  test('of path cleaning, by a query or by the project', async () => {
    const rules = (n: number) => Array.from({ length: n }, (_, i) => ({ regex: open(i), alias: '-' }))
    const paths = (pathsFilter: object) => ({ kind: 'PathsQuery', dateRange: { date_from: '-7d' }, pathsFilter }) as never
    await project.query(paths({ localPathCleaningFilters: rules(2) }))
    // What each of them may make of a text is counted first.
    await expect(project.query(paths({ localPathCleaningFilters: rules(70) }))).rejects.toThrow(
      /would produce .* for one row; the limit is/,
    )
    await project.query(paths({ pathGroupings: Array.from({ length: 5 }, (_, i) => `/*a?${'*b'.repeat(5)}${i}`) }))
  })
})
