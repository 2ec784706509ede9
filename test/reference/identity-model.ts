// Who is who, with objects that point at each other: nothing is stored, merged in bulk or remembered by number.

type Properties = Record<string, unknown>

interface Owner {
  readonly firstId: string
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

export class IdentityModel {
  private readonly owners = new Map<string, Owner>()
  private readonly events = new Map<string, Owner>()
  readonly warnings = new Map<string, number>()

  /** Whether the event is stored. */
  apply(event: ModelEvent): boolean {
    const isMerge = event.event === '$identify' || event.event === '$create_alias' || event.event === '$merge_dangerously'
    const needsPerson = isMerge || event.event === '$groupidentify' || event.event === '$group_identify'
    if (event.isPersonless && needsPerson) {
      this.warn('invalid_event_when_process_person_profile_is_false')
      return false
    }
    if (this.events.has(event.uuid)) return false
    if (event.isPersonless) {
      this.events.set(event.uuid, this.owner(event.distinct_id) ?? this.add(event, false))
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
    this.events.set(event.uuid, owner)
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
    const owner: Owner = {
      firstId: id,
      ids: [id],
      isPerson,
      isIdentified: false,
      createdAt: event.time,
      version: 0,
      properties: {},
      into: null,
    }
    this.owners.set(id, owner)
    return owner
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
      .map(({ firstId, ids, isIdentified, createdAt, version, properties }) => ({
        firstId,
        ids: [...ids].sort(),
        isIdentified,
        createdAt,
        version,
        properties,
      }))
      .sort((a, b) => (a.firstId < b.firstId ? -1 : 1))
  }

  /** The first id of the owner of each event. */
  ownersOfEvents(): Record<string, string> {
    const end = (owner: Owner): Owner => (owner.into ? end(owner.into) : owner)
    return Object.fromEntries([...this.events].map(([uuid, owner]) => [uuid, end(owner).firstId]))
  }
}
