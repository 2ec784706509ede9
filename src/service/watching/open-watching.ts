import type { AccountContext } from '../accounts/context.ts'
import type { ServerHours } from '../accounts/records.ts'
import type { Kind } from '../jobs/kind.ts'
import type { Retry } from '../jobs/retry.ts'
import { createRunner, type Runner } from '../jobs/runner.ts'
import { transitions, write } from './check.ts'
import { createEventRates, type EventRates } from './event-rates.ts'
import { dayMs } from './hours.ts'
import { measureAll, serverRow } from './measure.ts'
import { type Measured, serverId } from './measured.ts'
import { createSharedRates } from './shared-rates.ts'
import type { WatchedServer } from './watched-server.ts'
import { createWatches, type Watches } from './watches.ts'

// Looks every few minutes for what owners should know, as due work: one piece for all projects, because what it reads is in memory. Of several servers one looks at a time, and each counts what it takes.

const minuteMs = 60_000
const checkEveryMs = 5 * minuteMs
/** A process that has just begun has other things to do. */
const firstAfterMs = minuteMs
const keptMs = 30 * dayMs
const retry: Retry = { attempts: Number.POSITIVE_INFINITY, firstMs: minuteMs, growth: 2, longestMs: 30 * minuteMs, jitter: 0.25 }

export interface WatchingParts {
  readonly context: AccountContext
  readonly server: WatchedServer
  /** Mails are waiting. */
  wakeDeliveries(): void
  report(error: unknown): void
  readonly owner?: string
  readonly isAlone?: boolean
  /** When this process began. Default: with its first look. */
  readonly began?: Date
}

interface CheckParts extends WatchingParts {
  readonly rates: EventRates
  measured(all: Measured): void
}

function checkKind({ context, server, rates, began: given, measured, wakeDeliveries, report }: CheckParts): Kind<string> {
  const { store, clock } = context
  let began = given?.getTime() ?? null
  const known = (): Promise<ServerHours | undefined> => store.read.server_hours.first({ id: serverRow })
  /** A clock that was set back must not end the watch. */
  const dueAt = (row: ServerHours | undefined, now: Date): number => {
    const last = row?.checked_at.getTime() ?? Number.NEGATIVE_INFINITY
    began ??= now.getTime()
    return last > now.getTime() ? now.getTime() : Math.max(last + checkEveryMs, began + firstAfterMs)
  }
  return {
    name: 'watch',
    share: { slots: 1 },
    retry,
    mostMs: 5 * minuteMs,
    guarantee: 'once',
    async due(now) {
      return { due: [{ id: serverRow, projectId: serverId, at: dueAt(await known(), now), item: serverRow }] }
    },
    async claim(tables, item, now) {
      const row = await tables.server_hours.first({ id: serverRow })
      return dueAt(row, now) <= now.getTime() ? item : null
    },
    async run() {
      const now = clock()
      const check = await measureAll(
        { read: store.read, rates, server, began: began ?? now.getTime(), report },
        await known(),
        now.getTime(),
      )
      const found = transitions(check.measured, await store.read.watch_states.find({}))
      const storeRates = rates.takeUnstored(now.getTime())
      measured(check.measured)
      return async (tables) => {
        await storeRates(tables)
        for (const one of found) if (!(await write(context, tables, one, now))) rates.forget(one.state.project_id)
        const { id, ...row } = check.server
        if ((await tables.server_hours.update({ id }, row)) === 0) await tables.server_hours.insert(check.server)
      }
    },
    ended: () => wakeDeliveries(),
    async sweep(now) {
      const old = (await store.read.watch_states.find({})).filter(({ ended_at }) => ended_at && now.getTime() - ended_at.getTime() > keptMs)
      if (old.length > 0) await store.write((tables) => tables.watch_states.remove({ id: old.map(({ id }) => id) }))
    },
  }
}

interface ArrivedEvents {
  readonly accepted: number
  readonly duplicates: number
  readonly dropped: number
}
interface Arrived {
  /** Events that were accepted as they happened. */
  live: number
  /** Those of imports of the past. */
  past: number
  duplicates: number
  dropped: number
}

export interface OpenedWatching {
  readonly runner: Runner
  readonly watches: Watches
  /** Counts what was acknowledged. */
  count(project: number, answer: ArrivedEvents, isPast: boolean): void
  /** Since this process began. */
  readonly arrived: Readonly<Arrived>
  /** What the last check measured; null: there was none. */
  readonly latest: Measured | null
  close(): Promise<void>
}

/** `runs`: whether this process checks, and tells owners. */
export function openWatching(parts: WatchingParts, runs = true): OpenedWatching {
  const { context, report } = parts
  const rates = (context.isShared ? createSharedRates : createEventRates)(context.store, context.clock, report)
  const arrived: Arrived = { live: 0, past: 0, duplicates: 0, dropped: 0 }
  let latest: Measured | null = null
  const check = checkKind({
    ...parts,
    rates,
    measured(all) {
      latest = all
    },
  })
  const runner = createRunner(parts, [check as Kind<unknown>])
  if (runs) runner.begin()
  return {
    runner,
    watches: createWatches(context),
    arrived,
    count(project, { accepted, duplicates, dropped }, isPast) {
      arrived[isPast ? 'past' : 'live'] += accepted
      arrived.duplicates += duplicates
      arrived.dropped += dropped
      if ((runs || context.isShared) && !isPast) rates.count(project, accepted)
    },
    get latest() {
      return latest
    },
    async close() {
      await runner.close()
      await rates.flush()
    },
  }
}
