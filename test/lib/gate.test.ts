import { expect, test } from 'vitest'
import { createConcurrencyLimit } from '../../src/lib/flow/concurrency-limit.ts'
import { type Deferred, deferred } from '../../src/lib/flow/deferred.ts'

const settled = () => new Promise((resume) => setImmediate(resume))

const desk = (options: { atOnce: number; waiting: number; waitingOfGroup?: number }) => {
  const gate = createConcurrencyLimit({ ...options, refusal: () => new Error('full') })
  const running = new Map<string, Deferred<void>>()
  const order: string[] = []
  const ask = (name: string) => {
    const [group = ''] = name.split(' ')
    const result = gate(group, async () => {
      order.push(name)
      const mine = deferred<void>()
      running.set(name, mine)
      await mine.promise.finally(() => running.delete(name))
      return name
    })
    result.catch(() => undefined)
    return result
  }
  const end = async () => {
    running.values().next().value?.resolve()
    await settled()
  }
  return { ask, end, order, running }
}

test('so many at once, and groups take turns', async () => {
  const { ask, end, order, running } = desk({ atOnce: 2, waiting: 10 })
  const results = ['a 1', 'a 2', 'a 3', 'a 4', 'b 1', 'c 1', 'b 2'].map(ask)
  await settled()
  expect([...running.keys()]).toEqual(['a 1', 'a 2'])
  for (let i = 0; i < 7; i++) {
    expect(running.size).toBeLessThanOrEqual(2)
    await end()
  }
  expect(order).toEqual(['a 1', 'a 2', 'a 3', 'b 1', 'c 1', 'a 4', 'b 2'])
  expect(await Promise.all(results)).toEqual(['a 1', 'a 2', 'a 3', 'a 4', 'b 1', 'c 1', 'b 2'])
})

test('more than may wait are refused, of one group and in all', async () => {
  const { ask, end, order } = desk({ atOnce: 1, waiting: 3, waitingOfGroup: 2 })
  for (const name of ['a 1', 'a 2', 'a 3']) ask(name)
  await expect(ask('a 4')).rejects.toThrow('full')
  ask('b 1')
  await expect(ask('c 1')).rejects.toThrow('full')
  for (let i = 0; i < 4; i++) await end()
  expect(order).toEqual(['a 1', 'a 2', 'b 1', 'a 3'])
  expect(ask('c 2')).toBeInstanceOf(Promise)
  await settled()
  expect(order.at(-1)).toBe('c 2')
})

test('what fails gives its place back', async () => {
  const gate = createConcurrencyLimit({ atOnce: 1, waiting: 0, refusal: () => new Error('full') })
  const fails = gate('a', async () => {
    throw new Error('on purpose')
  })
  await expect(gate('a', async () => 1)).rejects.toThrow('full')
  await expect(fails).rejects.toThrow('on purpose')
  expect(await gate('a', async () => 1)).toBe(1)
})
