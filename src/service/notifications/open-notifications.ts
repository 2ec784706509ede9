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
  const scheduler = createScheduler(parts)
  const services = { ...parts, wake: () => scheduler.wake() }
  if (runs) scheduler.begin()
  return {
    alerts: createAlerts(services),
    subscriptions: createSubscriptions(services),
    deliveries: createDeliveries({ ...services, sendNow: (delivery) => scheduler.sendNow(delivery) }),
    scheduler,
    close: () => scheduler.close(),
  }
}
