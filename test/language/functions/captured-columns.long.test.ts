import { afterAll, beforeAll, expect, test } from 'vitest'
import { registry } from '../../../src/language/functions/registry.ts'
import { openTestProject, type TestProject } from '../../harness/duckdb.ts'

// A lambda that reads a column of its row, in rows whose arrays differ in length, answers as it does for each row by itself.

let project: TestProject
beforeAll(async () => {
  project = await openTestProject()
})
afterAll(() => project.close())

const array = 'arrayMap(i -> (i * 7) % 5, range((n * 5) % 7))'
const lambdas: Readonly<Record<string, string>> = {
  arrayFold: '(sum, x) -> sum * 2 + x + n',
  arraySort: 'x -> (x * n) % 5',
  arrayReverseSort: 'x -> (x * n) % 5',
  arrayPartialSort: 'x -> (x * n) % 5',
  arrayPartialReverseSort: 'x -> (x * n) % 5',
  arrayMap: 'x -> x * 10 + n',
  arraySum: 'x -> x * 10 + n',
  arrayAvg: 'x -> x * 10 + n',
  arrayMin: 'x -> (x + n) % 5',
  arrayMax: 'x -> (x + n) % 5',
  arrayProduct: 'x -> x + n',
  arrayCumSum: 'x -> x - n',
  arrayCumSumNonNegative: 'x -> x - n',
}
const condition = 'x -> (x + n) % 3 = 0'
/** Takes maps, whose lambda has a key and a value. */
const isOfMaps = (name: string) => name.startsWith('map')

const called = (name: string): string => {
  const lambda = lambdas[name] ?? condition
  if (name === 'arrayFold') return `arrayFold(${lambda}, ${array}, toInt(n))`
  if (name.startsWith('arrayPartial')) return `${name}(${lambda}, 2, ${array})`
  return `${name}(${lambda}, ${array})`
}

const names = [...registry].filter(([name, row]) => row.lambdas && !isOfMaps(name)).map(([name]) => name)

test.each(names)('%s', async (name) => {
  const together = await project.rows(`select ${called(name)} from (select number as n from numbers(40)) order by n`)
  const alone = await Promise.all(
    Array.from({ length: 40 }, (_, n) => project.rows(`select ${called(name)} from (select number as n from numbers(40)) where n = ${n}`)),
  )
  expect(together).toEqual(alone.flat())
})

test('hasSubsequence with a column, in rows of different lengths', async () => {
  const texts = ["repeat('garbage', n % 5)", "repeat('gärbage', n * 20)", "'ab'", "concat('a', toString(n), 'b')", "''"]
  const needles = ["repeat('arg', n % 4)", "repeat('ärg', n * 20)", "repeat('ärg', n * 20 + 1)", 'toString(n)', "'ab'", "''"]
  for (const text of texts)
    for (const needle of needles) {
      const rows = await project.rows(
        `select ${text}, ${needle}, hasSubsequence(${text}, ${needle}) from (select number as n from numbers(60))`,
      )
      for (const [has, wanted, answer] of rows as [string, string, number][]) {
        let found = 0
        for (const character of has) if (character === wanted[found]) found++
        expect([has, wanted, Boolean(answer)]).toEqual([has, wanted, found === wanted.length])
      }
    }
})
