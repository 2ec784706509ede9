import { afterAll, beforeAll, expect, test } from 'vitest'
import { printString } from '../src/language/ast/words.ts'
import { type ClickHouse, hasClickHouse, openClickHouse } from './harness/clickhouse.ts'
import { openTestProject, type TestProject } from './harness/duckdb.ts'

// Texts that look like something else, in a statement and in the store, are themselves on both engines.

const texts = ['null', 'NULL', '\\N', '', '\t', '\\', "'", '"', '\n', '\r', 'a\tb\\n\'c"\n', 'é🦆', 'nan', '{p1:String}', '%s', '?']

let project: TestProject
let clickhouse: ClickHouse
beforeAll(async () => {
  project = await openTestProject()
  clickhouse = await openClickHouse()
  await project.project.ingest({
    batch: texts.map((text, i) => ({
      event: `at ${i}`,
      distinct_id: `u${i}`,
      timestamp: '2024-05-01T00:00:00Z',
      properties: { text, [text]: i },
    })),
  })
  await clickhouse.load(project)
})
afterAll(async () => {
  await project.close()
  await clickhouse.close()
})

/** What is asked of one text, and what it must answer. */
const questions: readonly (readonly [name: string, ask: (text: string) => string, expected: (text: string, i: number) => unknown])[] = [
  ['alone', (t) => `select ${t}`, (text) => text],
  ['among the arguments of a function', (t) => `select concat('a', ${t}, 'b')`, (text) => `a${text}b`],
  ['where a text is sought', (t) => `select position(concat('a', ${t}), ${t})`, (text) => (text === '' ? 1 : 2)],
  [
    'among several texts sought',
    (t) => `select multiSearchAny('no such text', ['zz', ${t}])`,
    (text) => Number('no such text'.includes(text)),
  ],
  ['as a document', (t) => `select JSONExtractString(concat('[', toJSONString(${t}), ']'), 1)`, (text) => text],
  [
    'as a key of a document',
    (t) => `select JSONExtractInt(concat('{', toJSONString(concat('k', ${t})), ':7}'), concat('k', ${t}))`,
    () => 7,
  ],
  ['as a text that may be null', (t) => `select ifNull(toNullable(${t}), 'none')`, (text) => text],
  ['in an array', (t) => `select ['a', ${t}, null]`, (text) => ['a', text, null]],
  ['in a lambda', (t) => `select arrayMap(x -> concat(x, ${t}), ['a', ${t}])`, (text) => [`a${text}`, text + text]],
  ['in a condition of a lambda', (t) => `select arrayFilter(x -> x = ${t}, ['a', ${t}])`, (text) => [text]],
  ['as a column of a subquery', (t) => `select upper(lower(c)) = upper(${t}) from (select ${t} as c)`, () => 1],
  ['among the values of a set', (t) => `select ${t} in ('a', ${t})`, () => 1],
  ['in a filter', (t) => `select event from events where properties.text = ${t}`, (_, i) => `at ${i}`],
  ['in a filter with a set', (t) => `select event from events where properties.text in ('none', ${t})`, (_, i) => `at ${i}`],
  ['in a filter of a group', (t) => `select properties.text from events group by 1 having properties.text = ${t}`, (text) => text],
  ['as the name of a property', (t) => `select event from events where properties[${t}] is not null`, (_, i) => `at ${i}`],
]

test.each(questions)('%s', async (_, ask, expected) => {
  const found: unknown[] = []
  for (const text of texts) {
    const statement = ask(printString(text))
    const click = hasClickHouse ? (await clickhouse.rows(statement, project))[0]?.[0] : expected(text, found.length)
    found.push([text, (await project.rows(statement))[0]?.[0], click])
  }
  expect(found).toEqual(texts.map((text, i) => [text, expected(text, i), expected(text, i)]))
})
