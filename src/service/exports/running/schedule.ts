import { createHash } from 'node:crypto'

// When the runs of an export are due. Pure: times are UTC milliseconds.

export const intervals = ['hour', 'day', 'week', 'every 5 minutes'] as const
export type Interval = (typeof intervals)[number]

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

export const intervalMs: Readonly<Record<Interval, number>> = { hour, day, week: 7 * day, 'every 5 minutes': 5 * minute }

/** Weeks start on Monday; 1970-01-01 was a Thursday. */
const offsets: Readonly<Record<Interval, number>> = { hour: 0, day: 0, week: 4 * day, 'every 5 minutes': 0 }

/** The last boundary at or before a time. */
export const floorOf = (interval: Interval, at: number): number => {
  const length = intervalMs[interval]
  const offset = offsets[interval]
  return Math.floor((at - offset) / length) * length + offset
}

/** The first boundary after a time. */
const nextBoundary = (interval: Interval, at: number): number => floorOf(interval, at) + intervalMs[interval]

const longestJitter = 5 * minute

/** How long after the end of an interval its run starts: the same for all runs of an export, so that the exports of a server are spread. */
const jitterOf = (exportId: string, interval: Interval): number => {
  const share = createHash('sha256').update(exportId).digest().readUInt32BE(0) / 2 ** 32
  return Math.floor(share * Math.min(longestJitter, intervalMs[interval] / 12))
}

export interface Scheduled {
  readonly id: string
  readonly interval: Interval
  /** Where the next interval starts. */
  readonly cutAt: number
  readonly startAt: number | null
  readonly endAt: number | null
}

export type Next =
  /** An interval is complete. */
  | { readonly kind: 'run'; readonly start: number; readonly end: number }
  /** Nothing is exported up to there. */
  | { readonly kind: 'skip'; readonly to: number }
  | { readonly kind: 'wait'; readonly until: number }
  /** After `end_at`. */
  | { readonly kind: 'over' }

/** What an export has to do next. After a change of the interval, the first one ends at a boundary of the new length. */
export function nextStep({ id, interval, cutAt, startAt, endAt }: Scheduled, now: number): Next {
  if (startAt !== null && nextBoundary(interval, cutAt) < startAt) {
    const to = nextBoundary(interval, startAt - 1) - intervalMs[interval]
    if (to > cutAt) return { kind: 'skip', to }
  }
  const end = nextBoundary(interval, cutAt)
  if (endAt !== null && end > endAt) return { kind: 'over' }
  const due = end + jitterOf(id, interval)
  return now >= due ? { kind: 'run', start: cutAt, end } : { kind: 'wait', until: due }
}

/** Where the part of a backfill that begins at `start` ends: at the next boundary. */
export const backfillEnd = (interval: Interval, start: number, end: number): number => Math.min(end, nextBoundary(interval, start))

export const countRuns = (interval: Interval, start: number, end: number): number =>
  end <= start ? 0 : Math.floor((end - 1 - floorOf(interval, start)) / intervalMs[interval]) + 1
