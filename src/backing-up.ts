import { stat } from 'node:fs/promises'
import { closedPosition } from './engine/storage/log/position.ts'
import { filesOf } from './engine/storage/project-storage.ts'
import type { OpenOptions, Waymark } from './engine.ts'
import { WaymarkError } from './errors/errors.ts'
import type { Accounts } from './service/accounts/accounts.ts'
import { backUp, copiesIn, placeKey, withRestored } from './service/backups/backups.ts'
import type { OpenDirectory, Progress } from './service/backups/ports.ts'
import type { Copy } from './service/backups/repository/pieces.ts'
import { type ScheduledBackups, scheduleBackups } from './service/backups/schedule.ts'
import { holdLogs } from './service/backups/take.ts'
import { compareCopy, endsOf, NotComparable, type RestoredDirectory, type Verified } from './service/backups/verify.ts'

// Joins the backups to an open directory, and to one that a verification opens.

export interface BackupOptions {
  /** Encrypts the copies: text of any length, which restoring needs too. Default: they are not encrypted. */
  readonly key?: string
  /** Restores the copy beside the directory, and compares both. Default: false. */
  readonly verify?: boolean
  /** Removes copies that are older than this many days, but never the newest one. Default: all stay. */
  readonly keepDays?: number
  /** The place has the backups of another directory, which is gone for good. */
  readonly takeOver?: boolean
  readonly signal?: AbortSignal
  onProgress?(progress: Progress): void
}

export interface BackupSummary {
  readonly copy: number
  /** Everything that was acknowledged before this time is in the copy. */
  readonly began_at: string
  readonly at: string
  readonly bytes: number
  /** Bytes that no earlier copy had, and bytes that were written to the place. */
  readonly added: number
  readonly stored: number
  readonly projects: readonly { readonly id: number; readonly name: string; readonly position: number | null; readonly problem?: string }[]
  /** Copies that were removed because of their age. */
  readonly removed: number
  readonly verified: Verified | null
}

/** Backups that an open directory makes by itself. */
export interface BackupSchedule {
  /** A folder, or `s3://bucket/prefix`. */
  readonly to: string
  /** Default: 60. */
  readonly everyMinutes?: number
  /** Copies that are older are removed. Default: 30. */
  readonly keepDays?: number
  /** How often a copy is restored and compared; 0: never. Default: 24. */
  readonly verifyEveryHours?: number
  /** Encrypts the copies. */
  readonly key?: string
}

const minuteMs = 60_000
const hourMs = 60 * minuteMs
/** Instead of never. */
const centuryMs = 100 * 365 * 24 * hourMs

interface ScheduledParts extends DirectoryParts {
  readonly accounts: Accounts
  readonly schedule: BackupSchedule | undefined
  /** Runs work when no other backup runs. */
  inTurn<T>(work: () => Promise<T>): Promise<T>
  report(error: unknown): void
}

/** Null: this process makes none by itself. */
export async function openScheduled({
  directory,
  open,
  accounts,
  schedule,
  inTurn,
  report,
}: ScheduledParts): Promise<ScheduledBackups | null> {
  await holdLogs(directory.dataDir, schedule !== undefined)
  if (!schedule) return null
  const { to, everyMinutes = 60, keepDays = 30, verifyEveryHours = 24, key = null } = schedule
  const verifyEveryMs = verifyEveryHours === 0 ? centuryMs : verifyEveryHours * hourMs
  return scheduleBackups({
    context: accounts.context,
    schedule: { to, place: placeKey(to), everyMs: everyMinutes * minuteMs, verifyEveryMs },
    take: (verifiable, signal) =>
      inTurn(async () => {
        const options = { key, keepMs: keepDays * dayMs, holdsLogs: true, verifiable: verifiable && verifyEveryHours > 0, signal }
        return (await backUp(directory, to, options)).copy
      }),
    copies: () => copiesIn(to, { key }),
    verify: (copy, signal) => verifyCopy(open, to, copy, directory.dataDir, { key, signal }),
    report,
  })
}

/** Attempts at a copy that can be compared: a record was applied in part each time. */
const attempts = 5
const dayMs = 86_400_000
const verifyingMemory = '512MB'

export interface DirectoryParts {
  readonly directory: OpenDirectory
  open(options: OpenOptions): Promise<Waymark>
}

export async function takeBackup({ directory, open }: DirectoryParts, to: string, options: BackupOptions): Promise<BackupSummary> {
  const { key = null, verify = false, keepDays, takeOver = false, signal, onProgress } = options
  const about = { key, verifiable: verify, takesOver: takeOver, keepMs: keepDays === undefined ? null : keepDays * dayMs }
  const watching = { ...(signal ? { signal } : {}), ...(onProgress ? { onProgress } : {}) }
  for (let attempt = 1; ; attempt++) {
    const { copy, removed } = await backUp(directory, to, { ...about, ...watching })
    try {
      const verified = verify ? await verifyCopy(open, to, copy, directory.dataDir, { key, ...watching }) : null
      return { ...summaryOf(copy), removed, verified }
    } catch (error) {
      if (!(error instanceof NotComparable) || attempt === attempts) throw error
    }
  }
}

const summaryOf = ({ number, began_at, at, bytes, added, stored, projects }: Copy) => ({
  copy: number,
  began_at,
  at,
  bytes,
  added,
  stored,
  projects: projects.map(({ digest: _, ...project }) => project),
})

export function verifyCopy(
  open: DirectoryParts['open'],
  from: string,
  copy: Copy,
  beside: string,
  options: { readonly key: string | null; readonly signal?: AbortSignal; onProgress?(progress: Progress): void },
): Promise<Verified> {
  const ends = endsOf(copy)
  if (ends.size === 0 && copy.projects.length > 0)
    throw new WaymarkError('command-failed', {
      message: `Copy ${copy.number} was made without --verify: it has nothing to be compared with.`,
    })
  return withRestored(from, beside, { ...options, copy: copy.number, ends }, async (dataDir, { projects }) => {
    const positions = new Map(projects.map(({ id, position }) => [id, position]))
    const restored = await openRestored(open, dataDir)
    try {
      return await compareCopy(copy, restored, (id) => positions.get(id) !== ends.get(id))
    } finally {
      await restored.close()
    }
  })
}

/** Nothing is sent, run or refreshed there. */
async function openRestored(open: DirectoryParts['open'], dataDir: string): Promise<RestoredDirectory> {
  const waymark = await open({
    dataDir,
    isolate: true, // so that its memory and work are not those of this process
    memoryLimit: verifyingMemory,
    exports: { runs: false },
    plugins: { runs: false },
    notifications: { runs: false },
    insights: { refreshes: false },
    onRecovery: () => undefined,
  })
  return {
    projects: async () => (await waymark.projects()).map(({ id }) => id),
    async digest(id) {
      const project = await waymark.project(id)
      await project.warnings() // everything is applied
      return project.digest()
    },
    close: () => waymark.close(),
  }
}

/** A store that needs no opening: it was closed, and nothing waits beside it. */
export async function isAtRest(dataDir: string, project: number): Promise<boolean> {
  const { store, position } = filesOf(dataDir, project)
  return closedPosition(position) !== null && !(await stat(`${store}.wal`).catch(() => null))
}

export interface RunState {
  readonly progress: Progress | null
  /** Null until it ends. */
  readonly summary: BackupSummary | null
}

/** Of the latest runs, so that a command can ask again when it missed an answer. */
const mostRuns = 20

/** Backups that somebody began and asks about later. */
export class BackupRuns {
  private readonly runs = new Map<
    number,
    { progress: Progress | null; summary: BackupSummary | null; error: unknown; stop: AbortController }
  >()
  private last = 0

  constructor(private readonly backUp: (to: string, options: BackupOptions) => Promise<BackupSummary>) {}

  begin(to: string, options: Omit<BackupOptions, 'signal' | 'onProgress'>): number {
    const id = ++this.last
    const stop = new AbortController()
    const run = { progress: null as Progress | null, summary: null as BackupSummary | null, error: null as unknown, stop }
    this.runs.set(id, run)
    this.runs.delete(id - mostRuns)
    const onProgress = (progress: Progress) => {
      run.progress = progress
    }
    this.backUp(to, { ...options, signal: stop.signal, onProgress }).then(
      (summary) => {
        run.summary = summary
      },
      (error: unknown) => {
        run.error = error
      },
    )
    return id
  }

  /** Throws what the run failed with. */
  state(id: number): RunState {
    const run = this.runs.get(id)
    if (!run) throw new WaymarkError('command-failed', { message: `There is no backup ${id}, or it ended long ago.` })
    if (run.error !== null) throw run.error
    return { progress: run.progress, summary: run.summary }
  }

  stop(id: number): void {
    this.runs
      .get(id)
      ?.stop.abort(new WaymarkError('command-failed', { message: 'The backup was stopped. Earlier copies are as they were.' }))
  }
}
