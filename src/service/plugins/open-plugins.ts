import * as z from 'zod'
import type { AccountContext } from '../accounts/context.ts'
import type { SecretBox } from '../accounts/secrets/secret-box.ts'
import { createFetching } from './archives/fetching.ts'
import type { ArchiveLimits } from './archives/limits.ts'
import type { PluginHosts } from './archives/origin.ts'
import { bundledCatalogue } from './bundled/install.ts'
import { createPluginConfigs, type PluginConfigs } from './configs.ts'
import { createFailedDeliveries, type FailedDeliveries } from './delivery/failed-deliveries.ts'
import type { OpenedDeliveries } from './delivery/open-deliveries.ts'
import type { PluginNetwork, PluginRuntime } from './host-ports.ts'
import type { PluginHost, SharedPlugins } from './plugin-host.ts'
import { createWebhookAddresses, type WebhookAddresses } from './receiving/addresses.ts'
import { createReceiving, type Receiving } from './receiving/receive.ts'
import { createPlugins, type Plugins } from './service.ts'
import { createSiteApps, type SiteApps } from './site-apps.ts'

export interface CatalogueEntry {
  readonly name: string
  readonly url: string
  readonly description: string
  readonly icon?: string | null
  readonly verified?: boolean
  readonly maintainer?: string
}

/** Options of `open()`. */
export interface PluginOptions {
  /** Whether this process runs scheduled tasks and jobs of plugins, and delivers stored events to them. Events always pass the plugins. Default: true. */
  readonly runs?: boolean
  /** The folder with local plugins, one folder each. Default: none, and local plugins are refused. */
  readonly folder?: string
  /** Base addresses of mirrors, in place of github.com, api.github.com, gitlab.com and registry.npmjs.org. */
  readonly hosts?: Partial<PluginHosts>
  /** Whether plugins may be fetched from private networks, such as a mirror. Default: unless the server is hosted. Link-local addresses are never allowed. */
  readonly allowsPrivateAddresses?: boolean
  /** What users are offered to install, after the plugins that come with the server. Default: nothing more. */
  readonly catalogue?: readonly CatalogueEntry[]
  /** A database of cities by address, in the format MMDB, for the GeoIP plugin and others. Default: addresses are unknown. */
  readonly geoip?: string
  /** Whether plugins, and webhooks of alerts and subscriptions, may send requests to addresses of private networks. Default: no. Link-local ones are never allowed. */
  readonly allowsPrivateRequests?: boolean
}
export const pluginOptionNames = [
  'runs',
  'folder',
  'hosts',
  'allowsPrivateAddresses',
  'catalogue',
  'geoip',
  'allowsPrivateRequests',
] as const

export interface PluginHome {
  readonly context: AccountContext
  readonly box: SecretBox
  readonly network: PluginNetwork
  readonly options: PluginOptions
  /** Null: no other server changes plugins. */
  readonly changes: SharedPlugins['changes'] | null
  readonly host: PluginHost
  readonly deliveries: OpenedDeliveries
  readonly limits?: Partial<ArchiveLimits>
}

export interface OpenedPlugins {
  readonly plugins: Plugins
  readonly configs: PluginConfigs
  readonly failedDeliveries: FailedDeliveries
  readonly catalogue: readonly Required<CatalogueEntry>[]
  readonly siteApps: SiteApps
  readonly webhooks: WebhookAddresses
  /** Requests that come to webhook addresses. */
  readonly receiving: Receiving
  readonly host: PluginHost
  readonly deliveries: OpenedDeliveries
}

const entry = z.object({
  name: z.string(),
  url: z.string(),
  description: z.string(),
  icon: z.string().nullable().default(null),
  verified: z.boolean().default(false),
  maintainer: z.string().default(''),
})

export function openPlugins({ context, box, network, options, changes, host, deliveries, limits }: PluginHome): OpenedPlugins {
  const fetching = createFetching({
    network,
    outbound: context.outbound,
    localFolder: options.folder ?? null,
    ...(options.hosts && { hosts: options.hosts }),
    ...(limits && { limits }),
  })
  const siteApps = createSiteApps(context.store)
  const webhooks = createWebhookAddresses({ context, box })
  const runtime: PluginRuntime = {
    queueJob: host.queueJob,
    problem: host.problem,
    async changed(projectIds) {
      siteApps.changed(projectIds)
      await host.changed(projectIds)
      await deliveries.changed(projectIds)
    },
  }
  changes?.follow(async (projectIds) => {
    siteApps.changed(projectIds)
    await host.reload(projectIds)
  })
  return {
    plugins: createPlugins({ context, box, fetching, loader: host, runtime }),
    configs: createPluginConfigs({ context, box, runtime, logs: host, network: host.network }),
    failedDeliveries: createFailedDeliveries({ context, wake: deliveries.wake }),
    catalogue: [...bundledCatalogue, ...(options.catalogue ?? []).map((one) => entry.parse(one))],
    siteApps,
    webhooks,
    receiving: createReceiving(webhooks, host.runtime, changes && (() => changes.look())),
    host,
    deliveries,
  }
}
