import { expect, test } from 'vitest'
import { deferred } from '../../../src/lib/flow/deferred.ts'
import { keptAlive } from '../../../src/lib/flow/kept-alive.ts'

/** What keeps a process alive; timers without a reference do not. */
const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length

test.each([
  ['it is answered', (resolve: (value: string) => void) => resolve('answer'), 'answer'],
  ['it fails', (_: unknown, reject: (error: Error) => void) => reject(new Error('lost')), 'lost'],
] as const)('the process stays alive until %s', async (_, end, expected) => {
  const before = timers()
  const { promise, resolve, reject } = deferred<string>()
  const kept = keptAlive(promise)
  expect(timers()).toBe(before + 1)
  end(resolve, reject)
  expect(await kept.catch(({ message }: Error) => message)).toBe(expected)
  expect(timers()).toBe(before)
})
