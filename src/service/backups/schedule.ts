import { WaymarkError } from '../../errors/errors.ts'
import type { AccountContext } from '../accounts/context.ts'
import type { AccountTables, BackupRow } from '../accounts/records.ts'
import type { Kind } from '../jobs/kind.ts'
import type { Retry } from '../jobs/retry.ts'
import { createRunner, type Runner, type RunnerParts } from '../jobs/runner.ts'
import type { Copy } from './repository/pieces.ts'
import { NotComparable, type Verified } from './verify.ts'

// Backups that a server makes by itself, and their verifications, as due work of one row.

export interface Schedule {
  /** A folder, or `s3://bucket/prefix`. */
  readonly to: string
  /** The same place has the same name, however it was written. */
  readonly place: string
  readonly everyMs: number
  readonly verifyEveryMs: number
}

export interface ScheduleParts {
  readonly context: Pick<AccountContext, 'store' | 'clock'>
  readonly schedule: Schedule
  /** Takes a copy that can be verified if `verifiable`. */
  take(verifiable: boolean, signal: AbortSignal): Promise<Copy>
  /** All copies of the place, oldest first. */
  copies(): Promise<readonly Copy[]>
  verify(copy: Copy, signal: AbortSignal): Promise<Verified>
  report(error: unknown): void
}

/** For pages and for operators. */
export type BackupStatus = Omit<BackupRow, 'id'> & { readonly to: string }

const minute = 60_000
const retry: Retry = { attempts: Number.POSITIVE_INFINITY, firstMs: minute, growth: 2, longestMs: 60 * minute, jitter: 0.1 }
const longestError = 1_000
const share = { slots: 1 }
const everywhere = 0

const messageOf = (error: unknown) =>
  (error instanceof WaymarkError ? error.detail : error instanceof Error ? error.message : String(error)).slice(0, longestError)

/** What a place has, for the row. */
const found = (copies: readonly Copy[]) => {
  const newest = copies.at(-1)!
  return {
    copy: newest.number,
    copied_at: new Date(newest.began_at),
    reaches_back_to: new Date(copies[0]!.at),
    bytes: Math.ceil(newest.bytes / 1024 ** 2),
    copies: copies.length,
  }
}

const rowOf = (tables: Pick<AccountTables, 'backups'>, { place }: Schedule) => tables.backups.first({ id: place })

function copyKind({ context, schedule, take, copies, report }: ScheduleParts): Kind<BackupRow> {
  const { read } = context.store
  return {
    name: 'backup',
    share,
    retry,
    guarantee: 'at least once',
    async due() {
      const row = await read.backups.first({ id: schedule.place })
      return { due: row ? [{ id: row.id, projectId: everywhere, at: row.due_at.getTime(), failures: row.failures, item: row }] : [] }
    },
    async claim(tables, _, now) {
      const row = await rowOf(tables, schedule)
      return row && row.due_at <= now ? row : null
    },
    async run(row, { signal }) {
      const began = context.clock()
      await take(row.verify_at <= began, signal)
      const change = { ...found(await copies()), failures: 0, latest_error: null, due_at: new Date(began.getTime() + schedule.everyMs) }
      return (tables) => tables.backups.update({ id: row.id }, change)
    },
    async failed(tables, row, error, next) {
      report(error)
      const failures = row.failures + 1
      await tables.backups.update({ id: row.id }, { failures, latest_error: messageOf(error), due_at: next(failures)! })
    },
  }
}

/** Of the newest copy that can be compared. */
function verificationKind({ context, schedule, copies, verify, report }: ScheduleParts): Kind<BackupRow> {
  const { read } = context.store
  const isDue = (row: BackupRow, now: Date) => row.verify_at <= now && row.copy !== null
  const later = () => new Date(context.clock().getTime() + schedule.verifyEveryMs)
  return {
    name: 'backup verification',
    share,
    retry,
    guarantee: 'once',
    async due(now) {
      const row = await read.backups.first({ id: schedule.place })
      return { due: row && isDue(row, now) ? [{ id: row.id, projectId: everywhere, at: row.verify_at.getTime(), item: row }] : [] }
    },
    async claim(tables, _, now) {
      const row = await rowOf(tables, schedule)
      return row && isDue(row, now) ? row : null
    },
    async run(row, { signal }) {
      const all = await copies()
      const comparable = all.findLast(({ projects }) => projects.every(({ digest, problem }) => digest || problem))
      // The one that was just taken could not be: the next one will be.
      if (!comparable || comparable !== all.at(-1)) throw new NotComparable()
      await verify(comparable, signal)
      const change = { verified_at: new Date(comparable.began_at), verify_error: null, verify_at: later() }
      return (tables) => tables.backups.update({ id: row.id }, change)
    },
    async failed(tables, row, error) {
      if (error instanceof NotComparable) {
        await tables.backups.update({ id: row.id }, { verify_at: context.clock() }) // the next copy is another attempt
        return
      }
      report(error)
      await tables.backups.update({ id: row.id }, { verify_error: messageOf(error), verify_at: later() })
    },
  }
}

export interface ScheduledBackups {
  status(): Promise<BackupStatus | null>
  close(): Promise<void>
}

export const createBackupRunner = (parts: ScheduleParts & RunnerParts): Runner =>
  createRunner(parts, [copyKind(parts), verificationKind(parts)] as Kind<unknown>[])

export async function scheduleBackups(parts: ScheduleParts): Promise<ScheduledBackups> {
  const { context, schedule } = parts
  const { store, clock } = context
  await store.write(async (tables) => {
    const now = clock()
    const known = await rowOf(tables, schedule)
    if (!known) await tables.backups.insert(newRow(schedule, now))
    // Sooner, if the new interval is shorter than the one that it was due by.
    else if (known.due_at.getTime() > now.getTime() + schedule.everyMs) await tables.backups.update({ id: known.id }, { due_at: now })
  })
  const runner = createBackupRunner(parts)
  runner.begin()
  return {
    async status() {
      const row = await store.read.backups.first({ id: schedule.place })
      if (!row) return null
      const { id: _, ...rest } = row
      return { ...rest, to: schedule.to }
    },
    close: () => runner.close(),
  }
}

const newRow = ({ place }: Schedule, now: Date): BackupRow => ({
  id: place,
  due_at: now,
  failures: 0,
  latest_error: null,
  copy: null,
  copied_at: null,
  reaches_back_to: null,
  bytes: null,
  copies: null,
  verify_at: now,
  verified_at: null,
  verify_error: null,
})
