import { expect, test } from 'vitest'
import type { AnnotationAnswer } from '../../../src/doors/answers/annotations.ts'
import { beginOf, byInterval, rangeOf, spansOf, type TimeChart } from '../../../src/web/annotations/on-axis.ts'

// Which interval of a chart a time belongs to: on the clock of the project, days of change of that clock included.

const chart = (interval: string, begins: readonly string[], more: object = {}) =>
  ({ kind: 'lines', isFilled: false, isSlope: false, begins, interval, labels: begins, ...more }) as unknown as TimeChart
const note = (date_marker: string | null) => ({ id: 1, content: 'x', date_marker, scope: 'project' }) as unknown as AnnotationAnswer
const days = ['2026-03-28', '2026-03-29', '2026-03-30']

test.each<[what: string, of: TimeChart, at: string | null, index: number | null]>([
  ['the last second of a day', chart('day', days), '2026-03-28T22:59:59Z', 0],
  ['midnight in Berlin', chart('day', days), '2026-03-28T23:00:00Z', 1],
  ['the last moment of a day that has 23 hours', chart('day', days), '2026-03-29T21:59:59Z', 1],
  ['the last day', chart('day', days), '2026-03-30T21:59:59Z', 2],
  ['after the range', chart('day', days), '2026-03-30T22:00:00Z', null],
  ['before the range', chart('day', days), '2026-03-27T22:59:59Z', null],
  ['an hour', chart('hour', ['2026-01-05 11:00:00', '2026-01-05 12:00:00']), '2026-01-05T11:30:00Z', 1],
  ['the minute after', chart('hour', ['2026-01-05 11:00:00', '2026-01-05 12:00:00']), '2026-01-05T12:00:00Z', null],
  ['a month', chart('month', ['2026-01-01', '2026-02-01']), '2026-02-28T22:59:00Z', 1],
  ['the month after', chart('month', ['2026-01-01', '2026-02-01']), '2026-02-28T23:00:00Z', null],
  ['between the ends of a slope', chart('day', ['2026-03-01', '2026-03-28'], { isSlope: true }), '2026-03-10T12:00:00Z', null],
  ['one of several intervals in a point', chart('day', ['2026-03-01', '2026-03-08']), '2026-03-05T12:00:00Z', 0],
  ['times of a statement', chart('', ['2026-03-01', '2026-03-03']), '2026-03-04T22:59:00Z', 1],
  ['a box beside one of another period', chart('day', ['', '2026-03-28'], { kind: 'boxes' }), '2026-03-28T12:00:00Z', 1],
  ['no time', chart('day', days), null, null],
])('%s', (_, of, at, index) => {
  expect([...byInterval(spansOf(of), [note(at)], 'Europe/Berlin').keys()]).toEqual(index === null ? [] : [index])
})

test('the range is from the first to the last interval, as instants; an axis without times has none', () => {
  const spans = spansOf(chart('day', days))
  expect(rangeOf(spans, 'Europe/Berlin')).toEqual({ from: '2026-03-27T23:00:00.000Z', to: '2026-03-30T22:00:00.000Z' })
  expect(beginOf(spans[1]!, 'Europe/Berlin')).toBe('2026-03-28T23:00:00.000Z')
  expect(rangeOf(spansOf(chart('day', [])), 'UTC')).toBe(null)
  expect(rangeOf(spansOf(chart('day', ['no day'])), 'UTC')).toBe(null)
})
