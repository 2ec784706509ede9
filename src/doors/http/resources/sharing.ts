import { type SharedThing, sharingInput } from '../../../service/sharing/links.ts'
import { type SharingAnswer, sharingSchema } from '../../answers/sharing.ts'
import { failures } from '../errors.ts'
import { time } from '../present.ts'
import { defineResource, type ProjectVisit, type Resource } from '../resource.ts'

type Link = Awaited<ReturnType<ProjectVisit['app']['sharing']['links']['of']>>

const present = ({ site }: ProjectVisit, link: Link): SharingAnswer => ({
  created_at: link ? time(link.created_at) : null,
  enabled: link?.enabled ?? false,
  access_token: link?.access_token ?? null,
  url: link?.enabled ? `${site.base}/shared/${link.access_token}` : null,
  settings: (link?.settings ?? {}) as Record<string, unknown>,
})

const sharingResource = (name: string, path: string, what: string, thingOf: (visit: ProjectVisit) => Promise<SharedThing>): Resource =>
  defineResource({
    name,
    summary: `The public link to ${what} ([sharing.md](sharing.md))`,
    path: `/api/projects/:project_id/${path}/sharing`,
    reach: 'project',
    object: 'sharing_configuration',
    rows: (row) => [
      row({
        method: 'GET',
        name: 'retrieve',
        summary: `Whether ${what} has a public link, and its token`,
        answer: sharingSchema,
        handle: async (visit) => present(visit, await visit.app.sharing.links.of(visit.project, await thingOf(visit))),
      }),
      row({
        method: 'PATCH',
        name: 'update',
        summary: 'Opens the link to everybody who has it, or withdraws it: from the next request on it is not found',
        body: sharingInput,
        answer: sharingSchema,
        handle: async (visit) => present(visit, await visit.app.sharing.links.update(visit, await thingOf(visit), visit.body)),
      }),
      row({
        method: 'POST',
        path: 'refresh',
        name: 'refresh',
        summary: 'Creates a new token; the old one stops working with the next request',
        answer: sharingSchema,
        handle: async (visit) => present(visit, await visit.app.sharing.links.refresh(visit, await thingOf(visit))),
      }),
    ],
  })

const insightOf = async ({ app, project, params }: ProjectVisit): Promise<SharedThing> => {
  const insight = await app.saved.insights.find(project, params.insight_id ?? '')
  if (insight.deleted) throw failures.notFound()
  return { insight: insight.id }
}
const dashboardOf = async ({ app, project, params }: ProjectVisit): Promise<SharedThing> => {
  const id = params.dashboard_id ?? ''
  const dashboard = /^\d{1,9}$/.test(id) ? await app.saved.dashboards.find(project, Number(id)) : null
  if (!dashboard || dashboard.deleted) throw failures.notFound()
  return { dashboard: dashboard.id }
}

export const sharingResources: readonly Resource[] = [
  sharingResource('insight_sharing', 'insights/:insight_id', 'an insight', insightOf),
  sharingResource('dashboard_sharing', 'dashboards/:dashboard_id', 'a dashboard', dashboardOf),
]
