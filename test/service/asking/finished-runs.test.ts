import { expect, test } from 'vitest'
import type { AccountStore, AccountTables, QueryRun } from '../../../src/service/accounts/records.ts'
import { createFinishedRuns } from '../../../src/service/asking/finished-runs.ts'

const minute = 60_000
const at = (minutes: number) => new Date(minutes * minute)
const run = (id: string, minutes: number, more: Partial<QueryRun> = {}): QueryRun => ({
  id,
  project_id: 1,
  query_key: null,
  task_id: `task ${id} ${minutes}`,
  is_complete: true,
  is_error: false,
  error_message: null,
  characters: null,
  start_time: at(minutes),
  end_time: at(minutes),
  expiration_time: at(minutes + 10),
  ...more,
})

const table = (earlier: readonly QueryRun[] = [], most = 100) => {
  const removed: unknown[] = []
  let reads = 0
  const find = async () => {
    reads++
    return earlier
  }
  const kept = createFinishedRuns({ query_runs: { find } } as unknown as AccountStore['read'], most)
  const remove = async ({ id }: { id: string }) => removed.push(id)
  const tables = { query_runs: { remove } } as unknown as AccountTables
  const add = (one: QueryRun, characters: number) => kept.add(tables, { ...one, characters }, one.end_time!)
  return { add, removed, reads: () => reads }
}

test('expired runs are removed', async () => {
  const { add, removed } = table()
  await add(run('a', 0), 1)
  await add(run('b', 5), 1)
  await add(run('c', 10), 1)
  expect(removed).toEqual(['a'])
})

test('the oldest answers beyond the size limit are removed; the newest always remains', async () => {
  const { add, removed } = table()
  for (const [i, id] of ['a', 'b', 'c'].entries()) await add(run(id, i), 40)
  expect(removed).toEqual(['a'])
  await add(run('d', 4), 200)
  expect(removed).toEqual(['a', 'b', 'c'])
})

test('runs of an earlier process are read once', async () => {
  const { add, removed, reads } = table([run('old', 0, { characters: 90 }), run('older', -5)])
  await add(run('a', 6), 1)
  await add(run('b', 7), 40)
  expect([removed, reads()]).toEqual([['older', 'old'], 1])
})

test('the size of a replaced run no longer counts', async () => {
  const { add, removed } = table()
  for (let i = 0; i < 5; i++) await add(run('a', i), 60)
  expect(removed).toEqual([])
})
