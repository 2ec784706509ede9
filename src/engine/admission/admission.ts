import { setMaxListeners } from 'node:events'
import { WaymarkError } from '../../errors/errors.ts'
import type { ScheduledStatement, StatementScheduler } from '../../lib/flow/statement-scheduler.ts'
import { type Costed, createCosts } from './costs.ts'
import { createLanes, type Claim as LaneClaim, lightMs } from './lanes.ts'
import type { Sharer } from './shares.ts'
import { TimeLimit } from './time-limit.ts'

// Runs the statements of a query: it claims execution slots one by one, waits for each, and fails when its time is over or its caller
// has left.

export interface Wanted extends Sharer {
  readonly isBackground?: boolean
  /** Its expected cost. */
  readonly cost?: Costed
  /** Aborts when the caller leaves. */
  readonly signal?: AbortSignal | undefined
  /** Waiting included. Default: no limit. */
  readonly seconds?: number
  /** Called when the first statement gets its slot. */
  readonly begin?: () => void
}

export interface Claim extends StatementScheduler {
  /** Aborts when the time is over or the caller has left. */
  readonly signal: AbortSignal
  /** Throws in the same cases: for work that keeps the thread. */
  readonly check: () => void
  /** Awaits work of others. Its time counts as waiting. */
  awaits<T>(promise: Promise<T>): Promise<T>
  /** Passes on the items of a source as they are read. The reader's time does not count. */
  paced<T, R>(source: AsyncGenerator<T, R, undefined>): AsyncGenerator<T, R, undefined>
  /** `isWhole`: the work was completed. Default: whether the `paced` source was read to its end. */
  end(isWhole?: boolean): void
}

const cancelled = () => new WaymarkError('query-cancelled', {})

/** Aborts when the time is over or the caller leaves. */
const departureOf = (limit: TimeLimit, left: AbortSignal | undefined) => {
  const stop = new AbortController()
  const leave = () => stop.abort(left?.reason instanceof WaymarkError ? left.reason : cancelled())
  if (left?.aborted) leave()
  left?.addEventListener('abort', leave, { once: true })
  const signal = AbortSignal.any([stop.signal, limit.signal])
  setMaxListeners(0, signal) // a query may have many statements
  // What waits is removed at the end: Node keeps a signal of several, and what its listeners hold, until it aborts.
  let refuse: () => void = () => undefined
  const gone = new Promise<never>((_, reject) => {
    refuse = () => reject(signal.reason)
  })
  gone.catch(() => undefined)
  if (signal.aborted) refuse()
  signal.addEventListener('abort', refuse, { once: true })
  const forget = () => {
    left?.removeEventListener('abort', leave)
    signal.removeEventListener('abort', refuse)
  }
  return { signal, gone, forget }
}

export const createAdmission = (slots: number) => {
  const lanes = createLanes(slots)
  const costs = createCosts()
  let claims = 0

  const claim = ({
    organization,
    project,
    caller,
    isBackground = false,
    cost,
    signal: left,
    seconds = Number.POSITIVE_INFINITY,
    begin,
  }: Wanted): Claim => {
    const limit = new TimeLimit(seconds)
    const { signal, gone, forget } = departureOf(limit, left)
    const ours: LaneClaim = {
      organization,
      project,
      caller,
      isBackground,
      isKnownHeavy: () => cost !== undefined && costs.of(cost) >= lightMs,
      spentMs: 0,
      interruptions: 0,
    }
    claims++
    let hasEnded = false
    let hasPaced = false
    const during = async <T>(mark: () => () => void, work: () => Promise<T>): Promise<T> => {
      const done = mark()
      try {
        return await work()
      } finally {
        done()
      }
    }

    return {
      signal,

      check() {
        limit.check()
        signal.throwIfAborted()
      },

      async schedule(work, { canRestart = true } = {}) {
        for (;;) {
          const slot = await during(
            () => limit.waiting(),
            () => lanes.enter(ours, canRestart, signal),
          )
          begin?.()
          const turn: ScheduledStatement = { signal: AbortSignal.any([signal, slot.interrupted]), hasRows: () => slot.read() }
          try {
            return await during(
              () => limit.working(),
              () => work(turn),
            )
          } catch (error) {
            if (signal.aborted || !slot.interrupted.aborted) throw error
          } finally {
            slot.leave()
            if (cost && ours.spentMs >= lightMs) costs.note(cost, ours.spentMs, false)
          }
        }
      },

      awaits: (promise) =>
        during(
          () => limit.waiting(),
          () => Promise.race([promise, gone]),
        ),

      async *paced(source) {
        try {
          for (;;) {
            limit.resume()
            const { done, value } = await source.next()
            if (done) {
              hasPaced = true
              return value
            }
            limit.pause()
            yield value
          }
        } finally {
          limit.pause()
          await source.return(undefined as never)
        }
      },

      isAlone: () => claims <= 1,

      end(isWhole = hasPaced) {
        if (!hasEnded) claims--
        hasEnded = true
        limit.pause()
        forget()
        if (cost) costs.note(cost, ours.spentMs, isWhole)
      },
    }
  }

  return {
    claim,

    /** Schedules other work of a project, each with a claim of its own. */
    upkeep: (project: number, seconds?: number): StatementScheduler => ({
      schedule(work, options) {
        const own = claim({ project, caller: 'upkeep', seconds })
        return ended(own, own.schedule(work, options))
      },
      isAlone: () => claims === 0,
    }),

    /** Statements waiting for a slot. */
    get waiting(): number {
      return lanes.waiting
    },
    get running(): number {
      return lanes.running
    },
  }
}
export type Admission = ReturnType<typeof createAdmission>

/** Ends a claim together with its work. */
export async function ended<T>(claim: Claim, work: Promise<T>): Promise<T> {
  let isWhole = false
  try {
    const answer = await work
    isWhole = true
    return answer
  } finally {
    claim.end(isWhole)
  }
}
