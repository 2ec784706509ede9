import { WaymarkError } from '../../errors/errors.ts'
import { startOfWall } from '../../lib/time/calendar.ts'
import { day, zoneOf } from '../../lib/time/zone.ts'
import type { Accounts } from '../accounts/accounts.ts'
import { retentionOf } from '../accounts/projects/project-fields.ts'
import type { AccountTables, ProjectRecord } from '../accounts/records.ts'
import type { Due, Kind } from '../jobs/kind.ts'
import type { Retry } from '../jobs/retry.ts'
import { createRunner, type Runner, type RunnerParts } from '../jobs/runner.ts'

// Removes what projects do not keep any longer, after each midnight of the project. Queries do not wait for it: the first one after midnight removes old events by
// itself. This does it for projects that nobody asks, and removes persons, too.

const minuteMs = 60_000
const retry: Retry = { attempts: Number.POSITIVE_INFINITY, firstMs: minuteMs, growth: 3, longestMs: 240 * minuteMs, jitter: 0.25 }
const longestError = 1_000

export interface DataRetentionParts extends RunnerParts {
  readonly accounts: Pick<Accounts, 'context' | 'deletions'>
  /** Returns how much was removed since the last call. */
  removeOld(projectId: number): Promise<{ readonly events: number; readonly persons: number }>
}

const isLimited = ({ settings }: ProjectRecord): boolean => {
  const { events, names, persons } = retentionOf(settings)
  return events !== null || persons !== null || Object.values(names).some((months) => months !== null)
}

/** Shortly after it, not all projects at once. */
function nextMidnight({ id, timezone }: ProjectRecord, now: Date): Date {
  const zone = zoneOf(timezone)
  const today = startOfWall('day', zone.toWall(now.getTime() * 1000), 0)
  return new Date(zone.toInstant(today + day) / 1000 + (id % 10) * minuteMs)
}

const rowId = ({ id }: Pick<ProjectRecord, 'id'>): string => String(id)

async function note(
  tables: AccountTables,
  project: ProjectRecord,
  change: { due_at: Date; failures: number; latest_error: string | null; ran_at?: Date },
) {
  const id = rowId(project)
  if ((await tables.retention_runs.update({ id }, change)) > 0) return
  await tables.retention_runs.insert({ id, project_id: project.id, ran_at: null, ...change })
}

function retentionKind({ accounts, removeOld, report }: DataRetentionParts): Kind<ProjectRecord> {
  const { store, clock } = accounts.context
  return {
    name: 'data retention',
    share: { slots: 1 },
    retry,
    guarantee: 'once',
    async due(now) {
      const limited = (await store.read.projects.find({})).filter(isLimited)
      const rows = new Map((await store.read.retention_runs.find({})).map((row) => [row.id, row]))
      const due = limited.map((item): Due<ProjectRecord> => {
        const row = rows.get(rowId(item))
        return { id: rowId(item), projectId: item.id, at: row?.due_at.getTime() ?? now.getTime(), failures: row?.failures ?? 0, item }
      })
      return { due, next: now.getTime() + minuteMs } // for projects whose setting changes
    },
    async claim(tables, { id }, now) {
      const project = await tables.projects.first({ id })
      const row = await tables.retention_runs.first({ id: rowId({ id }) })
      return project && isLimited(project) && (!row || row.due_at <= now) ? project : null
    },
    async run(project) {
      const counts = await removeOld(project.id)
      return async (tables) => {
        const now = clock()
        await note(tables, project, { due_at: nextMidnight(project, now), failures: 0, latest_error: null, ran_at: now })
        if (counts.events > 0 || counts.persons > 0) await accounts.deletions.retained(tables, project, counts)
      }
    },
    async failed(tables, project, error, next) {
      report(error)
      const failures = ((await tables.retention_runs.first({ id: rowId(project) }))?.failures ?? 0) + 1
      const message = error instanceof WaymarkError ? error.detail : error instanceof Error ? error.message : String(error)
      await note(tables, project, { due_at: next(failures)!, failures, latest_error: message.slice(0, longestError) })
    },
  }
}

export const createDataRetention = (parts: DataRetentionParts): Runner => createRunner(parts, [retentionKind(parts)])
