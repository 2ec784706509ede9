import { isFault } from '../../../errors/faults.ts'
import { deferred } from '../../../lib/flow/deferred.ts'
import type { PluginDelivery } from '../../accounts/records.ts'
import type { Due, Job, Kind } from '../../jobs/kind.ts'
import { retryWait } from '../../jobs/retry.ts'
import { createRunner } from '../../jobs/runner.ts'
import { type DeliveryParts, pause } from './parts.ts'
import type { EventRange } from './ports.ts'
import { positionOf } from './records.ts'
import { type SharedReads, sharedReads } from './shared-reads.ts'
import { deferredDelivery, deliveryStep, type StepResult, type WaitingEvents } from './step.ts'

// Deliveries of stored events to plugin configs as due work: a config whose position is behind the log is due, and an attempt is one step. A config that waits for
// a slow destination has small steps and takes no slot from quick ones.

/** What this process knows about a config. It starts anew after a restart. */
interface Lane {
  readonly configId: number
  readonly projectId: number
  size: number
  restingSteps: number
  /** No step before this time. */
  restsUntil: number
  /** Null: to be read from the table. */
  waiting: WaitingEvents | null
  rest: StepResult['rest']
  /** Changes from outside. What a step knew before one of them is not relied on. */
  wakes: number
  /** When its last step began: on the clock, and on that of lengths. */
  dueSince: number
  lastStart: number
  /** When this process wrote the record last. Another time: another process has delivered since. */
  writtenAt: number | null
  /** Of the step that runs. Undefined: it did not get so far. */
  outcome: StepResult | 'gone' | 'failed' | undefined
}

const newLane = ({ plugin_config_id: configId, project_id: projectId, updated_at }: PluginDelivery, size: number): Lane => ({
  configId,
  projectId,
  size,
  restingSteps: 0,
  restsUntil: 0,
  waiting: null,
  rest: 'more',
  wakes: 0,
  dueSince: 0,
  lastStart: Number.NEGATIVE_INFINITY,
  writtenAt: updated_at.getTime(),
  outcome: undefined,
})

const wakeUp = (lane: Lane) => Object.assign(lane, { restingSteps: 0, restsUntil: 0, waiting: null, rest: 'more' } satisfies Partial<Lane>)
const lengthOf = (lane: Lane) => performance.now() - lane.lastStart

/** What is known about all configs. */
const createLanes = ({ context, limits, random }: DeliveryParts & { random(): number }) => {
  const lanes = new Map<number, Lane>()
  const now = () => context.clock().getTime()

  const rest = (lane: Lane) => {
    lane.restingSteps++
    lane.size = limits.eventsAtOnce
    lane.restsUntil = now() + retryWait(pause, lane.restingSteps, random())
  }

  const note = (lane: Lane, result: StepResult, tookMs: number) => {
    lane.waiting = result
    lane.rest = result.rest
    if (result.kind === 'resting') return rest(lane)
    lane.restingSteps = 0
    lane.restsUntil = 0
    if (result.kind === 'progress')
      lane.size = tookMs < limits.quickMs / 2 ? Math.min(limits.eventsOfStep, lane.size * 2) : Math.max(limits.eventsAtOnce, lane.size >> 1)
  }

  return {
    /** Those of the records, in their order. */
    of(records: readonly PluginDelivery[]): readonly Lane[] {
      const known = new Set(records.map(({ plugin_config_id }) => plugin_config_id))
      for (const id of lanes.keys()) if (!known.has(id)) lanes.delete(id)
      return records.map((record) => {
        const lane = lanes.get(record.plugin_config_id) ?? newLane(record, limits.eventsAtOnce)
        lanes.set(lane.configId, lane)
        if (lane.writtenAt !== record.updated_at.getTime()) Object.assign(wakeUp(lane), { writtenAt: record.updated_at.getTime() })
        return lane
      })
    },
    isDue: (lane: Lane, record: PluginDelivery, position: number): boolean =>
      lane.restsUntil <= now() &&
      // Events that come one by one are delivered together, and cost a transaction together.
      (lane.rest === 'more' ||
        (lengthOf(lane) >= limits.lookMs &&
          ((lane.waiting?.nextDue ?? 0) <= now() || (lane.rest === 'none' && position > positionOf(record))))),
    ended(lane: Lane, wakes: number): void {
      const { outcome } = lane
      lane.outcome = undefined
      if (outcome === undefined) return
      if (outcome === 'failed') {
        lane.waiting = null
        rest(lane)
      } else if (outcome !== 'gone') note(lane, outcome, lengthOf(lane))
      if (outcome === 'gone' || lane.wakes !== wakes) wakeUp(lane)
    },
    changed(configIds: readonly number[]): void {
      for (const id of configIds) {
        const lane = lanes.get(id)
        if (!lane) continue
        lane.wakes++
        wakeUp(lane)
      }
    },
  }
}

/** What is being delivered is not waited for when the process is closed, and delivered again by the next one. */
const deliverUntil = (deliver: DeliveryParts['deliver'], signal: AbortSignal): DeliveryParts['deliver'] => {
  const stops = new Set<() => void>()
  signal.addEventListener('abort', () => {
    for (const stop of stops) stop()
  })
  return (projectId, event, configIds = []) =>
    new Promise((resolve, reject) => {
      const stop = () => resolve(configIds.map((id) => deferredDelivery(id, 'The server was closed')))
      if (signal.aborted) return stop()
      stops.add(stop)
      deliver(projectId, event, configIds)
        .then(resolve, reject)
        .finally(() => stops.delete(stop))
    })
}

/** Nor are reads: the store may first have to apply what comes before them. */
const unlessAborted = async <T>(work: Promise<T>, signal: AbortSignal): Promise<T> => {
  signal.throwIfAborted()
  const over = deferred<never>()
  const stop = () => over.reject(signal.reason)
  signal.addEventListener('abort', stop)
  try {
    return await Promise.race([work, over.promise])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

const stepKind = (parts: DeliveryParts, lanes: ReturnType<typeof createLanes>, reads: SharedReads): Kind<Lane> => {
  const { limits, context } = parts
  const { clock, store } = context
  const positions = new Map<number, () => number>()
  const wakesBefore = new WeakMap<Lane, number>()
  const isDue = (lane: Lane, record: PluginDelivery) =>
    lanes.isDue(lane, record, positions.get(lane.projectId)?.() ?? Number.POSITIVE_INFINITY)

  const step = async (lane: Lane, { signal }: Job) => {
    const project = await parts.project(lane.projectId)
    if (!project) return null
    positions.set(lane.projectId, () => project.position)
    const stored = reads.of(lane.projectId, project.storedEvents)
    const seen = {
      position: project.position,
      end: () => unlessAborted(project.end(), signal),
      storedEvents: {
        range: (range: EventRange) => unlessAborted(stored.range(range), signal),
        at: (positions: readonly number[]) => unlessAborted(stored.at(positions), signal),
      },
    }
    return deliveryStep({ ...parts, deliver: deliverUntil(parts.deliver, signal) }, seen, lane.configId, lane.size, lane.waiting)
  }

  return {
    name: 'event delivery',
    share: { slots: limits.allSteps, quick: { slots: limits.quickSteps, ms: limits.quickMs } },
    retry: pause,
    guarantee: 'at least once',
    async due(now) {
      const records = await store.read.plugin_deliveries.find({})
      const due = lanes.of(records).flatMap((item, i): Due<Lane>[] => {
        const { configId, projectId, dueSince: at } = item
        return isDue(item, records[i]!) ? [{ id: String(configId), projectId, at, item }] : []
      })
      return records.length > 0 ? { due, next: now.getTime() + limits.lookMs } : { due }
    },
    async claim(tables, lane) {
      const record = await tables.plugin_deliveries.first({ plugin_config_id: lane.configId })
      return record && isDue(lane, record) ? lane : null
    },
    async run(lane, job) {
      wakesBefore.set(lane, lane.wakes)
      lane.lastStart = performance.now()
      lane.dueSince = clock().getTime()
      const made = await step(lane, job)
      return async (tables) => {
        const saved = made && 'save' in made ? await made.save(tables) : null
        if (saved) lane.writtenAt = saved.at.getTime()
        lane.outcome = made === null ? 'gone' : 'kind' in made ? made : saved ? made.result(saved) : 'gone'
      }
    },
    async failed(_tables, lane, error) {
      if (!isFault(error)) parts.report(error)
      lane.outcome = 'failed'
    },
    ended: (lane) => lanes.ended(lane, wakesBefore.get(lane) ?? lane.wakes),
  }
}

export const createDeliverer = (parts: DeliveryParts) => {
  const lanes = createLanes(parts)
  const runner = createRunner(parts, [stepKind(parts, lanes, sharedReads()) as Kind<unknown>])
  return Object.assign(runner, {
    /** Something of these configs has changed: they do not rest any longer. */
    changed(configIds: readonly number[]): void {
      lanes.changed(configIds)
      runner.wake()
    },
  })
}
export type Deliverer = ReturnType<typeof createDeliverer>
