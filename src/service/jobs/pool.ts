import PQueue, { type Queue, type QueueAddOptions } from 'p-queue'
import type { Share } from './kind.ts'

// Slots, and who gets the next one. p-queue counts the slots and waits for what runs; the order is its queue class, because p-queue orders by a number that is
// given when work is added, and fairness depends on what runs when a slot becomes free.

/** What the order depends on. */
export interface QueuePlace {
  readonly id: string
  readonly projectId: number
  readonly part?: string
  readonly at: number
  readonly failures?: number
}

type Run = () => Promise<unknown>
interface Waiting extends QueueAddOptions {
  readonly place?: QueuePlace
}

/** By how much work that failed goes behind other work of its age: receivers that do not answer must not keep the others waiting. */
const failureMs = 60_000
const since = ({ at, failures = 0 }: QueuePlace) => at + Math.min(failures, 10) * failureMs

const countBy = (places: Iterable<QueuePlace>, keyOf: (place: QueuePlace) => string): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>()
  for (const place of places) counts.set(keyOf(place), (counts.get(keyOf(place)) ?? 0) + 1)
  return counts
}
const projectOf = ({ projectId }: QueuePlace) => String(projectId)
const partOf = ({ projectId, part }: QueuePlace) => `${projectId} ${part}`

interface Started {
  readonly place: QueuePlace
  readonly at: number
}
type RunningPlaces = ReadonlyMap<string, Started>
const placesOf = (running: RunningPlaces) => [...running.values()].map(({ place }) => place)

const startable = (running: RunningPlaces, { slots, ofProject = slots, quick }: Share) => {
  const projects = countBy(placesOf(running), projectOf)
  const isQuick = ({ at }: Started) => performance.now() - at < quick!.ms
  if (quick && [...running.values()].filter(isQuick).length >= quick.slots) return () => false
  return (place: QueuePlace): boolean => !running.has(place.id) && (projects.get(projectOf(place)) ?? 0) < ofProject
}

/**
 * The one that is next: of the projects with the least in progress, then of the parts with the least, then the one that is due longest. Undefined if none may
 * start now.
 */
function firstOf<P extends QueuePlace>(waiting: Iterable<P>, running: RunningPlaces, share: Share): P | undefined {
  const projects = countBy(placesOf(running), projectOf)
  const parts = countBy(placesOf(running), partOf)
  const mayStart = startable(running, share)
  const rank = (place: P) => [projects.get(projectOf(place)) ?? 0, parts.get(partOf(place)) ?? 0, since(place)]
  const isBefore = (a: readonly number[], b: readonly number[]) => {
    const differs = a.findIndex((value, i) => value !== b[i])
    return differs !== -1 && a[differs]! < b[differs]!
  }
  let first: { readonly place: P; readonly rank: readonly number[] } | undefined
  for (const place of waiting) {
    if (!mayStart(place)) continue
    const own = rank(place)
    if (!first || isBefore(own, first.rank)) first = { place, rank: own }
  }
  return first?.place
}

/** The waiting work of one share. Its size is that of what may start: p-queue takes a slot only for such. */
const fairQueue = (running: RunningPlaces, share: Share) =>
  class implements Queue<Run, Waiting> {
    readonly waiting = new Map<QueuePlace, Run>()
    get size(): number {
      const mayStart = startable(running, share)
      for (const place of this.waiting.keys()) if (mayStart(place)) return 1
      return 0
    }
    enqueue(run: Run, { place }: Partial<Waiting> = {}): void {
      this.waiting.set(place!, run)
    }
    dequeue(): Run | undefined {
      const first = firstOf(this.waiting.keys(), running, share)
      const run = first && this.waiting.get(first)
      if (first) this.waiting.delete(first)
      return run
    }
    filter(): Run[] {
      return [...this.waiting.values()]
    }
    setPriority(): void {
      throw new TypeError('The order is computed')
    }
  }

export const createPool = (share: Share) => {
  const running = new Map<string, Started>()
  const queue = new PQueue<InstanceType<ReturnType<typeof fairQueue>>, Waiting>({
    concurrency: share.slots,
    queueClass: fairQueue(running, share),
  })
  /** Does it outside the slots, but counts it. */
  const count = async (place: QueuePlace, work: () => Promise<void>): Promise<void> => {
    running.set(place.id, { place, at: performance.now() })
    try {
      await work()
    } finally {
      running.delete(place.id)
    }
  }
  return {
    count,
    /** Replaces what waits, and starts as much as there are slots. */
    fill(waiting: readonly { readonly place: QueuePlace; work(): Promise<void> }[]): void {
      queue.pause()
      queue.clear()
      for (const { place, work } of waiting) void queue.add(() => count(place, work), { place })
      queue.start()
    },
    /** Whether something waits for a slot only. */
    get isFull(): boolean {
      return queue.size > 0
    },
    /** Starts nothing more. */
    stop(): void {
      queue.pause()
      queue.clear()
    },
  }
}
export type Pool = ReturnType<typeof createPool>
