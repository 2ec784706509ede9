import type { LookupFunction } from 'node:net'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createOutboundCalls } from '../../src/accounts/outbound-calls.ts'
import { WaymarkError } from '../../src/errors/errors.ts'
import { webhookRefusal } from '../../src/notifications/targets.ts'

// Lookups of names when a webhook is saved: each takes a thread from all others until it has ended, whoever waits for it.

type Callback = Parameters<LookupFunction>[2]

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function world() {
  const asked: { readonly host: string; readonly answer: Callback }[] = []
  const network = {
    lookup: ((host: string, _: unknown, answer: Callback) => void asked.push({ host, answer })) as LookupFunction,
    mustBeAllowed: () => undefined,
  }
  const outbound = createOutboundCalls()
  const save = (organization: string, host: string) => webhookRefusal(`https://${host}/in`, network, { outbound, organization })
  return { asked, save }
}
const ended = () => vi.advanceTimersByTimeAsync(3_000)

test('names whose servers do not answer: four at a time, nobody waits longer for it, and those who no longer wait are not looked up', async () => {
  const { asked, save } = world()
  const saved = Array.from({ length: 300 }, (_, i) => save('one', `${i}.slow.example`))
  await ended()
  expect(new Set(await Promise.all(saved))).toEqual(new Set([null]))
  expect(asked.map(({ host }) => host)).toEqual(['0.slow.example', '1.slow.example', '2.slow.example', '3.slow.example'])
  for (const { answer } of asked.splice(0)) answer(null, [])
  await ended()
  expect(asked).toEqual([])
})

test('the names of another organization have their turn, and what they say is said', async () => {
  const { asked, save } = world()
  const slow = Array.from({ length: 20 }, (_, i) => save('one', `${i}.slow.example`))
  const other = save('two', 'inside.example')
  await vi.advanceTimersByTimeAsync(0)
  expect(asked).toHaveLength(4)
  asked[0]!.answer(null, [])
  await vi.advanceTimersByTimeAsync(0)
  asked[1]!.answer(null, [])
  await vi.advanceTimersByTimeAsync(0)
  const own = asked.find(({ host }) => host === 'inside.example')
  const refusal = new WaymarkError('private-address', { host: 'inside.example', address: '10.0.0.1' })
  own!.answer(refusal, '', 0)
  expect(await other).toBe(refusal.detail)
  await ended()
  await Promise.all(slow)
})
