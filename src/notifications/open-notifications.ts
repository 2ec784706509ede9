import { runLoop } from '../lib/loop.ts'
import { type Alerts, createAlerts } from './alerts.ts'
import { createDeliveries, type Deliveries } from './deliveries.ts'
import type { NotificationParts } from './parts.ts'
import { createScheduler, type Scheduler } from './scheduler.ts'
import { createSubscriptions, type Subscriptions } from './subscriptions.ts'

export interface OpenedNotifications {
  readonly alerts: Alerts
  readonly subscriptions: Subscriptions
  readonly deliveries: Deliveries
  readonly scheduler: Scheduler
  close(): Promise<void>
}

/** Alerts and subscriptions. `runs`: whether this process does what is due. */
export function openNotifications(parts: NotificationParts, runs = true): OpenedNotifications {
  const scheduler: Scheduler = createScheduler(parts, () => loop?.wake())
  const services = { ...parts, wake: () => loop?.wake() }
  const loop = runs ? runLoop(() => scheduler.tick(), parts.context.clock, parts.report) : null
  return {
    alerts: createAlerts(services),
    subscriptions: createSubscriptions(services),
    deliveries: createDeliveries({ ...services, sendNow: (delivery) => scheduler.sendNow(delivery) }),
    scheduler,
    async close() {
      loop?.close()
      await scheduler.close()
    },
  }
}
