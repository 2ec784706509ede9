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
  run(signal: AbortSignal): Promise<void>
}

const atOnce: Readonly<Record<Task['kind'], number>> = { ask: 2, send: 6 }
/** Deliveries read at a time. */
const mostRead = 200
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

  const alertTasks = async (): Promise<Task[]> =>
    (await read.alerts.find({ enabled: true })).map((alert) => ({
      key: `alert ${alert.id}`,
      projectId: alert.project_id,
      dueAt: alert.next_check_at.getTime(),
      kind: 'ask',
      run: (signal) => checkAlert(parts, alert, signal),
    }))
  const subscriptionTasks = async (): Promise<Task[]> =>
    (await read.subscriptions.find({ deleted: false })).flatMap((record) =>
      record.next_delivery_date === null
        ? []
        : [
            {
              key: `subscription ${record.id}`,
              projectId: record.project_id,
              dueAt: record.next_delivery_date.getTime(),
              kind: 'ask' as const,
              run: (signal: AbortSignal) => sendSubscription(parts, record, signal),
            },
          ],
    )
  const deliveryTask = ({ id, project_id, due_at }: NoticeDelivery): Task => ({
    key: `delivery ${id}`,
    projectId: project_id,
    dueAt: due_at.getTime(),
    kind: 'send',
    run: (signal) => deliver(parts, id, signal),
  })
  const deliveryTasks = async (): Promise<Task[]> => {
    const waiting = await read.notice_deliveries.find({ status: 'waiting' }, { orderBy: [{ column: 'due_at' }], limit: mostRead })
    return waiting.map(deliveryTask)
  }

  const start = (task: Task): void => {
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
  }

  /** Those of projects with the least in progress, then the oldest: a project with many does not keep the others waiting. */
  const firstOf = (due: readonly Task[]): Task | undefined => {
    const tasks = [...running.values()].map(({ task }) => task)
    const inProgress = ({ projectId, kind }: Task) => tasks.filter((task) => task.projectId === projectId && task.kind === kind).length
    const free = due.filter(({ key, kind }) => !running.has(key) && tasks.filter((task) => task.kind === kind).length < atOnce[kind])
    return free.sort((a, b) => inProgress(a) - inProgress(b) || a.dueAt - b.dueAt)[0]
  }

  const tickOnce = async (): Promise<number> => {
    if (isClosed()) return Number.POSITIVE_INFINITY
    if ((await read.alerts.count({})) + (await read.subscriptions.count({})) === 0) return Number.POSITIVE_INFINITY
    if (Math.abs(now() - sweptAt) >= sweepEveryMs) {
      sweptAt = now()
      await sweepNotices(context.store, context.clock()).catch(report)
    }
    const all = [...(await alertTasks()), ...(await subscriptionTasks()), ...(await deliveryTasks())]
    for (const [key, until] of resting) if (until <= now()) resting.delete(key)
    const dueOf = ({ key, dueAt }: Task) => Math.max(dueAt, resting.get(key) ?? 0)
    const due = all.filter((task) => dueOf(task) <= now())
    for (let first = firstOf(due); first && !isClosed(); first = firstOf(due)) start(first)
    return Math.min(...all.filter((task) => dueOf(task) > now()).map(dueOf), Number.POSITIVE_INFINITY)
  }

  return {
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
    /** What is being asked is given up, and asked by the next process. What is being sent has some time to end, so that it is not sent again. */
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
