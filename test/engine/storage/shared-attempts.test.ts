import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { allSetAside, attemptsInPostgres } from '../../../src/engine/storage/postgres/attempts.ts'
import { type Postgres as Connected, connectToPostgres } from '../../../src/engine/storage/postgres/client.ts'
import { openPartitions } from '../../../src/engine/storage/postgres/partitions.ts'
import { prepareTables } from '../../../src/engine/storage/postgres/tables.ts'
import { Attempts } from '../../../src/events/ingestion/applying/attempts.ts'
import { type Postgres, startPostgres, whyNoPostgres } from '../../harness/postgres.ts'

const missing = whyNoPostgres()
if (missing) console.log(`Records that end one server after the other: skipped, ${missing}.`)

const project = 1
const waiting = 500

describe.skipIf(missing !== null)('several servers', () => {
  let server: Postgres
  let postgres: Connected
  beforeAll(async () => {
    server = await startPostgres()
    postgres = await connectToPostgres({ url: `postgres://waymark@127.0.0.1:${server.port}/postgres` })
    await prepareTables(postgres, async () => undefined)
  })
  afterAll(async () => {
    await postgres?.close()
    await server?.stop()
  })

  /** A server that applies all records in one transaction, if it may, until it has done so or one of them ends it. */
  async function serverLife(name: string, ending: ReadonlySet<number>, groupRecords: number): Promise<'ended' | 'done'> {
    const partitions = openPartitions(postgres)
    const lease = (await partitions.take(project, name, 60_000))!
    const { store, written } = await attemptsInPostgres(postgres, lease)
    const [row] = await postgres.rows<{ applied_seq: string }>('SELECT applied_seq FROM waymark.cluster_partitions')
    let applied = Number(row!.applied_seq)
    const attempts = new Attempts(store, applied)
    const { condemned } = attempts
    if (condemned !== null)
      await attempts.setAside({ seq: condemned, kind: 'event', uuid: 'u', receivedAt: 0, sentAt: null, payload: '{"event":"e"}' })
    while (applied < waiting) {
      const from = applied + 1
      const to = Math.min(waiting, from + Math.min(groupRecords, attempts.most(from)) - 1)
      attempts.begin(from, to)
      await written()
      for (let seq = from; seq <= to; seq++)
        if (ending.has(seq) && !attempts.aside.has(seq)) {
          attempts.close() // its timer ends with the process
          await postgres.run("UPDATE waymark.cluster_partitions SET until = clock_timestamp() - interval '1 second'")
          return 'ended'
        }
      applied = to
      await postgres.run('UPDATE waymark.cluster_partitions SET applied_seq = $1', [applied])
      attempts.end(applied, true)
    }
    await written()
    attempts.close()
    await partitions.giveBack(lease)
    return 'done'
  }

  test.each([
    ['one', [311], 500],
    ['one at the beginning', [1], 500],
    ['one at the end, applied in groups', [500], 60],
    ['several', [17, 18, 402], 500],
  ])('%s record that ends each server is set aside, and no other', async (_name, records, groupRecords) => {
    await postgres.run('DELETE FROM waymark.cluster_partitions')
    await postgres.run('DELETE FROM waymark.cluster_set_aside')
    const ending = new Set(records)
    let ends = 0
    while ((await serverLife(`server ${ends}`, ending, groupRecords)) === 'ended') {
      ends++
      expect(ends).toBeLessThan(20 * records.length)
    }
    expect(await allSetAside(postgres)).toEqual([{ project, records }])
    const [row] = await postgres.rows('SELECT attempt, deaths, holder FROM waymark.cluster_partitions')
    expect(row).toEqual({ attempt: null, deaths: 0, holder: null })
    const [kept] = await postgres.rows<{ record: string }>('SELECT record FROM waymark.cluster_set_aside')
    expect(JSON.parse(kept!.record)).toMatchObject({ set_aside: { record: records[0] }, batch: [{ event: 'e', uuid: 'u' }] })
  })

  test('a server that was killed for another reason costs nobody a record, and notes end', async () => {
    await postgres.run('DELETE FROM waymark.cluster_partitions')
    await postgres.run('DELETE FROM waymark.cluster_set_aside')
    const partitions = openPartitions(postgres)
    for (let i = 0; i < 12; i++) {
      await partitions.take(project, `killed ${i}`, 60_000)
      await postgres.run("UPDATE waymark.cluster_partitions SET until = clock_timestamp() - interval '1 second'")
    }
    expect(await serverLife('next', new Set(), 50)).toBe('done')
    expect(await allSetAside(postgres)).toEqual([])
  })

  test('a server that lost the lease notes nothing any more', async () => {
    await postgres.run('DELETE FROM waymark.cluster_partitions')
    const partitions = openPartitions(postgres)
    await partitions.take(project, 'first', 60_000)
    await postgres.run("UPDATE waymark.cluster_partitions SET until = clock_timestamp() - interval '1 second'")
    const second = (await partitions.take(project, 'second', 60_000))!
    const { store, written } = await attemptsInPostgres(postgres, second)
    await postgres.run("UPDATE waymark.cluster_partitions SET until = clock_timestamp() - interval '1 second'")
    await partitions.take(project, 'third', 60_000)
    store.note({ from: 1, to: 2, weight: 1, lasted: 0 })
    await written()
    const [row] = await postgres.rows('SELECT attempt, deaths FROM waymark.cluster_partitions')
    expect(row).toEqual({ attempt: null, deaths: 2 })
  })
})
