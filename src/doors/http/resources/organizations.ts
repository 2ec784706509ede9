import { newOrganizationInput, organizationInput } from '../../../service/accounts/organizations/organizations.ts'
import { activitySchema } from '../../answers/activity.ts'
import { organizationSchema } from '../../answers/organizations.ts'
import { pageSchema } from '../../answers/pages.ts'
import { fromOf } from '../access/session-cookies.ts'
import { activityFile, activityPage, activityParameters } from '../activity.ts'
import { presentOrganization } from '../present.ts'
import { defineResource } from '../resource.ts'

export const organizations = defineResource({
  name: 'organizations',
  summary: 'The organizations of the caller',
  path: '/api/organizations',
  reach: 'organization record',
  object: 'organization',
  rows: (row) => [
    row({
      method: 'GET',
      name: 'list',
      summary: 'The organizations that the caller belongs to; a limited key sees only its own',
      reach: 'user',
      limitedKeys: 'organization',
      answer: pageSchema(organizationSchema),
      isPaged: true,
      handle: async ({ app, caller }) => {
        const own = (await app.accounts.organizations.of(caller.user)).filter(({ id }) => caller.limits.reachesOrganization(id))
        return Promise.all(
          own.map(async (one) => presentOrganization(app.accounts, one, await app.accounts.organizations.membership(one.id, caller.user))),
        )
      },
    }),
    row({
      method: 'POST',
      name: 'create',
      summary: 'Creates an organization with a first project. The caller becomes its owner, and it becomes the current organization',
      reach: 'user',
      body: newOrganizationInput,
      status: 201,
      answer: organizationSchema,
      handle: async (visit) => {
        const { app, caller, body } = visit
        const made = await app.accounts.organizations.create(caller.user, body, fromOf(visit))
        return presentOrganization(app.accounts, made, await app.accounts.organizations.membership(made.id, caller.user))
      },
    }),
    row({
      method: 'GET',
      path: ':id',
      name: 'retrieve',
      summary: 'One organization. To a signed-in member who lacks the second factor that it requires, without its projects',
      isBeforeSecondFactor: true,
      answer: organizationSchema,
      handle: async ({ app, caller, organization, membership }) => {
        const record = await presentOrganization(app.accounts, organization, membership)
        const isHeld = caller.held.organizations.some(({ id }) => id === organization.id)
        return isHeld ? { ...record, teams: [], projects: [] } : record
      },
    }),
    row({
      method: 'PATCH',
      path: ':id',
      name: 'update',
      summary: 'Changes an organization. A personal API key may turn `enforce_2fa` on, not off',
      level: 'admin',
      needsRecentLogin: true,
      body: organizationInput.partial(),
      answer: organizationSchema,
      handle: async (visit) => {
        const { organizations } = visit.app.accounts
        const updated = await organizations.update(visit.by, visit.body, fromOf(visit), visit.caller.via !== 'key')
        return presentOrganization(visit.app.accounts, updated, visit.membership)
      },
    }),
    row({
      method: 'GET',
      path: ':id/activity',
      name: 'activity',
      summary:
        'Everything that was changed in the organization and its projects, and who made it, newest first; of what concerns signing in also from where',
      level: 'admin',
      scope: 'activity_log:read',
      queryParameters: activityParameters,
      answer: activitySchema,
      handle: (visit) => activityPage(visit, { organization_id: visit.organization.id }),
    }),
    row({
      method: 'GET',
      path: ':id/activity/export',
      name: 'activity_export',
      summary: 'The whole activity log of the organization as a file, newest first: one entry a line as JSON, each as in the pages',
      level: 'admin',
      scope: 'activity_log:read',
      handle: (visit) => activityFile(visit, { organization_id: visit.organization.id }, `activity-${visit.organization.slug}`),
    }),
    row({
      method: 'DELETE',
      path: ':id',
      name: 'remove',
      summary: 'Deletes an organization with its projects and all their data',
      level: 'owner',
      needsRecentLogin: true,
      handle: ({ app, by }) => app.accounts.organizations.remove(by),
    }),
  ],
})
