import { type ProjectMember, projectMemberChange, projectMemberInput } from '../../../service/accounts/projects/project-members.ts'
import { level } from '../../../service/accounts/records.ts'
import { type ProjectMemberAnswer, projectMemberSchema } from '../../answers/project-members.ts'
import { failures } from '../errors.ts'
import { presentUser, time } from '../present.ts'
import { defineRecords } from '../records.ts'
import type { ProjectVisit } from '../resource.ts'

const present = ({ access, membership, user }: ProjectMember): ProjectMemberAnswer => ({
  id: access.id,
  user: presentUser(user),
  level: access.level,
  parent_level: membership.level,
  parent_membership_id: membership.id,
  effective_level: membership.level < level.member ? membership.level : Math.max(access.level, membership.level),
  joined_at: time(access.joined_at),
  updated_at: time(access.updated_at),
})

const find = async ({ app, project, params, caller }: ProjectVisit): Promise<ProjectMember> => {
  const uuid = params.user__uuid === '@me' ? caller.user.uuid : params.user__uuid!
  const member = await app.accounts.projectMembers.byUserUuid(project, uuid)
  if (!member) throw failures.notFound()
  return member
}

export const projectMembers = defineRecords({
  name: 'project_members',
  summary:
    'Who has access to a private project, besides administrators of the organization. Level 1: member, 8: administrator of the project',
  path: '/api/projects/:project_id/explicit_members',
  reach: 'project',
  object: 'project',
  write: 'admin',
  answer: projectMemberSchema,
  present: (_visit, member: ProjectMember) => present(member),
  rows: ({ list, create, retrieve, update, remove }) => [
    list({
      summary: 'Those with access, the newest first',
      handle: async ({ app, project }) => app.accounts.projectMembers.list(project),
    }),
    create({
      summary: 'Gives a member of the organization access',
      body: projectMemberInput,
      handle: async ({ app, by, project, body }) => app.accounts.projectMembers.add(by, project, body),
    }),
    retrieve({
      path: ':user__uuid',
      summary: 'The access of one user, under their uuid or `@me`',
      handle: find,
    }),
    update({
      path: ':user__uuid',
      summary: 'Changes the level of another user',
      body: projectMemberChange,
      handle: async (visit) => visit.app.accounts.projectMembers.update(visit.by, visit.project, await find(visit), visit.body),
    }),
    remove({
      path: ':user__uuid',
      summary: 'Removes the access; every user may give up their own',
      level: 'viewer',
      handle: async (visit) => visit.app.accounts.projectMembers.remove(visit.by, visit.project, await find(visit)),
    }),
  ],
})
