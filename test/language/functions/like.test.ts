import { afterAll, beforeAll, expect, test } from 'vitest'
import { random } from '../../../bench/random.ts'
import { openTestProject, type TestProject } from '../../harness/duckdb.ts'

let project: TestProject
beforeAll(async () => {
  project = await openTestProject()
})
afterAll(() => project.close())

type Part = { readonly any: boolean } | { readonly one: string | null }
/** Parts of a pattern, read one by one. A backslash stands for itself but before % _ and \. */
function partsOf(pattern: string): Part[] {
  const parts: Part[] = []
  const characters = [...pattern]
  for (let i = 0; i < characters.length; i++) {
    const [character, next] = [characters[i]!, characters[i + 1]]
    if (character === '%') parts.push({ any: true })
    else if (character === '_') parts.push({ one: null })
    else if (character === '\\' && next !== undefined && '%_\\'.includes(next)) parts.push({ one: characters[++i]! })
    else parts.push({ one: character })
  }
  return parts
}
/** Place by place, remembering which are reached: no backtracking. */
function fits(text: string, pattern: string): boolean {
  const characters = [...text]
  let reached = new Set([0])
  for (const part of partsOf(pattern)) {
    const next = new Set<number>()
    for (const at of reached) {
      if ('any' in part) for (let to = at; to <= characters.length; to++) next.add(to)
      else if (at < characters.length && (part.one === null || part.one === characters[at])) next.add(at + 1)
    }
    reached = next
  }
  return reached.has(characters.length)
}

const quoted = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`

test('LIKE and ILIKE fit what a naive reading fits, with patterns of any number of %', async () => {
  const draw = random(7)
  const pick = <T>(from: readonly T[]): T => from[Math.floor(draw() * from.length)]!
  const word = (letters: readonly string[], most: number) =>
    Array.from({ length: Math.floor(draw() * (most + 1)) }, () => pick(letters)).join('')
  const letters = ['a', 'a', 'b', 'A', 'é', 'É', '.', '\n', '%', '_', '\\', '$', '日', '(', ' ']
  const patternLetters = [...letters, '%', '%', '%', '%', '_', 'a', 'a']
  /** Half of the texts are made to fit. */
  const textFor = (pattern: string): string =>
    draw() < 0.5
      ? word(letters, 8)
      : partsOf(pattern)
          .map((part) => ('any' in part ? word(letters, 2) : (part.one ?? pick(letters))))
          .join('')
  const patterns = Array.from({ length: 600 }, () => word(patternLetters, 9))
  const cases = patterns
    .map((pattern) => ({ text: textFor(pattern), pattern }))
    .filter(
      // A backslash at the end escapes nothing, and ClickHouse refuses it.
      ({ pattern }) => !/(^|[^\\])(\\\\)*\\$/.test(pattern),
    )
  const folded = (text: string) => text.toLowerCase()
  const expected = cases.map(({ text, pattern }) => [fits(text, pattern), fits(folded(text), folded(pattern))].map(Number))
  expect(expected.flat().filter(Boolean).length).toBeGreaterThan(200)
  const shown: unknown[] = []
  for (let i = 0; i < cases.length; i += 100) {
    const some = cases.slice(i, i + 100)
    const [constants] = await project.rows(
      `select ${some.map(({ text, pattern }) => `${quoted(text)} like ${quoted(pattern)}, ${quoted(text)} ilike ${quoted(pattern)}`).join(', ')}`,
    )
    const columns = await project.rows(
      `select r.2 like r.3, r.2 ilike r.3 from (select arrayJoin([${some
        .map(({ text, pattern }, row) => `(${row}, ${quoted(text)}, ${quoted(pattern)})`)
        .join(', ')}]) as r) order by r.1`,
    )
    for (let row = 0; row < some.length; row++) {
      shown.push(constants!.slice(row * 2, row * 2 + 2))
      expect(columns[row], JSON.stringify(some[row])).toEqual(expected[i + row])
    }
  }
  expect(shown).toEqual(expected)
})

test.each([
  ['like', 'a constant pattern', "'%a%a%a%a%a%a%a%a%a%a%ab'"],
  ['ilike', 'a constant pattern', "'%A%a%a%a%a%a%a%a%a%a%ab'"],
  ['like', 'a pattern with _', "'%a%_%a%_%a%_%a%_%a%ab'"],
  ['like', 'a column', "concat('%a%a%a%a%a%a%a%a%a%a%a', toString(number), 'b')"],
  ['ilike', 'a column', "concat('%a%a%a%a%a%a%a%a%a%a%a', toString(number), 'b')"],
])('%s with %s does not try every place for each %%', async (operator, _, pattern) => {
  const before = process.cpuUsage().user
  expect(await project.rows(`select repeat('a', 400 + number) ${operator} ${pattern} from numbers(3)`)).toEqual([[0], [0], [0]])
  expect((process.cpuUsage().user - before) / 1e6).toBeLessThan(3)
})

test('characters in order are looked for without trying every place', async () => {
  const before = process.cpuUsage().user
  expect(
    await project.rows("select hasSubsequence(repeat('a', 400), concat(repeat('a', 30), 'b')), hasSubsequence('a.%_c', '.%c')"),
  ).toEqual([[0, 1]])
  expect((process.cpuUsage().user - before) / 1e6).toBeLessThan(3)
})

test('keys of a map are compared with a pattern of many %', async () => {
  expect(
    await project.rows("select mapContainsKeyLike(map('abcabc', 1), '%a%c%b%'), mapExtractKeyLike(map('abcabc', 1, 'x', 2), '%a%b%a%')"),
  ).toEqual([[1, { abcabc: 1 }]])
})

test('a pattern that is too long for a regular expression is refused in plain words', async () => {
  await expect(project.rows("select 'a' like concat(repeat('%a_', 200000 + number), 'b') from numbers(1)")).rejects.toThrow(
    /^A pattern that differs by row is compiled for each row, and can have at most 1000 characters/,
  )
})
