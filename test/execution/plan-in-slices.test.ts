import { expect, test } from 'vitest'
import { planInSlices } from '../../src/execution/plan-in-slices.ts'

const shared = () => false

/** Holds the thread in each step. */
function* steps(count: number, holdMs: number): Generator<void, string> {
  for (let i = 0; i < count; i++) {
    for (const since = performance.now(); performance.now() - since < holdMs; );
    yield
  }
  return 'planned'
}
function* until(isOver: () => boolean): Generator<void, string> {
  while (!isOver()) yield
  return 'over'
}

test('a plan that is not long does not wait for one that is', async () => {
  let isOver = false
  const long = planInSlices(
    until(() => isOver),
    'a',
    shared,
  )
  await expect(planInSlices(steps(20, 2), 'a', shared)).resolves.toBe('planned')
  isOver = true
  await expect(long).resolves.toBe('over')
})

test('long plans wait for each other, and groups take turns', async () => {
  const ended: string[] = []
  const plan = async (name: string, group: string) => {
    await planInSlices(steps(15, 10), group, shared)
    ended.push(name)
  }
  await Promise.all([plan('a1', 'a'), plan('a2', 'a'), plan('a3', 'a'), plan('b1', 'b')])
  expect(ended.slice(0, 3)).toContain('b1')
  expect(ended.filter((name) => name.startsWith('a'))).toEqual(['a1', 'a2', 'a3'])
})

test('an error of a step is rethrown', async () => {
  function* broken(): Generator<void, never> {
    yield
    throw new Error('no plan')
  }
  await expect(planInSlices(broken(), 'a', shared)).rejects.toThrow('no plan')
})
