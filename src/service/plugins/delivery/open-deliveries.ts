import type { AccountContext } from '../../accounts/context.ts'
import { createDeliverer, type Deliverer } from './deliverer.ts'
import { updateReceivers } from './membership.ts'
import { type DeliveryLimits, type DeliveryParts, eventRetry } from './parts.ts'

export const usualLimits: DeliveryLimits = {
  lookMs: 250,
  eventsAtOnce: 10,
  mostAtOnce: 25,
  eventsOfStep: 200,
  charactersOfStep: 1024 ** 2,
  quickMs: 2_000,
  quickSteps: 8,
  allSteps: 256,
  waiting: 1_000,
  dead: 10_000,
  attempts: eventRetry.attempts,
}

export type DeliveryHome = Omit<DeliveryParts, 'limits' | 'random' | 'context'> & {
  /** False: another process delivers. */
  readonly runs: boolean
  readonly context: AccountContext
  readonly limits?: Partial<DeliveryLimits>
  readonly random?: () => number
}

export interface OpenedDeliveries {
  readonly deliverer: Deliverer
  /** Plugins or configs of these projects have changed. Resolves when it is stored which configs receive events, and from where. */
  changed(projectIds: readonly number[]): Promise<void>
  /** Something may be due: a failed delivery is to be retried. */
  wake(configIds: readonly number[]): void
  close(): Promise<void>
}

export async function openDeliveries({ runs, limits, random = Math.random, ...home }: DeliveryHome): Promise<OpenedDeliveries> {
  const parts: DeliveryParts = { ...home, limits: { ...usualLimits, ...limits }, random }
  const deliverer = createDeliverer(parts)
  await updateReceivers(parts, null)
  if (runs) deliverer.begin()
  return {
    deliverer,
    async changed(projectIds) {
      if (projectIds.length > 0) deliverer.changed(await updateReceivers(parts, projectIds))
    },
    wake: (configIds) => deliverer.changed(configIds),
    close: () => deliverer.close(),
  }
}
