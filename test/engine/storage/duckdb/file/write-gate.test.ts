import { setImmediate } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { random } from '../../../../../bench/random.ts'
import { FileIsBusy, WriteGate } from '../../../../../src/engine/storage/duckdb/file/write-gate.ts'
import { deferred } from '../../../../../src/lib/flow/deferred.ts'

it('transactions run beside each other, and a checkpoint is refused meanwhile', async () => {
  const gate = new WriteGate()
  const ends = [deferred<number>(), deferred<number>()]
  const both = Promise.all(ends.map((end) => gate.write('a', () => end.promise)))
  await expect(gate.checkpoint('a', async () => undefined)).rejects.toThrow(FileIsBusy)
  ends[0]!.resolve(1)
  await setImmediate()
  await expect(gate.checkpoint('a', async () => undefined)).rejects.toThrow(FileIsBusy)
  await gate.checkpoint('b', async () => undefined) // another file
  ends[1]!.resolve(2)
  expect(await both).toEqual([1, 2])
  await gate.checkpoint('a', async () => undefined)
})

it('a transaction waits for a checkpoint, also for one that fails', async () => {
  const gate = new WriteGate()
  for (const isFailing of [false, true]) {
    const end = deferred<void>()
    const checkpoint = gate.checkpoint('a', () => end.promise)
    await expect(gate.checkpoint('a', async () => undefined)).rejects.toThrow(FileIsBusy)
    let hasBegun = false
    const written = gate.write('a', async () => {
      hasBegun = true
    })
    await setImmediate()
    expect(hasBegun).toBe(false)
    if (isFailing) end.reject(new Error('no'))
    else end.resolve()
    await checkpoint.catch(() => undefined)
    await written
    expect(hasBegun).toBe(true)
  }
})

it('a transaction that fails does not keep its file', async () => {
  const gate = new WriteGate()
  await expect(gate.write('a', () => Promise.reject(new Error('no')))).rejects.toThrow('no')
  await gate.checkpoint('a', async () => undefined)
})

it('no checkpoint ever runs beside a transaction of its file, whatever comes in which order', async () => {
  const draw = random(7)
  const gate = new WriteGate()
  const now = new Map<string, { writers: number; checkpoints: number }>([
    ['a', { writers: 0, checkpoints: 0 }],
    ['b', { writers: 0, checkpoints: 0 }],
  ])
  const done = { writers: 0, checkpoints: 0 }
  const all: Promise<void>[] = []
  for (let i = 0; i < 2_000; i++) {
    const file = draw() < 0.5 ? 'a' : 'b'
    const kind = draw() < 0.7 ? 'writers' : 'checkpoints'
    const turns = Math.floor(draw() * 4)
    const work = async () => {
      const there = now.get(file)!
      there[kind]++
      for (let k = 0; k < turns; k++) {
        expect(there.writers === 0 || there.checkpoints === 0).toBe(true)
        expect(there.checkpoints).toBeLessThan(2)
        await setImmediate()
      }
      there[kind]--
      done[kind]++
    }
    const run = kind === 'writers' ? gate.write(file, work) : gate.checkpoint(file, work)
    all.push(
      run.catch((error: unknown) => {
        if (!(error instanceof FileIsBusy)) throw error
      }),
    )
    if (draw() < 0.4) await setImmediate()
  }
  await Promise.all(all)
  expect([...now.values()]).toEqual([
    { writers: 0, checkpoints: 0 },
    { writers: 0, checkpoints: 0 },
  ])
  expect(done.writers).toBeGreaterThan(1_000)
  expect(done.checkpoints).toBeGreaterThan(50)
})
