import type { PluginJob, PluginJobs, PluginStorage } from './ports.ts'
import { type Delivery, type PluginRuntime, type ScheduledTask, scheduledTasks } from './runtime.ts'

// When tasks and jobs run. Both are in the storage: a job runs at least once, a task at most once in its period, also across restarts.

export interface JobQueue extends PluginJobs {
  /** Jobs that are due, the earliest first. */
  due(now: Date): Promise<readonly QueuedJob[]>
  settle(job: QueuedJob, delivery: Delivery, now: Date): Promise<void>
}

export interface QueuedJob extends PluginJob {
  readonly attempts: number
}

export interface PluginSchedule {
  /** Runs what is due. Resolves when it has run; what still runs from an earlier call is not started again. */
  tick(): Promise<void>
}

// Scopes of configs are numbers of projects and configs, so these are out of reach for plugins.
const jobsScope = 'jobs'
const tasksScope = 'tasks'

const mostAttempts = 8
const firstPauseMs = 5_000
const mostAtOnce = 100
const periods: Readonly<Record<ScheduledTask, number>> = { runEveryMinute: 60_000, runEveryHour: 3_600_000, runEveryDay: 86_400_000 }

export function createJobQueue(storage: PluginStorage, newId: () => string): JobQueue {
  const write = (job: QueuedJob) => storage.set(jobsScope, job.id, JSON.stringify(job))
  return {
    add: (job) => write({ ...job, id: newId(), attempts: 0 }),
    async due(now) {
      const jobs = (await storage.list(jobsScope)).map(([, json]) => JSON.parse(json) as QueuedJob)
      return jobs.filter(({ at }) => new Date(at) <= now).sort((a, b) => Date.parse(a.at) - Date.parse(b.at))
    },
    async settle(job, { status, isRetryable }, now) {
      const attempts = job.attempts + 1
      const isOver = status !== 'failed' || !isRetryable || attempts === mostAttempts
      if (isOver) return storage.set(jobsScope, job.id, null)
      await write({ ...job, attempts, at: new Date(now.getTime() + firstPauseMs * 2 ** job.attempts).toISOString() })
    },
  }
}

export function createPluginSchedule(runtime: PluginRuntime, queue: JobQueue, storage: PluginStorage, clock: () => Date): PluginSchedule {
  const running = new Set<string>()
  const once = async (key: string, work: () => Promise<unknown>) => {
    if (running.has(key)) return
    running.add(key)
    try {
      await work()
    } finally {
      running.delete(key)
    }
  }

  const runTask = async (projectId: number, task: ScheduledTask) => {
    const key = `${projectId}/${task}`
    const period = String(Math.floor(clock().getTime() / periods[task]))
    const last = await storage.get(tasksScope, key)
    if (last === period) return
    await storage.set(tasksScope, key, period)
    // Of a project that is new here, the period has begun already.
    if (last !== null) await runtime.runTask(projectId, task)
  }

  return {
    async tick() {
      const jobs = (await queue.due(clock())).slice(0, mostAtOnce)
      await Promise.all([
        ...jobs.map((job) => once(`job ${job.id}`, async () => queue.settle(job, await runtime.runJob(job), clock()))),
        ...scheduledTasks.flatMap((task) =>
          runtime.projects(task).map((projectId) => once(`${projectId}/${task}`, () => runTask(projectId, task))),
        ),
      ])
    },
  }
}
