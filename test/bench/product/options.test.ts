import { expect, test } from 'vitest'
import { help, readOptions } from '../../../bench/product/options.ts'
import { questions } from '../../../bench/product/questions.ts'

test('events are given in millions, and fractions are taken', () => {
  expect(readOptions([]).events).toBe(1_000_000)
  expect(readOptions(['--events', '0.1']).events).toBe(100_000)
  expect(readOptions(['--events', '100']).events).toBe(100_000_000)
})

test('questions are chosen by a part of their name, contenders by their key', () => {
  const { asked, keys } = readOptions(['--only', 'FUNNEL', '--contenders', 'duckdb-json,waymark-sql'])
  expect(asked.map((question) => questions[question]!.name)).toEqual(
    questions.flatMap(({ name }) => (name.includes('funnel') ? [name] : [])),
  )
  expect(keys).toEqual(['waymark-sql', 'duckdb-json'])
})

test.each([
  [['--events', '0'], '--events must be a number above 0, got 0.'],
  [['--events', 'all'], '--events must be a number above 0, got all.'],
  [['--runs', '1.5'], '--runs must be a whole number, got 1.5.'],
  [['--memory', '2'], '--memory must be a size as 2GB or 800MB, got 2.'],
  [['--only', 'lifecycle'], 'No question has "lifecycle" in its name.'],
  [['--contenders', 'duckdb'], 'There is no contender duckdb. There are: waymark-core, waymark-sql,'],
  [['--fast'], "Unknown option '--fast'"],
])('%j is refused', (args, message) => {
  expect(() => readOptions(args)).toThrow(message)
})

test('the help names every option', () => {
  for (const option of ['events', 'runs', 'only', 'contenders', 'threads', 'memory', 'seed', 'directory', 'keep', 'out', 'write', 'from'])
    expect(help).toContain(`--${option} `)
})
