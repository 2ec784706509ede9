import { type Deferred, deferred } from '../lib/deferred.ts'
import type { MemoryHolder, MemoryShare } from '../lib/memory-share.ts'
import { EventLists } from './event-lists.ts'
import type { EventBatch, ListSource } from './ports.ts'

interface Loaded {
  readonly lists: EventLists
  /** The last record whose event is in the lists. */
  seq: number
  merges: Merges
}

interface Merges {
  readonly mark: string
  readonly survivorOf: ReadonlyMap<number, number>
}

/** The lists of a project. The first query creates them, and each further query updates them from the store. */
export class ProjectLists implements MemoryHolder {
  private readonly memory: MemoryShare
  private loaded: Loaded | null = null
  private isChanging = false
  /** The lists have changed since their last complete update. */
  private isIncomplete = false
  /** More than all of the budget: no query counts the events again to find that out. */
  private isTooLarge: boolean
  /** Serializes the changes. */
  private changing: Promise<unknown> = Promise.resolve()
  private readers = 0
  private idle: Deferred<void> | null = null

  constructor(memory: MemoryShare) {
    this.memory = memory
    this.isTooLarge = memory.most === 0
  }

  /** Runs a reader over lists that include everything up to a record of the log. Null if they do not fit into memory. */
  async use<T>(source: ListSource, seq: number, read: (lists: EventLists) => Promise<T>): Promise<{ readonly answer: T } | null> {
    const change = this.changing.then(() => this.open(source, seq))
    this.changing = change.catch(() => undefined)
    const lists = await change
    if (!lists) return null
    try {
      return { answer: await read(lists) }
    } finally {
      if (--this.readers === 0) this.idle?.resolve()
    }
  }

  evict(): boolean {
    if (this.readers > 0 || this.isChanging) return false
    this.loaded = null
    return true
  }

  /** Frees the memory. */
  close(): void {
    this.forget()
  }

  /** Updates the lists and registers the reader, before anything else can change them. */
  private async open(source: ListSource, seq: number): Promise<EventLists | null> {
    if (this.isTooLarge) return null
    if (!this.loaded || this.loaded.seq < seq) {
      await this.readersGone()
      this.isChanging = true
      try {
        if (!(await this.catchUp(source))) return null
      } catch (error) {
        if (this.isIncomplete || !this.loaded) this.forget()
        throw error
      } finally {
        this.isChanging = false
      }
    }
    this.memory.touch(this)
    this.readers++
    return this.loaded!.lists
  }

  private async readersGone(): Promise<void> {
    if (this.readers === 0) return
    this.idle = deferred()
    await this.idle.promise
    this.idle = null
  }

  private async catchUp(source: ListSource): Promise<boolean> {
    const mark = await source.mergesMark()
    const known = this.loaded?.merges
    const merges = known?.mark === mark ? known : { mark, survivorOf: await source.merges() }
    if (known && known !== merges && !follows(known.survivorOf, merges.survivorOf)) this.forget()
    const loaded = this.loaded ?? (await this.begin(source, merges))
    if (!loaded) return false
    const { lists } = loaded
    this.isIncomplete = loaded.merges !== merges
    if (loaded.merges !== merges)
      for (const [merged, survivor] of merges.survivorOf)
        if (loaded.merges.survivorOf.get(merged) !== survivor) lists.merge(merged, survivor)
    const seq = await source.eventsAfter(loaded.seq, (batch) => {
      this.isIncomplete = true
      lists.add(survivors(batch, merges))
    })
    this.loaded = Object.assign(loaded, { seq: Math.max(seq, loaded.seq), merges })
    this.isIncomplete = false
    if (this.take(lists.bytes)) return true
    this.forget()
    return false
  }

  /** Empty lists with room for all events. Null if there is not enough memory. */
  private async begin(source: ListSource, merges: Merges): Promise<Loaded | null> {
    const { person, events } = await source.counts()
    const all = events.reduce((sum, count) => sum + count, 0)
    if (!this.take(EventLists.bytesOf(all, person.length))) return null
    const byPerson = new Map<number, number>()
    for (let i = 0; i < person.length; i++) {
      const survivor = merges.survivorOf.get(person[i]!) ?? person[i]!
      byPerson.set(survivor, (byPerson.get(survivor) ?? 0) + events[i]!)
    }
    const lists = new EventLists()
    lists.expect(Int32Array.from(byPerson.keys()), Int32Array.from(byPerson.values()))
    return { lists, seq: 0, merges }
  }

  /** Events are not removed, so what is too large stays so. */
  private take(bytes: number): boolean {
    this.isTooLarge = bytes > this.memory.most
    return this.memory.take(this, bytes)
  }

  private forget(): void {
    this.loaded = null
    this.isIncomplete = false
    this.memory.give(this)
  }
}

/** True if lists with the first merges can be updated to the second ones by merging further lists. */
function follows(before: ReadonlyMap<number, number>, now: ReadonlyMap<number, number>): boolean {
  for (const [merged, survivor] of before) {
    const later = now.get(merged)
    if (later !== survivor && (later === undefined || now.get(survivor) !== later)) return false
  }
  return true
}

function survivors(batch: EventBatch, { survivorOf }: Merges): EventBatch {
  if (survivorOf.size === 0) return batch
  return { ...batch, person: batch.person.map((person) => survivorOf.get(person) ?? person) }
}
