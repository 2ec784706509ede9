import { expect, onTestFinished, test, vi } from 'vitest'
import { planInSlices } from '../../../src/engine/execution/plan-in-slices.ts'

const shared = (id: number) => ({ settings: { id }, isAlone: () => false })
const alone = (id: number) => ({ settings: { id }, isAlone: () => true })

function* steps(count: number, step: () => void): Generator<void, string> {
  for (let i = 0; i < count; i++) {
    step()
    yield
  }
  return 'planned'
}
/** A clock that moves only in steps: how busy the machine is cannot change the order of plans. */
const clockOfSteps = () => {
  let now = 0
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now)
  onTestFinished(() => clock.mockRestore())
  return { pass: (ms: number) => (now += ms) }
}
function* until(isOver: () => boolean, step: () => void): Generator<void, string> {
  while (!isOver()) {
    step()
    yield
  }
  return 'over'
}

test('a plan that is not long does not wait for one that is', async () => {
  const clock = clockOfSteps()
  let isOver = false
  const long = planInSlices(
    until(
      () => isOver,
      () => clock.pass(10),
    ),
    shared(1),
  )
  await expect(
    planInSlices(
      steps(20, () => clock.pass(1)),
      shared(1),
    ),
  ).resolves.toBe('planned')
  isOver = true
  await expect(long).resolves.toBe('over')
})

test('long plans wait for each other, and projects take turns', async () => {
  const clock = clockOfSteps()
  const ended: string[] = []
  const plan = async (name: string, project: number) => {
    await planInSlices(
      steps(15, () => clock.pass(10)),
      alone(project),
    )
    ended.push(name)
  }
  await Promise.all([plan('a1', 1), plan('a2', 1), plan('a3', 1), plan('b1', 2)])
  expect(ended.slice(0, 3)).toContain('b1')
  expect(ended.filter((name) => name.startsWith('a'))).toEqual(['a1', 'a2', 'a3'])
})

test('an error of a step is rethrown', async () => {
  function* broken(): Generator<void, never> {
    yield
    throw new Error('no plan')
  }
  await expect(planInSlices(broken(), shared(1))).rejects.toThrow('no plan')
})
