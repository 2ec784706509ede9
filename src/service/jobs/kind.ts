import type { AccountTables } from '../accounts/records.ts'
import type { Retry } from './retry.ts'

// A kind of due work, as the runner needs it. Everything else (leases, slots, fairness, waits, stopping) is the runner's.

export type Writing<T = unknown> = (tables: AccountTables) => Promise<T>

/** Slots of work that is done at the same time, by one process. */
export interface Share {
  readonly slots: number
  /** Slots that one project can have. Default: all. */
  readonly ofProject?: number
  /** Work that takes longer than `ms` takes none of these slots any more, only of all. */
  readonly quick?: { readonly slots: number; readonly ms: number }
  /** How long work in progress may go on when the process is closed. Default: it is aborted at once. */
  readonly graceMs?: number
}

/** A piece of work that is due, or will be. */
export interface Due<Item> {
  /** The name of its lease: two pieces of a kind with the same one are never done at the same time. */
  readonly id: string
  readonly projectId: number
  /** Parts of a project among which its slots are shared. */
  readonly part?: string
  /** Epoch milliseconds. */
  readonly at: number
  readonly failures?: number
  readonly item: Item
}

export interface Found<Item> {
  /** What is due, and what will be. */
  readonly due: readonly Due<Item>[]
  /** When to look again at the latest, beside the times of `due`. Epoch milliseconds. */
  readonly next?: number
}

/** An attempt in progress. */
export interface Job {
  /** Aborted when the process is closed, at the end of the time limit, when the lease is lost, and when the work is no longer wanted. */
  readonly signal: AbortSignal
  /** Writes while the lease is held and the work returns no false. Otherwise the attempt is aborted. */
  record(work: Writing): Promise<boolean>
}

export interface Kind<Item> {
  readonly name: string
  /** Kinds with the same one share its slots. */
  readonly share: Share
  readonly retry: Retry
  /** Time limit of one attempt. */
  readonly mostMs?: number
  /**
   * What a process may leave that ends during an attempt. `once`: nothing, because all that the work does is the result which it writes. `at least once`: what
   * it sent is sent again. `at most once`: the claim writes that it was done, so it may have been done in part.
   */
  readonly guarantee: 'once' | 'at least once' | 'at most once'
  /** `closing` is aborted when the process is closed. */
  due(now: Date, closing: AbortSignal): Promise<Found<Item>>
  /** In the transaction that takes the lease: the item as it is now, or null if it is not due any more. */
  claim(tables: AccountTables, item: Item, now: Date): Promise<Item | null>
  /** Returns what is written in the transaction that gives the lease back. */
  run(item: Item, job: Job): Promise<Writing>
  /** In the transaction that gives the lease back. `next` is the time after the nth failure, null after the last one. Default: the lease rests until then. */
  failed?(tables: AccountTables, item: Item, error: unknown, next: (failures: number) => Date | null): Promise<void>
  /** The same after an attempt that was aborted: it is nobody's failure. */
  released?(tables: AccountTables, item: Item): Promise<unknown>
  /** After each attempt, whatever became of it. */
  ended?(item: Item): void
  /** Asked from time to time while the work goes on. */
  isWanted?(item: Item): Promise<boolean>
  /** Once a day, and when the process begins: removes what is old. */
  sweep?(now: Date): Promise<void>
}
