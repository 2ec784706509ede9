import type { States } from '../../../lib/flow/states.ts'
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
  readonly left: number
  /** The time of that number, in milliseconds. */
  readonly at: number
}

const minute = 60_000
const hourInSeconds = 3_600

const number = (value: number) => value.toLocaleString('en')
const ask = (projectId: number) => `needs the approval of the operator; see /api/projects/${projectId}/historical_import/.`

/** `states`: where the pace of each project is kept, for all servers together. */
export const createImportThrottle = (accounts: Accounts, { clock, states }: { readonly clock: () => Date; readonly states: States }) => {
  const refusal = (id: number, limits: ImportLimits, imported: number, left: number, events: number): ImportRefusal | null => {
    const { total_events: total, events_per_minute: perMinute } = limits
    if (total !== null && imported + events > total)
      return {
        detail: `An import of more than ${number(total)} events ${ask(id)}`,
        retryAfterSeconds: hourInSeconds,
      }
    // A batch larger than what a minute allows has a minute of its own, and the debt is waited for.
    if (perMinute === null || events <= left || left >= perMinute) return null
    return {
      detail: `An import of more than ${number(perMinute)} events a minute ${ask(id)}`,
      retryAfterSeconds: Math.max(1, Math.ceil(((Math.min(events, perMinute) - left) / perMinute) * 60)),
    }
  }

  /** Null: the events are accepted and counted. */
  return async (project: ProjectRecord, events: number): Promise<ImportRefusal | null> => {
    const record = await accounts.historicalImports.of(project.id)
    const limits = limitsOf(record)
    const { events_per_minute: perMinute } = limits
    let refused: ImportRefusal | null = null
    if (perMinute === null) refused = refusal(project.id, limits, record.imported_events, Number.POSITIVE_INFINITY, events)
    else
      await states.change(`import pace ${project.id}`, (state) => {
        const now = clock().getTime()
        const { left, at } = (state as Pace | null) ?? { left: perMinute, at: now }
        const room = Math.min(perMinute, left + Math.max(0, now - at) * (perMinute / minute))
        refused = refusal(project.id, limits, record.imported_events, room, events)
        // Until the debt of a large batch is paid, and the minute is full again.
        return refused ? null : { state: { left: room - events, at: now }, keptMs: minute * (2 + events / perMinute) }
      })
    if (!refused) await accounts.historicalImports.count(project.id, events)
    return refused
  }
}
