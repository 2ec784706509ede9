import { expect } from 'vitest'
import type { Row } from '../../src/http/resource.ts'
import { routes } from '../../src/http/routes.ts'
import type { Home } from './conversation.ts'

// What it takes to make the n-th record by each route that makes records.

interface Made {
  readonly member: { readonly uuid: string }
}
const bodies: Readonly<Record<string, (n: number, made: Made) => unknown>> = {
  'organizations.create': (n) => ({ name: `Organization ${n}` }),
  'invites.create': (n) => ({ target_email: `guest${n}@acme.test` }),
  'invites.create_many': (n) => [{ target_email: `one${n}@acme.test` }, { target_email: `two${n}@acme.test` }],
  'domains.create': (n) => ({ domain: `domain${n}.example.com` }),
  'roles.create': (n) => ({ name: `Role ${n}` }),
  'role_memberships.create': (_, { member }) => ({ user_uuid: member.uuid }),
  'proxy_records.create': (n) => ({ domain: `proxy${n}.example.com` }),
  'organization_project_list.create': (n) => ({ name: `Project ${n}` }),
  'project_list.create': (n) => ({ name: `Project ${n}` }),
  'actions.create': (n) => ({ name: `Action ${n}`, steps: [{ event: 'signup' }] }),
  'cohorts.create': (n) => ({ name: `Cohort ${n}`, is_static: true }),
  'personal_api_keys.create': (n) => ({ label: `Key ${n}`, scopes: ['query:read'] }),
}

export interface PlacedRow {
  readonly path: string
  readonly row: Row
}
export const placedRows: readonly PlacedRow[] = routes.flatMap(({ path, rows }) => [...rows.values()].map((row) => ({ path, row })))
export const creatingRows = placedRows.filter(({ row }) => row.isCreating)

let count = 0
/** A body that the route takes; every time another one. */
export const newBody = async ({ row }: PlacedRow, { world, organization }: Home): Promise<unknown> => {
  const body = bodies[row.name]
  expect(body, `${row.name} makes records: say here of what`).toBeDefined()
  const n = ++count
  return body!(n, { member: await world.user(`joined${n}@acme.test`, organization.id) })
}

const oneRole = new WeakMap<Home, Promise<string>>()
/** The path with the ids of this home. Roles are those of one role. */
export const pathIn = async (path: string, home: Home): Promise<string> => {
  const { organization, project } = home
  const ids: Record<string, string> = { organization_id: organization.id, project_id: String(project.id) }
  if (path.includes(':role_id')) ids.role_id = await roleIn(home)
  return `${path.replace(/:(\w+)/g, (_, name: string) => ids[name] ?? '')}/`
}

const roleIn = (home: Home): Promise<string> => {
  const roles = `/api/organizations/${home.organization.id}/roles/`
  const role =
    oneRole.get(home) ?? home.call('POST', roles, { as: home.owner, body: { name: 'Of all' } }).then(({ body }) => body.id as string)
  oneRole.set(home, role)
  return role
}
