import * as z from 'zod'
import { weekStartIn } from '../../../lib/time/week-start.ts'
import { maskedAddress } from '../../../lib/web/masked-address.ts'
import type { ActingMember } from '../../../service/accounts/acting-member.ts'
import { newProjectInput, projectInput, settingsWithDefaults } from '../../../service/accounts/projects/project-fields.ts'
import { level, type ProjectRecord } from '../../../service/accounts/records.ts'
import { invalid } from '../../../service/accounts/refusals.ts'
import { activitySchema } from '../../answers/activity.ts'
import { shortProjectSchema } from '../../answers/organizations.ts'
import { pageSchema } from '../../answers/pages.ts'
import { type ProjectAnswer, projectSchema } from '../../answers/projects.ts'
import type { Caller } from '../access/authenticate.ts'
import { activityPage, activityParameters } from '../activity.ts'
import type { App } from '../app.ts'
import { presentShortProject, time } from '../present.ts'
import { defineRecords } from '../records.ts'
import { defineResource, type ProjectVisit, type Resource } from '../resource.ts'

/** Headers in which proxies name the country of a request. */
const countryHeaders = ['cf-ipcountry', 'cloudfront-viewer-country', 'x-vercel-ip-country', 'x-appengine-country']

/** The body of a new project. The first day of the week follows the caller's country, if a proxy or the browser's language reveals it. */
const withWeekStart = ({ headers }: Request, body: unknown): Record<string, unknown> => {
  const country =
    countryHeaders.map((name) => headers.get(name)).find((value) => value !== null) ??
    /^[a-z]{2,3}(?:-[A-Za-z]{4})?-([A-Za-z]{2})\b/.exec(headers.get('accept-language') ?? '')?.[1]
  const guessed = country === undefined ? null : weekStartIn(country)
  return guessed === null || Array.isArray(body) ? (body as Record<string, unknown>) : { week_start_day: guessed, ...(body as object) }
}

const present = async ({ app, membership }: Pick<ProjectVisit, 'app' | 'membership'>, project: ProjectRecord) => {
  const groupTypes = await app.groupTypes(project)
  const held = await app.accounts.projects.levelIn(project, membership)
  const settings = settingsWithDefaults(project.settings)
  const { slack_incoming_webhook: hook } = settings
  // The address is the token.
  if (typeof hook === 'string' && hook !== '' && (held ?? 0) < level.admin) settings.slack_incoming_webhook = maskedAddress(hook)
  return {
    id: project.id,
    organization: project.organization_id,
    project_id: project.id,
    name: project.name,
    ...(settings as Omit<ProjectAnswer, 'id' | 'organization' | 'name'>),
    uuid: project.uuid,
    api_token: project.api_token,
    created_at: time(project.created_at),
    updated_at: time(project.updated_at),
    ingested_event: project.ingested_event,
    is_demo: project.is_demo,
    timezone: project.timezone,
    week_start_day: project.week_start_day,
    access_control: project.access_control,
    effective_membership_level: held,
    has_group_types: groupTypes.length > 0,
    group_types: [...groupTypes],
    event_quota: await app.accounts.eventQuotas.of(project),
    live_events_token: null,
    person_on_events_querying_enabled: true,
    default_modifiers: {},
    product_intents: [],
  }
}

/** A demo project has its events when it is answered. */
async function made(app: App, by: ActingMember, fields: Readonly<Record<string, unknown>>): Promise<ProjectRecord> {
  const project = await app.accounts.projects.create(by, fields)
  if (project.is_demo) await app.fillWithDemo(project, by)
  return project
}

/** Both path conventions serve the same records. */
const recordRows = (name: string, path: string) =>
  defineRecords({
    name,
    summary: 'The projects of an organization',
    path,
    reach: 'project record',
    object: 'project',
    answer: projectSchema,
    present,
    rows: ({ row, retrieve, update, remove, one }) => [
      retrieve({
        summary: 'One project with all its settings',
        handle: async ({ project }) => project,
      }),
      update({
        summary: 'Changes the settings of a project',
        body: projectInput,
        handle: async (visit) => visit.app.accounts.projects.update(visit.by, visit.project, visit.body),
      }),
      remove({
        summary: 'Deletes a project and all its data',
        level: 'admin',
        handle: ({ app, by, project }) => app.accounts.projects.remove(by, project),
      }),
      one({
        method: 'PATCH',
        path: ':id/reset_token',
        name: 'reset_token',
        summary: 'Gives the project a new token for events; the old one stops working at once',
        level: 'admin',
        handle: async (visit) => visit.app.accounts.projects.resetToken(visit.by, visit.project),
      }),
      row({
        method: 'GET',
        path: ':id/is_generating_demo_data',
        name: 'is_generating_demo_data',
        summary: 'Whether demo data is still being created',
        answer: z.object({ is_generating_demo_data: z.boolean() }),
        handle: async () => ({ is_generating_demo_data: false }),
      }),
      row({
        method: 'GET',
        path: ':id/activity',
        name: 'activity',
        summary: 'What was changed in the project, the newest first',
        scope: 'activity_log:read',
        queryParameters: activityParameters,
        answer: activitySchema,
        handle: async (visit) => activityPage(visit, { scope: ['Team', 'Project'], item_id: String(visit.project.id) }),
      }),
    ],
  })

export const projects: Resource = recordRows('projects', '/api/projects')
export const organizationProjects: Resource = recordRows('organization_projects', '/api/organizations/:organization_id/projects')

const listAnswer = pageSchema(shortProjectSchema)

/** All that a caller sees. */
export const projectsOf = async (app: App, { user, limits }: Pick<Caller, 'user' | 'limits'>): Promise<readonly ProjectRecord[]> => {
  const own = (await app.accounts.organizations.of(user)).filter(({ id }) => limits.reachesOrganization(id))
  const lists = await Promise.all(
    own.map(async (one) => app.accounts.projects.visible(one.id, await app.accounts.organizations.membership(one.id, user))),
  )
  return lists.flat()
}

export const projectList = defineResource({
  name: 'project_list',
  summary: 'The projects of all the organizations of the caller',
  path: '/api/projects',
  reach: 'user',
  object: 'project',
  rows: (row) => [
    row({
      method: 'GET',
      name: 'list',
      summary: 'The projects that are open to the caller',
      limitedKeys: 'organization',
      answer: listAnswer,
      isPaged: true,
      handle: async ({ app, caller }) => (await projectsOf(app, caller)).map(presentShortProject),
    }),
    row({
      method: 'POST',
      name: 'create',
      summary: "Creates a project in the caller's current organization",
      limitedKeys: 'organization',
      body: newProjectInput,
      status: 201,
      answer: projectSchema,
      handle: async ({ app, caller, body, request }) => {
        const { organization } = await app.accounts.users.current(caller.user, caller.limits)
        const membership = organization && (await app.accounts.organizations.membership(organization.id, caller.user))
        if (!organization || !membership) throw invalid('You need to belong to an organization.')
        const by = { user: caller.user, membership }
        return present({ app, membership }, await made(app, by, withWeekStart(request, body)))
      },
    }),
  ],
})

export const organizationProjectList = defineResource({
  name: 'organization_project_list',
  summary: 'The projects of one organization',
  path: '/api/organizations/:organization_id/projects',
  reach: 'organization',
  object: 'project',
  rows: (row) => [
    row({
      method: 'GET',
      name: 'list',
      summary: 'The projects of the organization that are open to the caller',
      answer: listAnswer,
      isPaged: true,
      handle: async ({ app, organization, membership }) =>
        (await app.accounts.projects.visible(organization.id, membership)).map(presentShortProject),
    }),
    row({
      method: 'POST',
      name: 'create',
      summary: 'Creates a project in the organization',
      body: newProjectInput,
      status: 201,
      answer: projectSchema,
      handle: async ({ app, by, membership, body, request }) =>
        present({ app, membership }, await made(app, by, withWeekStart(request, body))),
    }),
  ],
})
