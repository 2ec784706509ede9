import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { answerQuery } from '../../../src/engine/execution/answer.ts'
import { assertGenerated } from '../../harness/assert-generated.ts'
import { openTestProject } from '../../harness/duckdb.ts'
import { fillStore, personUuid } from '../../harness/store.ts'
import { type ReferenceEvent, type ReferenceQuery, referenceEvents } from '../../reference/events.ts'

const now = new Date('2020-03-10T12:00:00Z')
const hour = 3_600_000_000
const start = Date.parse('2020-03-08T00:00:00Z') * 1000
const project = await openTestProject({ now })
afterAll(() => project.close())

const names = ['a', 'b', 'c']
const value = fc.constantFrom('x', 'y', '', 'null', null)
const event: fc.Arbitrary<ReferenceEvent> = fc.record({
  event: fc.constantFrom(...names),
  person: fc.integer({ min: 1, max: 3 }),
  at: fc.integer({ min: 0, max: 8 }).map((n) => start + n * hour),
  properties: fc.oneof(
    value.map((key) => ({ key })),
    fc.constant({}),
  ),
})
const query: fc.Arbitrary<ReferenceQuery> = fc.record({
  events: fc.subarray(names),
  person: fc.option(fc.integer({ min: 1, max: 4 }), { nil: null }),
  after: fc.integer({ min: -1, max: 5 }).map((n) => start + n * hour),
  before: fc.integer({ min: 3, max: 10 }).map((n) => start + n * hour),
  filter: fc.option(
    fc.record({
      key: fc.constantFrom('key', 'other'),
      values: fc.uniqueArray(fc.constantFrom('x', '', 'null'), { minLength: 1, maxLength: 2 }),
      isNot: fc.boolean(),
    }),
    { nil: null },
  ),
  order: fc.constantFrom('time' as const, 'newest' as const, 'key' as const, 'none' as const),
  isCounted: fc.boolean(),
  limit: fc.integer({ min: 1, max: 8 }),
  offset: fc.integer({ min: 0, max: 4 }),
})

const orders = { time: ['timestamp'], newest: ['timestamp DESC'], key: ['properties.key ASC'], none: undefined }
const iso = (micros: number) => new Date(micros / 1000).toISOString()

const asRequest = (q: ReferenceQuery) => ({
  kind: 'EventsQuery',
  select: q.isCounted ? ['properties.key', 'count()'] : ['properties.key', 'event', 'distinct_id'],
  events: q.events,
  personId: q.person === null ? null : personUuid(q.person),
  after: iso(q.after),
  before: iso(q.before),
  properties: q.filter
    ? [{ key: q.filter.key, type: 'event', operator: q.filter.isNot ? 'is_not' : 'exact', value: q.filter.values }]
    : null,
  orderBy: q.isCounted ? undefined : orders[q.order],
  limit: q.limit,
  offset: q.offset,
})

test('answers are those of the loops', async () => {
  await assertGenerated(
    fc.asyncProperty(fc.array(event, { maxLength: 25 }), fc.array(query, { minLength: 4, maxLength: 4 }), async (events, queries) => {
      await fillStore(project, { isFresh: true, events })
      for (const asked of queries) {
        const { results, hasMore } = (await answerQuery(asRequest(asked), project)) as ReturnType<typeof referenceEvents>
        expect({ results, hasMore }, JSON.stringify(asRequest(asked))).toEqual(referenceEvents(events, asked))
      }
    }),
    { numRuns: 50 },
  )
})
