import { expect, test } from 'vitest'
import { accountShapes } from '../../../src/service/accounts/records.ts'
import { withHome } from './conversation.ts'

const held = withHome()

/** All tables that have rows of projects. */
const ofProjects = Object.entries(accountShapes)
  .filter(([, shape]) => 'project_id' in shape)
  .map(([name]) => name) as ('batch_exports' | 'batch_export_runs')[]

const sampleOf = (kind: string, column: string): unknown => {
  if (kind.endsWith('?')) return null
  const values: Record<string, unknown> = { text: column, integer: 1, boolean: true, time: new Date('2026-01-01T00:00:00Z'), json: {} }
  return values[kind]
}

test.each(['project', 'organization'])('when a %s is deleted, no table keeps rows of its projects', async (what) => {
  const { world, call, owner } = held.home
  const { store } = world.accounts.context
  const organization = await world.makeOrganization({ name: 'Gone', owner, withProject: false })
  const project = await world.makeProject(organization.id, { name: 'Gone' })
  await store.write(async (tables) => {
    for (const name of ofProjects) {
      const row = Object.fromEntries(Object.entries(accountShapes[name]).map(([column, kind]) => [column, sampleOf(kind, column)]))
      await tables[name].insert({ ...row, project_id: project.id } as never)
    }
  })
  const path = `/api/organizations/${organization.id}/`
  const { status } = await call('DELETE', what === 'organization' ? path : `${path}projects/${project.id}/`, { as: owner })
  expect(status).toBe(204)
  for (const name of ofProjects) expect([name, await store.read[name].count({ project_id: project.id })]).toEqual([name, 0])
})
