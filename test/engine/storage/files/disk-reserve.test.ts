import { expect, test } from 'vitest'
import { withinReserve } from '../../../../src/engine/storage/files/disk-reserve.ts'

const mib = 1024 ** 2
const untilAborted = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(new Error('interrupted'))))

test('work that fills the disk is aborted while there is space for events', async () => {
  let free = 2_000 * mib
  const writing = withinReserve('/', undefined, untilAborted, async () => {
    free -= 900 * mib
    return free
  })
  await expect(writing).rejects.toMatchObject({ code: 'no-space' })
  expect(free).toBe(200 * mib)
})

test('work does not begin without space, and otherwise ends as it ends', async () => {
  let begun = 0
  const work = async () => ++begun
  await expect(withinReserve('/', undefined, work, async () => mib)).rejects.toMatchObject({ code: 'no-space' })
  expect(begun).toBe(0)
  expect(await withinReserve('/', undefined, work)).toBe(1)
  const failing = withinReserve('/', undefined, () => Promise.reject(new Error('type mismatch')))
  await expect(failing).rejects.toThrow('type mismatch')
})

test('the caller can still abort it', async () => {
  const caller = new AbortController()
  const writing = withinReserve('/', caller.signal, (signal) => {
    const aborted = untilAborted(signal)
    caller.abort()
    return aborted
  })
  await expect(writing).rejects.toThrow('interrupted')
})

test('work whose caller has left does not begin', async () => {
  let begun = 0
  await expect(withinReserve('/', AbortSignal.abort(), async () => ++begun)).rejects.toMatchObject({ code: 'query-cancelled' })
  expect(begun).toBe(0)
})
