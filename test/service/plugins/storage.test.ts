import { appendFile, mkdtemp, open, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { createBreaker } from '../../../src/service/plugins/breaker.ts'
import { type FileStorage, openFileStorage, readStorageFile, writeStorageFile } from '../../../src/service/plugins/file-storage.ts'
import { createMemoryCache } from '../../../src/service/plugins/memory-cache.ts'
import { createMemoryStorage } from '../../../src/service/plugins/memory-storage.ts'

let folder: string
let files = 0
const newFile = () => join(folder, `${++files}`, 'storage.jsonl')
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'waymark-plugins-'))
})
afterAll(async () => rm(folder, { recursive: true }))

type Command = readonly ['set', string, string, string | null] | readonly ['open']

const name = fc.constantFrom('a', 'b', '__proto__', '', 'é"\n')
const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 6, arbitrary: fc.tuple(fc.constant('set' as const), name, name, fc.option(fc.json(), { nil: null })) },
  { weight: 1, arbitrary: fc.constant(['open'] as const) },
)

test('a file keeps what memory keeps, across any number of restarts', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(command, { maxLength: 30 }), async (commands) => {
      const file = newFile()
      const model = createMemoryStorage()
      let storage = await openFileStorage(file)
      for (const one of [...commands, ['open'] as const]) {
        if (one[0] === 'open') {
          await storage.close()
          storage = await openFileStorage(file)
        } else {
          const [, scope, key, json] = one
          await Promise.all([storage.set(scope, key, json), model.set(scope, key, json)])
        }
        for (const scope of ['a', 'b', '__proto__', '', 'é"\n'])
          for (const key of ['a', 'b', '__proto__', '', 'é"\n']) expect(await storage.get(scope, key)).toBe(await model.get(scope, key))
      }
      await storage.close()
    }),
    { numRuns: 30 },
  )
})

test('a change that the disk took half of is refused, and the next one is kept', async () => {
  const file = newFile()
  const storage = await openFileStorage(file)
  await storage.set('s', 'before', '1')
  const probe = await open(file, 'r')
  const handles = Object.getPrototypeOf(probe) as { appendFile(text: string): Promise<void> }
  await probe.close()
  const write = vi.spyOn(handles, 'appendFile')
  write.mockImplementationOnce(async function (this: { write(text: string): Promise<unknown> }, text) {
    await this.write(text.slice(0, 9))
    throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })
  })
  await expect(storage.set('s', 'torn', '2')).rejects.toThrow('no space left')
  await storage.set('s', 'after', '3')
  await storage.close()
  write.mockRestore()
  expect(await readStorageFile(file)).toEqual([
    ['s', 'before', '1'],
    ['s', 'after', '3'],
  ])
})

test.each([
  ['in a file', () => openFileStorage(newFile())],
  ['in memory', async () => createMemoryStorage()],
] as const)('%s a key is replaced only if it is as it was read', async (_where, opened) => {
  const storage = await opened()
  expect(await storage.replace('s', 'k', '1', '2')).toBe(false)
  expect(await storage.replace('s', 'k', null, '1')).toBe(true)
  expect(await storage.replace('s', 'k', null, '3')).toBe(false)
  const both = [storage.replace('s', 'k', '1', '2'), storage.replace('s', 'k', '1', '3')]
  expect([await Promise.all(both), await storage.get('s', 'k')]).toEqual([[true, false], '2'])
  await (storage as Partial<FileStorage>).close?.()
})

test('what one file has is written to another one as it is', async () => {
  const [from, to, none] = [newFile(), newFile(), newFile()]
  const storage = await openFileStorage(from)
  for (const [key, json] of [
    ['b', '1'],
    ['a', '"é\\n"'],
    ['b', '2'],
    ['c', null],
  ] as const)
    await storage.set('1/1', key, json)
  await storage.set('2/1', 'b', '3')
  await storage.set('2/1', 'b', null)
  await storage.close()
  const entries = await readStorageFile(from)
  expect(entries).toEqual([
    ['1/1', 'b', '2'],
    ['1/1', 'a', '"é\\n"'],
  ])
  await writeStorageFile(to, entries)
  expect(await readStorageFile(to)).toEqual(entries)
  expect(await readStorageFile(none)).toEqual([])
  await writeStorageFile(none, [])
  await expect(readFile(none)).rejects.toThrow('ENOENT')
})

test('an incomplete last line was not acknowledged, and is left out; damaged lines lose only themselves', async () => {
  const file = newFile()
  const storage = await openFileStorage(file)
  await storage.set('1/1', 'k', '1')
  await storage.close()
  await appendFile(file, 'not JSON\n["1/1","l","2"]\n["1/1","k","3"')
  const again = await openFileStorage(file)
  expect([await again.get('1/1', 'k'), await again.get('1/1', 'l')]).toEqual(['1', '2'])
  await again.set('1/1', 'm', '4')
  await again.close()
  expect(await readFile(file, 'utf8')).toBe('["1/1","k","1"]\n["1/1","l","2"]\n["1/1","m","4"]\n')
})

test('outdated lines are removed while the file is written', async () => {
  const file = newFile()
  const storage = await openFileStorage(file)
  for (let round = 0; round < 30; round++)
    await Promise.all(Array.from({ length: 100 }, (_, i) => storage.set('s', `k${i % 10}`, String(round * 100 + i))))
  const lines = (await readFile(file, 'utf8')).split('\n').length
  expect(lines).toBeLessThan(1_200)
  expect(await storage.get('s', 'k3')).toBe('2993')
  await storage.close()
  const again = await openFileStorage(file)
  expect(await again.get('s', 'k3')).toBe('2993')
  await again.close()
})

test('outdated bytes are removed too: a few keys with long values leave no long file', async () => {
  const file = newFile()
  const storage = await openFileStorage(file)
  for (let i = 0; i < 20; i++) await storage.set('s', 'k', `"${String(i).repeat(4_000_000 / String(i).length)}"`)
  expect((await stat(file)).size).toBeLessThan(48 * 1024 * 1024)
  await storage.close()
  const again = await openFileStorage(file)
  expect((await again.get('s', 'k'))?.slice(0, 5)).toBe('"1919')
  await again.close()
})

test('long lines are read in pieces, wherever the pieces end', async () => {
  const file = newFile()
  const storage = await openFileStorage(file)
  for (let i = 0; i < 9; i++) await storage.set('s', `k${i}`, `"${'x'.repeat(i)}${'é€😀'.repeat(40_000)}"`)
  await storage.close()
  const entries = await readStorageFile(file)
  expect(entries).toEqual(Array.from({ length: 9 }, (_, i) => ['s', `k${i}`, `"${'x'.repeat(i)}${'é€😀'.repeat(40_000)}"`]))
})

test('a file that cannot be read is an error, not an empty storage', async () => {
  await writeFile(join(folder, 'plain'), '')
  await expect(openFileStorage(join(folder, 'plain', 'storage.jsonl'))).rejects.toThrow(/ENOTDIR|EEXIST/)
})

describe('cache', () => {
  const start = () => {
    let now = 0
    const cache = createMemoryCache(() => new Date(now))
    return { cache, pass: (seconds: number) => (now += seconds * 1000) }
  }

  test('a value ends with its time, and a longer time can be given', () => {
    const { cache, pass } = start()
    cache.set('s', 'a', '1', 10)
    cache.set('s', 'b', '2')
    pass(9)
    expect(cache.get('s', 'a')).toBe('1')
    cache.expire('s', 'a', 5)
    pass(6)
    expect([cache.get('s', 'a'), cache.get('s', 'b'), cache.expire('s', 'a', 5)]).toEqual([null, '2', false])
  })

  test('a counter keeps its time', () => {
    const { cache, pass } = start()
    expect([cache.incr('s', 'n'), cache.expire('s', 'n', 10), cache.incr('s', 'n')]).toEqual([1, true, 2])
    pass(11)
    expect(cache.incr('s', 'n')).toBe(1)
  })

  test('scopes do not meet, and a list is not a value', () => {
    const { cache } = start()
    cache.lpush('s', 'k', ['1', '2'])
    expect([cache.get('t', 'k'), cache.llen('t', 'k'), cache.lrange('s', 'k', 0, 0), cache.lrange('s', 'k', -1, -1)]).toEqual([
      null,
      0,
      ['2'],
      ['1'],
    ])
    cache.set('s', 'v', '"x"')
    expect(() => cache.lpush('s', 'v', ['1'])).toThrow('a value, not a list')
    expect(() => cache.incr('s', 'v')).toThrow('no number')
  })

  test('lists and scopes have limits: the oldest go first', () => {
    const { cache } = start()
    expect(
      cache.lpush(
        's',
        'l',
        Array.from({ length: 1_500 }, (_, i) => String(i)),
      ),
    ).toBe(1_000)
    expect(cache.lrange('s', 'l', 0, 0)).toEqual(['1499'])
    for (let i = 0; i < 10_500; i++) cache.set('s', `k${i}`, '1')
    expect([cache.get('s', 'k0'), cache.get('s', 'k10499')]).toEqual([null, '1'])
    cache.set('t', 'small', '1')
    for (let i = 0; i < 5; i++) cache.set('t', `big${i}`, 'x'.repeat(4 * 1024 * 1024))
    expect([cache.get('t', 'small'), cache.get('t', 'big0'), cache.get('t', 'big4')?.length, cache.get('s', 'k10499')]).toEqual([
      null,
      null,
      4 * 1024 * 1024,
      '1',
    ])
  })

  test('the values of a list have room for as much as a scope has', () => {
    const { cache } = start()
    const item = 'x'.repeat(4 * 1024 * 1024)
    for (let i = 0; i < 20; i++) cache.lpush('s', 'l', [item])
    expect([cache.llen('s', 'l'), cache.lpush('s', 'l', ['1', '2'])]).toEqual([3, 5])
    expect(cache.lrange('s', 'l', 0, 1)).toEqual(['2', '1'])
    cache.set('s', 'k', '1')
    expect(cache.get('s', 'k')).toBe('1')
    for (let i = 0; i < 200_000; i += 1_000) cache.lpush('t', `l${i}`, new Array<string>(1_000).fill('1'))
    expect(cache.llen('t', 'l0')).toBe(1_000)
    for (let i = 200_000; i < 300_000; i += 1_000) cache.lpush('t', `l${i}`, new Array<string>(1_000).fill('1'))
    expect(cache.llen('t', 'l0')).toBe(0)
  })

  test('of more than all plugins may have, the largest cache gives up some', () => {
    const { cache } = start()
    const item = 'x'.repeat(4 * 1024 * 1024)
    const scopes = Array.from({ length: 100 }, (_, i) => `s${i}`)
    cache.set('small', 'k', '1')
    for (const scope of scopes) for (const key of ['a', 'b', 'c']) cache.set(scope, key, item)
    expect(scopes.flatMap((scope) => ['a', 'b', 'c'].filter((key) => cache.get(scope, key) !== null)).length).toBe(63)
    expect([cache.get('small', 'k'), cache.get('s99', 'c')?.length]).toEqual(['1', item.length])
  })
})

test('a breaker weighs failures against successes, and a limit like twenty failures', () => {
  const at = (minutes: number) => new Date(minutes * 60_000)
  const note = (breaker: ReturnType<typeof createBreaker>, what: 'success' | 'failure' | 'limit', count: number, minute = 0) =>
    Array.from({ length: count }, () => breaker.note(what, at(minute))).includes(true)
  const failing = createBreaker()
  expect([note(failing, 'failure', 59), note(failing, 'failure', 1), failing.isClosed(at(9)), failing.isClosed(at(10))]).toEqual([
    false,
    true,
    false,
    true,
  ])
  expect(note(failing, 'limit', 1, 10)).toBe(true)
  const mixed = createBreaker()
  for (let i = 0; i < 1_000; i++) expect([note(mixed, 'failure', 1), note(mixed, 'success', 1)]).toEqual([false, false])
  const hanging = createBreaker()
  expect([note(hanging, 'limit', 2), note(hanging, 'success', 20), note(hanging, 'limit', 1), note(hanging, 'limit', 1)]).toEqual([
    false,
    false,
    false,
    true,
  ])
})
