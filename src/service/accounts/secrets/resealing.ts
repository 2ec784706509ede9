import { runLoop } from '../../../lib/flow/loop.ts'
import type { AccountContext } from '../context.ts'
import type { SecretBox } from './secret-box.ts'

// Every encrypted text of the account data: what it is bound to, and how a new key reaches it.

/** The contexts of sealed texts: a text cannot be moved to another record, or another field. */
export const sealedFor = {
  batchExport: (id: string) => id,
  pluginUrl: (id: number) => `plugin ${id} url`,
  pluginSetting: (configId: number, key: string) => `plugin_config ${configId} ${key}`,
  pluginAttachment: (configId: number, key: string) => `plugin_attachment ${configId} ${key}`,
  pluginWebhook: (configId: number) => `plugin_config ${configId} webhook`,
  alertWebhook: (id: string) => `alert ${id} webhook`,
  subscriptionWebhook: (id: number) => `subscription ${id} webhook`,
  secondFactor: (id: string) => `second factor ${id}`,
  viewerKey: (id: string) => `viewer key ${id}`,
  oidcClient: (domainId: string) => `domain ${domainId} oidc_client_secret`,
}

export interface ResealingParts {
  readonly context: Pick<AccountContext, 'store' | 'clock'>
  readonly box: SecretBox
  report(error: unknown): void
}

type Sealed = Readonly<Record<string, string>>

/** Seals with the newest key what an older one has sealed. Returns how many texts. */
export async function resealSecrets({ context: { store }, box, report }: ResealingParts): Promise<number> {
  const { read } = store
  let count = 0
  const again = (sealed: string, context: string) => box.seal(box.open(sealed, context), context)
  /** A record that no key can open must not keep the others from it. */
  const guarded = async (work: () => Promise<number>) => {
    try {
      count += await work()
    } catch (error) {
      report(error)
    }
  }
  // Each is written only if nobody has changed it meanwhile.
  for (const { id, secrets } of await read.batch_exports.find({}))
    if (secrets !== null && !box.isCurrent(secrets))
      await guarded(() =>
        store.write((tables) => tables.batch_exports.update({ id, secrets }, { secrets: again(secrets, sealedFor.batchExport(id)) })),
      )
  for (const { id, url_secrets } of await read.plugins.find({}))
    if (url_secrets !== null && !box.isCurrent(url_secrets))
      await guarded(() =>
        store.write((tables) => tables.plugins.update({ id, url_secrets }, { url_secrets: again(url_secrets, sealedFor.pluginUrl(id)) })),
      )
  for (const { id, secrets: stored } of await read.plugin_configs.find({})) {
    if (Object.values(stored as Sealed).some((sealed) => !box.isCurrent(sealed)))
      await guarded(() =>
        store.write(async (tables) => {
          const secrets = ((await tables.plugin_configs.first({ id }))?.secrets ?? {}) as Sealed
          const old = Object.entries(secrets).filter(([, sealed]) => !box.isCurrent(sealed))
          const renewed = old.map(([key, sealed]) => [key, again(sealed, sealedFor.pluginSetting(id, key))])
          await tables.plugin_configs.update({ id }, { secrets: { ...secrets, ...Object.fromEntries(renewed) } })
          return old.length
        }),
      )
    for (const { id: file, key, contents } of await read.plugin_attachments.find({ plugin_config_id: id }))
      if (!box.isCurrent(contents))
        await guarded(() =>
          store.write((tables) =>
            tables.plugin_attachments.update({ id: file }, { contents: again(contents, sealedFor.pluginAttachment(id, key)) }),
          ),
        )
  }
  for (const { plugin_config_id, secret } of await read.plugin_webhooks.find({}))
    if (!box.isCurrent(secret))
      await guarded(() =>
        store.write((tables) =>
          tables.plugin_webhooks.update({ plugin_config_id, secret }, { secret: again(secret, sealedFor.pluginWebhook(plugin_config_id)) }),
        ),
      )
  for (const { id, webhook_secret } of await read.alerts.find({}))
    if (webhook_secret !== null && !box.isCurrent(webhook_secret))
      await guarded(() =>
        store.write((tables) =>
          tables.alerts.update({ id, webhook_secret }, { webhook_secret: again(webhook_secret, sealedFor.alertWebhook(id)) }),
        ),
      )
  for (const { id, webhook_secret } of await read.subscriptions.find({}))
    if (webhook_secret !== null && !box.isCurrent(webhook_secret))
      await guarded(() =>
        store.write((tables) =>
          tables.subscriptions.update({ id, webhook_secret }, { webhook_secret: again(webhook_secret, sealedFor.subscriptionWebhook(id)) }),
        ),
      )
  for (const { id, secret } of await read.second_factors.find({}))
    if (!box.isCurrent(secret))
      await guarded(() =>
        store.write((tables) => tables.second_factors.update({ id, secret }, { secret: again(secret, sealedFor.secondFactor(id)) })),
      )
  for (const { id, secret } of await read.viewer_keys.find({}))
    if (!box.isCurrent(secret))
      await guarded(() =>
        store.write((tables) => tables.viewer_keys.update({ id, secret }, { secret: again(secret, sealedFor.viewerKey(id)) })),
      )
  for (const { id, oidc_client_secret: secret } of await read.domains.find({}))
    if (secret !== null && !box.isCurrent(secret))
      await guarded(() =>
        store.write((tables) =>
          tables.domains.update({ id, oidc_client_secret: secret }, { oidc_client_secret: again(secret, sealedFor.oidcClient(id)) }),
        ),
      )
  return count
}

const everyMs = 86_400_000

export interface Resealing {
  close(): Promise<void>
}

/** At the start, and once a day. */
export function openResealing(parts: ResealingParts): Resealing {
  const now = () => parts.context.clock().getTime()
  let doneAt = Number.NEGATIVE_INFINITY
  let working: Promise<unknown> = Promise.resolve()
  const loop = runLoop(
    async () => {
      if (Math.abs(now() - doneAt) >= everyMs) {
        doneAt = now()
        working = resealSecrets(parts)
        await working
      }
      return doneAt + everyMs
    },
    parts.context.clock,
    parts.report,
  )
  return {
    async close() {
      loop.close()
      await working.catch(() => undefined)
    },
  }
}
