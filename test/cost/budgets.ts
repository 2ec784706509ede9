import type { Door } from './probe.ts'

/** What one request of any size that is taken may cost. */
export interface Budget {
  /** Milliseconds of the event loop in one piece. */
  readonly holdMs: number
  /** Seconds of processor time, all threads together. */
  readonly cpuSeconds: number
  /** Resident memory above that of the idle process. */
  readonly residentMb: number
  /** Bytes on disk for each byte that was sent. */
  readonly disk: number
  /** A client that got no answer leaves after so many seconds of processor time, and the work has to end. Null: it stays. */
  readonly leavesAfter: number | null
  /** Milliseconds that a small request of another project may wait. Null: nobody else is there. */
  readonly othersMs: number | null
  /** The engine's process may be ended for it, when the request gets the error that says so. */
  readonly mayEndEngine: boolean
}

const megabyte = 1024 * 1024

/** Accounts that ask in turn. */
export const strangersMade = 12

const crowd: Budget = { holdMs: 5_000, cpuSeconds: 60, residentMb: 512, disk: 20, leavesAfter: 12, othersMs: 3_000, mayEndEngine: false }
/** The size of a query does not bound its temporary files, as with `ask`. */
const queries: Budget = { ...crowd, disk: Number.POSITIVE_INFINITY }

export const budgets: Readonly<Record<Door, Budget>> = {
  capture: { holdMs: 500, cpuSeconds: 8, residentMb: 512, disk: 20, leavesAfter: null, othersMs: null, mayEndEngine: false },
  route: { holdMs: 500, cpuSeconds: 5, residentMb: 400, disk: 20, leavesAfter: null, othersMs: null, mayEndEngine: false },
  // The longest statements take this long from text to SQL, which is one piece.
  ask: {
    holdMs: 1_000,
    cpuSeconds: 20,
    residentMb: 640,
    disk: Number.POSITIVE_INFINITY,
    leavesAfter: 4,
    othersMs: null,
    mayEndEngine: true,
  },
  call: { holdMs: 1_000, cpuSeconds: 2, residentMb: 400, disk: 20, leavesAfter: null, othersMs: null, mayEndEngine: false },
  crowd,
  queries,
  // Each organization gets its half second before the same one gets another, on one slot where the other is kept.
  accounts: { ...queries, othersMs: 3_000 + strangersMade * 500 },
}

/** What a store, its log and its facts take for any request at all, and how people were, of which 8 MB are kept whatever was sent. */
export const diskAllowance = 12 * megabyte
/** A client that has left: what may still be used before the work has ended. */
export const afterLeavingSeconds = 3

/** A process beyond these is ended. The limit of data is the kernel's, should memory grow faster than anybody looks. */
export const watch = { residentMb: 1_536, dataKb: 6_000_000, cpuSeconds: 20, wallSeconds: 120 } as const

export const growth = {
  /** Cost is in proportion up to this power of the size, with slack for noise. */
  exponent: 1.45,
  /** Differences below these are noise, and sizes that cost less are passed over. */
  floorMs: { call: 200, server: 250 },
  floorMb: 96,
  repeats: 4,
} as const
