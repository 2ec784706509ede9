import { randomBytes, timingSafeEqual } from 'node:crypto'
import { type ActingMember, writeAs } from '../../accounts/acting-member.ts'
import { type AccountContext, log } from '../../accounts/context.ts'
import type { AccountStore, Plugin, PluginConfig, ProjectRecord } from '../../accounts/records.ts'
import { invalid, mustFind, notFound } from '../../accounts/refusals.ts'
import { sealedFor } from '../../accounts/secrets/resealing.ts'
import type { SecretBox } from '../../accounts/secrets/secret-box.ts'
import { hashKey } from '../../accounts/secrets/secrets.ts'
import { mayConfigure, organizationNow } from '../access.ts'
import { note } from '../config-attachments.ts'
import type { Capabilities } from '../host-ports.ts'
import { runningVersion } from '../versions.ts'

// The webhook addresses of plugin configs. The secret in an address is all that a sender needs, so it is sealed at rest, found by its hash, and written into no log.

/** 256 random bits. */
const newSecret = () => randomBytes(32).toString('base64url')
const isSecret = (text: string): boolean => /^[\w-]{43}$/.test(text)

/** What an address leads to. */
export interface Receiver {
  readonly config: PluginConfig
  readonly project: ProjectRecord
}

export interface AddressParts {
  readonly context: AccountContext
  readonly box: SecretBox
}

/** Unknown code may have the function: it has not been loaded. */
const mayReceive = ({ methods }: Capabilities) => methods === undefined || methods.includes('onRequest')

const mustReceive = async (tables: AccountStore['read'], config: PluginConfig, plugin: Plugin) => {
  const running = await runningVersion(tables, config, plugin)
  if (mayReceive((running ?? plugin).capabilities as Capabilities)) return
  throw invalid('The plugin has no function `onRequest`, so it cannot take requests.')
}

const isSame = (a: string, b: string): boolean => a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b))

export const createWebhookAddresses = ({ context, box }: AddressParts) => {
  const { store, clock } = context

  return {
    /** Null: the config has no address. The secret is null if the key that it is sealed with is lost: the address still works. */
    async of({ id }: PluginConfig): Promise<{ readonly secret: string | null } | null> {
      const found = await store.read.plugin_webhooks.first({ plugin_config_id: id })
      if (!found) return null
      try {
        return { secret: box.open(found.secret, sealedFor.pluginWebhook(id)) }
      } catch {
        return { secret: null }
      }
    },

    /** Makes an address. The one before leads nowhere from now on. */
    replace: (by: ActingMember, config: PluginConfig): Promise<void> =>
      writeAs(context, by, async (tables) => {
        if (!mayConfigure(await organizationNow(tables, config.organization_id))) throw notFound()
        const current = await mustFind(tables.plugin_configs.first({ id: config.id, project_id: config.project_id, is_deleted: false }))
        const plugin = await mustFind(tables.plugins.first({ id: current.plugin_id }))
        await mustReceive(tables, current, plugin)
        const secret = newSecret()
        const removed = await tables.plugin_webhooks.remove({ plugin_config_id: current.id })
        await tables.plugin_webhooks.insert({
          plugin_config_id: current.id,
          project_id: current.project_id,
          hash: hashKey(secret),
          secret: box.seal(secret, sealedFor.pluginWebhook(current.id)),
          created_at: clock(),
        })
        await log(context, tables, note(by, current, plugin, removed > 0 ? 'webhook_replaced' : 'webhook_created'))
      }),

    /** The address leads nowhere from now on. */
    remove: (by: ActingMember, config: PluginConfig): Promise<void> =>
      writeAs(context, by, async (tables) => {
        if (!mayConfigure(await organizationNow(tables, config.organization_id))) throw notFound()
        const current = await mustFind(tables.plugin_configs.first({ id: config.id, project_id: config.project_id }))
        if ((await tables.plugin_webhooks.remove({ plugin_config_id: current.id })) === 0) return
        const plugin = await mustFind(tables.plugins.first({ id: current.plugin_id }))
        await log(context, tables, note(by, current, plugin, 'webhook_removed'))
      }),

    /** Undefined: the address leads nowhere. One of a config that is switched off does too, until it is switched on again. */
    async receiver(secret: string): Promise<Receiver | undefined> {
      if (!isSecret(secret)) return undefined
      const { read } = store
      const hash = hashKey(secret)
      const found = await read.plugin_webhooks.first({ hash })
      if (!found || !isSame(found.hash, hash)) return undefined
      const config = await read.plugin_configs.first({ id: found.plugin_config_id, enabled: true, is_deleted: false })
      const project = config && (await read.projects.first({ id: config.project_id }))
      return project && { config, project }
    },
  }
}
export type WebhookAddresses = ReturnType<typeof createWebhookAddresses>
