import { type ActingMember, writeAs } from '../../accounts/acting-member.ts'
import { type AccountContext, log } from '../../accounts/context.ts'
import type { AccountTables, PluginConfig, PluginFailedDelivery } from '../../accounts/records.ts'
import { notFound } from '../../accounts/refusals.ts'
import type { FindOptions } from '../../accounts/store.ts'
import { mayConfigure, organizationNow } from '../access.ts'
import { deliveryRate, type FailedState } from './records.ts'

// What users see and do about deliveries that failed.

export interface FailedDeliveryParts {
  readonly context: AccountContext
  /** Something is due. */
  wake(configIds: readonly number[]): void
}

export const createFailedDeliveries = ({ context, wake }: FailedDeliveryParts) => {
  const { store } = context
  const { plugin_failed_deliveries: stored } = store.read

  const change = async (
    by: ActingMember,
    config: PluginConfig,
    activity: string,
    work: (tables: AccountTables) => Promise<number>,
  ): Promise<number> => {
    const count = await writeAs(context, by, async (tables) => {
      if (!mayConfigure(await organizationNow(tables, config.organization_id))) throw notFound()
      const changed = await work(tables)
      const plugin = await tables.plugins.first({ id: config.plugin_id })
      await log(context, tables, {
        by: by.user,
        organization_id: config.organization_id,
        project_id: config.project_id,
        scope: 'PluginConfig',
        item_id: config.id,
        activity,
        name: config.name ?? plugin?.name ?? null,
        changes: [{ type: 'PluginConfig', action: 'changed', field: 'failed_deliveries', before: changed, after: 0 }],
      })
      return changed
    })
    wake([config.id])
    return count
  }

  const due = () => ({ status: 'waiting', attempts: 0, due_at: context.clock() }) as const
  const dead = ({ id }: PluginConfig) => ({ plugin_config_id: id, status: 'dead' }) as const
  const one = ({ id }: PluginConfig, found: PluginFailedDelivery) => ({ plugin_config_id: id, id: found.id })
  const mustExist = (count: number) => {
    if (count === 0) throw notFound()
    return count
  }

  return {
    /** Newest first. Empty `states`: all. */
    async list(
      config: PluginConfig,
      states: readonly FailedState[],
      page: Pick<FindOptions<PluginFailedDelivery>, 'limit' | 'offset'>,
    ): Promise<{ readonly count: number; readonly rows: readonly PluginFailedDelivery[] }> {
      const where = { plugin_config_id: config.id, ...(states.length > 0 && { status: states }) }
      return { count: await stored.count(where), rows: await stored.find(where, { newestFirst: 'created_at', ...page }) }
    },

    /** In all projects. */
    counts: async (): Promise<Readonly<Record<FailedState, number>>> => ({
      waiting: await stored.count({ status: 'waiting' }),
      dead: await stored.count({ status: 'dead' }),
    }),

    byId: (config: PluginConfig, id: string): Promise<PluginFailedDelivery | undefined> =>
      stored.first({ plugin_config_id: config.id, id }),

    /** With as many attempts as a new one. */
    retry: (by: ActingMember, config: PluginConfig, found: PluginFailedDelivery): Promise<number> =>
      change(by, config, 'delivery_retried', async (tables) =>
        mustExist(await tables.plugin_failed_deliveries.update(one(config, found), due())),
      ),
    retryDead: (by: ActingMember, config: PluginConfig): Promise<number> =>
      change(by, config, 'deliveries_retried', (tables) => tables.plugin_failed_deliveries.update(dead(config), due())),

    discard: (by: ActingMember, config: PluginConfig, found: PluginFailedDelivery): Promise<number> =>
      change(by, config, 'delivery_discarded', async (tables) =>
        mustExist(await tables.plugin_failed_deliveries.remove(one(config, found))),
      ),
    discardDead: (by: ActingMember, config: PluginConfig): Promise<number> =>
      change(by, config, 'deliveries_discarded', (tables) => tables.plugin_failed_deliveries.remove(dead(config))),

    rate: async (config: PluginConfig): Promise<number | null> =>
      deliveryRate(await store.read.plugin_deliveries.first({ plugin_config_id: config.id }), context.clock()),
  }
}
export type FailedDeliveries = ReturnType<typeof createFailedDeliveries>
