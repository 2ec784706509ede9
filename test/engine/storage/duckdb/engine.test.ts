import { expect, test, vi } from 'vitest'
import { duckdbEngine } from '../../../../src/engine/storage/duckdb/engine.ts'
import { openInstance } from '../../../../src/engine/storage/duckdb/instance.ts'

test('facts are read again after a commit only, whether it succeeds or fails', async () => {
  const instance = await openInstance({ dataDir: ':memory:' })
  const database = await instance.attachProject(1)
  const look = vi.spyOn(instance, 'look')
  const engine = duckdbEngine(instance, database)
  const writer = await engine.openWriter()
  const commit = async (seq: string, names: readonly string[], removed: readonly string[] = []) => {
    const group = await writer.openGroup()
    for (const [i, name] of names.entries()) group.put('event_names', { event_id: Number(seq) * 10 + i, name, count: 1 } as never, true)
    for (const table of removed) group.remove(table as never, 1)
    group.setMeta('applied_seq', seq)
    await group.commit({ event: [], person: [] })
  }
  const before = await engine.facts()
  expect(before).toMatchObject({ appliedSeq: '0', eventIds: new Map() })
  expect([await engine.facts(), await engine.facts()]).toEqual([before, before])
  expect(look).toHaveBeenCalledTimes(1)

  // Whoever has read them while a group was committed reads them again.
  const [during] = await Promise.all([engine.facts(), commit('1', ['visit'])])
  expect(['0', '1']).toContain(during.appliedSeq)
  expect((await engine.facts()).eventIds).toEqual(new Map([['visit', 10]]))
  await commit('2', ['buy'])
  const last = await engine.facts()
  expect(last.eventIds).toEqual(
    new Map([
      ['visit', 10],
      ['buy', 20],
    ]),
  )
  const times = look.mock.calls.length
  await expect(commit('3', ['other'], ['no_table'])).rejects.toThrow('no_table')
  expect(await engine.facts()).toEqual(last)
  expect(look).toHaveBeenCalledTimes(times + 1)
  await writer.close()
  await instance.close()
})
