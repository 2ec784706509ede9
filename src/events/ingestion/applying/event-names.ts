import type { StagedGroup } from '../ports.ts'

export interface EventName {
  readonly id: number
  readonly name: string
  firstSeen: number
  lastSeen: number
  count: number
}

/** Maximum number of event names in one project. */
export const nameLimit = 200_000
/** The name under which events with further names are stored. */
const otherName = '$other'

/** The dictionary of event names. It is entirely in memory, since names come from source code and their number is limited. */
export class EventNames {
  private readonly byName = new Map<string, EventName>()
  private readonly changed = new Set<EventName>()
  private readonly fresh = new Set<EventName>()
  /** Number of events beyond the limit of names. Read and reset by the apply stage. */
  renamed = 0

  constructor(stored: readonly EventName[]) {
    for (const name of stored) this.byName.set(name.name, name)
  }

  get size(): number {
    return this.byName.size
  }

  /** The id of the name of an event that happened at `time`. */
  count(name: string, time: number): number {
    let known = this.byName.get(name)
    if (!known && this.byName.size >= nameLimit && name !== otherName) {
      this.renamed++
      return this.count(otherName, time)
    }
    if (!known) {
      known = { id: this.byName.size + 1, name, firstSeen: time, lastSeen: time, count: 0 }
      this.byName.set(name, known)
      this.fresh.add(known)
    }
    known.count++
    if (time < known.firstSeen) known.firstSeen = time
    if (time > known.lastSeen) known.lastSeen = time
    this.changed.add(known)
    return known.id
  }

  stage(group: StagedGroup): void {
    for (const name of this.changed)
      group.put(
        'event_names',
        { event_id: name.id, name: name.name, first_seen: name.firstSeen, last_seen: name.lastSeen, count: name.count },
        this.fresh.has(name),
      )
    this.changed.clear()
    this.fresh.clear()
  }
}
