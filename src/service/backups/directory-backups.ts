import { stat } from 'node:fs/promises'
import { withinReserve } from '../../engine/storage/files/disk-reserve.ts'
import { closedPosition } from '../../engine/storage/log/position.ts'
import { filesOf } from '../../engine/storage/project-storage.ts'
import { WaymarkError } from '../../errors/errors.ts'
import type { Accounts } from '../accounts/accounts.ts'
import type { ProjectRecord } from '../accounts/records.ts'
import { backUp, copiesIn, placeKey, restoreProject, withRestored } from './backups.ts'
import type { OpenDirectory, Progress } from './open-directory.ts'
import type { Copy } from './repository/pieces.ts'
import type { Restored } from './restore.ts'
import type { RestoreSettings } from './restore-directory.ts'
import { type ScheduledBackups, scheduleBackups } from './schedule.ts'
import { holdLogs } from './take.ts'
import { compareCopy, endsOf, NotComparable, type RestoredDirectory, type Verified } from './verify.ts'

// The backups of an open directory: those that somebody asks for, and those that it makes by itself.

export interface BackupOptions {
  /** Encrypts the copies: text of any length, which restoring needs too. Default: they are not encrypted. */
  readonly key?: string
  /** Restores the copy in a temporary folder of the directory, and compares both. Default: false. */
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
  openRestored,
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
    verify: (copy, signal) => verifyCopy(openRestored, to, copy, directory.dataDir, { key, signal }),
    report,
  })
}

/** Attempts at a copy that can be compared: a record was applied in part each time. */
const attempts = 5
const dayMs = 86_400_000

export interface DirectoryParts {
  readonly directory: OpenDirectory
  /** Opens a restored directory, in which nothing is sent, run or refreshed. */
  openRestored(dataDir: string): Promise<RestoredDirectory>
}

export async function takeBackup({ directory, openRestored }: DirectoryParts, to: string, options: BackupOptions): Promise<BackupSummary> {
  const { key = null, verify = false, keepDays, takeOver = false, signal, onProgress } = options
  const about = { key, verifiable: verify, takesOver: takeOver, keepMs: keepDays === undefined ? null : keepDays * dayMs }
  const watching = { ...(signal ? { signal } : {}), ...(onProgress ? { onProgress } : {}) }
  for (let attempt = 1; ; attempt++) {
    const { copy, removed } = await backUp(directory, to, { ...about, ...watching })
    try {
      const verified = verify ? await verifyCopy(openRestored, to, copy, directory.dataDir, { key, ...watching }) : null
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
  projects: projects.map(({ digest: _, fields: __, ...project }) => project),
})

function verifyCopy(
  openRestored: DirectoryParts['openRestored'],
  from: string,
  copy: Copy,
  inside: string,
  options: { readonly key: string | null; readonly signal?: AbortSignal; onProgress?(progress: Progress): void },
): Promise<Verified> {
  const ends = endsOf(copy)
  if (ends.size === 0 && copy.projects.length > 0)
    throw new WaymarkError('command-failed', {
      message: `Copy ${copy.number} was made without --verify: it has nothing to be compared with.`,
    })
  const compare = async (dataDir: string, { projects }: Restored) => {
    const positions = new Map(projects.map(({ id, position }) => [id, position]))
    const restored = await openRestored(dataDir)
    try {
      return await compareCopy(copy, restored, (id) => positions.get(id) !== ends.get(id))
    } finally {
      await restored.close()
    }
  }
  return withinReserve(inside, options.signal, (signal) =>
    withRestored(from, inside, { ...options, signal, copy: copy.number, ends }, compare),
  )
}

export interface ProjectRestoreOptions extends RestoreSettings {
  /** The id that the project has in the copy. */
  readonly project: number
  /** Default: its name, with "(restored)". */
  readonly name?: string
}

export interface ProjectRestoreSummary {
  /** The new project. */
  readonly project_id: number
  readonly name: string
  readonly copy: number
  /** The last record of its log. */
  readonly position: number | null
}

/** Restores a project as a new one of the first organization. */
export async function restoreAsNew(
  accounts: Accounts,
  dataDir: string,
  from: string,
  { project: id, name, ...options }: ProjectRestoreOptions,
): Promise<ProjectRestoreSummary> {
  let made: ProjectRecord | null = null
  try {
    const { copy, position } = await restoreProject(
      from,
      id,
      async (project) => {
        made = await accounts.createProject({ ...project.fields, name: name ?? `${project.name} (restored)` })
        return filesOf(dataDir, made.id)
      },
      options,
    )
    const { id: project_id, name: newName } = made!
    if (position !== 0) await accounts.projects.noteFirstEvents(project_id)
    return { project_id, name: newName, copy: copy.number, position }
  } catch (error) {
    const unfinished: ProjectRecord | null = made
    if (unfinished) await accounts.context.store.write((tables) => tables.projects.remove({ id: (unfinished as ProjectRecord).id }))
    throw error
  }
}

/** A store that needs no opening: it was closed, and nothing waits beside it. */
export async function isAtRest(dataDir: string, project: number): Promise<boolean> {
  const { store, position } = filesOf(dataDir, project)
  return closedPosition(position) !== null && !(await stat(`${store}.wal`).catch(() => null))
}

export interface RunState {
  readonly progress: RunProgress | null
  /** Null until it ends. */
  readonly result: unknown
}

interface Run {
  readonly stop: AbortController
  progress: RunProgress | null
  result: unknown
  error: unknown
}

/** How far long work is, whatever it does. */
export interface RunProgress {
  readonly phase: Progress['phase'] | 'compacting'
  /** The one that is worked on. */
  readonly project?: number
  readonly bytes: number
  /** Null: not known. */
  readonly ofBytes: number | null
}

interface Watching {
  readonly signal: AbortSignal
  onProgress(progress: RunProgress): void
}

/** Of the latest runs, so that a command can ask again when it missed an answer. */
const mostRuns = 20

/** Long work that somebody began and asks about later. */
export class LongRuns {
  private readonly runs = new Map<number, Run>()
  private last = 0

  begin(work: (watching: Watching) => Promise<unknown>): number {
    const id = ++this.last
    const run: Run = { stop: new AbortController(), progress: null, result: null, error: null }
    this.runs.set(id, run)
    this.runs.delete(id - mostRuns)
    const onProgress = (progress: RunProgress) => {
      run.progress = progress
    }
    work({ signal: run.stop.signal, onProgress }).then(
      (result) => {
        run.result = result
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
    if (!run) throw new WaymarkError('command-failed', { message: `There is no run ${id}, or it ended long ago.` })
    if (run.error !== null) throw run.error
    return { progress: run.progress, result: run.result }
  }

  stop(id: number): void {
    this.runs.get(id)?.stop.abort(new WaymarkError('command-failed', { message: 'Stopped. What was there before is as it was.' }))
  }
}
