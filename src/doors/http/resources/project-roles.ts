import { projectRoleChange, projectRoleInput, type RoleAccess } from '../../../service/accounts/projects/project-roles.ts'
import { type ProjectRoleAnswer, projectRoleSchema } from '../../answers/project-members.ts'
import { failures } from '../errors.ts'
import { time } from '../present.ts'
import { defineRecords } from '../records.ts'
import type { ProjectVisit } from '../resource.ts'

const present = ({ access, role }: RoleAccess): ProjectRoleAnswer => ({
  id: access.id,
  role_id: role.id,
  name: role.name,
  level: access.level,
  created_at: time(access.created_at),
  updated_at: time(access.updated_at),
})

const find = async ({ app, project, params }: ProjectVisit): Promise<RoleAccess> => {
  const found = await app.accounts.projectRoles.byRole(project, params.role_id!)
  if (!found) throw failures.notFound()
  return found
}

export const projectRoles = defineRecords({
  name: 'project_roles',
  summary:
    'Roles whose members have access to a private project. Level 1: member, 8: administrator of the project; of several the highest counts',
  path: '/api/projects/:project_id/role_access',
  reach: 'project',
  object: 'project',
  write: 'admin',
  answer: projectRoleSchema,
  present: (_visit, one: RoleAccess) => present(one),
  rows: ({ list, create, update, remove }) => [
    list({
      summary: 'Those with access, the newest first',
      handle: async ({ app, project }) => app.accounts.projectRoles.list(project),
    }),
    create({
      summary: 'Gives a role of the organization access',
      body: projectRoleInput,
      handle: async ({ app, by, project, body }) => app.accounts.projectRoles.add(by, project, body),
    }),
    update({
      path: ':role_id',
      summary: 'Changes the level of a role',
      body: projectRoleChange,
      handle: async (visit) => visit.app.accounts.projectRoles.update(visit.by, visit.project, await find(visit), visit.body),
    }),
    remove({
      path: ':role_id',
      summary: 'Takes the access from a role',
      handle: async (visit) => visit.app.accounts.projectRoles.remove(visit.by, visit.project, await find(visit)),
    }),
  ],
})
