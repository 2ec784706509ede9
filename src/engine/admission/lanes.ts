import { onAbort } from '../../lib/flow/on-abort.ts'
import { createShares, organizationOf, type Sharer } from './shares.ts'
import { createWaitQueue } from './wait-queue.ts'

// Schedules statements into execution slots. Statements come from many projects, and their cost is not known in advance: each counts as light until it
// has run for a while, or its query is known to be heavy. Any statement may take a free slot. When a statement with a higher claim waits, the youngest
// running one that has had its minimum time is interrupted and restarted later, twice at most: then it waits for a slot that it may keep. Statements that
// keep their slots never take the last one, nor more than half of the slots for one project. A statement whose sharer has used much more than that of a
// waiting one yields in any case, but each time only after four times as long: a long query ends, and an endless one keeps nobody out.

/** Until it has run this long, a statement counts as light and is not interrupted. */
export const lightMs = 500
const maxInterruptions = 2
/** How long a statement runs, and how much more its sharer has used, before it yields for that reason. */
export const debtMs = 2_000
const growthOfDebt = 4

/** A query, or other work of a project, with its statements. */
export interface Claim extends Sharer {
  readonly isBackground: boolean
  /** The query took long when it last ran. */
  readonly isKnownHeavy: () => boolean
  /** The time its statements have taken so far. */
  spentMs: number
  interruptions: number
}

export interface Slot {
  /** Aborts when another statement needs the slot. */
  readonly interrupted: AbortSignal
  /** The engine has produced all rows. The slot is free for another statement; until `leave` there are at most as many such readers as slots. */
  read(): void
  leave(): void
}

interface Waiter {
  readonly claim: Claim
  readonly canRestart: boolean
  /** Number of its arrival. */
  readonly turn: number
  start(slot: Slot): void
}
interface Runner {
  readonly claim: Claim
  readonly canRestart: boolean
  readonly since: number
  readonly interrupt: AbortController
}

const level = { light: 0, heavy: 1, background: 2 } as const

const now = () => performance.now()

/** Compares the claims of what runs and what waits. */
const createRanking = (
  slots: number,
  shares: ReturnType<typeof createShares>,
  running: ReadonlySet<Runner>,
  reading: ReadonlySet<Runner>,
) => {
  const mostKept = Math.max(1, slots - 1)
  const mostKeptOfProject = Math.max(1, Math.floor(slots / 2))
  const spent = (claim: Claim): number => {
    let ms = claim.spentMs
    for (const one of [...running, ...reading]) if (one.claim === claim) ms += now() - one.since
    return ms
  }
  const isHeavy = (claim: Claim) => spent(claim) >= lightMs || claim.isKnownHeavy()
  const levelOf = (claim: Claim) => (!isHeavy(claim) ? level.light : claim.isBackground ? level.background : level.heavy)
  const isKept = ({ claim, canRestart }: Waiter | Runner) => !canRestart || claim.interruptions >= maxInterruptions
  const count = (holds: (one: Runner) => boolean) => [...running].filter(holds).length

  /** Those that keep their slots, of which one must leave before the waiter may start; none: it may. */
  const keptAhead = (waiter: Waiter): readonly Runner[] => {
    if (!isKept(waiter)) return []
    const kept = [...running].filter(isKept)
    const ofProject = kept.filter(({ claim }) => claim.project === waiter.claim.project)
    if (ofProject.length >= mostKeptOfProject) return ofProject
    return kept.length >= mostKept ? kept : []
  }
  const mayStart = (waiter: Waiter): boolean => keptAhead(waiter).length === 0
  /** What the sharers of a claim have used, with what they hold. */
  const usedBy = (by: Claim, at = now()): { readonly organization: number; readonly project: number; readonly caller: number } => {
    let { organization, project, caller } = shares.used(by)
    for (const { claim, since } of [...running, ...reading]) {
      if (organizationOf(claim) !== organizationOf(by)) continue
      organization += at - since
      if (claim.project !== by.project) continue
      project += at - since
      if (claim.caller === by.caller) caller += at - since
    }
    return { organization, project, caller }
  }
  /** By how much the sharer of one has used more than that of the other, where the two differ first. */
  const debt = (one: Claim, other: Claim): number => {
    const [used, ofOther] = [usedBy(one), usedBy(other)]
    if (organizationOf(one) !== organizationOf(other)) return used.organization - ofOther.organization
    return one.project !== other.project ? used.project - ofOther.project : used.caller - ofOther.caller
  }
  /** After so long its sharer may be too far ahead. */
  const turnMs = ({ claim }: Runner) => debtMs * growthOfDebt ** claim.interruptions
  const owes = (one: Runner, { claim }: Waiter): boolean => {
    const mayPass = organizationOf(one.claim) !== organizationOf(claim) || levelOf(one.claim) >= levelOf(claim)
    const least = turnMs(one)
    return mayPass && one.canRestart && now() - one.since >= least && debt(one.claim, claim) >= least
  }
  /** By their claim. */
  const ranked = (waiters: Iterable<Waiter>): Waiter[] => {
    const at = now()
    const rank = ({ claim }: Waiter) => {
      const { organization, project, caller } = usedBy(claim, at)
      return [organization, project, caller, levelOf(claim)] as const
    }
    return [...waiters]
      .map((waiter) => ({ waiter, rank: rank(waiter) }))
      .sort(({ rank: a, waiter: one }, { rank: b, waiter: other }) => {
        return a[0] - b[0] || a[1] - b[1] || a[2] - b[2] || a[3] - b[3] || one.turn - other.turn
      })
      .map(({ waiter }) => waiter)
  }

  /** The statement that yields to this one: the youngest of those below it, of a project with two slots more, or of somebody who has used much more. */
  const whoYields = (waiter: Waiter): Runner | undefined => {
    const own = levelOf(waiter.claim)
    const slotsOf = (project: number) => count(({ claim }) => claim.project === project)
    const fewer = slotsOf(waiter.claim.project)
    const isBelow = (one: Runner) => levelOf(one.claim) > own
    const areAllBelow = [...running].every(isBelow)
    const lowest = Math.max(...[...running].map(({ claim }) => levelOf(claim)))
    const mayYield = ({ claim }: Runner) => (areAllBelow ? levelOf(claim) === lowest : slotsOf(claim.project) >= fewer + 2)
    const ahead = keptAhead(waiter)
    const candidates =
      ahead.length > 0
        ? ahead.filter((one) => owes(one, waiter))
        : [...running].filter((one) => (!isKept(one) && isHeavy(one.claim) && mayYield(one)) || owes(one, waiter))
    return candidates.sort((a, b) => a.since - b.since).at(-1)
  }

  return { spent, count, ranked, mayStart, turnMs, whoYields }
}

export const createLanes = (slots: number) => {
  const shares = createShares()
  const waiting = createWaitQueue<Claim, Waiter>()
  let turns = 0
  const running = new Set<Runner>()
  const reading = new Set<Runner>()
  const { spent, count, ranked, mayStart, turnMs, whoYields } = createRanking(slots, shares, running, reading)
  let timer: NodeJS.Timeout | undefined

  const start = (waiter: Waiter) => {
    waiting.delete(waiter)
    const { claim, canRestart } = waiter
    const runner: Runner = { claim, canRestart, since: now(), interrupt: new AbortController() }
    running.add(runner)
    waiter.start({
      interrupted: runner.interrupt.signal,
      read() {
        if (!running.delete(runner)) return
        reading.add(runner)
        settle()
      },
      leave() {
        if (!running.delete(runner) && !reading.delete(runner)) return
        const ms = now() - runner.since
        claim.spentMs += ms
        shares.use(claim, ms)
        shares.leave(claim)
        settle()
      },
    })
  }

  const makeRoom = () => {
    if (count(({ interrupt }) => interrupt.signal.aborted) > 0) return // the interrupted statement frees its slot first
    for (const waiter of ranked(waiting.firsts())) {
      if (running.size < slots && mayStart(waiter)) continue // it waits for readers
      const runner = whoYields(waiter)
      if (!runner) continue
      runner.claim.interruptions++
      runner.interrupt.abort()
      return
    }
  }

  const hasRoom = () => running.size < slots && running.size + reading.size < 2 * slots

  const settle = () => {
    clearTimeout(timer)
    const next = () => ranked(waiting.firsts()).find(mayStart)
    for (let waiter = next(); waiter && hasRoom(); waiter = next()) start(waiter)
    if (waiting.size === 0) return
    makeRoom()
    // A statement that is light now becomes heavy after a while, and who runs uses more and more.
    const left = [...running].flatMap((one) => [lightMs - spent(one.claim), turnMs(one) - (now() - one.since)]).filter((ms) => ms > 0)
    timer = setTimeout(settle, Math.ceil(Math.min(debtMs, ...left)))
    timer.unref()
  }

  return {
    /** Resolves with a slot. An aborted signal removes the caller from the queue; its reason is thrown. */
    enter(claim: Claim, canRestart: boolean, signal: AbortSignal): Promise<Slot> {
      return new Promise((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason)
        const giveUp = () => {
          waiting.delete(waiter)
          shares.leave(claim)
          reject(signal.reason)
          if (waiting.size === 0) settle()
        }
        const waiter: Waiter = {
          claim,
          canRestart,
          turn: turns++,
          start(slot) {
            leave()
            resolve(slot)
          },
        }
        const leave = onAbort(signal, giveUp)
        shares.join(claim)
        waiting.add(waiter)
        settle()
      })
    },
    get waiting(): number {
      return waiting.size
    },
    get running(): number {
      return running.size
    },
  }
}
export type Lanes = ReturnType<typeof createLanes>
