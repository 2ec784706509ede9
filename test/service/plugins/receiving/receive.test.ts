import { expect, test } from 'vitest'
import { deferred } from '../../../../src/lib/flow/deferred.ts'
import type { CallResult } from '../../../../src/service/plugins/managed-plugin.ts'
import type { Receiver } from '../../../../src/service/plugins/receiving/addresses.ts'
import { createReceiving } from '../../../../src/service/plugins/receiving/receive.ts'

// How many requests a plugin works on at once. Whole requests: test/doors/http/webhooks.test.ts.

const to = (id: number) => ({ config: { id, project_id: 1 } }) as Receiver
const request = { method: 'POST', headers: {}, search: '', text: '{}' }

test('requests beyond the limit of a config are refused with a line in its log, and those of others are not', async () => {
  const running: ((result: CallResult | null) => void)[] = []
  const noted: string[] = []
  const receiving = createReceiving(
    { receiver: async () => undefined },
    {
      request: () => {
        const result = deferred<CallResult | null>()
        running.push(result.resolve)
        return result.promise
      },
      noteRequest: (_, configId, level, message) => noted.push(`${configId} ${level} ${message}`),
    },
    null,
    2,
  )
  const waiting = [receiving.give(to(1), request), receiving.give(to(1), request)]
  expect(await receiving.give(to(1), request)).toEqual({ kind: 'busy' })
  expect(noted).toEqual(['1 WARN A request was refused: 2 others are waiting for onRequest'])
  const other = receiving.give(to(2), request)
  expect(running).toHaveLength(3)
  for (const end of running) end({ kind: 'value', json: null })
  for (const one of [...waiting, other]) expect(await one).toMatchObject({ kind: 'answer', answer: { events: [], status: 200 } })
  const again = receiving.give(to(1), request)
  running[3]!(null)
  expect(await again).toEqual({ kind: 'waiting' }) // not loaded yet
})

test('a plugin that was enabled at another server is read before the request is refused', async () => {
  let isThere = false
  const receiving = createReceiving(
    { receiver: async () => undefined },
    { request: async () => (isThere ? { kind: 'value', json: null } : null), noteRequest: () => undefined },
    async () => {
      isThere = true
    },
  )
  expect(await receiving.give(to(1), request)).toMatchObject({ kind: 'answer' })
})
