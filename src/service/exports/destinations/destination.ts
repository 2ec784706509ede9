import type { LookupFunction } from 'node:net'
import type * as z from 'zod'
import type { Compression, ExportColumn, Field, FileFormat, Model } from '../ports.ts'

export type { ColumnType, Compression, ExportColumn, Field, FileFormat, Model } from '../ports.ts'

// The contract of a destination. One file per destination, one line in `registry.ts`.
//
// The engine writes the rows of a run into files of a staging folder; a sink only moves finished bytes. A sink stages what it gets, and `publish()` makes
// all of it visible in one step. A run that failed or whose process was killed is attempted again from its first row, with the same `ExportRun.key`:
// publishing a run twice must leave each row once, so names of files, staging tables and merges depend on the key, and what an earlier attempt left under
// the same key is replaced.

/** How a destination wants its rows. */
export interface FileWish {
  readonly format: FileFormat
  readonly compression: Compression | null
  /** Approximate. Null: one file for a run. */
  readonly maxFileBytes: number | null
}

/** A finished file in the staging folder. The files of a run divide its rows by arrival; the file is removed once `write` resolves. */
export interface RowFile {
  readonly path: string
  /** From 0. */
  readonly index: number
  readonly rows: number
  readonly bytes: number
  readonly format: FileFormat
  readonly compression: Compression | null
}

/** One run: the rows of one interval or backfill. All attempts of a run get the same values, but for `attempt`. */
export interface ExportRun {
  readonly id: string
  readonly export_id: string
  readonly project_id: number
  readonly model: Model
  /** From 1. */
  readonly attempt: number
  /** Identifies the rows: letters, digits and `-`. */
  readonly key: string
  /** Null: from the first row. */
  readonly start: Date | null
  readonly end: Date
  /** Rows by their own time, beside the runs of the schedule: their files have names of their own. */
  readonly isBackfill: boolean
  readonly columns: readonly ExportColumn[]
  /**
   * The columns that identify a row, for a merge: a row published later replaces one published before. Empty: rows have no identity, and a destination
   * without files must record `key` in the transaction that adds them.
   */
  readonly identity: readonly string[]
}

export interface Sink {
  /** Stages one file. Called again only after it has resolved. */
  write(file: RowFile, signal: AbortSignal): Promise<void>
  /** Makes all staged rows visible at once, and removes what an earlier attempt published under the same key. Also called for a run without rows. */
  publish(signal: AbortSignal): Promise<void>
  /**
   * Removes what was staged. Called after a failure, and after a crash by the next attempt's `open`. Must not throw, and gives up when aborted: a process that is
   * closed waits for it.
   */
  discard(signal: AbortSignal): Promise<void>
}

/** A check of the settings of a destination. Each runs only after the one before has passed. */
export interface TestStep {
  readonly name: string
  readonly description: string
  /** Throws a DestinationError that says what to change. */
  run(signal: AbortSignal): Promise<void>
}

/** What a destination may use of its process. */
export interface Outside {
  readonly clock: () => Date
  /** For every connection to a name: resolves it, and refuses addresses that the operator does not allow. */
  readonly lookup: LookupFunction
  /** Throws if the host is an address that the operator does not allow. `lookup` is not called for addresses. */
  mustBeAllowed(host: string): void
  /** The folder under which local files may be written. Null: none. */
  readonly localFolder: string | null
  /** Default: `usualLimits`. */
  readonly limits?: Limits
}

/** How long a run waits before it has failed and is retried. */
export interface Limits {
  /** For a server that says nothing. */
  readonly silentMs: number
  /** For a lock of another transaction in a database. */
  readonly lockMs: number
}
export const usualLimits: Limits = { silentMs: 60_000, lockMs: 30_000 }

/** For removing what a failed run has staged. The next attempt tries again. */
export const discardMs = 10_000

export interface Destination<Config = unknown> {
  readonly type: string
  /** For the documentation. */
  readonly summary: string
  /** The stored settings. Unknown keys are stored, and dropped before the destination sees them. */
  readonly config: z.ZodType<Config>
  /** Never returned, encrypted at rest. */
  readonly secrets: readonly (keyof Config & string)[]
  /** Settings that say to whom secrets are sent: if one changes, the secrets must be entered again, so that nobody can have them sent to a server of their own. */
  readonly sentTo?: readonly (keyof Config & string)[]
  /** The hosts that its settings name, each with its setting. One that the operator does not allow is refused when it is saved. */
  places?(config: Config): readonly (readonly [setting: keyof Config & string, host: string])[]
  files(config: Config): FileWish
  /** Other columns than the usual ones of `columns.ts`. */
  columns?(config: Config, model: Model): readonly Field[] | null
  /** Their names do not depend on the settings, which are read only when a step runs: the list is also shown without any. */
  steps(config: Config, outside: Outside): readonly TestStep[]
  /** Removes leftovers of earlier attempts with the same key that were not published. */
  open(config: Config, run: ExportRun, outside: Outside, signal: AbortSignal): Promise<Sink>
}

/**
 * Checks nothing at run time. The registry forgets the type of the settings, because each destination only ever gets those that its own
 * schema has read.
 */
export const defineDestination = <Config>(destination: Destination<Config>): Destination => destination as unknown as Destination

/** A failure in words for the user: what was expected, what came, what to do. Any other error is retried, and shown with its message. */
export class DestinationError extends Error {
  override readonly name = 'DestinationError'
  /** False: a retry cannot help, the settings or the destination must change. */
  readonly isRetryable: boolean

  constructor(message: string, { isRetryable, cause }: { readonly isRetryable: boolean; readonly cause?: unknown }) {
    super(message, { cause })
    this.isRetryable = isRetryable
  }
}
