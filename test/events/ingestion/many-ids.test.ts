import { expect, test } from 'vitest'
import { personUuid } from '../../../src/events/ingestion/decoding/uuid.ts'
import { openWorld } from './harness.ts'

// A person with many ids, each of which was a person with events of its own, is deleted. With hundreds of thousands: `test/memory/deleting.largest.test.ts`.

const count = 1_500
const ids = Array.from({ length: count }, (_, i) => `v${i}`)

test.each([
  ['its events stay', false],
  ['its events go, too', true],
])('%s', async (_, withEvents) => {
  const world = await openWorld()
  await world.pipeline.ingest({ batch: ids.map((distinct_id) => ({ event: 'x', distinct_id })) })
  await world.pipeline.ingest({
    batch: ids.slice(1).map((alias) => ({ event: '$merge_dangerously', distinct_id: 'v0', properties: { alias } })),
  })
  await world.pipeline.ingest({ batch: [{ event: 'x', distinct_id: 'another' }] })
  const person = personUuid(1, 'v0')
  const counts = () =>
    world.rows(
      `SELECT (SELECT count(*) FROM persons WHERE has_record)::INTEGER AS persons, (SELECT count(*) FROM distinct_ids)::INTEGER AS ids,
         (SELECT count(*) FROM events)::INTEGER AS events, (SELECT count(*) FROM person_merges)::INTEGER AS merges`,
    )
  expect(await counts()).toEqual([{ persons: 2, ids: count + 1, events: 2 * count, merges: count - 1 }])
  expect(await world.pipeline.changePersons([{ change: 'delete', person, withEvents }])).toEqual([true])
  // The id that it was made from keeps its uuid.
  const after = withEvents ? { persons: 1, ids: 1, events: 1, merges: 0 } : { persons: 1, ids: 2, events: 2 * count, merges: count - 1 }
  expect(await counts()).toEqual([after])
  await world.pipeline.ingest({ batch: [ids[0]!, ids[count - 1]!].map((distinct_id) => ({ event: 'again', distinct_id })) })
  const again = await world.rows(
    "SELECT distinct_id, p.uuid::VARCHAR AS uuid FROM events e JOIN event_names n USING (event_id) JOIN persons p USING (person_no) WHERE n.name = 'again' ORDER BY 1",
  )
  expect(again).toEqual([ids[0]!, ids[count - 1]!].map((distinct_id) => ({ distinct_id, uuid: personUuid(1, distinct_id) })))
  const before = await counts()
  await world.rebuild()
  expect(await counts()).toEqual(before)
  await world.close()
})
