import type { AccountStore, AccountTables, EventHours } from '../accounts/records.ts'
import { type EventRates, type Gap, type Rates, ratesOf, rowOf, withEvents } from './event-rates.ts'
import { hourOf } from './hours.ts'

// The same counts of several servers together. Each adds its own to the stored ones every minute; a crash loses those of its last minute.

interface Arrived {
  readonly from: number
  to: number
  events: number
}

const storedEveryMs = 60_000
/** Projects of one transaction. */
const mostStored = 200

/** With a gap that is not confirmed yet: the server that counts what follows may be another one. */
type KeptGap = Gap & { readonly next?: Rates['newGap'] }
const noGap: Gap = { ms: 0, at: 0 }

const keptOf = (row: EventHours): Rates => {
  const rates = ratesOf(row)
  const kept = rates.longestGap as KeptGap | null
  return kept ? { ...rates, longestGap: kept.ms > 0 ? { ms: kept.ms, at: kept.at } : null, newGap: kept.next } : rates
}
const keptRow = (id: number, rates: Rates): EventHours => {
  const { newGap, longestGap } = rates
  return { ...rowOf(id, rates), longest_gap: newGap ? { ...(longestGap ?? noGap), next: { ...newGap } } : longestGap && { ...longestGap } }
}

export function createSharedRates(store: AccountStore, clock: () => Date, report: (error: unknown) => void): EventRates {
  let arrived = new Map<number, Arrived[]>()
  let storing: Promise<void> = Promise.resolve()
  let timer: NodeJS.Timeout | null = null

  const add = async (tables: AccountTables, some: readonly (readonly [number, readonly Arrived[]])[]): Promise<void> => {
    const ids = some.map(([id]) => id)
    const there = new Set((await tables.projects.find({ id: ids })).map(({ id }) => id))
    const rows = new Map((await tables.event_hours.find({ project_id: ids })).map((row) => [row.project_id, row]))
    for (const [id, pieces] of some) {
      if (!there.has(id)) continue
      const row = rows.get(id)
      let rates = row && keptOf(row)
      for (const { from, to, events } of pieces) {
        const next = withEvents(rates, events, from)
        rates = { ...next, latestAt: Math.max(next.latestAt, to) }
      }
      const after = keptRow(id, rates!)
      if (row) await tables.event_hours.update({ project_id: id }, after)
      else await tables.event_hours.insert(after)
    }
  }
  const flushLater = (): void => {
    timer ??= setTimeout(() => void flush().catch(report), storedEveryMs).unref()
  }
  /** What cannot be stored is tried again with what comes next. */
  const storeAll = async (): Promise<void> => {
    const taken = [...arrived]
    arrived = new Map()
    while (taken.length > 0) {
      const some = taken.splice(0, mostStored)
      try {
        await store.write((tables) => add(tables, some))
      } catch (error) {
        for (const [id, pieces] of [...some, ...taken]) arrived.set(id, [...pieces, ...(arrived.get(id) ?? [])])
        flushLater()
        throw error
      }
    }
  }
  const flush = (): Promise<void> => {
    if (timer) clearTimeout(timer)
    timer = null
    const turn = storing.then(storeAll)
    storing = turn.catch(() => undefined)
    return turn
  }
  return {
    flush,
    count(project, events) {
      if (events === 0) return
      const at = clock().getTime()
      const pieces = arrived.get(project) ?? []
      arrived.set(project, pieces)
      const last = pieces.at(-1)
      if (last && hourOf(last.to) === hourOf(at) && at >= last.to && at - last.to < storedEveryMs) {
        last.to = at
        last.events += events
      } else pieces.push({ from: at, to: at, events })
      flushLater()
    },
    async all() {
      await flush()
      return new Map((await store.read.event_hours.find({})).map((row) => [row.project_id, keptOf(row)]))
    },
    takeUnstored: () => async () => undefined,
    forget(project) {
      arrived.delete(project)
    },
  }
}
