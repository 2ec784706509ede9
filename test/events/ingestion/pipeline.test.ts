import { setTimeout } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { WaymarkError } from '../../../src/errors/errors.ts'
import { deferred } from '../../../src/lib/flow/deferred.ts'
import { openWorld, type World } from './harness.ts'

const events = (count: number, from = 0) =>
  Array.from({ length: count }, (_, i) => ({
    event: `e${i % 3}`,
    distinct_id: `d${i % 7}`,
    uuid: `018a0000-0000-7000-8000-${(from + i).toString(16).padStart(12, '0')}`,
    timestamp: '2026-01-10T00:00:00Z',
    properties: { i: from + i },
  }))

const count = async (world: World) =>
  (await world.rows('SELECT count(*)::INTEGER AS n, count(DISTINCT uuid)::INTEGER AS different FROM events'))[0]

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

test('a transaction that has too little memory is retried, and the error says so', async () => {
  const world = await openWorld({ limits: { groupRows: 8_192, groupPeople: 1_000 } })
  world.beforeCommit = async () => {
    world.beforeCommit = null
    throw new Error('Out of Memory Error: failed to allocate data of size 8.0 MiB')
  }
  await world.pipeline.ingest(events(3))
  await world.pipeline.caughtUp()
  expect((world.errors.splice(0) as Error[]).map(({ message }) => message)).toEqual([
    'Not enough memory for a transaction of events. It is retried with at most 4096 events.',
  ])
  expect(await count(world)).toEqual({ n: 3, different: 3 })
  await world.close()
})

test('a transaction that a query waits for takes nothing that came later', async () => {
  const world = await openWorld()
  const [begun, gate] = [deferred<void>(), deferred<void>()]
  const sizes: number[] = []
  world.beforeCommit = async (size) => {
    sizes.push(size)
    begun.resolve()
    await gate.promise
  }
  await world.pipeline.ingest(events(1))
  const first = world.pipeline.caughtUp()
  await begun.promise
  await world.pipeline.ingest(events(2, 1))
  const second = world.pipeline.caughtUp()
  for (let i = 3; i < 30; i += 3) await world.pipeline.ingest(events(3, i))
  gate.resolve()
  await Promise.all([first, second])
  expect(sizes.slice(0, 2)).toEqual([1, 2])
  expect(await count(world)).toEqual({ n: 30, different: 30 })
  await world.close()
})

test('while queries come, transactions are small', async () => {
  const world = await openWorld()
  const sizes: number[] = []
  world.beforeCommit = async (size) => void sizes.push(size)
  await world.pipeline.caughtUp()
  for (let i = 0; i < 40_000; i += 10_000) await world.pipeline.ingest(events(10_000, i))
  expect(await count(world)).toEqual({ n: 40_000, different: 40_000 })
  expect(Math.max(...sizes)).toBeLessThanOrEqual(16_384)
  await world.close()
})

test('invalid member uuids do not block later records in the log', async () => {
  const world = await openWorld()
  const { ids } = await world.pipeline.importPersons([{ distinct_ids: ['u1'], properties: {} }])
  await world.pipeline.writeRecords([
    { table: 'cohort_members', id: 1, persons: ['nobody', ids[0]!, '00000000-0000-7000-8000-000000000000'] },
  ])
  await world.pipeline.ingest({ batch: [{ event: 'x', distinct_id: 'u1' }] })
  await world.pipeline.caughtUp()
  expect(await world.rows('SELECT cohort_id, person_no FROM cohort_members')).toEqual([{ cohort_id: 1, person_no: 1 }])
  expect((await count(world))?.n).toBe(1)
  expect(world.errors).toEqual([])
  await world.close()
})

test('an empty batch is not written to the log', async () => {
  const world = await openWorld()
  expect(await world.pipeline.ingest({ batch: [] })).toEqual({ accepted: 0, duplicates: 0, dropped: 0, warnings: [] })
  expect(world.log.lastSeq).toBe(0)
  await world.close()
})

test('concurrent batches are applied in log order, in groups of any size', async () => {
  const world = await openWorld({ limits: { groupRows: 50 } })
  const answers = await Promise.all(Array.from({ length: 40 }, (_, i) => world.pipeline.ingest(events(10 + i, i * 100))))
  expect(answers.reduce((n, { accepted }) => n + accepted, 0)).toBe(1180)
  expect(await count(world)).toEqual({ n: 1180, different: 1180 })
  expect(
    await world.rows('SELECT bool_and(log_seq = place) AS ordered FROM (SELECT log_seq, row_number() OVER () AS place FROM events)'),
  ).toEqual([{ ordered: true }])
  expect(await world.rows('SELECT sum(count)::INTEGER AS n FROM event_names')).toEqual([{ n: 1180 }])
  expect(world.log.appliedSeq).toBe(1180)
  await world.close()
})

test('a batch larger than a group is stored in parts, also when one of them fails', async () => {
  const world = await openWorld({ limits: { groupRows: 20 } })
  await world.pipeline.ingest(events(30, 90))
  await world.pipeline.caughtUp()
  world.failCommits = 1
  expect(await world.pipeline.ingest(events(105))).toMatchObject({ accepted: 90, duplicates: 15 })
  await world.pipeline.caughtUp()
  world.failCommits = 1
  await world.pipeline.ingest(events(45, 200))
  await world.pipeline.caughtUp()
  expect(world.errors.splice(0)).toHaveLength(2)
  expect(await count(world)).toEqual({ n: 165, different: 165 })
  expect(await world.rows('SELECT sum(count)::INTEGER AS n FROM event_names')).toEqual([{ n: 165 }])
  await world.restart()
  expect(await world.pipeline.ingest(events(300))).toMatchObject({ accepted: 135, duplicates: 165 })
  await world.close()
})

describe('backpressure', () => {
  test('makes callers wait, and then refuses them with a retryable error', async () => {
    const world = await openWorld({ limits: { queueBytes: 20_000 } })
    const results = await Promise.allSettled(Array.from({ length: 60 }, (_, i) => world.pipeline.ingest(events(10, i * 10))))
    const refused = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as WaymarkError] : []))
    expect(refused.length).toBeGreaterThan(0)
    expect(refused.length).toBeLessThan(60)
    for (const error of refused) expect([error.code, error.isRetryable]).toEqual(['queue-full', true])
    expect(await count(world)).toEqual({ n: (60 - refused.length) * 10, different: (60 - refused.length) * 10 })
    expect(await world.pipeline.ingest(events(10, 10_000))).toMatchObject({ accepted: 10 })
    await world.close()
  })

  test('a batch larger than the queue is taken when nothing else waits', async () => {
    const world = await openWorld({ limits: { queueBytes: 100 } })
    expect(await world.pipeline.ingest(events(50))).toMatchObject({ accepted: 50 })
    await world.close()
  })
})

describe('past events beside live ones', () => {
  const past = (count: number, from: number) => ({ historical_migration: true, batch: events(count, from) })

  test('a live batch is written before the past ones that wait', async () => {
    const world = await openWorld()
    const order: string[] = []
    const { promise: open, resolve } = deferred<void>()
    const { promise: fourEntered, resolve: fourth } = deferred<void>()
    const append = world.log.append.bind(world.log)
    world.log.append = async (batch) => {
      order.push(batch.historical ? 'past' : 'live')
      if (order.length === 4) fourth()
      await open
      return append(batch)
    }
    const imports = Array.from({ length: 20 }, (_, i) => world.pipeline.ingest(past(5, i * 5)))
    await fourEntered
    const live = world.pipeline.ingest(events(5, 1000))
    resolve()
    expect((await Promise.all([...imports, live])).every(({ accepted }) => accepted === 5)).toBe(true)
    expect([order.indexOf('live'), order.length]).toEqual([4, 21])
    expect(await count(world)).toEqual({ n: 105, different: 105 })
    await world.close()
  })

  test('an import fills half of the queue, the other half stays open', async () => {
    const world = await openWorld({ limits: { queueBytes: 20_000 } })
    const imports = Array.from({ length: 30 }, (_, i) => world.pipeline.ingest(past(10, i * 10)))
    const live = world.pipeline.ingest(events(10, 1000))
    const settled = await Promise.allSettled(imports)
    expect(settled.flatMap((one) => (one.status === 'rejected' ? [(one.reason as WaymarkError).code] : []))).toContain('queue-full')
    expect(await live).toMatchObject({ accepted: 10 })
    expect(await world.pipeline.ingest(past(10, 2000))).toMatchObject({ accepted: 10 })
    await world.close()
  })
})

describe('when something fails', () => {
  test('a batch that the log refuses leaves no trace', async () => {
    const world = await openWorld()
    world.log.failure = new WaymarkError('disk-full', { free: 0, floor: 1 })
    await expect(world.pipeline.ingest(events(5))).rejects.toMatchObject({ code: 'disk-full' })
    world.log.failure = null
    expect(await world.pipeline.ingest(events(5))).toMatchObject({ accepted: 5, duplicates: 0 })
    expect(await count(world)).toEqual({ n: 5, different: 5 })
    await world.close()
  })

  test('a failed transaction is retried from the log', async () => {
    const world = await openWorld({ limits: { groupRows: 20 } })
    world.failCommits = 2
    await Promise.all(Array.from({ length: 10 }, (_, i) => world.pipeline.ingest(events(10, i * 5))))
    await world.pipeline.caughtUp()
    const merge = { event: '$identify', distinct_id: 'd1', properties: { $anon_distinct_id: 'd2' } }
    world.failCommits = 1
    await world.pipeline.ingest([merge, ...events(5, 1000)])
    const { ids } = await world.pipeline.importPersons([{ distinct_ids: ['new'] }])
    await world.pipeline.caughtUp()
    expect(world.errors.splice(0).map(String)).toEqual(['Error: no commit', 'Error: no commit', 'Error: no commit'])
    expect(await count(world)).toEqual({ n: 61, different: 61 })
    expect(await world.rows('SELECT count(*)::INTEGER AS n FROM persons')).toEqual([{ n: 7 }])
    expect(
      await world.rows(`SELECT uuid::VARCHAR AS uuid FROM persons JOIN distinct_ids USING (person_no) WHERE distinct_id = 'new'`),
    ).toEqual([{ uuid: ids[0] }])
    await world.close()
  })

  test('callers that wait for the store get the error when it keeps failing', async () => {
    const world = await openWorld()
    world.failCommits = 4
    await world.pipeline.ingest(events(5))
    await expect(world.pipeline.caughtUp()).rejects.toThrow('cannot be written')
    world.errors.length = 0
    await world.pipeline.caughtUp()
    expect(await count(world)).toEqual({ n: 5, different: 5 })
    world.errors.length = 0
    await world.close()
  })

  test('a pipeline reports a failure until it makes progress again', async () => {
    const world = await openWorld()
    world.failCommits = 4
    await world.pipeline.ingest(events(5))
    expect(world.pipeline.failure).toBeNull()
    await expect(world.pipeline.caughtUp()).rejects.toThrow('cannot be written')
    expect(String(world.pipeline.failure)).toBe('Error: no commit')
    await world.pipeline.caughtUp()
    expect(world.pipeline.failure).toBeNull()
    await world.close()
  })

  test('a log that is temporarily unreadable after a failed transaction is read later', async () => {
    const world = await openWorld()
    await world.pipeline.ingest(events(5))
    await world.pipeline.caughtUp()
    world.failCommits = 1
    world.log.unreadable = { from: 6, error: new Error('not now') }
    await world.pipeline.ingest(events(5, 5))
    const readings = world.log.reads
    const over = world.pipeline.caughtUp()
    while (world.log.reads < readings + 2) await setTimeout(1)
    world.log.unreadable = null
    await over
    expect(world.errors.splice(0).map(String)).toEqual(expect.arrayContaining(['Error: no commit', 'Error: not now']))
    expect(await count(world)).toEqual({ n: 10, different: 10 })
    await world.close()
  })

  test('closing ends with an error when the log cannot be read again', async () => {
    const world = await openWorld()
    world.failCommits = 1
    world.log.unreadable = { from: 1, error: new Error('gone') }
    await world.pipeline.ingest(events(5))
    await world.close()
    expect(world.errors.map(String).at(-1)).toContain('cannot be written')
  })

  const obstacles: readonly [string, string, (world: World) => void][] = [
    [
      'the log cannot be read',
      'damaged',
      (world) => {
        world.log.unreadable = { from: 26, error: new Error('damaged') }
        world.failCommits = 1_000
      },
    ],
    [
      'the store takes nothing',
      'cannot be written',
      (world) => {
        world.failCommits = 1_000
      },
    ],
  ]
  test.each(obstacles)('a pipeline that cannot be opened, because %s, tries nothing afterwards', async (_, error, obstruct) => {
    const world = await openWorld({ limits: { groupRows: 5 } })
    for (let i = 0; i < 50; i += 5) await world.pipeline.ingest(events(5, i))
    await world.pipeline.caughtUp()
    obstruct(world)
    await expect(world.rebuild()).rejects.toThrow(error)
    const { commits } = world
    const { reads } = world.log
    await setTimeout(1_200) // the first attempts are at most a second apart
    expect([world.commits, world.log.reads]).toEqual([commits, reads])
  })

  test('closing does not wait for reads of the log', async () => {
    const world = await openWorld({ limits: { groupRows: 5 } })
    for (let i = 0; i < 200; i += 5) await world.pipeline.ingest(events(5, i))
    await world.pipeline.caughtUp()
    const closing = new AbortController()
    const { commits } = world
    const opening = world.rebuild(closing.signal)
    while (world.commits === commits) await setTimeout(0)
    closing.abort()
    await expect(opening).rejects.toMatchObject({ code: 'closed' })
    expect(world.commits - commits).toBeLessThan(40)
  })

  test('after closing nothing is accepted, and batches in flight are stored', async () => {
    const world = await openWorld()
    const onItsWay = world.pipeline.ingest(events(5))
    await world.close()
    expect(await onItsWay).toMatchObject({ accepted: 5 })
    expect(world.log.appliedSeq).toBe(5)
    await expect(world.pipeline.ingest(events(5))).rejects.toMatchObject({ code: 'closed' })
  })
})

describe('records that are in the log but not applied', () => {
  test('are applied at the start, with the same result', async () => {
    const world = await openWorld()
    await world.pipeline.importPersons([{ distinct_ids: ['d1', 'x'], properties: { a: 1 } }])
    await world.pipeline.definePropertyTypes([{ name: 'i', property_type: 'Numeric' }])
    await world.pipeline.ingest({ batch: [...events(30), ...events(5)], sent_at: '2026-01-15T11:00:00Z' }, { ip: '1.2.3.4' })
    await world.pipeline.ingest([{ event: '$identify', distinct_id: 'd2', properties: { $anon_distinct_id: 'd3', $set: { b: 2 } } }])
    await world.pipeline.importGroups([{ group_type: 'c', group_key: 'k', properties: { a: 1 } }])
    await world.pipeline.writeRecords([{ table: 'actions', id: 1, definition: '{}' }])
    const tables = [
      'events',
      'persons',
      'distinct_ids',
      'person_merges',
      'merge_journal',
      'person_versions',
      'groups',
      'group_types',
      'event_names',
      'property_keys',
      'warnings',
      'actions',
    ]
    const all = async () =>
      Object.fromEntries(await Promise.all(tables.map(async (table) => [table, await world.rows(`SELECT * FROM ${table} ORDER BY ALL`)])))
    const before = await all()
    await world.rebuild()
    const after = await all()
    // The size of a transaction only affects which rows of distinct ids it adds.
    for (const tables of [before, after])
      tables.distinct_ids = (tables.distinct_ids as Record<string, unknown>[]).map(({ added_seq, ...row }) => row)
    expect(after).toEqual(before)
    await world.close()
  })

  test('are committed in parts, so that a process that is killed early makes progress', async () => {
    const world = await openWorld()
    for (let i = 0; i < 50; i++) await world.pipeline.ingest({ batch: events(1, i) })
    world.log.readOnceApplied = 26
    await world.rebuild()
    expect(await count(world)).toEqual({ n: 50, different: 50 })
    await world.close()
  }, 4_000) // otherwise the first commit comes after five seconds

  test('may have gaps if the log was damaged', async () => {
    const world = await openWorld()
    for (let i = 0; i < 4; i++) await world.pipeline.ingest(events(10, i * 10))
    await world.pipeline.caughtUp()
    world.log.batches.splice(1, 2)
    await world.rebuild()
    expect(await count(world)).toEqual({ n: 20, different: 20 })
    expect(await world.pipeline.ingest(events(40))).toMatchObject({ accepted: 20, duplicates: 20 })
    await world.close()
  })
})

describe('records', () => {
  test('are written, replaced and removed', async () => {
    const world = await openWorld()
    const { ids } = await world.pipeline.importPersons([{ distinct_ids: ['a'] }, { distinct_ids: ['b'] }, { distinct_ids: ['c'] }])
    await world.pipeline.writeRecords([
      { table: 'actions', id: 1, definition: '{"name":"one"}' },
      { table: 'actions', id: 2, definition: '{"name":"two"}' },
      { table: 'cohorts', id: 7, definition: '{}' },
      { table: 'cohort_members', id: 7, persons: [ids[0]!, ids[2]!, '018a0000-0000-7000-8000-00000000ffff'] },
    ])
    await world.pipeline.writeRecords([
      { table: 'actions', id: 1, definition: null },
      { table: 'actions', id: 2, definition: '{"name":"2"}' },
    ])
    expect(await world.rows('SELECT * FROM actions')).toEqual([{ id: 2, definition: '{"name":"2"}' }])
    expect(await world.rows('SELECT * FROM cohort_members ORDER BY ALL')).toEqual([1, 3].map((person_no) => ({ cohort_id: 7, person_no })))
    await world.pipeline.ingest([{ event: '$identify', distinct_id: 'b', properties: { $anon_distinct_id: 'c' } }])
    expect(await world.rows('SELECT * FROM cohort_members ORDER BY ALL')).toEqual([1, 2].map((person_no) => ({ cohort_id: 7, person_no })))
    await world.close()
  })
})

describe('imported persons', () => {
  test('return their ids in order and can be imported again', async () => {
    const world = await openWorld()
    const rows = [
      { distinct_ids: ['a', 'a2'], properties: { n: 1 }, created_at: '2025-01-01', is_identified: true },
      { distinct_ids: ['b'], properties: {} },
    ]
    const first = await world.pipeline.importPersons(rows)
    expect(await world.pipeline.importPersons([...rows].reverse())).toEqual({ ids: [...first.ids].reverse() })
    expect(
      await world.rows(
        'SELECT person_no, is_identified, version::INTEGER AS version, created_at::DATE::VARCHAR AS created FROM persons ORDER BY 1',
      ),
    ).toEqual([
      { person_no: 1, is_identified: true, version: 0, created: '2025-01-01' },
      { person_no: 2, is_identified: false, version: 0, created: '2026-01-15' },
    ])
    await world.close()
  })

  test('merge persons who have several of the ids', async () => {
    const world = await openWorld()
    await world.pipeline.ingest(
      ['a', 'b'].map((id) => ({ event: 'e', distinct_id: id, timestamp: '2026-01-10', properties: { $set: { [id]: 1 } } })),
    )
    await world.pipeline.importPersons([{ distinct_ids: ['x', 'a', 'b'], properties: { c: 1 } }])
    expect(await world.rows('SELECT count(*)::INTEGER AS n FROM persons')).toEqual([{ n: 1 }])
    expect(await world.rows('SELECT distinct_id, person_no FROM distinct_ids ORDER BY 1')).toEqual(
      ['a', 'b', 'x'].map((distinct_id) => ({ distinct_id, person_no: 1 })),
    )
    await world.close()
  })

  test.each([
    ['x', null],
    [[5], '0'],
    [[{}], '0__distinct_ids'],
    [[{ distinct_ids: [] }], '0__distinct_ids'],
    [[{ distinct_ids: [''] }], '0__distinct_ids'],
    [[{ distinct_ids: ['a'], created_at: 'x' }], '0__created_at'],
    [[{ distinct_ids: ['a'], properties: [] }], '0__properties'],
  ])('%j is refused', async (rows, attr) => {
    const world = await openWorld()
    await expect(world.pipeline.importPersons(rows)).rejects.toMatchObject({ code: 'validation-failed', data: { attr } })
    await world.close()
  })
})
