import { afterAll, beforeAll, expect, test } from 'vitest'
import { failureOf } from '../../../src/doors/http/errors.ts'
import type { WaymarkError } from '../../../src/errors/errors.ts'
import { open, type Project, type Waymark } from '../../../src/index.ts'
import { errorInWords, misfitOf } from '../../../src/web/lib/error-words.ts'

let waymark: Waymark
let project: Project
beforeAll(async () => {
  waymark = await open({ dataDir: ':memory:' })
  project = await waymark.createProject()
})
afterAll(() => waymark.close())

const series = [{ kind: 'EventsNode', event: 'a' }]
test.each<[begins: string, query: Readonly<Record<string, unknown>>]>([
  ['Series A, what is counted: ', { kind: 'TrendsQuery', series: [{ ...series[0], math: 'most' }] }],
  ['Series B, what is counted: ', { kind: 'TrendsQuery', series: [...series, { ...series[0], math: 'most' }] }],
  ['Interval: ', { kind: 'TrendsQuery', series, interval: 'century' }],
  ['Series: ', { kind: 'FunnelsQuery', series: [] }],
  [
    'Exclusion 1, ',
    { kind: 'FunnelsQuery', series: [...series, ...series], funnelsFilter: { exclusions: [{ ...series[0], funnelFromStep: 'x' }] } },
  ],
  [
    'The operator of a filter must be one of exact, ',
    { kind: 'TrendsQuery', series, properties: [{ key: 'a', operator: 'near', value: 1, type: 'event' }] },
  ],
])('what does not fit is said as the page calls it: %s', async (begins, query) => {
  const refused = await project.query(query as never).then(
    () => null,
    (error: unknown) => error as WaymarkError,
  )
  const said = errorInWords(failureOf(refused!).detail)
  expect(said.startsWith(begins), said).toBe(true)
  expect(said).not.toMatch(/validation error|Query\b|__/)
})

test('other messages stay as they are', () => {
  for (const message of ['The query was cancelled.', 'Unable to resolve field: evnt', '1 validation error'])
    expect([misfitOf(message), errorInWords(message)]).toEqual([null, message])
})
