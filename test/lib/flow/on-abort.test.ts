import { getEventListeners } from 'node:events'
import { expect, test } from 'vitest'
import { onAbort } from '../../../src/lib/flow/on-abort.ts'

test('each callback is called once, those that were removed are not, and the signal keeps none of them', () => {
  const stop = new AbortController()
  const signal = AbortSignal.any([stop.signal])
  const called: string[] = []
  const leave = ['a', 'b', 'c'].map((name) => onAbort(signal, () => called.push(name)))
  expect(getEventListeners(signal, 'abort')).toHaveLength(1)
  leave[1]!()
  leave[1]!()
  expect(getEventListeners(signal, 'abort')).toHaveLength(1)
  for (const end of leave) end()
  expect(getEventListeners(signal, 'abort')).toEqual([])
  const again = onAbort(signal, () => called.push('again'))
  leave[0]!()
  stop.abort()
  again()
  expect(called).toEqual(['again'])
})
