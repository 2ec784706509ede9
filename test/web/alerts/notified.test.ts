import { describe, expect, test } from 'vitest'
import type { AlertAnswer } from '../../../src/doors/answers/notifications.ts'
import { alertName, boundsText, comparedText } from '../../../src/web/alerts/notified.ts'

const trend = { kind: 'TrendsQuery', series: [{ kind: 'EventsNode', event: 'purchase' }] }
const funnel = { kind: 'FunnelsQuery', series: [trend.series[0], trend.series[0]] }
const alert = (condition: string, type: string, bounds: { lower?: number; upper?: number }, query: object = trend) =>
  ({
    name: '',
    condition: { type: condition },
    threshold: { name: '', configuration: { type, bounds: { lower: null, upper: null, ...bounds } } },
    insight: { id: 1, short_id: 'a', name: null, derived_name: null, query },
  }) as unknown as AlertAnswer

describe('what an alert compares, in words', () => {
  test.each([
    ['a number', alert('absolute_value', 'absolute', { upper: 1200 }), 'more than 1,200', 1500, '1,500'],
    ['a change by a number', alert('relative_decrease', 'absolute', { upper: 10 }), 'a decrease of more than 10', -3, '-3'],
    [
      'a change by a share, without what binary fractions add',
      alert('relative_increase', 'percentage', { lower: 0.07, upper: 0.29 }),
      'an increase of less than 7% or more than 29%',
      -0.37,
      '-37%',
    ],
    [
      'a change from zero',
      alert('relative_increase', 'percentage', { upper: 0.1 }),
      'an increase of more than 10%',
      Number.MAX_VALUE,
      'infinite',
    ],
    ['a rate', alert('absolute_value', 'absolute', { lower: 20 }, funnel), 'less than 20%', 12.5, '12.5%'],
  ])('%s', (_, of, bounds, value, text) => {
    expect(boundsText(of)).toBe(bounds)
    expect(comparedText(value, of)).toBe(text)
  })

  test('an alert without a name is called by its rule', () => {
    expect(alertName(alert('absolute_value', 'absolute', {}))).toBe('The number')
  })
})
