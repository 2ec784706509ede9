import type { FormatNotice } from '../format.ts'
import type { LogDamage } from '../log/log.ts'
import type { LostRecords } from './recovery-plan.ts'

/** How a new or an older store was filled from the log. */
export interface Rebuilt {
  /** New name of the files that could not be opened; null if there were none. */
  readonly keptAs: string | null
  readonly reason: string
  /** The records of the log that were applied. */
  readonly fromSeq: number
  readonly toSeq: number
  /** The contents of the store since then. */
  readonly events: number
  readonly persons: number
  readonly seconds: number
}

/** What opening a project repaired, or had to leave out. */
export type RecoveryReport =
  /** The store could not be opened and was rebuilt from the log. */
  | ({ readonly kind: 'store-rebuilt' } & Rebuilt)
  /** The store was opened without its write-ahead log; the log had the records in it. */
  | ({ readonly kind: 'store-rolled-back' } & Rebuilt)
  /** A range of the log is unreadable, but its records are applied. */
  | ({ readonly kind: 'log-damaged' } & LogDamage)
  /** Only with `recovery: 'partial'`: records that are neither in the store nor in the log. */
  | ({ readonly kind: 'records-lost' } & LostRecords)

/** Reported at the start, because rebuilding a store takes time, and so does a change of its format. */
export type RecoveryNotice =
  | RecoveryReport
  | FormatNotice
  | ({ readonly kind: 'store-recovering' } & Omit<Rebuilt, 'events' | 'persons' | 'seconds'>)

const number = (value: number) => value.toLocaleString('en')
const records = (fromSeq: number, toSeq: number | null) => {
  if (toSeq === null) return `records from ${number(fromSeq)} on`
  return fromSeq === toSeq ? `record ${number(fromSeq)}` : `records ${number(fromSeq)} to ${number(toSeq)}`
}

const causes: Readonly<Record<LostRecords['reason'], string>> = {
  forgotten: 'the log no longer has them',
  damaged: 'the log is damaged there',
  gone: 'the log is missing',
}

/** One line for a log or a terminal. */
export function recoveryText(report: RecoveryNotice): string {
  if (report.kind === 'log-damaged')
    return `damaged log: ${records(report.fromSeq, report.toSeq)} cannot be read in ${report.file} at byte ${report.offset}; the store already has the contents`
  if (report.kind === 'records-lost')
    return `lost: ${records(report.fromSeq, report.toSeq)}, because ${causes[report.reason]} (${report.file})`
  if (report.kind === 'store-migrating') {
    const copied = report.keptAs === null ? 'no copy of it is kept' : `a copy of it is kept as ${report.keptAs}`
    return `bringing the store from format ${report.from} to ${report.to}; ${copied}`
  }
  if (report.kind === 'store-migration-progress')
    return `bringing the store from format ${report.from} to ${report.to}: ${report.done} of ${report.steps} steps are done after ${Math.round(report.seconds)} s`
  if (report.kind === 'store-migrated') return `the store has format ${report.to} now, after ${report.seconds.toFixed(1)} s`
  const kept = report.keptAs === null ? '' : `; the old file is kept as ${report.keptAs}`
  const applied = report.toSeq < report.fromSeq ? 'no records' : records(report.fromSeq, report.toSeq)
  if (report.kind === 'store-recovering') return `applying ${applied} of the log to the store, because ${report.reason}${kept}`
  const how = report.kind === 'store-rebuilt' ? 'rebuilt from the log' : 'rolled back to its last checkpoint and replayed from the log'
  const content = `${number(report.events)} events and ${number(report.persons)} persons`
  return `the store was ${how} in ${report.seconds.toFixed(1)} s: it has ${content}, with ${applied} applied`
}
