import type { BackupRow } from '../accounts/records.ts'
import type { Rates } from './event-rates.ts'
import type { WatchName } from './names.ts'

/** The server itself, among projects. */
export const serverId = 0

/** What one check measures, of all projects and of the server. Nothing of it opens a project. */
export interface Measured {
  readonly now: number
  /** Since when clients could send events without a break. */
  readonly upSince: number
  readonly rates: ReadonlyMap<number, Rates>
  readonly quotas: readonly { readonly project: number; readonly taken: number; readonly limit: number }[]
  readonly exports: readonly FailingExport[]
  readonly plugins: readonly FailingPlugin[]
  /** Null: the server makes no backups by itself. */
  readonly backup: Pick<BackupRow, 'failures' | 'latest_error' | 'verify_error' | 'copied_at' | 'due_at' | 'verify_at'> | null
  /** Null: nothing is on a disk. */
  readonly disk: { readonly freeBytes: number; readonly untilFullMs: number | null } | null
  /** What could not be measured: it neither begins nor ends. */
  readonly unknown: ReadonlySet<WatchName>
}

export interface FailingExport {
  readonly project: number
  readonly id: string
  readonly name: string
  /** Runs that failed in a row. */
  readonly failedRuns: number
  /** Failed attempts of the run in progress. */
  readonly failedAttempts: number
  /** Why it was paused by itself. */
  readonly pausedReason: string | null
  readonly latestError: string | null
}

export interface FailingPlugin {
  readonly project: number
  readonly id: string
  readonly name: string
  /** Why the server does not use it. */
  readonly problem: string | null
  /** When the oldest delivery failed first that is still tried again. */
  readonly failingSince: number | null
  /** Events that were given up in the last two hours, and those that were delivered. */
  readonly dead: number
  readonly delivered: number
  readonly latestError: string | null
}
