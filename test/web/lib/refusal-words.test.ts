import { expect, test } from 'vitest'
import { ApiError } from '../../../src/web/lib/api.ts'
import { refusalInWords } from '../../../src/web/lib/refusal-words.ts'

// What the API refuses, as a page says it that has no field for it.

test.each<[status: number, detail: string, attr: string | null, said: string]>([
  [
    400,
    '1 validation error for QueryRequest\nquery.TrendsQuery.series.0.math\n  Input should be a or b',
    null,
    'Series A, what is counted: Input should be a or b',
  ],
  [
    400,
    'query__source__series__1__math_property: Unable to resolve field: evnt',
    null,
    'Series B, property that is counted: Unable to resolve field: evnt',
  ],
  [400, 'This field is required.', 'job__payload__to_day', 'Job, payload, to day: This field is required.'],
  [400, '"x" is not a valid choice.', 'interval', 'Interval: "x" is not a valid choice.'],
  [
    400,
    'Invalid pk "7" - object does not exist.',
    'use_dashboard',
    'Use dashboard: what was chosen does not exist any more. Load the page again.',
  ],
  [400, "'start_at' must be before 'end_at'.", 'start_at', 'The start must be before the end.'],
  [400, 'until_date is before start_date.', 'until_date', 'The end is before the start.'],
  [409, 'The code was changed. Send the `code_version` of now.', null, 'The code was changed. Send the version of the code of now.'],
  [400, 'series_index counts from 0.', 'config__series_index', 'Series index counts from 0.'],
  [
    400,
    'Invalid data. Expected an object, but got a list.',
    null,
    'The server does not understand what this page sent. Load the page again.',
  ],
  [404, 'Not found.', null, 'It does not exist any more, or you may not see it. Load the page again.'],
  [405, 'Method "POST" not allowed.', null, 'The server does not know this action. Load the page again.'],
  [429, 'Request was throttled. Expected available in 31 seconds.', null, 'Too many requests. Try again in 31 seconds.'],
  // Words of people stay as they are: names, addresses, events.
  [403, 'You do not have permission to perform this action.', null, 'You do not have permission to perform this action.'],
  [
    400,
    'The domain a_b.example was proven by another organization.',
    'domain',
    'The domain a_b.example was proven by another organization.',
  ],
  [400, 'hooks.example.com: connection refused', null, 'hooks.example.com: connection refused'],
])('%i %s (%s)', (status, detail, attr, said) => expect(refusalInWords(new ApiError(status, { detail, attr }))).toBe(said))

test('errors of the page itself stay as they are', () =>
  expect(refusalInWords(new Error('start_at is missing'))).toBe('start_at is missing'))
