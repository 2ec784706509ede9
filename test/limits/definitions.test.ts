import { expect, test } from 'vitest'
import { open } from '../../src/index.ts'
import { largestStanding, loadableDefinition, mustFit } from '../../src/limits/definitions.ts'
import { otherLimits } from '../../src/limits/limits.ts'

// Definitions are loaded by every query and by every opening of a project, so they have a largest size, one by one and together.

test('a definition that is too large is refused, in the library too', async () => {
  const waymark = await open({ dataDir: ':memory:' })
  const project = await waymark.createProject({ name: 'a' })
  const description = 'x'.repeat(10e6)
  await expect(project.createCohort({ name: 'c', description, is_static: true })).rejects.toMatchObject({ code: 'validation-failed' })
  await expect(project.createAction({ name: 'a', description, steps: [] })).rejects.toMatchObject({ code: 'validation-failed' })
  const steps = Array.from({ length: 1000 }, (_, i) => ({ event: `${i} ${'e'.repeat(200)}` }))
  await expect(project.createAction({ name: 'a', steps })).rejects.toThrow('This is too large')
  expect([await project.cohorts.list(), await project.actions.list()].flat()).toEqual([])
  await waymark.close()
})

test('number and sum of a project are bounded; what stands may shrink', () => {
  const { number: most } = otherLimits.definitionSize
  const many = new Map(Array.from({ length: otherLimits.cohorts.number }, (_, i) => [i, '{}']))
  expect(() => mustFit('cohorts', many, 9_999, '{}')).toThrow('at most 2,000 cohorts')
  mustFit('cohorts', many, 5, '{"a":1}')
  const large = new Map(Array.from({ length: 100 }, (_, i) => [i, 'x'.repeat(most)]))
  expect(() => mustFit('actions', large, 1_000, '{}')).toThrow('characters as JSON in all')
  mustFit('actions', large, 5, 'x'.repeat(most - 1))
  mustFit('actions', new Map([[1, 'x'.repeat(3 * most)]]), 1, 'x'.repeat(2 * most))
  expect(() => mustFit('actions', new Map([[1, 'x'.repeat(2 * most)]]), 1, 'x'.repeat(3 * most))).toThrow('too large')
})

test('a larger one that stands keeps its condition, if that can be loaded', () => {
  const condition = { properties: { type: 'AND', values: [{ type: 'person', key: 'a', value: 'b' }] } }
  const small = JSON.stringify({ name: 'n', filters: condition })
  expect(loadableDefinition(small)).toBe(small)
  const described = JSON.stringify({ name: 'n', description: 'x'.repeat(largestStanding), filters: condition, is_static: false })
  expect(JSON.parse(loadableDefinition(described))).toEqual({ name: 'n', description: '', filters: condition, is_static: false })
  const huge = JSON.stringify({
    name: 'n',
    filters: { properties: { type: 'AND', values: ['x'.repeat(largestStanding)] } },
    is_static: false,
  })
  expect(JSON.parse(loadableDefinition(huge))).toMatchObject({ name: 'n', filters: { properties: { type: 'AND', values: [] } } })
})
