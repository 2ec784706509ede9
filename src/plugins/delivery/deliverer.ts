import type { PluginDelivery } from '../../accounts/records.ts'
import { groupedWrites } from '../../jobs/grouped-writes.ts'
import type { DeliveryParts } from './parts.ts'
import { positionOf } from './records.ts'
import { pauseAfter } from './retry-wait.ts'
import { sharedReads } from './shared-reads.ts'
import { deferredDelivery, deliveryStep, type StepResult, type WaitingEvents } from './step.ts'

// Delivers stored events to plugin configs. The tables have how far each config has come, so any process that has them can go on. A config that waits for a
// slow destination has small steps and takes no slot from quick ones.

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
  lastStart: number
  running: Promise<void> | null
}

export const createDeliverer = (parts: DeliveryParts) => {
  const { context, limits, report } = parts
  const { store } = context
  const lanes = new Map<number, Lane>()
  const positions = new Map<number, () => number>()
  const reads = sharedReads()
  const write = groupedWrites(store)
  /** End what is being delivered. */
  const stops = new Set<() => void>()
  let isClosed = false

  const now = () => context.clock().getTime()
  const positionIn = (projectId: number) => positions.get(projectId)?.() ?? Number.POSITIVE_INFINITY
  const running = () => [...lanes.values()].filter((lane) => lane.running)
  const lengthOf = (lane: Lane) => performance.now() - lane.lastStart

  const laneOf = ({ plugin_config_id, project_id }: PluginDelivery): Lane => {
    const known = lanes.get(plugin_config_id)
    if (known) return known
    const lane: Lane = {
      configId: plugin_config_id,
      projectId: project_id,
      size: limits.eventsAtOnce,
      restingSteps: 0,
      restsUntil: 0,
      waiting: null,
      rest: 'more',
      wakes: 0,
      lastStart: Number.NEGATIVE_INFINITY,
      running: null,
    }
    lanes.set(plugin_config_id, lane)
    return lane
  }

  const isDue = (lane: Lane, record: PluginDelivery): boolean =>
    lane.running === null &&
    lane.restsUntil <= now() &&
    // Events that come one by one are delivered together, and cost a transaction together.
    (lane.rest === 'more' || lengthOf(lane) >= limits.lookMs) &&
    (lane.rest === 'more' ||
      (lane.waiting?.nextDue ?? 0) <= now() ||
      (lane.rest === 'none' && positionIn(lane.projectId) > positionOf(record)))

  const rest = (lane: Lane) => {
    lane.restingSteps++
    lane.size = limits.eventsAtOnce
    lane.restsUntil = now() + pauseAfter(lane.restingSteps, parts.random())
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

  const deliver: DeliveryParts['deliver'] = (projectId, event, configIds = []) =>
    new Promise((resolve, reject) => {
      const stop = () => resolve(configIds.map((id) => deferredDelivery(id, 'The server was closed')))
      if (isClosed) return stop()
      stops.add(stop)
      parts
        .deliver(projectId, event, configIds)
        .then(resolve, reject)
        .finally(() => stops.delete(stop))
    })

  const wakeUp = (lane: Lane) =>
    Object.assign(lane, { restingSteps: 0, restsUntil: 0, waiting: null, rest: 'more' } satisfies Partial<Lane>)

  const step = async (lane: Lane): Promise<void> => {
    const { wakes } = lane
    try {
      const project = await parts.project(lane.projectId)
      if (!project) return
      positions.set(lane.projectId, () => project.position)
      const reader = reads.of(lane.projectId, project.storedEvents)
      const result = await deliveryStep(
        { ...parts, deliver, write },
        { position: project.position, storedEvents: reader },
        lane.configId,
        lane.size,
        lane.waiting,
      )
      if (result) note(lane, result, lengthOf(lane))
      if (result === null || lane.wakes !== wakes) wakeUp(lane)
    } catch (error) {
      if (!isClosed) report(error)
      lane.waiting = null
      rest(lane)
    }
  }

  const start = (lane: Lane) => {
    lane.lastStart = performance.now()
    const run = step(lane).finally(() => {
      if (lane.running === run) lane.running = null
      onEnd()
    })
    lane.running = run
  }

  /** Those of projects with the fewest steps, then those that have waited longest. */
  const firstOf = (due: readonly Lane[]): Lane | undefined => {
    const all = running()
    const ofProject = (id: number) => all.filter(({ projectId }) => projectId === id).length
    return due
      .filter((lane) => !lane.running)
      .sort((a, b) => ofProject(a.projectId) - ofProject(b.projectId) || a.lastStart - b.lastStart)[0]
  }

  const hasSlot = () => {
    const all = running()
    return all.length < limits.allSteps && all.filter((lane) => lengthOf(lane) < limits.quickMs).length < limits.quickSteps
  }

  let onEnd: () => void = () => undefined

  return {
    /** Starts the steps that are due, without waiting for them. Returns when to look again. */
    async tick(): Promise<number> {
      if (isClosed) return Number.POSITIVE_INFINITY
      const records = await store.read.plugin_deliveries.find({})
      const known = new Set(records.map(({ plugin_config_id }) => plugin_config_id))
      for (const [id, lane] of lanes) if (!known.has(id) && !lane.running) lanes.delete(id)
      const due = records.map((record) => ({ lane: laneOf(record), record })).filter(({ lane, record }) => isDue(lane, record))
      const waiting = due.map(({ lane }) => lane)
      for (let first = firstOf(waiting); first && hasSlot() && !isClosed; first = firstOf(waiting)) start(first)
      return records.length === 0 ? Number.POSITIVE_INFINITY : now() + limits.lookMs
    },
    /** Something of these configs has changed: they do not rest any longer. */
    wake(configIds: readonly number[]): void {
      for (const id of configIds) {
        const lane = lanes.get(id)
        if (!lane) continue
        lane.wakes++
        wakeUp(lane)
      }
    },
    set onStepEnd(work: () => void) {
      onEnd = work
    },
    get running(): number {
      return running().length
    },
    /** Waits for the steps that run. */
    async settled(): Promise<void> {
      await Promise.all(running().map((lane) => lane.running))
    },
    /** What is being delivered is not waited for, and delivered again by the next process. */
    async close(): Promise<void> {
      isClosed = true
      for (const stop of stops) stop()
      await this.settled()
    },
  }
}
export type Deliverer = ReturnType<typeof createDeliverer>
