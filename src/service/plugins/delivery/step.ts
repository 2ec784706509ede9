import type { AccountTables, PluginDelivery, PluginFailedDelivery } from '../../accounts/records.ts'
import { retryWait } from '../../jobs/retry.ts'
import type { Delivery } from '../runtime.ts'
import { deliveredEvent } from './delivered-event.ts'
import { type DeliveredProject, type DeliveryParts, eventRetry } from './parts.ts'
import type { StoredEvent } from './ports.ts'
import { countedIn, positionOf } from './records.ts'

// One step of one config: some failed deliveries that are due, and the next stored events. What became of them is saved with the new position in one
// transaction, so a crash repeats at most one step.

export interface StepResult {
  /** `resting`: nothing was delivered, because the destination or the plugin cannot take anything now. `idle`: there was nothing to do. */
  readonly kind: 'progress' | 'resting' | 'idle'
  /** When the next failed delivery is due. */
  readonly nextDue: number
  /** Events that wait for another attempt. */
  readonly waiting: number
  /** Whether there is more to read now. `blocked`: too many events wait for another attempt. */
  readonly rest: 'none' | 'more' | 'blocked'
}

/** What is known of the events of a config that wait for another attempt. */
export type WaitingEvents = Pick<StepResult, 'nextDue' | 'waiting'>

interface Saved {
  readonly nextDue: number
  readonly added: number
  readonly at: Date
}

/** What became of the deliveries of a step. */
export interface Step {
  /** Writes it with the new position. Null: the config was disabled meanwhile, or starts from somewhere else. */
  save(tables: AccountTables): Promise<Saved | null>
  /** What is known after it. */
  result(saved: Saved): StepResult
}

interface Item {
  readonly stored: StoredEvent
  /** Null: the first attempt. */
  readonly failed: PluginFailedDelivery | null
}

/** The result of a delivery to a plugin that did not run. */
export const deferredDelivery = (configId: number, reason: string): Delivery => ({
  configId,
  status: 'failed',
  isRetryable: true,
  isDeferred: true,
  reason,
})

async function inTurns<T, R>(items: readonly T[], atOnce: number, work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  let next = 0
  const worker = async () => {
    while (next < items.length) {
      const i = next++
      results[i] = await work(items[i]!)
    }
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker))
  return results
}

/** Null: the config no longer receives events. A result: there is nothing to write. */
export async function deliveryStep(
  parts: DeliveryParts,
  project: DeliveredProject,
  configId: number,
  size: number,
  before: WaitingEvents | null,
): Promise<Step | StepResult | null> {
  const { context, limits } = parts
  const { store } = context
  const record = await store.read.plugin_deliveries.first({ plugin_config_id: configId })
  if (!record) return null
  const now = context.clock().getTime()
  const isNothingDue = before !== null && before.nextDue > now
  const waiting = isNothingDue ? [] : await store.read.plugin_failed_deliveries.find({ plugin_config_id: configId, status: 'waiting' })
  const count = isNothingDue ? before.waiting : waiting.length
  const inOrder = waiting.toSorted((a, b) => a.due_at!.getTime() - b.due_at!.getTime())
  // At most half of the step, so that events which keep failing do not hold up new ones.
  const due = inOrder.filter(({ due_at }) => due_at!.getTime() <= now).slice(0, Math.ceil(size / 2))
  const reader = project.storedEvents
  const to = await project.end()
  // The log ends before the position if a power failure took its end.
  const after = Math.min(positionOf(record), to)
  const isBlocked = count >= limits.waiting
  const room = isBlocked ? 0 : Math.min(size - due.length, limits.waiting - count)
  const range = { after, to, events: room, characters: limits.charactersOfStep }
  const read = room > 0 && to > after ? await reader.range(range) : { events: [], through: after }
  const stored = new Map((await reader.at(due.map(positionOf))).map((one) => [one.position, one]))
  const items: Item[] = [
    ...due.flatMap((failed) => (stored.has(positionOf(failed)) ? [{ stored: stored.get(positionOf(failed))!, failed }] : [])),
    ...read.events.map((one) => ({ stored: one, failed: null })),
  ]
  const gone = due.filter((one) => !stored.has(positionOf(one)))
  const siteUrl = context.settings().siteUrl
  const atOnce = Math.max(limits.eventsAtOnce, Math.min(limits.mostAtOnce, Math.floor(size / 8)))
  const results = await inTurns(items, atOnce, async (item) => {
    const event = deliveredEvent(record.project_id, siteUrl, item.stored)
    const [delivery] = await parts.deliver(record.project_id, event, [configId])
    return { ...item, delivery: delivery ?? deferredDelivery(configId, 'The plugin is not loaded') }
  })
  const rest = isBlocked ? 'blocked' : read.through < to ? 'more' : 'none'
  const nextDue = isNothingDue ? before.nextDue : (inOrder.find((one) => !due.includes(one))?.due_at?.getTime() ?? Number.POSITIVE_INFINITY)
  const hasRun = results.filter(({ delivery }) => !delivery.isDeferred)
  if (items.length > 0 && hasRun.length === 0) return { kind: 'resting', nextDue: due.length > 0 ? now : nextDue, waiting: count, rest }
  if (items.length === 0 && gone.length === 0 && read.through === positionOf(record)) return { kind: 'idle', nextDue, waiting: count, rest }
  const hasPassed = results.some(({ delivery }) => delivery.status !== 'failed' || !delivery.isRetryable)
  const kind = items.length === 0 || hasPassed ? 'progress' : 'resting'
  return {
    save: (tables) => save(parts, tables, record, read.through, results, gone),
    result: (saved) => ({ kind, nextDue: Math.min(nextDue, saved.nextDue), waiting: count + saved.added, rest }),
  }
}

type Attempted = Item & { readonly delivery: Delivery }

async function save(
  parts: DeliveryParts,
  tables: AccountTables,
  record: PluginDelivery,
  through: number,
  results: readonly Attempted[],
  gone: readonly PluginFailedDelivery[],
): Promise<Saved | null> {
  const { context, limits } = parts
  const now = context.clock()
  const { plugin_config_id, project_id } = record
  const isOver = ({ delivery, failed }: Attempted) =>
    delivery.status !== 'failed' || (!delivery.isDeferred && (!delivery.isRetryable || (failed?.attempts ?? 0) + 1 >= limits.attempts))
  let nextDue = Number.POSITIVE_INFINITY

  const failure = (one: Attempted): PluginFailedDelivery => {
    const { stored, failed, delivery } = one
    const attempts = (failed?.attempts ?? 0) + (delivery.isDeferred ? 0 : 1)
    const isDead = isOver(one)
    const due = now.getTime() + retryWait(eventRetry, Math.max(1, attempts), parts.random())
    if (!isDead) nextDue = Math.min(nextDue, due)
    return {
      id: failed?.id ?? context.newId(),
      plugin_config_id,
      project_id,
      position: stored.position,
      event_uuid: stored.uuid,
      event: stored.event,
      status: isDead ? 'dead' : 'waiting',
      attempts,
      due_at: isDead ? null : new Date(due),
      latest_error: delivery.reason ?? '',
      created_at: failed?.created_at ?? now,
      last_attempt_at: now,
    }
  }

  const current = await tables.plugin_deliveries.first({ plugin_config_id })
  if (!current || positionOf(current) !== positionOf(record)) return null
  const settled = results.filter(({ failed, delivery }) => failed && delivery.status !== 'failed').map(({ failed }) => failed!.id)
  const removed = [...settled, ...gone.map(({ id }) => id)]
  if (removed.length > 0) await tables.plugin_failed_deliveries.remove({ id: removed })
  const failures = results.filter(({ delivery }) => delivery.status === 'failed')
  for (const one of failures) {
    const row = failure(one)
    // One that was discarded meanwhile stays so.
    if (one.failed) await tables.plugin_failed_deliveries.update({ id: row.id }, row)
    else await tables.plugin_failed_deliveries.insert(row)
  }
  const dead = failures.filter(isOver)
  if (dead.length > 0) await noteDead(parts, tables, record, dead)
  const delivered = results.filter(({ delivery }) => delivery.status === 'done').length
  const counts = delivered + dead.length > 0 ? { counts: countedIn(current, delivered, dead.length, now) } : {}
  await tables.plugin_deliveries.update({ plugin_config_id }, { position: through, ...counts, updated_at: now })
  const left = new Set(failures.filter((one) => !isOver(one)))
  const known = results.filter(({ failed }) => failed).length + gone.length
  return { nextDue, added: left.size - known, at: now }
}

async function noteDead(parts: DeliveryParts, tables: AccountTables, record: PluginDelivery, dead: readonly Attempted[]): Promise<void> {
  const { plugin_config_id, project_id } = record
  const config = await tables.plugin_configs.first({ id: plugin_config_id })
  const say = (message: string) =>
    parts.log({
      projectId: project_id,
      pluginId: config?.plugin_id ?? 0,
      configId: plugin_config_id,
      source: 'SYSTEM',
      level: 'ERROR',
      message,
    })
  const [first] = dead
  const others = dead.length > 1 ? `, and ${dead.length - 1} others` : ''
  say(`The event ${first!.stored.uuid} was not delivered and is a dead letter${others}: ${first!.delivery.reason}`)
  const tooOld = await tables.plugin_failed_deliveries.find(
    { plugin_config_id, status: 'dead' },
    { newestFirst: 'last_attempt_at', offset: parts.limits.dead, limit: 1_000_000 },
  )
  if (tooOld.length === 0) return
  await tables.plugin_failed_deliveries.remove({ id: tooOld.map(({ id }) => id) })
  say(`${tooOld.length} of the oldest dead letters were dropped: at most ${parts.limits.dead} are kept`)
}
