import { expect, test } from 'vitest'
import { type Change, changeText, scopeWords } from '../../../src/web/lib/activity.ts'

const change = (of: Partial<Change>): Change =>
  ({ type: 'Plugin', action: 'changed', field: 'url', before: null, after: null, ...of }) as Change

test.each([
  ['values', change({ before: 'a', after: 'b' }), 'url: a → b'],
  ['a value where there was none', change({ after: 'https://a.test' }), 'url: none → https://a.test'],
  ['an empty object', change({ before: {}, after: ['x'] }), 'url: none → ["x"]'],
  ['what the log has no values of', change({ field: 'index.ts' }), 'index.ts: changed'],
  ['something new', change({ action: 'created', after: 'b' }), 'url: created b'],
  ['something removed', change({ action: 'deleted', before: 'a' }), 'url: deleted a'],
  ['false and zero, which are values', change({ before: false, after: 0 }), 'url: false → 0'],
])('a change of %s', (_, of, text) => {
  expect(changeText(of)).toBe(text)
})

test('records are called as on their pages', () => {
  expect(['AlertConfiguration', 'PluginConfig', 'Team', 'FeatureFlag'].map(scopeWords)).toEqual([
    'alert',
    'plugin',
    'project',
    'feature flag',
  ])
})
