import type { BatchExport, BatchExportRun } from '../accounts/records.ts'
import type { Json } from '../accounts/store.ts'
import type { Field, RowRange } from './ports.ts'
import type { Interval } from './running/schedule.ts'

// What the JSON columns of the stored records hold.

/** Of an export: the log position that stands for `cut_at`. Not final: at least this one, the store has to tell. */
export interface CutPosition {
  readonly position: number
  readonly isFinal: boolean
}

export interface StoredSchema {
  readonly fields: readonly Field[]
  readonly values: Readonly<Record<string, Json>>
  readonly hogql_query: string
  readonly sql_like_query: string
}

export const cutOf = (record: BatchExport): CutPosition => record.cut_position as unknown as CutPosition
export const schemaOf = (record: BatchExport): StoredSchema | null => record.schema as unknown as StoredSchema | null
export const rangeOf = (run: BatchExportRun): RowRange => run.range as unknown as RowRange
export const intervalOf = (record: BatchExport): Interval => record.interval as Interval
export const asJson = (value: CutPosition | RowRange | StoredSchema | null): Json => value as unknown as Json

const runStates = [
  'Starting',
  'Running',
  'Completed',
  'Failed',
  'FailedRetryable',
  'Cancelled',
  'Terminated',
  'TimedOut',
  'ContinuedAsNew',
] as const
export type RunState = (typeof runStates)[number]

/** Runs that are due or being executed. */
export const activeStates: readonly string[] = ['Starting', 'Running']
export const isActive = ({ status }: { readonly status: string }): boolean => activeStates.includes(status)

export const scheduleLane = 'schedule'
export const retryLane = 'retry'
