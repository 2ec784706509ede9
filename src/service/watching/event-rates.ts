import type { AccountStore, AccountTables, EventHours } from '../accounts/records.ts'
import { countedIn, countOfHourBefore, dayMs, type Hours, hourMs, hourOf } from './hours.ts'

// How many events arrive in each project, by the hour. Counted in memory where events are acknowledged, so no project is opened for it, and stored at intervals:
// after a crash the counts lack the last minutes.

/** Between events of a project that come often: clients that send once an hour, or every two hours, are no outage. */
export interface Gap {
  readonly ms: number
  readonly at: number
}

export interface Rates {
  /** Of the first event that was counted. */
  readonly since: number
  readonly latestAt: number
  readonly hours: Hours
  readonly longestGap: Gap | null
  /** One that has just ended. It counts when many events follow it: one at night among few does not. */
  readonly newGap?: (Gap & { readonly events: number }) | undefined
}

/** Events in an hour from which on they come often. */
export const often = 10
const shortestGapMs = 20 * 60_000
const longestGapMs = 3 * hourMs
const rememberedMs = 7 * dayMs
/** Rows stored at a time, those first that have waited longest. */
const mostStored = 200
const storedEveryMs = 15 * 60_000

const confirmedWithinMs = 10 * 60_000

/** The gaps after so many more events. */
function gapsAfter({ latestAt, hours, longestGap, newGap }: Rates, events: number, now: number): Pick<Rates, 'longestGap' | 'newGap'> {
  const known = longestGap && now - longestGap.at < rememberedMs ? longestGap : null
  const ms = now - latestAt
  const mayCount = ms >= shortestGapMs && ms < longestGapMs && ms > (known?.ms ?? 0) && countOfHourBefore(hours, latestAt) >= often
  const open = mayCount ? { ms, at: now, events: 0 } : newGap && now - newGap.at < confirmedWithinMs ? newGap : undefined
  if (!open) return { longestGap: known }
  const after = open.events + events
  return after >= often ? { longestGap: { ms: open.ms, at: open.at } } : { longestGap: known, newGap: { ...open, events: after } }
}

/** The rates after so many more events. */
export const withEvents = (rates: Rates | undefined, events: number, now: number): Rates =>
  rates
    ? {
        since: rates.since,
        latestAt: Math.max(rates.latestAt, now),
        hours: countedIn(rates.hours, hourOf(now), events),
        ...gapsAfter(rates, events, now),
      }
    : { since: now, latestAt: now, hours: { latest: hourOf(now), counts: [events] }, longestGap: null }

export const ratesOf = (row: EventHours): Rates => ({
  since: row.since.getTime(),
  latestAt: row.latest_at.getTime(),
  hours: { latest: row.latest_hour, counts: row.counts as readonly number[] },
  longestGap: row.longest_gap as unknown as Gap | null,
})
export const rowOf = (id: number, { since, latestAt, hours, longestGap }: Rates): EventHours => ({
  project_id: id,
  since: new Date(since),
  latest_at: new Date(latestAt),
  latest_hour: hours.latest,
  counts: hours.counts,
  longest_gap: longestGap && { ...longestGap },
})

type Mutable = Omit<Rates, 'latestAt' | 'hours'> & {
  latestAt: number
  readonly hours: { readonly latest: number; readonly counts: number[] }
}
const mutable = ({ hours, ...rates }: Rates): Mutable => ({ ...rates, hours: { latest: hours.latest, counts: [...hours.counts] } })

/** How many events arrive, as what is watched needs it. */
export interface EventRates {
  /** Every request with events passes here. */
  count(project: number, events: number): void
  all(): Promise<ReadonlyMap<number, Rates>>
  /** What is to be stored now: some projects, so that one transaction is not long. */
  takeUnstored(now: number, most?: number): (tables: AccountTables) => Promise<void>
  /** The project was removed. */
  forget(project: number): void
  /** Stores the rest. */
  flush(): Promise<void>
}

export const createEventRates = (store: AccountStore, clock: () => Date, report: (error: unknown) => void): EventRates => {
  const counted = new Map<number, Mutable>()
  /** What arrived before the stored counts were read. */
  let early: { readonly project: number; readonly events: number; readonly at: number }[] | null = []
  let loading: Promise<void> | null = null
  /** When each was stored last; those with something new are in `unstored`. */
  const storedAt = new Map<number, number>()
  const unstored = new Set<number>()

  /** Every request with events passes here. */
  const add = (project: number, events: number, at: number): void => {
    const known = counted.get(project)
    const isSoon =
      known && !known.newGap && hourOf(at) === known.hours.latest && at >= known.latestAt && at - known.latestAt < shortestGapMs
    if (isSoon) {
      known.hours.counts[known.hours.counts.length - 1]! += events
      known.latestAt = at
    } else counted.set(project, mutable(withEvents(known, events, at)))
    unstored.add(project)
  }
  const load = (): Promise<void> => {
    loading ??= (async () => {
      for (const row of await store.read.event_hours.find({})) counted.set(row.project_id, mutable(ratesOf(row)))
      for (const { project, events, at } of early ?? []) add(project, events, at)
      early = null
    })().catch((error: unknown) => {
      loading = null
      throw error
    })
    return loading
  }
  const writeRows = async (tables: AccountTables, projects: readonly number[]): Promise<void> => {
    for (const id of projects) {
      const rates = counted.get(id)
      if (!rates || !(await tables.projects.first({ id }))) counted.delete(id)
      else {
        const row = rowOf(id, rates)
        if ((await tables.event_hours.update({ project_id: id }, row)) === 0) await tables.event_hours.insert(row)
      }
    }
  }
  const isOld = (now: number) => (project: number) => now - (storedAt.get(project) ?? 0) >= storedEveryMs

  return {
    count(project, events) {
      if (events === 0) return
      const at = clock().getTime()
      if (!early) add(project, events, at)
      else {
        early.push({ project, events, at })
        load().catch(report)
      }
    },
    async all() {
      await load()
      return counted
    },
    takeUnstored(now, most = mostStored) {
      const old = [...unstored].filter(isOld(now)).sort((a, b) => (storedAt.get(a) ?? 0) - (storedAt.get(b) ?? 0))
      const taken = old.slice(0, most)
      return async (tables) => {
        await writeRows(tables, taken)
        for (const project of taken) {
          unstored.delete(project)
          storedAt.set(project, now)
        }
      }
    },
    forget(project) {
      counted.delete(project)
      unstored.delete(project)
    },
    async flush() {
      if (early && early.length > 0) await load()
      const left = [...unstored]
      if (left.length > 0) await store.write((tables) => writeRows(tables, left))
      unstored.clear()
    },
  }
}
