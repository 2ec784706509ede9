import { describe, expect, test } from 'vitest'
import { ApiError } from '../../../src/web/lib/api.ts'
import { FieldError, fieldOf, fitOf, pathOfError, textAtField } from '../../../src/web/lib/error-fields.ts'

// Which field of a form an error is shown at.

const refused = (attr: string | null, detail = 'It is wrong.') => new ApiError(400, { detail, attr })
const misfit = (path: string, problem = 'Input should be one of a, b') =>
  new ApiError(400, { detail: `1 validation error for QueryRequest\n${path}\n  ${problem}`, attr: null })

describe('the path of an error', () => {
  test.each<[what: string, error: Error | null, path: readonly string[] | null]>([
    ['no error', null, null],
    ['an error of the page itself', new Error('x'), null],
    ['an error of a form', new FieldError('filters', 'x'), ['filters']],
    ['one that names no field', refused(null), null],
    ['a field', refused('name'), ['name']],
    ['a field in an object', refused('threshold__configuration__bounds'), ['threshold', 'configuration', 'bounds']],
    ['a query that does not fit', misfit('query.TrendsQuery.series.0.EventsNode.math'), ['series', '0', 'math']],
    ['a query as a whole', misfit('query'), null],
    [
      'a statement that was made of a field',
      refused(null, 'filters__properties__values__1__value: It is no pattern.'),
      ['filters', 'properties', 'values', '1', 'value'],
    ],
  ])('of %s', (_, error, path) => expect(pathOfError(error)).toEqual(path))
})

describe('a field fits', () => {
  test.each<[path: string, field: string, parts: number]>([
    ['name', 'name', 1],
    ['name', 'names', 0],
    ['names', 'name', 0],
    ['threshold.configuration.bounds', 'threshold', 1],
    ['threshold', 'threshold.configuration', 0],
    ['destination.config.url', 'destination__config__url', 3],
    ['trendsFilter.formula', 'trendsFilter.formula', 1],
    ['formula', 'trendsFilter.formula', 1],
    ['series.1.math', 'series.1', 2],
    ['series.10.math', 'series.1', 0],
    // A path of nothing but grouping objects stays itself.
    ['query', 'query', 1],
    ['query', 'source', 0],
  ])('%s at %s: %i parts', (path, field, parts) => expect(fitOf(path.split('.'), field)).toBe(parts))
})

const builder: readonly (readonly [string, readonly string[]])[] = [
  ['all series', ['series']],
  ['A', ['series.0']],
  ['B', ['series.1']],
  ['math of B', ['series.1.math', 'series.1.math_group_type_index']],
  ['filter 1 of B', ['series.1.properties.0']],
  ['filters', ['properties']],
  ['filter 2', ['properties.1', 'properties.values.1', 'properties.values.0.values.1']],
  ['formula 1', ['trendsFilter.formula', 'trendsFilter.formulaNodes.0']],
  ['breakdown', ['breakdownFilter', 'breakdownFilter.breakdowns.0']],
  ['dates', ['dateRange']],
  ['first day', ['dateRange.date_from']],
]

describe('of all fields', () => {
  test.each<[error: ApiError, field: string | null]>([
    [misfit('query.TrendsQuery.series.1.EventsNode.math'), 'math of B'],
    [misfit('query.TrendsQuery.series.1.EventsNode.event'), 'B'],
    [misfit('query.TrendsQuery.series'), 'all series'],
    [misfit('query.TrendsQuery.series.7.math'), 'all series'],
    [refused('series__1__math_hogql'), 'B'],
    [refused('series__1__properties__0__key'), 'filter 1 of B'],
    [refused('properties__1'), 'filter 2'],
    [refused('properties__values__0__values__1__value'), 'filter 2'],
    [refused('properties__0'), 'filters'],
    [refused('trendsFilter__formula'), 'formula 1'],
    [refused('trendsFilter__formulaNodes__0__formula'), 'formula 1'],
    [refused('breakdownFilter__breakdown'), 'breakdown'],
    [refused('dateRange__date_from'), 'first day'],
    [refused('dateRange__date_to'), 'dates'],
    [refused('samplingFactor'), null],
    [refused(null), null],
  ])('%o is at %s', (error, field) => expect(fieldOf(error, builder)).toBe(field))
})

test('at a field its name is not said again; where it is a part of the way, the rest of the way is', () => {
  const error = misfit('query.TrendsQuery.series.0.EventsNode.math', 'Input should be one of a, b')
  expect(textAtField(error, ['series.0.math'])).toBe('Input should be one of a, b')
  expect(textAtField(error, ['series.0'])).toBe('Series A, what is counted: Input should be one of a, b')
  expect(textAtField(refused('name', 'It is taken.'), ['name'])).toBe('It is taken.')
})
