import type { NoticeDelivery } from '../accounts/records.ts'
import { deliver } from './deliver.ts'
import type { NotificationParts } from './parts.ts'
import { checkAlert, sendSubscription } from './produce.ts'
import { sweepNotices } from './sweep.ts'

// Finds what is due and does it. All state is in the tables, so that the next process goes on where this one ends.

interface Task {
  readonly key: string
  readonly projectId: number
  readonly dueAt: number
  /** Asking takes slots of the engine, sending waits for others. */
  readonly kind: 'ask' | 'send'
  readonly deliveryId?: string
  run(signal: AbortSignal): Promise<void>
}

const atOnce: Readonly<Record<Task['kind'], number>> = { ask: 2, send: 8 }
/** Receivers that do not answer take no more than these from other projects. */
const atOnceOfProject: Readonly<Record<Task['kind'], number>> = { ask: 2, send: 5 }
/** Deliveries read at a time, and how long those that wait for a slot are not read again. */
const mostRead = 200
const readEveryMs = 1_000
const sweepEveryMs = 86_400_000
const sendingGraceMs = 5_000
/** After an error of our own. */
const restMs = 30_000

export const createScheduler = (parts: NotificationParts, onTaskEnd: () => void) => {
  const { context, report } = parts
  const { read } = context.store
  const running = new Map<string, { readonly task: Task; readonly done: Promise<void> }>()
  const resting = new Map<string, number>()
  const stops: Readonly<Record<Task['kind'], AbortController>> = { ask: new AbortController(), send: new AbortController() }
  const isClosed = () => stops.ask.signal.aborted
  let sweptAt = Number.NEGATIVE_INFINITY
  let ticking: Promise<number> = Promise.resolve(0)
  const now = () => context.clock().getTime()

  /** What is due, and when something is due next. */
  const tasks = async (): Promise<{ readonly due: readonly Task[]; readonly next: number }> => {
    const at = now()
    let next = Number.POSITIVE_INFINITY
    const due: Task[] = []
    const add = (key: string, dueAt: number, task: Omit<Task, 'key' | 'dueAt'>) => {
      const from = Math.max(dueAt, resting.get(key) ?? 0)
      if (from > at) next = Math.min(next, from)
      else due.push({ ...task, key, dueAt })
    }
    for (const alert of await read.alerts.find({ enabled: true }))
      add(`alert ${alert.id}`, alert.next_check_at.getTime(), {
        projectId: alert.project_id,
        kind: 'ask',
        run: (signal) => checkAlert(parts, alert, signal),
      })
    for (const record of await read.subscriptions.find({ deleted: false }))
      if (record.next_delivery_date)
        add(`subscription ${record.id}`, record.next_delivery_date.getTime(), {
          projectId: record.project_id,
          kind: 'ask',
          run: async (signal) => void (await sendSubscription(parts, record, signal)),
        })
    for (const { id, project_id, due_at } of await waitingDeliveries())
      add(`delivery ${id}`, due_at.getTime(), {
        projectId: project_id,
        kind: 'send',
        deliveryId: id,
        run: (signal) => deliver(parts, id, signal),
      })
    return { due, next }
  }

  /** Those that are due first. With many of them, each tick would read them all. */
  let waiting: readonly NoticeDelivery[] = []
  let readAt = Number.NEGATIVE_INFINITY
  const waitingDeliveries = async (): Promise<readonly NoticeDelivery[]> => {
    const isUsed = !waiting.some(({ id, due_at }) => due_at.getTime() <= now() && !started.has(id))
    if (isUsed || performance.now() - readAt > readEveryMs) {
      const found = await read.notice_deliveries.find({ status: 'waiting' }, { orderBy: [{ column: 'due_at' }], limit: mostRead })
      waiting = found
      readAt = performance.now()
      started.clear()
    }
    return waiting.filter(({ id }) => !started.has(id))
  }
  /** Since they were read. */
  const started = new Set<string>()

  const start = (task: Task): Promise<void> => {
    if (task.deliveryId !== undefined) started.add(task.deliveryId)
    const done = task
      .run(stops[task.kind].signal)
      .catch((error: unknown) => {
        if (isClosed()) return
        report(error)
        resting.set(task.key, now() + restMs)
      })
      .finally(() => {
        running.delete(task.key)
        onTaskEnd()
      })
    running.set(task.key, { task, done })
    return done
  }

  /** Those of projects with the least in progress, then the oldest: a project with many does not keep the others waiting. */
  const firstOf = (due: readonly Task[]): Task | undefined => {
    const inRun = [...running.values()].map(({ task }) => task)
    const inProgress = ({ projectId, kind }: Task) => inRun.filter((task) => task.projectId === projectId && task.kind === kind).length
    const hasSlot = (kind: Task['kind']) => inRun.filter((task) => task.kind === kind).length < atOnce[kind]
    const slots = { ask: hasSlot('ask'), send: hasSlot('send') }
    let first: Task | undefined
    let least = Number.POSITIVE_INFINITY
    const counts = new Map<string, number>()
    for (const task of due) {
      if (!slots[task.kind] || running.has(task.key)) continue
      const name = `${task.kind} ${task.projectId}`
      const count = counts.get(name) ?? inProgress(task)
      counts.set(name, count)
      if (count >= atOnceOfProject[task.kind] || count > least || (count === least && task.dueAt >= first!.dueAt)) continue
      first = task
      least = count
    }
    return first
  }

  const tickOnce = async (): Promise<number> => {
    if (isClosed()) return Number.POSITIVE_INFINITY
    if ((await read.alerts.count({})) + (await read.subscriptions.count({})) === 0) return Number.POSITIVE_INFINITY
    if (Math.abs(now() - sweptAt) >= sweepEveryMs) {
      sweptAt = now()
      await sweepNotices(context.store, context.clock()).catch(report)
    }
    for (const [key, until] of resting) if (until <= now()) resting.delete(key)
    const { due, next } = await tasks()
    for (let first = firstOf(due); first && !isClosed(); first = firstOf(due)) start(first)
    return next
  }

  return {
    /** Makes an attempt now, whatever else waits. It has ended when this returns; one that was due at the same time is the same attempt. */
    async sendNow({ id, project_id: projectId }: Pick<NoticeDelivery, 'id' | 'project_id'>): Promise<void> {
      if (isClosed()) return
      const key = `delivery ${id}`
      const run = (signal: AbortSignal) => deliver(parts, id, signal)
      await (running.get(key)?.done ?? start({ key, projectId, dueAt: now(), kind: 'send', deliveryId: id, run }))
    },
    /** Starts what is due, without waiting for it. Returns when something is due next. */
    tick(): Promise<number> {
      ticking = ticking.then(tickOnce, tickOnce)
      return ticking
    },
    async settled(): Promise<void> {
      await Promise.all([...running.values()].map(({ done }) => done))
    },
    get running(): number {
      return running.size
    },
    /** Aborts running queries; the next process repeats them. Deliveries in progress get some time to finish, so that nothing is sent twice. */
    async close(): Promise<void> {
      stops.ask.abort()
      await ticking.catch(() => undefined)
      const timer = setTimeout(() => stops.send.abort(), sendingGraceMs)
      await this.settled()
      clearTimeout(timer)
    },
  }
}
export type Scheduler = ReturnType<typeof createScheduler>
