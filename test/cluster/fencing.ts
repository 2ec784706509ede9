import { randomUUID } from 'node:crypto'
import { type ClickHouseClient, type ClickHouseServer, connectToClickHouse } from '../../src/engine/storage/clickhouse/client.ts'
import type { Journal, WrittenGroup } from '../../src/engine/storage/clickhouse/journal.ts'
import { eventsTable, oneServer } from '../../src/engine/storage/clickhouse/layout.ts'
import { type ProjectStore, projectStore } from '../../src/engine/storage/clickhouse/project-store.ts'
import { insertedEvents, knowInsertsAgain } from '../../src/engine/storage/clickhouse/schema.ts'
import { createTables } from '../../src/engine/storage/clickhouse/tables.ts'
import { openBlocks } from '../../src/engine/storage/postgres/blocks.ts'
import { connectToPostgres, type Postgres } from '../../src/engine/storage/postgres/client.ts'
import { logRows } from '../../src/engine/storage/postgres/log-rows.ts'
import { type Lease, openPartitions } from '../../src/engine/storage/postgres/partitions.ts'
import { prepareTables } from '../../src/engine/storage/postgres/tables.ts'
import { LeaseLost, sharedJournal } from '../../src/engine/storage/shared-journal.ts'
import { type Deferred, deferred } from '../../src/lib/flow/deferred.ts'
import { type Check, Failed, mustEqual } from './checks.ts'
import { type Cluster, engineOf } from './parts.ts'

// Two holders of one lease, step by step: the first is stopped between two statements, and goes on when the second has finished what it had begun.

const project = 900

const eventOf = (seq: number): unknown[] => [
  project,
  'view',
  `00000000-0000-4000-8000-${String(seq).padStart(12, '0')}`,
  '2026-01-05 10:00:00.000000',
  1 + (seq % 3), // of persons on several shards
  'ann',
  ...['', '', '', '', '', '', ''],
  '2026-01-05 10:00:01.000000',
  seq,
  0,
  '',
  '{}',
]
const groupOf = (change: number, fromSeq: number, toSeq: number): WrittenGroup => {
  const rows = Array.from({ length: toSeq - fromSeq + 1 }, (_, i) => JSON.stringify(eventOf(fromSeq + i)))
  return { change, seq: toSeq, events: { query: insertedEvents, rows: rows.join('\n'), count: rows.length }, steps: [] }
}

interface World {
  readonly postgres: Postgres
  readonly client: ClickHouseClient
  /** The lease of a new holder, whoever had it. */
  take(): Promise<Lease>
  /** `stop`: where the holder is stopped before it inserts events, once. */
  journal(lease: Lease, stop?: Stop): Journal
  position(): Promise<number>
  counts(): Promise<unknown>
  /** Without a token, as when it is forgotten. */
  insert(group: WrittenGroup): Promise<void>
}
interface Stop {
  readonly reached: Deferred<void>
  readonly goOn: Deferred<void>
}

async function openWorld(cluster: Cluster, schema: string): Promise<World> {
  const postgres = await connectToPostgres({ url: cluster.postgresUrl, schema })
  const clusterId = await prepareTables(postgres, async () => undefined)
  const client = await connectToClickHouse({ ...(engineOf(cluster).clickhouse as ClickHouseServer), database: schema })
  const { layout = oneServer } = client
  await createTables(client)
  await client.command({ query: knowInsertsAgain(layout.isSharded ? 4 : 2, layout) }) // both shards are one table here
  const partitions = openPartitions(postgres)
  const blocks = openBlocks(postgres)
  let holders = 0
  const store = projectStore(client, project, () => partitions.nextChange(project))
  return {
    postgres,
    client,
    async take() {
      await postgres.run(`UPDATE ${schema}.cluster_partitions SET until = clock_timestamp() - interval '1 second' WHERE project = $1`, [
        project,
      ])
      return (await partitions.take(project, `holder ${++holders}`, 60_000))!
    },
    journal(lease, stop) {
      let isStopped = false
      const run: ProjectStore['run'] = async (query, ...rest) => {
        if (stop && !isStopped && query.startsWith('INSERT INTO events')) {
          isStopped = true
          stop.reached.resolve()
          await stop.goOn.promise
        }
        await store.run(query, ...rest)
      }
      const own = { ...projectStore(client, project, () => partitions.nextChange(project)), run }
      return sharedJournal({ store: own, blocks, lease, clusterId, takeOutcomes: () => [], lost: () => undefined })
    },
    position: async () => (await partitions.look([project]))[0]!.appliedSeq,
    insert: (group) => store.run(group.events!.query, group.events!.rows),
    counts: async () =>
      (await store.rows(`SELECT log_seq, count() FROM events WHERE project_id = ${project} GROUP BY 1 ORDER BY 1`)) as unknown,
  }
}

const once = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => [from + i, 1])
const newStop = (): Stop => ({ reached: deferred(), goOn: deferred() })
const mustBeRefused = async (work: Promise<unknown>) => {
  const error = await work.then(
    () => null,
    (one: unknown) => one,
  )
  if (!(error instanceof LeaseLost)) throw new Failed(`the first holder was not refused: ${String(error)}`)
}

export async function fencingChecks(cluster: Cluster, check: Check): Promise<void> {
  await check('the log has each batch once, however often its transaction is repeated, and removes what is applied and old', async () => {
    const postgres = await connectToPostgres({ url: cluster.postgresUrl, schema: 'fencing_log' })
    await prepareTables(postgres, async () => undefined)
    const rows = logRows(postgres, project)
    const rowOf = (records: number) => ({ appendId: randomUUID(), records, bytes: Buffer.from(`${records}`) })
    const [one, two, three] = [rowOf(3), rowOf(2), rowOf(4)]
    mustEqual(await rows.append([one, two]), 5, 'the last record')
    mustEqual(await rows.appendAgain([one, two], 0), 5, 'an attempt whose outcome was not known')
    mustEqual(await rows.appendAgain([three], 5), 9, 'one that was not committed')
    // Transactions of several servers at the same time.
    const last = await Promise.all(Array.from({ length: 20 }, () => rows.append([rowOf(1)])))
    mustEqual(
      [...last].sort((a, b) => a - b),
      Array.from({ length: 20 }, (_, i) => 10 + i),
      'numbers',
    )
    const ranges = async (from: number) => (await rows.read(from)).map(({ firstSeq, lastSeq }) => [firstSeq, lastSeq])
    mustEqual(
      (await ranges(2)).slice(0, 3),
      [
        [1, 3],
        [4, 5],
        [6, 9],
      ],
      'from the middle of a batch',
    )
    await rows.remove(5, 60_000)
    mustEqual((await ranges(1))[0], [1, 3], 'what is applied and young stays')
    await rows.remove(5, 0)
    mustEqual((await ranges(1))[0], [6, 9], 'what is applied and old goes')
    await postgres.close()
  })

  await check(
    'a holder that is stopped before its insert wakes when another has finished the block: no event twice, no position moved',
    async () => {
      const world = await openWorld(cluster, 'fencing_1')
      const stop = newStop()
      const first = world.journal(await world.take(), stop)
      mustEqual(await first.recover(), 0, 'position')
      const committing = first.commit(groupOf(1, 1, 3))
      committing.catch(() => undefined)
      await stop.reached.promise
      const second = world.journal(await world.take())
      mustEqual(await second.recover(), 3, 'the successor finishes the block')
      stop.goOn.resolve()
      await mustBeRefused(committing)
      await mustBeRefused(first.commit(groupOf(2, 4, 5)))
      mustEqual(await world.position(), 3, 'position')
      mustEqual(await world.counts(), once(1, 3), 'events')
      await second.commit(groupOf(3, 4, 6))
      mustEqual(await world.counts(), once(1, 6), 'events after the next block')
      await world.client.close()
      await world.postgres.close()
    },
  )

  await check('it wakes when ClickHouse has forgotten the token: the second copy is removed before the position moves again', async () => {
    const world = await openWorld(cluster, 'fencing_2')
    const stop = newStop()
    const first = world.journal(await world.take(), stop)
    await first.recover()
    const committing = first.commit(groupOf(1, 1, 3))
    committing.catch(() => undefined)
    await stop.reached.promise
    const second = world.journal(await world.take())
    await second.recover()
    for (let i = 0; i < 4; i++) await second.commit(groupOf(2 + i, 4 + i, 4 + i)) // more blocks than are known again
    stop.goOn.resolve()
    await committing.catch(() => undefined)
    mustEqual(((await world.counts()) as number[][])[0], [1, 2], 'the late insert is a second copy')
    await second.commit(groupOf(6, 8, 8))
    mustEqual(await world.counts(), once(1, 8), 'events')
    mustEqual(await world.position(), 8, 'position')
    // The same when both copies are in one part already.
    await world.insert(groupOf(1, 1, 3))
    await world.client.command({ query: `OPTIMIZE TABLE ${eventsTable(world.client.layout ?? oneServer)} FINAL` })
    mustEqual(((await world.counts()) as number[][])[0], [1, 2], 'a third copy, merged with the first')
    await second.commit(groupOf(7, 9, 9))
    mustEqual(await world.counts(), once(1, 9), 'events')
    await world.client.close()
    await world.postgres.close()
  })

  await check('a holder dies at each step of a block: its successor ends with the same rows', async () => {
    const world = await openWorld(cluster, 'fencing_3')
    const before = world.journal(await world.take())
    await before.recover()
    await before.commit(groupOf(1, 1, 2))
    // After the insert: the position has not moved.
    const stop = newStop()
    const dying = world.journal(await world.take(), stop)
    await dying.recover()
    const dead = dying.commit(groupOf(2, 3, 4))
    dead.catch(() => undefined)
    await stop.reached.promise
    const next = await world.take()
    stop.goOn.resolve()
    await mustBeRefused(dead) // its insert went through, the move of the position did not
    mustEqual(await world.position(), 2, 'position')
    mustEqual(await world.counts(), once(1, 4), 'events are inserted')
    mustEqual(await world.journal(next).recover(), 4, 'position after the successor')
    mustEqual(await world.counts(), once(1, 4), 'events')
    await world.client.close()
    await world.postgres.close()
  })
}
