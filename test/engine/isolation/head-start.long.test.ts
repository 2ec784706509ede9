import { expect, test } from 'vitest'
import { HeadStart } from '../../../src/engine/isolation/head-start.ts'

const settled = async (promise: Promise<void>) => {
  let isSettled = false
  void promise.then(() => {
    isSettled = true
  })
  await new Promise((resolve) => setImmediate(resolve))
  return isSettled
}

test.each([
  [{ query: { kind: 'SqlLikeQuery', query: 'select 1' } }, true],
  [{ query: { kind: 'SqlLikeQuery', query: `select ${'1 + '.repeat(2_000)}1` } }, false],
  [{ query: { kind: 'TrendsQuery', series: Array.from({ length: 5_000 }, () => ({ event: 'a' })) } }, false],
  [{ query: { values: Array.from({ length: 10_000 }, (_, i) => i) } }, false],
  [{ query: null }, true],
])('what is short', (query, isShort) => {
  expect(HeadStart.isShort(query)).toBe(isShort)
})

test('long queries wait only for short queries whose engine ended', async () => {
  const start = new HeadStart()
  expect(await settled(start.waited())).toBe(true)
  const [one, another] = [{}, {}]
  start.lost(one)
  start.lost(another)
  start.begin()
  const waited = start.waited()
  start.done(one)
  start.done({})
  expect(await settled(waited)).toBe(false)
  start.done(another)
  expect(await settled(waited)).toBe(true)
  expect(await settled(start.waited())).toBe(true)
})

test('the head start is over after a second, counted from the last engine that started', async () => {
  const start = new HeadStart()
  start.lost({})
  start.begin()
  await start.waited()
  expect(await settled(start.waited())).toBe(true)
})
