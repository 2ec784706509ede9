import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Server } from './server.ts'

/** Counts what webhooks send. */
export async function startReceiver(): Promise<{ readonly url: string; readonly ids: Set<string>; close(): void }> {
  const ids = new Set<string>()
  const server = createServer((request, response) => {
    ids.add(String(request.headers['webhook-id']))
    request.resume().on('end', () => response.writeHead(200).end())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/in`, ids, close: () => server.close() }
}

const pluginCode = `
export async function setupPlugin({ config }) { console.log('set up with ' + config.word) }
export async function processEvent(event, { config, storage, cache }) {
  event.properties.greeting = config.word
  if (event.event === 'purchase') await storage.set('last of ' + event.distinct_id.slice(-1), event.properties.amount)
  await cache.incr('seen')
  return event
}
export async function runEveryMinute({ storage }) { console.log('purchases: ' + await storage.get('last of 1', 0)) }
`

const views = { kind: 'TrendsQuery', series: [{ kind: 'EventsNode', event: '$pageview' }], dateRange: { date_from: '-7d' } }

/** What a team has set up: a plugin, an alert, a subscription, an export, a dashboard. */
export async function makeRecords(server: Server, hook: string) {
  const at = `/api/projects/${server.projectId}`
  const [organization] = (await server.api('GET', '/api/organizations/')).results
  const plugins = `/api/organizations/${organization.id}/plugins`
  const plugin = await server.api('POST', `${plugins}/`, { plugin_type: 'source', name: 'Greetings' })
  await server.api('PATCH', `${plugins}/${plugin.id}/update_source/`, { 'index.ts': pluginCode })
  await server.api('POST', `${at}/plugin_configs/`, { plugin: plugin.id, enabled: true, order: 1, config: { word: 'Hello' } })
  const insight = await server.api('POST', `${at}/insights/`, { name: 'Views', query: { kind: 'InsightVizNode', source: views } })
  const dashboard = await server.api('POST', `${at}/dashboards/`, { name: 'Overview' })
  await server.api('PATCH', `${at}/insights/${insight.id}/`, { dashboards: [dashboard.id] })
  const me = await server.api('GET', '/api/users/@me/')
  const alert = await server.api('POST', `${at}/alerts/`, {
    insight: insight.id,
    name: 'Many views',
    condition: { type: 'absolute_value' },
    threshold: { configuration: { type: 'absolute', bounds: { upper: 1e9 } } },
    config: { type: 'TrendsAlertConfig', series_index: 0, check_ongoing_interval: true },
    subscribed_users: [me.id],
    webhook_url: hook,
  })
  const subscription = await server.api('POST', `${at}/subscriptions/`, {
    dashboard: dashboard.id,
    title: 'Numbers',
    target_type: 'email',
    target_value: 'team@shop.example',
    frequency: 'weekly',
    start_date: '2026-01-05T09:00:00Z',
  })
  const exported = await server.api('POST', `${at}/batch_exports/`, {
    name: 'Archive',
    interval: 'every 5 minutes',
    destination: { type: 'LocalFiles', config: { prefix: 'archive/', file_format: 'JSONLines' } },
  })
  return {
    insight: insight.id as number,
    dashboard: dashboard.id as number,
    alert: alert.id as string,
    subscription: subscription.id as number,
    exported: exported.id as string,
  }
}
export type Records = Awaited<ReturnType<typeof makeRecords>>
