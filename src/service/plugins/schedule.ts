import type { AccountContext } from '../accounts/context.ts'
import type { AccountStore, PluginJobRow } from '../accounts/records.ts'
import { dueRows } from '../jobs/due-rows.ts'
import { groupedWrites } from '../jobs/grouped-writes.ts'
import type { Kind, Share, Writing } from '../jobs/kind.ts'
import { createRunner, type Runner, type RunnerParts } from '../jobs/runner.ts'
import type { PluginJob, PluginJobs, PluginStorage } from './ports.ts'
import { type PluginRuntime, type ScheduledTask, scheduledTasks } from './runtime.ts'

// Tasks and jobs of plugins as due work: a job runs at least once, a task at most once in its period, also across restarts.

export interface ScheduleParts extends RunnerParts {
  readonly context: Pick<AccountContext, 'store' | 'clock'> & Partial<Pick<AccountContext, 'isShared'>>
  readonly runtime: PluginRuntime
}

/** What plugins do ends by itself, within the limits of their sandbox. */
const share: Share = { slots: 100, ofProject: 25, graceMs: 3_600_000 }
const mostRead = 100
const periods: Readonly<Record<ScheduledTask, number>> = { runEveryMinute: 60_000, runEveryHour: 3_600_000, runEveryDay: 86_400_000 }

/** A job that asked for another attempt. */
class Again extends Error {}

const rowOf = ({ id, projectId, configId, name, payload, at }: PluginJob, attempts = 0): PluginJobRow => ({
  id,
  project_id: projectId,
  plugin_config_id: configId,
  name,
  payload: (payload ?? null) as PluginJobRow['payload'],
  due_at: new Date(at),
  attempts,
})

/** Jobs that are due later are found by the next look. */
const soonMs = 10_000

/** `wake`: a job may be due. */
export function createJobQueue({ store, newId, clock }: Pick<AccountContext, 'store' | 'newId' | 'clock'>, wake: () => void): PluginJobs {
  const write = groupedWrites(store)
  return {
    async add(job) {
      const row = rowOf({ ...job, id: newId() })
      await write((tables) => tables.plugin_jobs.insert(row))
      if (row.due_at.getTime() <= clock().getTime() + soonMs) wake()
    },
  }
}

/** Older versions kept tasks and jobs in the storage of plugins. What cannot be kept is reported, and stays there. */
export async function moveFromStorage(storage: PluginStorage, { write }: AccountStore, report: (error: unknown) => void): Promise<void> {
  const move = async (scope: string, id: string, insert: Writing): Promise<void> => {
    try {
      await write(insert)
      await storage.set(scope, id, null)
    } catch (error) {
      report(error)
    }
  }
  for (const [id, json] of await storage.list('jobs')) {
    const { attempts, ...job } = JSON.parse(json) as PluginJob & { readonly attempts: number }
    await move('jobs', id, async ({ plugin_jobs }) => (await plugin_jobs.first({ id })) ?? plugin_jobs.insert(rowOf(job, attempts)))
  }
  for (const [id, period] of await storage.list('tasks')) {
    const row = { id, project_id: Number.parseInt(id, 10), period: Number(period) }
    await move('tasks', id, async ({ plugin_tasks }) => (await plugin_tasks.first({ id })) ?? plugin_tasks.insert(row))
  }
}

interface DueTask {
  readonly id: string
  readonly project_id: number
  readonly task: ScheduledTask
  /** Of a project that is new here, the period has begun already. */
  readonly isNew: boolean
}

const taskKind = ({ context: { store, clock }, runtime }: ScheduleParts): Kind<DueTask> => {
  const periodOf = (task: ScheduledTask) => Math.floor(clock().getTime() / periods[task])
  return {
    name: 'plugin task',
    share,
    retry: { attempts: 1, firstMs: 0, growth: 1, longestMs: 0, jitter: 0 },
    guarantee: 'at most once',
    async due(now) {
      const known = new Map((await store.read.plugin_tasks.find({})).map(({ id, period }) => [id, period]))
      const all = scheduledTasks.flatMap((task) =>
        runtime.projects(task).map((project_id) => ({ id: `${project_id}/${task}`, project_id, task })),
      )
      return {
        due: all.map((one) => {
          const last = known.get(one.id)
          // A clock that went back begins an earlier period.
          const isOver = last !== undefined && last !== periodOf(one.task)
          const at = last === undefined || isOver ? now.getTime() : (last + 1) * periods[one.task]
          return { id: one.id, projectId: one.project_id, at, item: { ...one, isNew: last === undefined } }
        }),
      }
    },
    async claim({ plugin_tasks }, item) {
      const { id, project_id, task } = item
      const period = periodOf(task)
      const last = await plugin_tasks.first({ id })
      if (last?.period === period) return null
      if (last) await plugin_tasks.update({ id }, { period })
      else await plugin_tasks.insert({ id, project_id, period })
      return { ...item, isNew: last === undefined }
    },
    async run({ project_id, task, isNew }) {
      if (!isNew) await runtime.runTask(project_id, task)
      return async () => undefined
    },
  }
}

const jobKind = ({ context: { store, isShared = false }, runtime }: ScheduleParts): Kind<PluginJobRow> => ({
  name: 'plugin job',
  share,
  retry: { attempts: 8, firstMs: 5_000, growth: 2, longestMs: 3_600_000, jitter: 0.25 },
  guarantee: 'at least once',
  async due(now) {
    // Payloads have megabytes: each is read when its job is claimed.
    const { rows, next } = await dueRows(store.read, store.read.plugin_jobs, {}, now, mostRead, ['payload'])
    const due = rows.map((item) => {
      const { id, project_id: projectId, plugin_config_id, due_at, attempts: failures } = item
      return { id, projectId, part: String(plugin_config_id), at: due_at.getTime(), failures, item }
    })
    return { due, next }
  },
  async claim(tables, { id }, now) {
    const job = await tables.plugin_jobs.first({ id })
    return job && job.due_at <= now ? job : null
  },
  async run(job) {
    const { project_id: projectId, plugin_config_id: configId, name, payload } = job
    // Another server may have enabled it a moment ago.
    const mayComeLater = async () =>
      isShared && (await store.read.plugin_configs.first({ id: configId, enabled: true, is_deleted: false })) !== undefined
    if (!runtime.isLoaded(projectId, configId) && (await mayComeLater())) throw new Again('The plugin is not loaded yet')
    const { status, isRetryable, reason } = await runtime.runJob({ projectId, configId, name, payload })
    if (status === 'failed' && isRetryable) throw new Again(reason ?? '')
    return (tables) => tables.plugin_jobs.remove({ id: job.id })
  },
  async failed({ plugin_jobs }, { id, attempts }, _error, next) {
    const due_at = next(attempts + 1)
    if (due_at) await plugin_jobs.update({ id }, { attempts: attempts + 1, due_at })
    else await plugin_jobs.remove({ id })
  },
})

export const createPluginSchedule = (parts: ScheduleParts): Runner => createRunner(parts, [taskKind(parts), jobKind(parts)])
