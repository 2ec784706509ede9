import { expect, test } from 'vitest'
import { openWorld } from './harness.ts'

test('events go from a batch to rows', async () => {
  const world = await openWorld()
  const answer = await world.pipeline.ingest({
    batch: [
      { event: 'signup', distinct_id: 'u1', timestamp: '2026-01-05T10:00:00Z', properties: { plan: 'pro', n: 1 } },
      { event: 'visit', distinct_id: 'u2', properties: { $set: { email: 'a@b.c' } } },
      { event: 'visit', distinct_id: 'u1' },
    ],
  })
  expect(answer).toEqual({ accepted: 3, duplicates: 0, dropped: 0, warnings: [] })
  expect(
    await world.rows(`SELECT name, distinct_id, e.timestamp::VARCHAR AS at, person_no, log_seq::INTEGER AS seq, properties
                      FROM events e JOIN event_names USING (event_id) ORDER BY log_seq`),
  ).toEqual([
    { name: 'signup', distinct_id: 'u1', at: '2026-01-05 10:00:00', person_no: 1, seq: 1, properties: '{"plan":"pro","n":1}' },
    { name: 'visit', distinct_id: 'u2', at: '2026-01-15 12:00:00', person_no: 2, seq: 2, properties: '{"$set":{"email":"a@b.c"}}' },
    { name: 'visit', distinct_id: 'u1', at: '2026-01-15 12:00:00', person_no: 1, seq: 3, properties: '{}' },
  ])
  await world.close()
})
