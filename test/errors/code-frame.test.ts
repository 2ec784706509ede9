import { expect, test } from 'vitest'
import { codeFrame, placeAt } from '../../src/errors/code-frame.ts'

const text = 'SELECT event\nFROM evnts\nLIMIT 5'
const at = (part: string) => ({ start: text.indexOf(part), end: text.indexOf(part) + part.length })

test('line and column count from 1', () => {
  expect(placeAt(text, 0)).toEqual({ line: 1, column: 1 })
  expect(placeAt(text, text.indexOf('evnts'))).toEqual({ line: 2, column: 6 })
})

test('the place is marked below its line', () => {
  expect(codeFrame(text, at('evnts'))).toBe(['1 | SELECT event', '2 | FROM evnts', '  |      ^^^^^'].join('\n'))
  expect(codeFrame(text, at('SELECT'))).toBe(['1 | SELECT event', '  | ^^^^^^'].join('\n'))
})

test('a place over several lines is marked to the end of its first', () => {
  expect(codeFrame(text, at('evnts\nLIMIT'))).toBe(['1 | SELECT event', '2 | FROM evnts', '  |      ^^^^^'].join('\n'))
})

test('the end of the text and a very long line', () => {
  expect(codeFrame('SELECT', { start: 6, end: 7 })).toBe(['1 | SELECT', '  |       ^'].join('\n'))
  const long = `${'x'.repeat(500)}?${'y'.repeat(500)}`
  const [line, mark] = codeFrame(long, { start: 500, end: 501 }).split('\n')
  expect(line![mark!.indexOf('^')]).toBe('?')
  expect(line!.length).toBeLessThan(140)
})
