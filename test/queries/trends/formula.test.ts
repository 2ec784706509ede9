import { describe, expect, test } from 'vitest'
import { evaluate, parseFormula } from '../../../src/queries/trends/formula.ts'

const value = (text: string, ...series: number[]) => {
  const parsed = parseFormula(text, series.length)
  if ('problem' in parsed) throw new Error(parsed.problem)
  return evaluate(parsed.formula, series)
}

describe('a formula', () => {
  test.each<[string, number[], number]>([
    ['A + 2*B', [1, 3], 7],
    ['(a+2)*b', [1, 3], 9],
    ['A-B-C', [10, 3, 2], 5],
    ['A/B/C', [24, 3, 2], 4],
    ['B/A', [3, 1], 1 / 3],
    ['A/B', [3, 0], 0],
    ['A%B', [7, 4], 3],
    ['A%B', [7, 0], 0],
    ['2^3^2', [0], 512],
    ['-2^2', [0], -4],
    ['2^-1', [0], 0.5],
    ['A**2', [3], 9],
    ['--A', [3], 3],
    ['A - -B', [3, 2], 5],
    ['.5*A', [4], 2],
    ['1e2 + A', [4], 104],
    ['(A-1)^.5', [0], 0], // no real number
    ['A', [1, 2], 1],
  ])('%s of %j is %d', (text, series, expected) => {
    expect(value(text, ...series)).toBeCloseTo(expected, 12)
  })

  test('goes on after Z with AA', () => {
    const series = Array.from({ length: 28 }, (_, i) => i)
    expect(value('AA + AB', ...series)).toBe(26 + 27)
  })

  test.each([
    ['A + C', 'uses C, but the query has 2 series: A to B'],
    ['A + ', 'unexpected end'],
    ['(A', 'missing closing parenthesis'],
    ['A B', 'unexpected "B"'],
    ['A + "x"', 'unexpected'],
    ['A * / B', 'expected a series or a number, but found /'],
    ['', 'unexpected end'],
  ])('%j is refused', (text, problem) => {
    expect(parseFormula(text, 2)).toEqual({ problem: expect.stringContaining(problem) })
  })
})
