import type { PluginConfig, PluginFailedDelivery } from '../../../service/accounts/records.ts'
import { invalid } from '../../../service/accounts/refusals.ts'
import { mayConfigure } from '../../../service/plugins/access.ts'
import { failedStates } from '../../../service/plugins/delivery/records.ts'
import { isIn, type PluginFamily } from '../../../service/plugins/families.ts'
import { agreementInput, configChange, configInput, jobInput, ordersInput } from '../../../service/plugins/fields.ts'
import { logTypes } from '../../../service/plugins/log-entries.ts'
import { pageSchema } from '../../answers/pages.ts'
import { changedDeliveriesSchema, configSchema, failedDeliverySchema, pluginLogSchema } from '../../answers/plugins.ts'
import { failures } from '../errors.ts'
import { defineRecords, type RecordRows } from '../records.ts'
import { range } from '../requests/moment.ts'
import { pageBounds, pageWith, paging } from '../requests/pages.ts'
import { repeatable } from '../requests/query-parameter.ts'
import { type ProjectVisit, Reply, type Resource, type Row } from '../resource.ts'
import { presentConfig, presentFailedDelivery, presentPluginLog } from './plugin-format.ts'

const seen = async ({ app, organization, project }: ProjectVisit, family: PluginFamily): Promise<readonly PluginConfig[]> => {
  if (!mayConfigure(organization)) throw failures.notFound()
  const { configs } = app.plugins
  const all = await configs.list([project.id])
  const isSeen = await Promise.all(all.map(async (one) => isIn(family, await configs.pluginOf(one))))
  return all.filter((_, i) => isSeen[i])
}

const find = async ({ app, organization, project, params }: ProjectVisit, family: PluginFamily): Promise<PluginConfig> => {
  const { configs } = app.plugins
  const id = /^\d{1,9}$/.test(params.id ?? '') ? Number(params.id) : 0
  const found = mayConfigure(organization) ? await configs.byId(project, id) : undefined
  if (!found || !isIn(family, await configs.pluginOf(found))) throw failures.notFound()
  return found
}

const findDelivery = async (visit: ProjectVisit, family: PluginFamily): Promise<[PluginConfig, PluginFailedDelivery]> => {
  const config = await find(visit, family)
  const found = await visit.app.plugins.failedDeliveries.byId(config, visit.params.delivery_id ?? '')
  if (!found) throw failures.notFound()
  return [config, found]
}

/** The compiled script of a plugin for the pages of an app. */
const frontend = async (visit: ProjectVisit, family: PluginFamily): Promise<Reply> => {
  const { configs } = visit.app.plugins
  const file = await configs.runningFile(await find(visit, family), 'frontend.tsx')
  if (!file) throw failures.notFound('The plugin has no frontend.tsx.')
  if (file.transpiled === null) throw invalid(`frontend.tsx cannot be compiled: ${file.error}`)
  return new Reply(200, new TextEncoder().encode(file.transpiled), { 'content-type': 'text/javascript; charset=utf-8' })
}

type ConfigRows = RecordRows<'project', PluginConfig>

const recordRows = ({ retrieve, update, remove, one }: ConfigRows, family: PluginFamily): readonly Row[] => [
  retrieve({
    summary: 'One plugin config, with its plugin. Secrets are masked',
    handle: async (visit) => find(visit, family),
  }),
  update({
    summary: 'Changes a plugin config. `config` is replaced, except secrets that are not sent; `deleted` also disables it',
    body: configChange,
    takesFiles: true,
    handle: async (visit) => visit.app.plugins.configs.update(visit.by, await find(visit, family), visit.body),
  }),
  remove({
    summary: 'Disables a plugin config; its settings are kept',
    handle: async (visit) => visit.app.plugins.configs.remove(visit.by, await find(visit, family)),
  }),
  one({
    method: 'POST',
    path: ':id/agree',
    name: 'agree',
    summary: 'Agrees to the current code of the plugin: from then on this version runs in the project',
    level: 'admin',
    body: agreementInput,
    handle: async (visit) => visit.app.plugins.configs.agree(visit.by, await find(visit, family), visit.body),
  }),
]

/** The address that takes requests for `onRequest`. */
const webhookRows = ({ row, one }: ConfigRows, family: PluginFamily): readonly Row[] => [
  one({
    method: 'POST',
    path: ':id/webhook',
    name: 'replace_webhook',
    summary: 'Makes the webhook address of a plugin config, or another one in its place: the old one ends at once',
    handle: async (visit) => {
      const config = await find(visit, family)
      await visit.app.plugins.webhooks.replace(visit.by, config)
      return config
    },
  }),
  row({
    method: 'DELETE',
    path: ':id/webhook',
    name: 'remove_webhook',
    summary: 'Turns the webhook address off, at once',
    handle: async (visit) => visit.app.plugins.webhooks.remove(visit.by, await find(visit, family)),
  }),
]

/** What runs in the project, and what it logged. */
const runningRows = ({ row }: ConfigRows, family: PluginFamily): readonly Row[] => [
  row({
    method: 'POST',
    path: ':id/job',
    name: 'job',
    summary: 'Queues a public job of the plugin',
    body: jobInput,
    handle: async (visit) => visit.app.plugins.configs.job(visit.by, await find(visit, family), visit.body),
  }),
  row({
    method: 'GET',
    path: ':id/frontend',
    name: 'frontend',
    summary: 'The compiled script of frontend.tsx, as JavaScript',
    handle: async (visit) => frontend(visit, family),
  }),
  row({
    method: 'GET',
    path: ':id/logs',
    name: 'logs',
    summary: 'What the plugin logged in this project, newest first',
    queryParameters: {
      after: 'Only entries since this time: ISO 8601, or relative (`-7d`)',
      before: 'Only entries until this time',
      search: 'Only entries that contain this text, ignoring case',
      type_filter: repeatable(`Only entries of this type: ${logTypes.join(', ')}`),
    },
    answer: pageSchema(pluginLogSchema),
    isPaged: true,
    handle: async (visit) => {
      const [after, before] = range(visit, 'after', 'before')
      const filter = {
        after,
        before,
        search: visit.query.get('search') ?? '',
        types: visit.query.getAll('type_filter').map((one) => one.toUpperCase()),
      }
      return (await visit.app.plugins.configs.logs(await find(visit, family), filter)).map(presentPluginLog)
    },
  }),
]

const failedRows = ({ row }: ConfigRows, family: PluginFamily): readonly Row[] => [
  row({
    method: 'GET',
    path: ':id/failed_deliveries',
    name: 'failed_deliveries',
    summary: 'Events that could not be delivered, newest first: events that wait for another attempt, and dead letters',
    queryParameters: { status: repeatable(`Only these: ${failedStates.join(', ')}`), ...paging },
    answer: pageSchema(failedDeliverySchema),
    handle: async (visit) => {
      const states = failedStates.filter((one) => visit.query.getAll('status').includes(one))
      const config = await find(visit, family)
      const { rows, count } = await visit.app.plugins.failedDeliveries.list(config, states, pageBounds(visit.query))
      return pageWith(rows.map(presentFailedDelivery), count, visit)
    },
  }),
  row({
    method: 'POST',
    path: ':id/failed_deliveries/retry',
    name: 'retry_deliveries',
    summary: 'Delivers all dead letters again',
    answer: changedDeliveriesSchema,
    status: 200,
    handle: async (visit) => ({ count: await visit.app.plugins.failedDeliveries.retryDead(visit.by, await find(visit, family)) }),
  }),
  row({
    method: 'POST',
    path: ':id/failed_deliveries/discard',
    name: 'discard_deliveries',
    summary: 'Removes all dead letters. The events stay stored',
    answer: changedDeliveriesSchema,
    status: 200,
    handle: async (visit) => ({ count: await visit.app.plugins.failedDeliveries.discardDead(visit.by, await find(visit, family)) }),
  }),
  row({
    method: 'POST',
    path: ':id/failed_deliveries/:delivery_id/retry',
    name: 'retry_delivery',
    summary: 'Delivers one event again, now',
    answer: changedDeliveriesSchema,
    status: 200,
    handle: async (visit) => ({
      count: await visit.app.plugins.failedDeliveries.retry(visit.by, ...(await findDelivery(visit, family))),
    }),
  }),
  row({
    method: 'DELETE',
    path: ':id/failed_deliveries/:delivery_id',
    name: 'discard_delivery',
    summary: 'Removes one failed delivery. The event stays stored',
    handle: async (visit) => {
      await visit.app.plugins.failedDeliveries.discard(visit.by, ...(await findDelivery(visit, family)))
    },
  }),
]

const configResource = (name: string, path: string, family: PluginFamily, words: string, isOfCurrentProject = false): Resource =>
  defineRecords({
    name,
    summary: words,
    path,
    reach: 'project',
    isOfCurrentProject,
    object: 'plugin',
    answer: configSchema,
    present: (visit, config: PluginConfig) => presentConfig(visit, config, false),
    presentAll: (visit, configs) => Promise.all(configs.map((one) => presentConfig(visit, one, true))),
    rows: (make) => [
      make.list({
        summary: 'Plugin configs by order, without deleted ones',
        handle: async (visit) => seen(visit, family),
      }),
      make.create({
        summary:
          'Uses a plugin in the project. A project has one config of a plugin: creating it again changes it. Forms may carry files as `add_attachment[key]`',
        body: configInput,
        takesFiles: true,
        handle: async ({ app, by, project, body }) => app.plugins.configs.create(by, project, (plugin) => isIn(family, plugin), body),
      }),
      make.row({
        method: 'PATCH',
        path: 'rearrange',
        name: 'rearrange',
        summary: 'Sets the order of plugins, by their ids',
        body: ordersInput,
        answer: pageSchema(configSchema).shape.results,
        handle: async (visit) => {
          await visit.app.plugins.configs.rearrange(visit.by, visit.project, visit.body)
          return Promise.all((await seen(visit, family)).map((one) => presentConfig(visit, one, true)))
        },
      }),
      ...recordRows(make, family),
      ...webhookRows(make, family),
      ...runningRows(make, family),
      ...failedRows(make, family),
    ],
  })

const inProject = (name: string) => `/api/projects/:project_id/${name}`
const familyResource = (name: string, family: PluginFamily, words: string) => configResource(name, inProject(name), family, words)

export const pluginConfigResources: readonly Resource[] = [
  familyResource('plugin_configs', 'plugins', 'Plugins as a project uses them'),
  configResource('plugin_config', '/api/plugin_config', 'plugins', 'The same for the current project, under an older path', true),
  familyResource('pipeline_destination_configs', 'pipeline_destinations', 'Plugin configs of destinations'),
  familyResource('pipeline_transformation_configs', 'pipeline_transformations', 'Plugin configs of transformations'),
  familyResource('pipeline_frontend_apps_configs', 'pipeline_frontend_apps', 'Plugin configs of frontend apps'),
  familyResource('pipeline_import_apps_configs', 'pipeline_import_apps', 'Plugin configs of import apps'),
]
