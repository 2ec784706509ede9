import { expect, test } from 'vitest'
import { joined, listOfAll } from '../../../src/web/filters/filter-lists.ts'

const filter = (key: string) => ({ key, type: 'event', operator: 'exact', value: ['x'] })
const [a, b, c] = [filter('a'), filter('b'), filter('c')]
const anyOf = (...values: object[]) => ({ type: 'OR', values })
const allOf = (...values: object[]) => ({ type: 'AND', values })

test.each([
  ['nothing and a list', [], [a], [a]],
  ['a list and nothing', [a], undefined, [a]],
  ['two lists, without copies', [a, b], [b, c], [a, b, c]],
  ['a group of all is a list', allOf(a), [b], [a, b]],
  ['a list and any of two', [a], anyOf(b, c), allOf(allOf(a), anyOf(b, c))],
  ['any of two, twice', anyOf(a, b), anyOf(b, c), allOf(anyOf(a, b), anyOf(b, c))],
  ['any of two groups cannot be joined', anyOf(allOf(a, b), allOf(c, b)), [a], null],
  ['but it can be used alone', [], anyOf(allOf(a, b), allOf(c, b)), anyOf(allOf(a, b), allOf(c, b))],
  ['what is nested deeper cannot be read', allOf(anyOf(allOf(a), b)), [a], null],
])('%s', (_, one, other, expected) => {
  expect(joined(one, other)).toEqual(expected)
})

test.each([
  [
    [a, b],
    [a, b],
  ],
  [undefined, []],
  [allOf(a, b), [a, b]],
  [anyOf(a), [a]],
  [anyOf(a, b), null],
  [allOf(allOf(a), anyOf(b, c)), null],
])('%j as a list', (properties, expected) => {
  expect(listOfAll(properties)).toEqual(expected)
})
