import { expect, test } from 'vitest'
import { tools } from '../../../src/doors/agents/tools/registry.ts'
import { resources } from '../../../src/doors/http/registry.ts'
import { scopesOfConsent } from '../../../src/service/accounts/users/agent-scopes.ts'
import { scopes } from '../../../src/service/accounts/users/personal-keys.ts'
import { offeredObjects, presets, scopesOf } from '../../../src/web/settings/scope-groups.ts'

test('each object is offered once, is known to the API, and has routes', () => {
  expect(new Set(offeredObjects).size).toBe(offeredObjects.length)
  const needed = new Set(resources.flatMap(({ rows }) => rows.flatMap(({ scope }) => String(scope).split(':')[0])))
  for (const object of offeredObjects) {
    expect(scopes, object).toContain(`${object}:read`)
    expect(needed.has(object), object).toBe(true)
  }
})

test('what presets choose', () => {
  const of = (name: string) => {
    const { chosen } = presets.find((one) => one.name === name)!
    return chosen && scopesOf(chosen)
  }
  expect(of('Read only')).toEqual(offeredObjects.map((object) => `${object}:read`))
  expect(of('Everything')).toBeNull()
  expect(of('Agents (MCP): read')?.every((scope) => scope.endsWith(':read'))).toBe(true)
  expect(of('Agents (MCP): read')).not.toContain('organization_member:read')
  // What the tools of agents ask for, those that write too.
  const ofTools = new Set(tools.map(({ scope }) => scope))
  const reading = [...ofTools].filter((scope) => scope.endsWith(':read'))
  expect(of('Agents (MCP): read')).toEqual(expect.arrayContaining(reading))
  expect(of('Agents: read and save')).toEqual(expect.arrayContaining([...ofTools].filter((scope) => !reading.includes(scope))))
  expect(scopesOf({ insight: '', query: 'read' })).toEqual(['query:read'])
})

test('what the presets of agents may do is what an application gets by consent', () => {
  const scopesNamed = (start: string) => scopesOf(presets.find(({ name }) => name.startsWith(start))!.chosen!).toSorted()
  expect(scopesNamed('Agents (MCP): read')).toEqual(scopesOfConsent('read').toSorted())
  expect(scopesNamed('Agents: read and save')).toEqual(scopesOfConsent('write').toSorted())
})
