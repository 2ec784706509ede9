// Who is who, with objects that point at each other: nothing is stored, merged in bulk or remembered by number.

type Properties = Record<string, unknown>

interface Owner {
  /** What its uuid is made from: an id of its own, for most. */
  readonly name: string
  ids: string[]
  isPerson: boolean
  isIdentified: boolean
  createdAt: number
  version: number
  properties: Properties
  into: Owner | null
}

export interface ModelEvent {
  event: string
  distinct_id: string
  uuid: string
  time: number
  isPersonless?: boolean
  set?: Properties
  setOnce?: Properties
  unset?: string[]
  other?: string
}

/** A change by a user, of the person of an id. */
export type ModelChange =
  | { change: 'write'; of: string; set: Properties; unset: string[] }
  | { change: 'merge'; of: string; sources: string[] }
  | { change: 'split'; of: string; ids: string[] | null }
  | { change: 'delete'; of: string; withEvents: boolean }

export class IdentityModel {
  private readonly owners = new Map<string, Owner>()
  private readonly events = new Map<string, { readonly id: string; owner: Owner }>()
  private readonly removed = new Set<string>()
  /** Names of persons that their id has left. */
  private readonly taken = new Set<string>()
  private seq = 0
  readonly warnings = new Map<string, number>()

  /** Whether the event is stored. */
  apply(event: ModelEvent): boolean {
    this.seq++
    const isMerge = event.event === '$identify' || event.event === '$create_alias' || event.event === '$merge_dangerously'
    const needsPerson = isMerge || event.event === '$groupidentify' || event.event === '$group_identify'
    if (event.isPersonless && needsPerson) {
      this.warn('invalid_event_when_process_person_profile_is_false')
      return false
    }
    if (this.events.has(event.uuid) || this.removed.has(event.uuid)) return false
    if (event.isPersonless) {
      this.events.set(event.uuid, { id: event.distinct_id, owner: this.owner(event.distinct_id) ?? this.add(event, false) })
      return true
    }
    const merged = isMerge && event.other !== undefined ? this.merge(event, event.other) : null
    let owner = merged?.owner ?? this.owner(event.distinct_id)
    let isNew = merged?.isNew ?? false
    if (!owner?.isPerson) {
      owner = this.create(event)
      isNew = true
    }
    const before = JSON.stringify([owner.isIdentified, Object.entries(owner.properties).sort()])
    owner.properties = { ...event.setOnce, ...owner.properties, ...event.set }
    for (const key of event.unset ?? []) delete owner.properties[key]
    if (merged?.identifies) owner.isIdentified = true
    const isChanged = JSON.stringify([owner.isIdentified, Object.entries(owner.properties).sort()]) !== before
    if (isChanged && !isNew) owner.version++
    this.events.set(event.uuid, { id: event.distinct_id, owner })
    return true
  }

  private merge(event: ModelEvent, sourceId: string): { owner: Owner; identifies: boolean; isNew: boolean } | null {
    const targetId = event.distinct_id
    if (targetId === sourceId) return null
    if ([targetId, sourceId].includes('null')) {
      this.warn('cannot_merge_with_illegal_distinct_id')
      return null
    }
    const person = (id: string) => (this.owner(id)?.isPerson ? this.owner(id)! : null)
    const [target, source] = [person(targetId), person(sourceId)]
    if (!target && !source) {
      const owner = this.create(event)
      this.join(sourceId, owner)
      return { owner, identifies: true, isNew: true }
    }
    if (!target || !source) {
      const owner = (target ?? source)!
      this.join(target ? sourceId : targetId, owner)
      return { owner, identifies: true, isNew: false }
    }
    if (target === source) return { owner: target, identifies: true, isNew: false }
    if (source.isIdentified && event.event !== '$merge_dangerously') {
      this.warn('cannot_merge_already_identified')
      return { owner: target, identifies: true, isNew: false }
    }
    target.properties = { ...source.properties, ...target.properties }
    target.createdAt = Math.min(target.createdAt, source.createdAt)
    target.version = Math.max(target.version, source.version) + 1
    for (const id of source.ids) this.owners.set(id, target)
    target.ids.push(...source.ids)
    source.into = target
    return { owner: target, identifies: true, isNew: true }
  }

  private join(id: string, owner: Owner): void {
    const kept = this.owner(id)
    if (kept) kept.into = owner
    this.owners.set(id, owner)
    owner.ids.push(id)
  }

  private create(event: ModelEvent): Owner {
    const owner = this.owner(event.distinct_id) ?? this.add(event, true)
    Object.assign(owner, { isPerson: true, createdAt: event.time, properties: { $creator_event_uuid: event.uuid } })
    return owner
  }

  private add(event: ModelEvent, isPerson: boolean): Owner {
    const id = event.distinct_id
    return this.own(id, isPerson, event.time)
  }

  private own(id: string, isPerson: boolean, createdAt: number): Owner {
    const name = this.taken.has(id) ? `${id} ${this.seq}` : id
    const owner: Owner = { name, ids: [id], isPerson, isIdentified: false, createdAt, version: 0, properties: {}, into: null }
    this.owners.set(id, owner)
    return owner
  }

  /** The name of an id's person. */
  nameOf(id: string): string | null {
    const owner = this.owner(id)
    return owner?.isPerson ? owner.name : null
  }

  /** `at`: when it arrives. Whether there is such a person. */
  change(change: ModelChange, at: number): boolean {
    this.seq++
    const owner = this.owner(change.of)
    if (!owner?.isPerson) return false
    if (change.change === 'write') {
      const before = JSON.stringify(Object.entries(owner.properties).sort())
      owner.properties = { ...owner.properties, ...change.set }
      for (const key of change.unset) delete owner.properties[key]
      if (JSON.stringify(Object.entries(owner.properties).sort()) !== before) owner.version++
    } else if (change.change === 'merge') {
      const sources = new Set(change.sources.map((id) => this.owner(id)).filter((source) => source?.isPerson && source !== owner))
      for (const source of sources as Set<Owner>) {
        owner.properties = { ...source.properties, ...owner.properties }
        owner.createdAt = Math.min(owner.createdAt, source.createdAt)
        owner.version = Math.max(owner.version, source.version)
        owner.isIdentified = true
        for (const id of source.ids) this.owners.set(id, owner)
        owner.ids.push(...source.ids)
        source.into = owner
      }
      if (sources.size > 0) owner.version++
    } else if (change.change === 'split') this.split(owner, change.ids, at)
    else this.remove(owner, change.withEvents)
    return true
  }

  /** Takes a record of the log that says which events are not kept any more. */
  noteRemoval(): void {
    this.seq++
  }

  /** Events that are not kept any more. They may be sent again. */
  forget(uuids: Iterable<string>): void {
    for (const uuid of uuids) this.events.delete(uuid)
  }

  /** Persons only: what an event says stays a fact of the event. */
  removeProperty(name: string): void {
    this.seq++
    for (const owner of new Set([...this.owners.values(), ...[...this.events.values()].map((event) => event.owner)])) {
      const { [name]: _, ...rest } = owner.properties
      owner.properties = rest
    }
  }

  private leave(owner: Owner, id: string): void {
    owner.ids = owner.ids.filter((one) => one !== id)
    this.owners.delete(id)
    if (owner.name === id) this.taken.add(id)
  }

  private split(owner: Owner, ids: string[] | null, at: number): void {
    const all = [...owner.ids].sort()
    const kept = all.includes(owner.name) ? owner.name : all[0]!
    let leaving = all.filter((id) => !ids || ids.includes(id))
    if (leaving.length === all.length) leaving = all.filter((id) => id !== kept)
    if (leaving.length === 0) return
    for (const id of leaving) this.leave(owner, id)
    for (const id of leaving) {
      const own = this.own(id, true, at)
      for (const event of this.events.values()) if (event.id === id && end(event.owner) === owner) event.owner = own
    }
    if (!ids) owner.properties = {}
    owner.version++
  }

  private remove(owner: Owner, withEvents: boolean): void {
    const kept = withEvents ? null : owner.name
    for (const id of [...owner.ids]) if (id !== kept) this.leave(owner, id)
    if (!withEvents) {
      Object.assign(owner, { isPerson: false, isIdentified: false, properties: {}, version: owner.version + 1 })
      return
    }
    this.taken.delete(owner.name)
    for (const [uuid, event] of this.events)
      if (end(event.owner) === owner) {
        this.events.delete(uuid)
        this.removed.add(uuid)
      }
  }

  private owner(id: string): Owner | undefined {
    return this.owners.get(id)
  }

  private warn(type: string): void {
    this.warnings.set(type, (this.warnings.get(type) ?? 0) + 1)
  }

  persons() {
    return [...new Set(this.owners.values())]
      .filter((owner) => owner.isPerson)
      .map(({ name, ids, isIdentified, createdAt, version, properties }) => ({
        name,
        ids: [...ids].sort(),
        isIdentified,
        createdAt,
        version,
        properties,
      }))
      .sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  /** The name of the owner of each event. */
  ownersOfEvents(): Record<string, string> {
    return Object.fromEntries([...this.events].map(([uuid, { owner }]) => [uuid, end(owner).name]))
  }
}

const end = (owner: Owner): Owner => (owner.into ? end(owner.into) : owner)
