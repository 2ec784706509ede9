import * as z from 'zod'
import type { Plugin, ProjectRecord } from '../../../service/accounts/records.ts'
import { mustHave } from '../../../service/plugins/access.ts'
import { isIn, type PluginFamily } from '../../../service/plugins/families.ts'
import { pluginChange, pluginInput, sourceInput } from '../../../service/plugins/fields.ts'
import { activitySchema } from '../../answers/activity.ts'
import { catalogueSchema, configSchema, pluginSchema } from '../../answers/plugins.ts'
import { activityPage, activityParameters } from '../activity.ts'
import { failures } from '../errors.ts'
import { defineRecords, type RecordRows } from '../records.ts'
import type { OrganizationVisit, Resource, Row } from '../resource.ts'
import { presentCatalogue, presentConfig, presentPlugin } from './plugin-format.ts'

const seen = async ({ app, organization }: OrganizationVisit, family: PluginFamily): Promise<readonly Plugin[]> =>
  (await app.plugins.plugins.seenBy(organization)).filter((one) => isIn(family, one))

const find = async (visit: OrganizationVisit, family: PluginFamily): Promise<Plugin> => {
  const found = (await seen(visit, family)).find(({ id }) => String(id) === visit.params.id)
  if (!found) throw failures.notFound()
  return found
}

/** The projects of the organization that are open to the caller. */
const projectsOf = async ({ app, organization, membership, caller }: OrganizationVisit): Promise<readonly ProjectRecord[]> =>
  (await app.accounts.projects.visible(organization.id, membership)).filter((project) => caller.limits.reachesProject(project))

const sourceSchema = z.record(z.string(), z.string())

type PluginRows = RecordRows<'organization', Plugin>

/** What an organization has, beside its plugins. */
const organizationRows = ({ row }: PluginRows, family: PluginFamily): readonly Row[] => [
  row({
    method: 'GET',
    path: 'repository',
    name: 'repository',
    summary: 'What the operator offers to install',
    answer: z.array(catalogueSchema),
    handle: async ({ app, organization }) => {
      mustHave(organization, 'config')
      return presentCatalogue(app.plugins)
    },
  }),
  row({
    method: 'GET',
    path: 'unused',
    name: 'unused',
    summary: 'Ids of plugins that no project has enabled',
    answer: z.array(z.int()),
    handle: async (visit) => {
      const { plugins } = visit.app.plugins
      const all = await seen(visit, family)
      const used = await Promise.all(all.map((one) => plugins.isUsed(one)))
      return all.filter((_, i) => !used[i]).map(({ id }) => id)
    },
  }),
  row({
    method: 'GET',
    path: 'exports_unsubscribe_configs',
    name: 'exports_unsubscribe_configs',
    summary: 'Enabled configs in the projects of the organization, except those of global transformations',
    answer: z.array(configSchema),
    handle: async (visit) => {
      mustHave(visit.organization, 'config')
      const { configs } = visit.app.plugins
      const ids = (await projectsOf(visit)).map(({ id }) => id)
      const enabled = (await configs.list(ids)).filter((one) => one.enabled)
      const kept = await Promise.all(
        enabled.map(async (one) => {
          const plugin = await configs.pluginOf(one)
          return isIn(family, plugin) && !(plugin.is_global && isIn('pipeline_transformations', plugin))
        }),
      )
      return Promise.all(enabled.filter((_, i) => kept[i]).map((one) => presentConfig(visit, one, true)))
    },
  }),
  row({
    method: 'GET',
    path: 'activity',
    name: 'activity',
    summary: 'Changes of the plugins of the organization, and of the plugin configs of the current project, newest first',
    queryParameters: activityParameters,
    answer: activitySchema,
    handle: async (visit) => {
      const { organization, app, caller } = visit
      mustHave(organization, 'config')
      const { project } = await app.accounts.users.current(caller.user, caller.limits)
      const isOpen = project && (await projectsOf(visit)).some(({ id }) => id === project.id)
      return activityPage(visit, {
        organization_id: organization.id,
        scope: ['Plugin', 'PluginConfig'],
        project_id: isOpen ? [null, project.id] : null,
      })
    },
  }),
]

const recordRows = ({ retrieve, update, remove }: PluginRows, family: PluginFamily): readonly Row[] => [
  retrieve({
    summary: 'One plugin',
    handle: async (visit) => find(visit, family),
  }),
  update({
    summary: 'Changes a plugin',
    body: pluginChange,
    handle: async (visit) => visit.app.plugins.plugins.update(visit.by, await find(visit, family), visit.body),
  }),
  remove({
    summary: 'Uninstalls a plugin, and removes its configs in all projects. A global plugin must be made local first',
    handle: async (visit) => visit.app.plugins.plugins.remove(visit.by, await find(visit, family)),
  }),
]

/** The code of a plugin, and newer versions of it. */
const codeRows = ({ row, one }: PluginRows, family: PluginFamily): readonly Row[] => [
  row({
    method: 'GET',
    path: ':id/check_for_updates',
    name: 'check_for_updates',
    summary: 'Asks the host for the newest version and stores it as `latest_tag`; nothing is installed',
    answer: pluginSchema.extend({ plugin: pluginSchema }),
    handle: async (visit) => {
      const { app, organization } = visit
      const plugin = await presentPlugin(app, await app.plugins.plugins.checkForUpdates(organization, await find(visit, family)))
      return { ...plugin, plugin }
    },
  }),
  row({
    method: 'GET',
    path: ':id/source',
    name: 'source',
    summary: 'The texts of a plugin by file name',
    answer: sourceSchema,
    handle: async (visit) => visit.app.plugins.plugins.source(await find(visit, family)),
  }),
  row({
    method: 'PATCH',
    path: ':id/update_source',
    name: 'update_source',
    summary: 'Replaces the files that are sent; null removes one. `plugin.json` sets the name and the fields of the configuration',
    body: sourceInput,
    answer: sourceSchema,
    handle: async (visit) => visit.app.plugins.plugins.updateSource(visit.by, visit.organization, await find(visit, family), visit.body),
  }),
  one({
    method: 'POST',
    path: ':id/upgrade',
    name: 'upgrade',
    summary: 'Installs the newest version. Plugins that are edited in place, and local ones, stay as they are',
    body: pluginChange,
    handle: async (visit) => visit.app.plugins.plugins.upgrade(visit.by, visit.organization, await find(visit, family)),
  }),
]

const pluginResource = (family: PluginFamily, words: string): Resource =>
  defineRecords({
    name: family,
    summary: words,
    path: `/api/organizations/:organization_id/${family}`,
    reach: 'organization',
    object: 'plugin',
    answer: pluginSchema,
    present: ({ app }, plugin: Plugin) => presentPlugin(app, plugin),
    rows: (make) => [
      make.list({
        summary: 'Plugins of the organization, global ones, and those that one of its projects uses',
        handle: async (visit) => seen(visit, family),
      }),
      make.create({
        summary:
          'Installs a plugin: from a GitHub, GitLab or npm URL, from a folder of the operator, or one that is edited in place: `source` starts empty, `local` without a URL with the minimal code of its family',
        body: pluginInput,
        handle: async ({ app, by, organization, body }) => app.plugins.plugins.create(by, organization, body, family),
      }),
      ...organizationRows(make, family),
      ...recordRows(make, family),
      ...codeRows(make, family),
    ],
  })

export const pluginResources: readonly Resource[] = [
  pluginResource('plugins', 'Plugins of an organization'),
  pluginResource('pipeline_destinations', 'Plugins that send events elsewhere: those with onEvent or composeWebhook'),
  pluginResource('pipeline_transformations', 'Plugins that change events: those with processEvent'),
  pluginResource('pipeline_frontend_apps', 'Plugins for browsers, and those whose code has not been loaded'),
  pluginResource('pipeline_import_apps', 'Plugins that bring events in: those with scheduled tasks, or with other functions'),
]
