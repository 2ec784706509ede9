import { expect, test } from 'vitest'
import { callOn, forwardedCalls, type ProjectCall, type ProjectCalls } from '../../../src/engine/backend/calls.ts'

const recorded = () => {
  const seen: (readonly [ProjectCall, boolean])[] = []
  const calls = forwardedCalls(async (call, isRepeatable) => {
    seen.push([call, isRepeatable])
    return `${call.service}.${call.method}`
  })
  return { seen, calls }
}

test('each call is forwarded by its name, and what changes something twice is not repeated', async () => {
  const { seen, calls } = recorded()
  const made = Object.entries(calls).flatMap(([service, methods]) => Object.keys(methods).map((method) => [service, method] as const))
  for (const [service, method] of made) {
    const answer = await callOn(calls, { service: service as keyof ProjectCalls, method, args: [1, 'two'] })
    expect(answer).toBe(`${service}.${method}`)
  }
  expect(seen.map(([{ service, method }]) => [service, method])).toEqual(made)
  expect(seen.every(([{ args }]) => args.length === 2)).toBe(true)
  const once = seen.filter(([, isRepeatable]) => !isRepeatable).map(([{ service, method }]) => `${service}.${method}`)
  expect(once.sort()).toEqual([
    'actions.create',
    'actions.remove',
    'actions.update',
    'cohorts.create',
    'cohorts.remove',
    'cohorts.update',
    'space.copy',
  ])
})

test.each([
  ['records', 'constructor'],
  ['records', 'toString'],
  ['known', 'importPersons'],
  ['close', 'call'],
  ['constructor', 'name'],
])('what is no call is refused: %s.%s', (service, method) => {
  const { seen, calls } = recorded()
  expect(() => callOn(calls, { service: service as keyof ProjectCalls, method, args: [] })).toThrow(`no call ${service}.${method}`)
  expect(seen).toEqual([])
})
