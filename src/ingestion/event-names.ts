import type { StagedGroup } from './ports.ts'

export interface EventName {
  readonly id: number
  readonly name: string
  firstSeen: number
  lastSeen: number
  count: number
}

/** Names of one project. */
export const nameLimit = 200_000
/** Events of further names go by this one. */
export const otherName = '$other'

/** The dictionary of event names. All of it is in memory: a project has as many as its programmers wrote, up to a limit. */
export class EventNames {
  private readonly byName = new Map<string, EventName>()
  private readonly changed = new Set<EventName>()
  private readonly fresh = new Set<EventName>()
  /** Events whose own name there was no room for; read and cleared by the apply stage. */
  renamed = 0

  constructor(stored: readonly EventName[]) {
    for (const name of stored) this.byName.set(name.name, name)
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
