import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sharedAttempts } from '../../../src/engine/storage/postgres/attempts.ts'
import { Attempts } from '../../../src/events/ingestion/applying/attempts.ts'
import { startClusterTables } from '../../harness/cluster-tables.ts'
import { whyNoPostgres } from '../../harness/postgres.ts'
import { type ClusterPlace, placeInMemory, placeInPostgres, project } from './cluster-places.ts'

const missing = whyNoPostgres()
if (missing)
  console.log(`Records that end one server after the other, on a real PostgreSQL: skipped, ${missing}. The same ones in memory are not.`)

const waiting = 500

/** A server that applies all records in one transaction, if it may, until it has done so or one of them ends it. */
async function serverLife(place: ClusterPlace, name: string, ending: ReadonlySet<number>, groupRecords: number): Promise<'ended' | 'done'> {
  const lease = (await place.take(name))!
  const { store, written } = await sharedAttempts(place.attempts(lease))
  let applied = (await place.state()).appliedSeq
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
        await place.expire()
        return 'ended'
      }
    applied = to
    await place.apply(applied)
    attempts.end(applied, true)
  }
  await written()
  attempts.close()
  await place.giveBack(lease)
  return 'done'
}

const casesOf = (at: () => ClusterPlace) => {
  test.each([
    ['one', [311], 500],
    ['one at the beginning', [1], 500],
    ['one at the end, applied in groups', [500], 60],
    ['several', [17, 18, 402], 500],
  ])('%s record that ends each server is set aside, and no other', async (_name, records, groupRecords) => {
    const place = at()
    await place.clear()
    let ends = 0
    while ((await serverLife(place, `server ${ends}`, new Set(records), groupRecords)) === 'ended') {
      ends++
      expect(ends).toBeLessThan(20 * records.length)
    }
    expect(await place.aside()).toEqual([{ project, records }])
    expect(await place.state()).toEqual({ holder: null, deaths: 0, attempt: null, appliedSeq: waiting })
    const [kept] = await place.texts()
    expect(JSON.parse(kept!)).toMatchObject({ set_aside: { record: records[0] }, batch: [{ event: 'e', uuid: 'u' }] })
  })

  test('servers that were killed for another reason cost nobody a record, and notes end', async () => {
    const place = at()
    await place.clear()
    for (let i = 0; i < 12; i++) {
      await place.take(`killed ${i}`)
      await place.expire()
    }
    expect((await place.state()).deaths).toBe(11)
    expect(await serverLife(place, 'next', new Set(), 50)).toBe('done')
    expect(await place.aside()).toEqual([])
  })

  test('a server that lost the lease notes nothing any more', async () => {
    const place = at()
    await place.clear()
    await place.take('first')
    await place.expire()
    const second = (await place.take('second'))!
    const { store, written } = await sharedAttempts(place.attempts(second))
    await place.expire()
    await place.take('third')
    store.note({ from: 1, to: 2, weight: 1, lasted: 0 })
    await written()
    expect(await place.state()).toMatchObject({ attempt: null, deaths: 2 })
  })

  test('while no server has ended, nothing is noted', async () => {
    const place = at()
    await place.clear()
    const { store, written } = await sharedAttempts(place.attempts((await place.take('only'))!))
    store.note({ from: 1, to: 2, weight: 0, lasted: 0 })
    await written()
    expect([store.found, (await place.state()).attempt]).toEqual([null, null])
  })
}

describe('several servers, in memory', () => {
  const place = placeInMemory()
  casesOf(() => place)
})

describe.skipIf(missing !== null)('several servers, on PostgreSQL', () => {
  let tables: Awaited<ReturnType<typeof startClusterTables>>
  beforeAll(async () => {
    tables = await startClusterTables()
  })
  afterAll(() => tables?.stop())
  casesOf(() => placeInPostgres(tables.postgres))
})
