import { randomUUID } from 'node:crypto'
import { runLoop } from '../../lib/flow/loop.ts'
import type { AccountContext } from '../accounts/context.ts'
import { attempt, leaseOf } from './attempt.ts'
import { groupedWrites } from './grouped-writes.ts'
import type { Due, Kind, Share } from './kind.ts'
import { createLeases } from './leases.ts'
import { createPool, type Pool } from './pool.ts'

// Finds what is due and does it. All state is in the tables, so any process that has them can go on.

export interface RunnerParts {
  readonly context: Pick<AccountContext, 'store' | 'clock'> & Partial<Pick<AccountContext, 'isShared'>>
  /** For errors outside of the work. */
  report(error: unknown): void
  /** Identifies this process in leases. */
  readonly owner?: string
  /** No other process has this store, as the lock of the data directory makes sure: other owners of leases have ended. Default: unless the store is shared. */
  readonly isAlone?: boolean
  /** From 0 to 1. */
  random?(): number
}

const renewMs = 20_000
const sweepEveryMs = 86_400_000
/** How often what is due is read while work waits for a slot. */
const readEveryMs = 1_000

interface Running {
  readonly kind: Kind<unknown>
  readonly item: unknown
  readonly stop: AbortController
  readonly done: Promise<void>
  isHeld: boolean
}

interface Waiting {
  readonly kind: Kind<unknown>
  readonly due: Due<unknown>
}

/** An error is reported, unless everything ends. */
const guardedBy =
  (report: RunnerParts['report'], closing: AbortSignal) =>
  async <T>(work: () => Promise<T>, otherwise: T): Promise<T> => {
    try {
      return await work()
    } catch (error) {
      if (!closing.aborted) report(error)
      return otherwise
    }
  }

/** Of what this process does at the moment; what is lost, or no longer wanted, is aborted. */
const renewAll = async (leases: ReturnType<typeof createLeases>, running: ReadonlyMap<string, Running>): Promise<void> => {
  if (running.size === 0) return
  for (const id of await leases.renew(() => [...running].flatMap(([id, { isHeld }]) => (isHeld ? [id] : [])))) running.get(id)?.stop.abort()
  for (const { kind, item, stop } of [...running.values()]) if (kind.isWanted && !(await kind.isWanted(item))) stop.abort()
}

export const createRunner = (
  { context, report, owner = randomUUID(), isAlone = !context.isShared, random = Math.random }: RunnerParts,
  kinds: readonly Kind<unknown>[],
) => {
  const { store, clock } = context
  const now = () => clock().getTime()
  const names = kinds.map(({ name }) => name)
  const leases = createLeases(store, names, owner, now)
  const parts = { write: groupedWrites(store), leases, clock, random, report }
  const pools = new Map<Share, Pool>(kinds.map(({ share }) => [share, createPool(share)]))
  const running = new Map<string, Running>()
  const closing = new AbortController()
  const guarded = guardedBy(report, closing.signal)
  let sweptAt = Number.NEGATIVE_INFINITY
  let ticking: Promise<number> = Promise.resolve(0)
  let wake = (): void => undefined
  let endLoop = (): void => undefined

  const start = (kind: Kind<unknown>, due: Due<unknown>): Promise<void> => {
    const id = leaseOf(kind, due)
    const stop = new AbortController()
    const onLease = () => {
      one.isHeld = true
    }
    const done = attempt(parts, kind, due, stop, onLease)
      .catch(report)
      .finally(() => {
        running.delete(id)
        kind.ended?.(due.item)
        if (!pools.get(kind.share)!.isFull) wake()
      })
    const one: Running = { kind, item: due.item, stop, done, isHeld: false }
    running.set(id, one)
    return done
  }
  const placeOf = (kind: Kind<unknown>, due: Due<unknown>) => ({ ...due, id: leaseOf(kind, due) })

  const sweep = async (): Promise<void> => {
    if (Math.abs(now() - sweptAt) < sweepEveryMs) return
    const isFirst = sweptAt === Number.NEGATIVE_INFINITY
    sweptAt = now()
    await leases.sweep(isAlone && isFirst)
    for (const kind of kinds) await guarded(async () => kind.sweep?.(clock()), undefined)
  }

  const tickOnce = async (): Promise<number> => {
    if (closing.signal.aborted) return Number.POSITIVE_INFINITY
    await sweep()
    const found: Waiting[] = []
    let next = Number.POSITIVE_INFINITY
    for (const kind of kinds) {
      const { due, next: look = next } = await guarded(() => kind.due(clock(), closing.signal), { due: [] })
      next = Math.min(next, look)
      for (const one of due) found.push({ kind, due: one })
    }
    const ends = found.length > 0 ? await leases.ends() : new Map<string, number>()
    const waiting: Waiting[] = []
    for (const one of found) {
      const id = leaseOf(one.kind, one.due)
      const at = running.has(id) ? one.due.at : Math.max(one.due.at, ends.get(id) ?? 0)
      if (at > now()) next = Math.min(next, at)
      else waiting.push(one)
    }
    if (closing.signal.aborted) return Number.POSITIVE_INFINITY
    for (const [share, pool] of pools) {
      const ofPool = waiting.filter(({ kind }) => kind.share === share)
      pool.fill(ofPool.map(({ kind, due }) => ({ place: placeOf(kind, due), work: () => start(kind, due) })))
      if (pool.isFull) next = Math.min(next, now() + readEveryMs)
    }
    return next
  }

  const renew = () => renewAll(leases, running)
  const renewing = setInterval(() => void guarded(renew, undefined), renewMs)
  renewing.unref()

  const abort = (isMeant: (one: Running) => boolean): void => {
    for (const one of running.values()) if (isMeant(one)) one.stop.abort()
  }

  return {
    /** Looks for what is due by itself from now on. */
    begin(): void {
      const loop = runLoop(() => this.tick(), clock, report)
      wake = () => loop.wake()
      endLoop = () => loop.close()
    },
    /** Something may be due. */
    wake: (): void => wake(),
    /** Starts what is due, without waiting for it. Returns when something is due next. */
    tick(): Promise<number> {
      ticking = ticking.then(tickOnce, tickOnce)
      return ticking
    },
    /** Makes an attempt now, whatever else waits. It has ended when this returns; one that was due at the same time is the same attempt. */
    async now<Item>(kind: Kind<Item>, due: Due<Item>): Promise<void> {
      if (closing.signal.aborted) return
      const any = kind as Kind<unknown>
      const place = placeOf(any, due)
      await (running.get(place.id)?.done ?? pools.get(kind.share)!.count(place, () => start(any, due)))
    },
    renew,
    abort: (isMeant: (item: unknown) => boolean): void => abort(({ item }) => isMeant(item)),
    /** Waits for what is being done. What waited for its slots may have begun by then. */
    async settled(): Promise<void> {
      await Promise.all([...running.values()].map(({ done }) => done))
    },
    get running(): number {
      return running.size
    },
    /** Aborts what is being done, and gives the leases back: the next process goes on. */
    async close(): Promise<void> {
      closing.abort()
      endLoop()
      for (const pool of pools.values()) pool.stop()
      abort(({ kind }) => kind.share.graceMs === undefined)
      await ticking.catch(() => undefined)
      const timers = [...pools.keys()].map((share) => setTimeout(() => abort(({ kind }) => kind.share === share), share.graceMs ?? 0))
      await this.settled()
      for (const timer of timers) clearTimeout(timer)
      clearInterval(renewing)
    },
  }
}
export type Runner = ReturnType<typeof createRunner>
