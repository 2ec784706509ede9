import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openControl } from '../../../src/engine/storage/control/control-store.ts'
import { controlFile } from '../../../src/engine/storage/control/format.ts'
import { type Instance, openInstance } from '../../../src/engine/storage/duckdb/instance.ts'
import type { Store } from '../../../src/lib/rows/ports.ts'

// One suite for tables that are held in memory and for tables that are only read through statements: nobody may notice which one it is.

const shapes = {
  things: { id: 'text', name: 'text', size: 'integer?', is_open: 'boolean', made_at: 'time', gone_at: 'time?', extra: 'json' },
} as const
type Things = Store<typeof shapes>

const openStore = async (
  dataDir: string,
  long: readonly string[],
  onChange?: () => Promise<void>,
): Promise<{ store: Things; instance: Instance }> => {
  const instance = await openInstance({ dataDir, threads: 1 })
  await instance.attach('control', 'control.duckdb', controlFile)
  return { store: await openControl(instance, shapes, { long, onChange }), instance }
}
const thing = (id: string, given: Partial<Parameters<Parameters<Parameters<Things['write']>[0]>[0]['things']['insert']>[0]> = {}) => ({
  id,
  name: id,
  size: null,
  is_open: false,
  made_at: new Date('2024-01-01T00:00:00.123Z'),
  gone_at: null,
  extra: null,
  ...given,
})

describe.each([
  ['in memory', []],
  ['through statements', ['things']],
])('%s', (_, long) => {
  const withStore = async (work: (store: Things) => Promise<void>) => {
    const { store, instance } = await openStore(':memory:', long)
    try {
      await work(store)
    } finally {
      await instance.close()
    }
  }

  test('rows come back as they were, whatever is in them', () =>
    withStore(async (store) => {
      const nasty = ["'; drop table things; --", '', 'null', '\u0000x'.slice(1), '"quoted" \\ back', '日本 🦆', 'a\nb']
      const rows = nasty.map((name, i) =>
        thing(`t${i}`, { name, size: i - 3, is_open: i % 2 === 0, extra: { name, list: [1, null, true] } }),
      )
      await store.write(async ({ things }) => {
        for (const row of rows) await things.insert(row)
      })
      for (const row of rows) expect(await store.read.things.first({ name: row.name })).toEqual(row)
    }))

  test('conditions: values, lists, null, times', () =>
    withStore(async ({ write, read }) => {
      const day = (n: number) => new Date(Date.UTC(2024, 0, n))
      await write(async ({ things }) => {
        for (const n of [1, 2, 3, 4]) await things.insert(thing(`t${n}`, { size: n % 2, made_at: day(n), gone_at: n > 2 ? day(n) : null }))
      })
      const ids = async (...args: Parameters<typeof read.things.find>) => (await read.things.find(...args)).map((row) => row.id)
      expect((await ids({ size: 1 })).sort()).toEqual(['t1', 't3'])
      expect((await ids({ id: ['t1', 't4', 'none'] })).sort()).toEqual(['t1', 't4'])
      expect(await ids({ id: [] })).toEqual([])
      expect((await ids({ gone_at: null })).sort()).toEqual(['t1', 't2'])
      expect((await ids({ gone_at: [null, day(3)] })).sort()).toEqual(['t1', 't2', 't3'])
      expect((await ids({ gone_at: [null] })).sort()).toEqual(['t1', 't2'])
      expect(await ids({ made_at: day(3), size: 1 })).toEqual(['t3'])
      expect(await ids({}, { newestFirst: 'made_at', limit: 2, offset: 1 })).toEqual(['t3', 't2'])
      expect(await read.things.count({ size: [0, 1], is_open: false })).toBe(4)
    }))

  test('columns that are not wanted are null, and stay as they are', () =>
    withStore(async ({ write, read }) => {
      const large = thing('t1', { name: 'large', extra: { text: 'x'.repeat(1_000) } })
      await write(({ things }) => things.insert(large))
      expect(await read.things.find({ id: 't1' }, { without: ['extra'] })).toEqual([{ ...large, extra: null }])
      expect(await read.things.find({ id: 't1' })).toEqual([large])
    }))

  test('search: texts in columns, in any case, with nothing special in them', () =>
    withStore(async ({ write, read }) => {
      await write(async ({ things }) => {
        const names = ['Apple pie', 'a_b', '100%', 'back\\slash', 'ÄPFEL', "it's"]
        for (const [i, name] of names.entries()) await things.insert(thing(`t${i}`, { name, extra: [`tag${i}`, 'Shared'] }))
      })
      const found = async (...texts: readonly string[]) => {
        const condition = { search: texts.map((text) => ({ text, in: ['name', 'extra'] as const })) }
        const ids = (await read.things.find({}, condition)).map((row) => row.id).sort()
        expect(await read.things.count({}, condition)).toBe(ids.length)
        return ids
      }
      expect([await found('apple'), await found('PIE'), await found('äpf')]).toEqual([['t0'], ['t0'], ['t4']])
      expect([await found('_'), await found('%'), await found('\\'), await found("'")]).toEqual([['t1'], ['t2'], ['t3'], ['t5']])
      expect([await found('"tag1"'), await found('shared', 'tag2'), await found('apple', 'tag2')]).toEqual([['t1'], ['t2'], []])
      expect(await found()).toHaveLength(6)
      expect(await read.things.find({}, { search: [{ text: '', in: [] }] })).toEqual([])
    }))

  test('ranges of times, and orders with missing values and equal ones', () =>
    withStore(async ({ write, read }) => {
      const day = (n: number) => new Date(Date.UTC(2024, 0, n))
      await write(async ({ things }) => {
        for (const n of [1, 2, 3, 4, 5])
          await things.insert(thing(`t${n}`, { size: n === 3 ? null : n % 2, made_at: day(n), gone_at: n > 3 ? day(n) : null }))
      })
      const ids = async (options: Parameters<typeof read.things.find>[1]) => (await read.things.find({}, options)).map((row) => row.id)
      const order = (column: 'id' | 'size' | 'gone_at' | 'is_open', isDescending = false) => [{ column, isDescending }]
      expect(await ids({ between: { made_at: { from: day(2), to: day(4) } }, orderBy: order('id') })).toEqual(['t2', 't3'])
      expect(await ids({ between: { gone_at: { from: day(1) } }, orderBy: order('id', true) })).toEqual(['t5', 't4'])
      expect(await ids({ between: { gone_at: { to: day(5) } } })).toEqual(['t4'])
      expect(await ids({ between: { gone_at: {} }, orderBy: order('id') })).toEqual(['t1', 't2', 't3', 't4', 't5'])
      expect(await ids({ orderBy: order('size') })).toEqual(['t2', 't4', 't1', 't5', 't3'])
      expect(await ids({ orderBy: order('size', true) })).toEqual(['t5', 't1', 't4', 't2', 't3'])
      expect(await ids({ orderBy: [...order('is_open'), ...order('gone_at', true)] })).toEqual(['t5', 't4', 't3', 't2', 't1'])
      expect(await ids({ orderBy: order('id'), limit: 2, offset: 3 })).toEqual(['t4', 't5'])
    }))

  test('what throws undoes everything it wrote', () =>
    withStore(async ({ write, read }) => {
      await write(({ things }) => things.insert(thing('kept', { size: 1 })))
      const failing = write(async ({ things }) => {
        await things.insert(thing('lost'))
        await things.update({ id: 'kept' }, { size: 2 })
        expect((await things.first({ id: 'kept' }))?.size, 'a writer sees its own writes').toBe(2)
        throw new Error('no')
      })
      await expect(failing).rejects.toThrow('no')
      expect(await read.things.find({})).toEqual([thing('kept', { size: 1 })])
      await write(({ things }) => things.remove({ id: 'kept' }))
      expect(await read.things.count({})).toBe(0)
    }))

  test('writers take turns', () =>
    withStore(async ({ write, read }) => {
      await write(({ things }) => things.insert(thing('n', { size: 0 })))
      const add = () =>
        write(async ({ things }) => {
          const { size } = (await things.first({ id: 'n' }))!
          await new Promise((resume) => setImmediate(resume))
          await things.update({ id: 'n' }, { size: size! + 1 })
        })
      await Promise.all(Array.from({ length: 20 }, add))
      expect((await read.things.first({ id: 'n' }))?.size).toBe(20)
    }))

  test('a file is read again as it was written', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'waymark-control-'))
    const first = await openStore(dataDir, long)
    const row = thing('x', { extra: [{ deep: "it's" }], gone_at: new Date('2025-06-01T12:00:00Z') })
    await first.store.write(({ things }) => things.insert(row))
    await first.instance.close()
    const second = await openStore(dataDir, long)
    expect(await second.store.read.things.find({})).toEqual([row])
    await second.instance.close()
    await rm(dataDir, { recursive: true })
  })
})

test('columns that are new are added to tables that are there, and nothing else is touched', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'waymark-control-'))
  try {
    const { store, instance } = await openStore(dataDir, [])
    await store.write(({ things }) => things.insert(thing('old', { size: 7 })))
    await instance.run('ALTER TABLE control.things DROP COLUMN size')
    await instance.close()
    const changes: string[] = []
    for (const expected of [['changed'], ['changed']]) {
      const opened = await openStore(dataDir, [], async () => void changes.push('changed'))
      expect(await opened.store.read.things.find({})).toEqual([thing('old')])
      expect(changes, 'only the first opening changes anything').toEqual(expected)
      await opened.instance.close()
    }
    const instanceOfNow = await openInstance({ dataDir, threads: 1 })
    await instanceOfNow.attach('control', 'control.duckdb', controlFile)
    const grown = { things: { ...shapes.things, must: 'text' } } as const
    await expect(openControl(instanceOfNow, grown)).rejects.toThrow('things.must is new and does not allow null')
    await instanceOfNow.close()
  } finally {
    await rm(dataDir, { recursive: true, force: true })
  }
})
