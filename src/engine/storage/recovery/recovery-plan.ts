import { WaymarkError } from '../../../errors/errors.ts'
import { firstSeqOf, type LogFindings } from '../log/findings.ts'
import type { LogDamage } from '../log/log.ts'
import type { StoreFindings } from './store-findings.ts'

/** The contents of a project's files. */
export interface ProjectFindings {
  /** The path of its store. */
  readonly file: string
  readonly store: StoreFindings
  readonly log: LogFindings
  /** The log's folder exists, whatever its contents. */
  readonly hasLogFolder: boolean
  /** Ranges of the log that cannot be read, from the first record on that the store lacks. */
  readonly damages: readonly LogDamage[]
  /** The project has had events. */
  readonly hadEvents: boolean
}

/** Records that are neither in the store nor in the log. `toSeq` null: their number is unknown. */
export interface LostRecords {
  readonly fromSeq: number
  readonly toSeq: number | null
  readonly file: string
  readonly offset: number
  readonly reason: 'forgotten' | 'damaged' | 'gone'
}

export interface RecoveryPlan {
  /**
   * `store`: the store without changes. `checkpoint`: the store without its write-ahead log. `log`: a new store, rebuilt from the log. `nothing`: a new store of a new
   * project.
   */
  readonly from: 'store' | 'checkpoint' | 'log' | 'nothing'
  /** The last record that the store then has. */
  readonly appliedSeq: number
  readonly lost: readonly LostRecords[]
  /** Damaged ranges of the log that the store does not need. */
  readonly harmless: readonly LogDamage[]
  /** Why opening is refused without the lost records; null if nothing is lost. */
  readonly refusal: WaymarkError | null
}

/** Decides how to open a project, from its files, before anything is changed. */
export function planRecovery(found: ProjectFindings): RecoveryPlan {
  const { store, log, damages } = found
  const isUsable = store.state === 'sound' || store.state === 'readable-without-wal'
  const appliedSeq = isUsable ? store.appliedSeq : 0
  const isNeeded = ({ toSeq }: LogDamage) => (toSeq === null ? store.state !== 'sound' : toSeq > appliedSeq)
  const needed = damages.filter(isNeeded)
  const lost = log.segments.length === 0 ? lostWithLog(found, needed, appliedSeq) : lostFromLog(log, needed, appliedSeq)
  return {
    from: sourceOf(store, log.lastSeq === 0 && lost.length === 0),
    appliedSeq,
    lost,
    harmless: damages.filter((damage) => !isNeeded(damage)),
    refusal: refusalOf(lost[0], found.file, isUsable),
  }
}

const sourceOf = ({ state }: StoreFindings, isNew: boolean): RecoveryPlan['from'] => {
  if (state === 'sound') return 'store'
  if (state === 'readable-without-wal') return 'checkpoint'
  return state === 'missing' && isNew ? 'nothing' : 'log'
}

function lostFromLog(log: LogFindings, needed: readonly LogDamage[], appliedSeq: number): readonly LostRecords[] {
  const firstSeq = firstSeqOf(log)
  const forgotten: LostRecords = { fromSeq: appliedSeq + 1, toSeq: firstSeq - 1, file: log.directory, offset: 0, reason: 'forgotten' }
  const damaged = needed.map((damage): LostRecords => ({ ...damage, fromSeq: Math.max(damage.fromSeq, appliedSeq + 1), reason: 'damaged' }))
  return firstSeq > appliedSeq + 1 ? [forgotten, ...damaged] : damaged
}

/** The log has no record. That is correct for a new project; any other has lost its log. */
function lostWithLog(
  { store, log, damages, hasLogFolder, hadEvents }: ProjectFindings,
  needed: readonly LogDamage[],
  appliedSeq: number,
): readonly LostRecords[] {
  // Copied before its first record came: its write-ahead log has none either.
  const isNew = appliedSeq === 0 && hasLogFolder && !hadEvents
  const wasMore =
    (store.state === 'readable-without-wal' && !isNew) ||
    (store.state === 'broken' && !hasLogFolder) ||
    (store.state !== 'sound' && hadEvents)
  const isAllInStore = damages.length > 0 && needed.length === 0
  if (needed.length === 0 && (isAllInStore || !wasMore)) return []
  return [{ fromSeq: appliedSeq + 1, toSeq: needed.at(-1)?.toSeq ?? null, file: log.directory, offset: 0, reason: 'gone' }]
}

function refusalOf(lost: LostRecords | undefined, file: string, isUsable: boolean): WaymarkError | null {
  if (!lost) return null
  if (lost.reason === 'forgotten' || (lost.reason === 'gone' && !isUsable))
    return new WaymarkError('store-broken', { file, lostTo: lost.toSeq })
  const { fromSeq, toSeq, offset, reason } = lost
  return new WaymarkError('log-damaged', { file: lost.file, offset, fromSeq, toSeq, isGone: reason === 'gone' })
}
