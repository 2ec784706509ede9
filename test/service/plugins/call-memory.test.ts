import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { deferred } from '../../../src/lib/flow/deferred.ts'
import { allowedAddresses } from '../../../src/service/network/allowed-addresses.ts'
import { CallMemory } from '../../../src/service/plugins/call-memory.ts'
import { createOutbound } from '../../../src/service/plugins/outbound.ts'

const never = new AbortController().signal
const settled = () => new Promise(setImmediate)

test('what plugins of a project send has a limit, and what those of all send', async () => {
  const memory = new CallMemory({ ofProject: 100, ofServer: 250 })
  const end = deferred<void>()
  const first = [1, 2].map((project) => memory.sending(project, 60, () => end.promise))
  await expect(memory.sending(1, 41, () => 'sent')).rejects.toThrow('too many bytes')
  expect(await memory.sending(1, 40, () => 'sent')).toBe('sent')
  const second = memory.sending(3, 100, () => end.promise)
  await expect(memory.sending(4, 31, () => 'sent')).rejects.toThrow('too many bytes')
  end.resolve()
  await Promise.all([...first, second])
  expect(await memory.sending(4, 100, () => 'sent')).toBe('sent')
  const failing = memory.sending(1, 100, () => Promise.reject(new Error('no')))
  await expect(failing).rejects.toThrow('no')
  expect(await memory.sending(1, 100, () => 'sent')).toBe('sent')
})

test('responses wait for memory, those of one project behind each other', async () => {
  const memory = new CallMemory({ ofProject: 100, ofServer: 250 })
  const begun: string[] = []
  const receive = (name: string, project: number, bytes: number, signal = never) => {
    const end = deferred<void>()
    const done = memory.receiving(project, signal, async (hold) => {
      await hold(bytes)
      begun.push(name)
      await end.promise
    })
    return { end: end.resolve, done }
  }
  const stop = new AbortController()
  const a = receive('a', 1, 80)
  const b = receive('b', 1, 80)
  const c = receive('c', 1, 80, stop.signal)
  const d = receive('d', 2, 80)
  await settled()
  expect(begun).toEqual(['a', 'd'])
  stop.abort(new Error('late'))
  await expect(c.done).rejects.toThrow('late')
  a.end()
  await a.done
  await settled()
  expect(begun).toEqual(['a', 'd', 'b'])
  await expect(memory.receiving(3, stop.signal, (hold) => hold(1))).rejects.toThrow('late')
  for (const one of [b, d]) one.end()
  await Promise.all([b.done, d.done])
})

test('a long response is read when there is memory for it, a short one at once', async () => {
  const server = createServer(({ url }, response) => response.end(Buffer.alloc(Number(url!.slice(1)), 'x')))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const outbound = createOutbound(allowedAddresses(() => true))
  const held: number[] = []
  const get = async (bytes: number) => {
    const request = { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/${bytes}`, method: 'GET', headers: {}, body: null }
    const { body } = await outbound(request, AbortSignal.timeout(60_000), async (more) => void held.push(more))
    return body.length
  }
  expect([await get(60_000), await get(1_000_000)]).toEqual([60_000, 1_000_000])
  expect(held).toEqual([1_000_000])
  await new Promise((resolve) => server.close(resolve))
})
