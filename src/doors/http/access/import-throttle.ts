import type { Accounts } from '../../../service/accounts/accounts.ts'
import { type ImportLimits, limitsOf } from '../../../service/accounts/projects/historical-imports.ts'
import type { ProjectRecord } from '../../../service/accounts/records.ts'

// Enforces the approved limits of a project's imports: events in total, and events per minute.

export interface ImportRefusal {
  readonly detail: string
  readonly retryAfterSeconds: number
}

interface Pace {
  /** The remaining events of the current minute. */
  left: number
  /** The time of that number, in milliseconds. */
  at: number
}

const minute = 60_000
const hourInSeconds = 3_600

const number = (value: number) => value.toLocaleString('en')
const ask = (projectId: number) => `needs the approval of the operator; see /api/projects/${projectId}/historical_import/.`

export const createImportThrottle = (accounts: Accounts, clock: () => Date) => {
  const paces = new Map<number, Pace>()
  const paceOf = (id: number, perMinute: number, now: number): Pace => {
    const pace = paces.get(id) ?? { left: perMinute, at: now }
    paces.set(id, pace)
    pace.left = Math.min(perMinute, pace.left + Math.max(0, now - pace.at) * (perMinute / minute))
    pace.at = now
    return pace
  }

  const refusal = (id: number, limits: ImportLimits, imported: number, pace: Pace, events: number): ImportRefusal | null => {
    const { total_events: total, events_per_minute: perMinute } = limits
    if (total !== null && imported + events > total)
      return {
        detail: `An import of more than ${number(total)} events ${ask(id)}`,
        retryAfterSeconds: hourInSeconds,
      }
    // A batch larger than what a minute allows has a minute of its own, and the debt is waited for.
    if (perMinute === null || events <= pace.left || pace.left >= perMinute) return null
    return {
      detail: `An import of more than ${number(perMinute)} events a minute ${ask(id)}`,
      retryAfterSeconds: Math.max(1, Math.ceil(((Math.min(events, perMinute) - pace.left) / perMinute) * 60)),
    }
  }

  /** Null: the events are accepted and counted. */
  return async (project: ProjectRecord, events: number): Promise<ImportRefusal | null> => {
    const record = await accounts.historicalImports.of(project.id)
    const limits = limitsOf(record)
    const pace = paceOf(project.id, limits.events_per_minute ?? Number.MAX_SAFE_INTEGER, clock().getTime())
    const refused = refusal(project.id, limits, record.imported_events, pace, events)
    if (refused) return refused
    pace.left -= events
    await accounts.historicalImports.count(project.id, events)
    return null
  }
}
