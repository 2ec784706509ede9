import { setImmediate } from 'node:timers/promises'
import { BoundedCache } from '../../../lib/memory/bounded-cache.ts'
import { excessOf } from '../../../limits/large-texts.ts'
import { Allowance } from '../applying/allowance.ts'
import { personUuid } from '../decoding/uuid.ts'
import type { EventWriter, FoundPerson, SizedPerson, StagedGroup, WriterState } from '../ports.ts'
import { LargeRoom, lengthOf, usualLength } from '../properties/property-size.ts'
import { readTimes, timesText } from '../properties/property-times.ts'
import type { Member } from './family.ts'
import { makePerson, type Person } from './person.ts'

const idsKept = 200_000
const movesKept = 200_000
/** Rows that are staged before the event loop gets a turn. Their text is large. */
const rowsOfSlice = 512
const lengthOfSlice = 4_000_000
const idsOfLook = 1_024
/** Ids of one person after which the event loop gets a turn. */
const idsOfSlice = 8_192
/** Budget for versions: characters per byte of an event. Most persons need much less. */
const historyOfByte = 8
const historyAtFirst = 8_000_000
const maxHistory = 64_000_000

/**
 * Persons and their ids: a bounded cache of the store, plus the changes of uncommitted groups. `load` reads what a group
 * needs. Nothing is evicted between `load` and the next `trim`.
 */
export class People {
  private readonly store: EventWriter
  private readonly projectId: number
  /** Numbers at the time they were cached: read them through `current`. Negative: no person yet. */
  private readonly ids = new BoundedCache<string, number>(idsKept)
  private readonly people: BoundedCache<number, Person>
  private readonly moved = new Map<number, number>()
  // Cached ids and numbers of persons in the store, and the changes of persons since the last `forget`.
  private readonly storedIds = new Map<number, string[]>()
  private readonly storedMerges = new Map<number, number[]>()
  private readonly addedIds = new Map<number, string[]>()
  private readonly addedMerges = new Map<number, number[]>()
  /** Numbers whose survivor was decided again since the last `forget`. */
  private readonly placed = new Set<number>()
  private nextNo: number
  /** Uuids that persons kept when the id that they were made from left them. */
  private readonly keptUuids: Set<string>
  private hasOtherUuids = false
  /** Maximum characters of cached properties. */
  private readonly keptLength: number
  // Of the group being processed:
  private readonly changed = new Map<number, Person>()
  private readonly changedSeqs = new Map<number, number>()
  /** The record that is applied. */
  seq = 0
  private readonly fresh = new Set<number>()
  private readonly newIds = new Map<string, { readonly no: number; readonly seq: number }>()
  private readonly merged: number[] = []
  private readonly rewritten = new Set<number>()
  private readonly movedIds = new Set<string>()
  private readonly removedIds = new Set<string>()
  private changedLength = 0
  /** Sizes of located persons that are not loaded. */
  private readonly sizes = new Map<number, number>()
  private readonly history = new Allowance(historyAtFirst, maxHistory)
  // Read and cleared by the apply stage:
  /** Changes without a version, because versions would take far more memory than the events that cause them. */
  skippedVersions = 0
  /** Writes beyond the size limit of a person. */
  refusedWrites = 0
  /** Properties that are larger than usual. */
  readonly large: LargeRoom
  private largeVersions: number
  /** What `takeMerges` has not returned yet. */
  private newMerges: number[] = []
  private hasMovedOtherwise = false
  private versions: { person_no: number; log_seq: number; properties: string }[] = []

  constructor(store: EventWriter, projectId: number, { nextPersonNo, keptUuids, large }: WriterState, kept: number) {
    this.large = new LargeRoom(large.persons, store.largeRoom)
    this.largeVersions = large.versions
    this.store = store
    this.people = new BoundedCache(kept)
    this.keptLength = kept * usualLength
    this.projectId = projectId
    this.nextNo = nextPersonNo
    this.keptUuids = new Set(keptUuids)
  }

  /** Finds the numbers of ids, and the sizes of the persons that `load` would read for them. */
  async locate(distinctIds: Iterable<string>, inFull: ReadonlySet<string>): Promise<void> {
    const unknown: string[] = []
    const absent = new Set<number>()
    this.sizes.clear()
    for (const id of distinctIds) {
      const no = this.numberOf(id)
      if (no === undefined) unknown.push(id)
      else if ((inFull.has(id) || !this.hasRecord(id)) && !this.people.get(no)) absent.add(no)
    }
    for (const ids of portions(unknown))
      for (const { distinctId, personNo, hasRecord, size } of await this.store.ownersOfIds(ids)) {
        // The store may lag behind a group that is being committed. The cache never does.
        if (this.numberOf(distinctId) === undefined) this.ids.set(distinctId, hasRecord ? personNo : -personNo)
        const no = this.current(personNo)
        if (this.people.get(no) || (hasRecord && !inFull.has(distinctId))) continue
        if (no === personNo) this.sizes.set(no, size)
        else absent.add(no)
      }
    for (const numbers of portions([...absent]))
      for (const { personNo, size } of await this.store.sizesOf(numbers)) this.sizes.set(personNo, size)
  }

  /** Bytes that `load` would read for a person; 0: it is loaded, or does not exist. */
  sizeOf(no: number): number {
    const size = this.sizes.get(no)
    return size === undefined ? 0 : Math.max(size, usualLength)
  }

  /** Bytes that `load` would read for all located persons. */
  get located(): number {
    let sum = 0
    for (const size of this.sizes.values()) sum += Math.max(size, usualLength)
    return sum
  }

  /** Loads located persons: all of them, or those among these numbers. */
  async load(among: ReadonlySet<number> | null): Promise<void> {
    const wanted: SizedPerson[] = []
    for (const [personNo, size] of this.sizes) if (!among || among.has(personNo)) wanted.push({ personNo, size })
    for (const some of portions(wanted)) for (const found of await this.store.personsByNo(some)) this.keep(found)
    this.sizes.clear()
  }

  /** Bytes that a group may load. */
  get room(): number {
    return this.keptLength
  }

  /** Locates persons by their numbers as well. Returns all their ids. */
  async locatePersons(numbers: readonly number[]): Promise<string[]> {
    const hasRecord = new Map<number, boolean>()
    for (const some of portions(numbers))
      for (const found of await this.store.sizesOf(some)) {
        hasRecord.set(found.personNo, found.hasRecord)
        const isKnown = this.moved.has(found.personNo) || this.people.get(found.personNo)
        if (!isKnown) this.sizes.set(found.personNo, found.size)
      }
    const owned = await this.store.idsOf(numbers)
    const ids: string[] = []
    for (const { personNo, distinctId } of owned) {
      if (ids.push(distinctId) % idsOfSlice === 0) await setImmediate()
      if (this.numberOf(distinctId) !== undefined) continue
      const known = this.people.get(this.current(personNo))
      this.ids.set(distinctId, (known ? known.hasRecord : hasRecord.get(personNo)) ? personNo : -personNo)
    }
    return ids
  }

  /** Loads all ids and merged numbers of the persons of these ids, for `idsOf` and `mergedInto`. */
  async loadWhole(distinctIds: Iterable<string>): Promise<void> {
    const numbers = new Set<number>()
    let seen = 0
    for (const id of distinctIds) {
      if (++seen % idsOfSlice === 0) await setImmediate()
      const no = this.numberOf(id)
      if (no === undefined) continue
      for (const one of [no, ...(this.addedMerges.get(no) ?? [])]) if (!this.storedIds.has(one)) numbers.add(one)
    }
    if (numbers.size === 0) return
    const ids = await this.store.idsOf([...numbers])
    const merges = await this.store.mergedInto([...numbers])
    for (const no of numbers) {
      this.storedIds.set(no, [])
      this.storedMerges.set(no, [])
    }
    for (const { personNo, distinctId } of ids) {
      if (++seen % idsOfSlice === 0) await setImmediate()
      this.storedIds.get(personNo)!.push(distinctId)
    }
    for (const { merged, survivor } of merges) {
      // Where the store lags behind, `mergedInto` leaves it out.
      if (!this.moved.has(merged) && !this.placed.has(merged)) this.moved.set(merged, survivor)
      this.storedMerges.get(survivor)!.push(merged)
    }
  }

  /** All numbers merged into `no`. The person must be loaded whole. */
  mergedInto(no: number): number[] {
    const added = this.addedMerges.get(no) ?? []
    const all = new Set([no, ...added].flatMap((one) => [one, ...(this.storedMerges.get(one) ?? [])]))
    return [...all].filter((one) => one !== no && this.current(one) === no)
  }

  /** All ids of the person `no`. It must have been loaded whole. */
  idsOf(no: number): string[] {
    const all = new Set(this.addedIds.get(no))
    for (const one of [no, ...(this.addedMerges.get(no) ?? [])]) for (const id of this.storedIds.get(one) ?? []) all.add(id)
    return [...all].filter((id) => this.numberOf(id) === undefined || this.numberOf(id) === no)
  }

  private keep(found: FoundPerson): void {
    if (this.moved.has(found.personNo) || this.people.get(found.personNo)) return
    const { length } = found.properties
    this.people.set(
      found.personNo,
      makePerson({
        no: found.personNo,
        uuid: found.uuid,
        hasRecord: found.hasRecord,
        createdAt: found.createdAt,
        isIdentified: found.isIdentified,
        version: found.version,
        updatedAt: found.updatedAt,
        importedAt: found.importedAt,
        properties: JSON.parse(found.properties) as Record<string, unknown>,
        length,
        counted: length,
        large: excessOf(length),
        times: found.propertyTimes ? readTimes(found.propertyTimes) : null,
      }),
    )
  }

  /** The current number of a merged number. */
  current(no: number): number {
    let end = no
    for (let next = this.moved.get(end); next !== undefined; next = this.moved.get(end)) end = next
    for (let at = no; at !== end; ) {
      const next = this.moved.get(at)!
      this.moved.set(at, end)
      at = next
    }
    return end
  }

  numberOf(distinctId: string): number | undefined {
    const no = this.ids.get(distinctId)
    return no === undefined ? undefined : this.current(Math.abs(no))
  }

  /** True if a known id belongs to a person, and not only to a reserved number. */
  hasRecord(distinctId: string): boolean {
    const no = this.ids.get(distinctId) ?? 0
    return no > 0 || this.moved.has(-no)
  }

  /** The person, or person-less number, of an id. It must have been loaded. */
  find(distinctId: string): Person | undefined {
    const no = this.numberOf(distinctId)
    return no === undefined ? undefined : this.people.get(no)
  }

  /** The person of a number, which must have been loaded. Undefined: there is none (any more). */
  recordOf(no: number | undefined): Person | undefined {
    const person = no === undefined ? undefined : this.people.get(this.current(no))
    return person?.hasRecord ? person : undefined
  }

  /** Assigns a new number to an id. */
  add(distinctId: string, from: Pick<Person, 'hasRecord' | 'createdAt' | 'isIdentified' | 'properties' | 'times'>, now: number): Person {
    const person = makePerson({
      no: this.nextNo++,
      uuid: this.freeUuid(distinctId),
      hasRecord: from.hasRecord,
      createdAt: from.createdAt,
      isIdentified: from.isIdentified,
      version: 0,
      updatedAt: now,
      properties: from.properties,
      times: from.times,
      importedAt: null,
    })
    this.people.set(person.no, person)
    this.fresh.add(person.no)
    this.touch(person)
    this.addId(distinctId, person)
    return person
  }

  private freeUuid(distinctId: string): string {
    const uuid = personUuid(this.projectId, distinctId)
    return this.keptUuids.has(uuid) ? personUuid(this.projectId, `${distinctId} ${this.seq}`) : uuid
  }

  /** The id that the person was made from, if it still has it. */
  ownIdOf(person: Person, ids: Iterable<string>): string | undefined {
    for (const id of ids) if (personUuid(this.projectId, id) === person.uuid) return id
    return undefined
  }

  /** Takes ids from their person, which must be loaded whole. The id that it was made from keeps its uuid reserved. */
  removeIds(distinctIds: readonly string[], person: Person): void {
    const removed = new Set(distinctIds)
    this.forgetIds(removed, person)
    const own = this.ownIdOf(person, distinctIds)
    if (own === undefined) return
    this.keptUuids.add(person.uuid)
    this.hasOtherUuids = true
  }

  /** Takes ids from a person who is removed, or who keeps the id that it was made from. */
  forgetIds(removed: ReadonlySet<string>, { no }: Pick<Person, 'no'>): void {
    for (const one of [no, ...(this.addedMerges.get(no) ?? [])])
      for (const ids of [this.storedIds, this.addedIds]) {
        const known = ids.get(one)
        if (known?.some((id) => removed.has(id)))
          ids.set(
            one,
            known.filter((id) => !removed.has(id)),
          )
      }
    for (const id of removed) {
      this.ids.delete(id)
      this.newIds.delete(id)
      this.removedIds.add(id)
      this.hasMovedOtherwise = true
    }
  }

  /** Forgets a person: `id` keeps its number, for events without a person. The other ids must have been removed. */
  empty(person: Person, id: string | undefined): void {
    this.large.free(person)
    Object.assign(person, { hasRecord: false, isIdentified: false, properties: {}, times: null, importedAt: null, length: undefined })
    if (id !== undefined) this.ids.set(id, -person.no)
    this.touch(person)
  }

  /** Forgets the number as well. */
  drop(person: Person): void {
    this.large.free(person)
    this.people.delete(person.no)
    this.changed.delete(person.no)
    if (this.keptUuids.delete(person.uuid)) this.hasOtherUuids = true
  }

  addId(distinctId: string, person: Person): void {
    this.ids.set(distinctId, person.hasRecord ? person.no : -person.no)
    this.newIds.set(distinctId, { no: person.no, seq: this.seq })
    append(this.addedIds, person.no, [distinctId])
  }

  private touch(person: Person): void {
    this.changed.set(person.no, person)
    this.changedSeqs.set(person.no, this.seq)
  }

  change(person: Person): void {
    if (!this.changed.has(person.no)) this.changedLength += person.length ?? usualLength
    this.touch(person)
  }

  /** Makes the number reserved for `distinctId` a person. */
  promote(distinctId: string, person: Person): void {
    person.hasRecord = true
    this.ids.set(distinctId, person.no)
    this.touch(person)
  }

  /** Sets the properties that `person` has from the record `seq` on. */
  addVersion(person: Person, seq: number): void {
    const large = excessOf(person.length ?? 0)
    if (!this.history.has(person.length ?? 0) || (large > 0 && this.largeVersions + large > this.store.largeRoom)) {
      this.skippedVersions++
      return
    }
    const properties = JSON.stringify(person.properties)
    person.length = person.counted = properties.length
    this.history.spend(properties.length)
    this.largeVersions += excessOf(properties.length)
    this.changedLength += properties.length
    this.versions.push({ person_no: person.no, log_seq: seq, properties })
  }

  /** Extends the budget for versions by the bytes of an event. */
  noteEvent(bytes: number): void {
    this.history.grant(bytes * historyOfByte)
  }

  /** Counts characters written into persons. */
  noteWritten(length: number): void {
    this.changedLength += length
  }

  get largeCounts(): { readonly persons: number; readonly versions: number } {
    return { persons: this.large.taken, versions: this.largeVersions }
  }

  /** Moves everything from `source` to `target`. */
  merge(source: Person, target: Person): void {
    this.large.free(source)
    // Its ids and merged numbers become the target's in the store: what was read of the target alone would lack them.
    if (!this.storedIds.has(source.no)) {
      this.storedIds.delete(target.no)
      this.storedMerges.delete(target.no)
    }
    this.moved.set(source.no, target.no)
    append(this.addedIds, target.no, this.addedIds.get(source.no) ?? [])
    append(this.addedMerges, target.no, [source.no, ...(this.addedMerges.get(source.no) ?? [])])
    this.merged.push(source.no)
    this.newMerges.push(source.no)
    this.people.delete(source.no)
    this.changed.delete(source.no)
    this.touch(target)
  }

  /** Makes all members of a family `person`, whatever they were before. */
  rewrite(person: Person, members: readonly Member[]): void {
    const numbers = members.flatMap((member) => [member.person.no, ...member.numbers])
    const ids = members.flatMap((member) => member.ids)
    this.hasMovedOtherwise = true
    for (const no of numbers) {
      this.rewritten.add(no)
      this.placed.add(no)
      const known = this.people.get(no)
      if (known) this.large.free(known)
      this.people.delete(no)
      this.changed.delete(no)
      if (no === person.no) this.moved.delete(no)
      else this.moved.set(no, person.no)
    }
    for (const id of ids) {
      this.ids.set(id, person.hasRecord ? person.no : -person.no)
      this.movedIds.add(id)
    }
    person.large = 0
    this.people.set(person.no, person)
    this.touch(person)
    this.addedIds.set(person.no, ids)
    this.addedMerges.set(
      person.no,
      numbers.filter((no) => no !== person.no),
    )
  }

  async stage(group: StagedGroup): Promise<void> {
    let staged = 0
    let length = 0
    const isSliceFull = () => ++staged % rowsOfSlice === 0 || length > lengthOfSlice
    const pass = async () => {
      length = 0
      await group.drain()
      await setImmediate()
    }
    for (const person of this.changed.values()) {
      if (isSliceFull()) await pass()
      const properties = JSON.stringify(person.properties)
      length += properties.length
      person.length = person.counted = properties.length
      this.large.count(person)
      group.put(
        'persons',
        {
          person_no: person.no,
          uuid: person.uuid,
          has_record: person.hasRecord,
          created_at: person.createdAt,
          is_identified: person.isIdentified,
          version: person.version,
          updated_at: person.updatedAt,
          properties,
          property_times: person.times ? timesText(person.times) : '',
          imported_at: person.importedAt,
          changed_seq: this.changedSeqs.get(person.no)!,
        },
        this.fresh.has(person.no) || this.rewritten.has(person.no),
      )
    }
    for (const [id, { no, seq }] of this.newIds) {
      if (isSliceFull()) await pass()
      group.put('distinct_ids', { distinct_id: id, person_no: this.current(no), added_seq: seq }, true)
    }
    for (const version of this.versions) {
      if (isSliceFull()) await pass()
      length += version.properties.length
      group.put('person_versions', version, true)
    }
    if (this.removedIds.size > 0) group.removeIds([...this.removedIds])
    for (const no of this.merged) group.merge(no, this.current(no))
    for (const no of this.rewritten) group.rewrite(no, this.current(no))
    for (const id of this.movedIds) if (!this.newIds.has(id)) group.moveId(id, this.numberOf(id)!)
    group.setMeta('next_person_no', String(this.nextNo))
    if (this.hasOtherUuids) group.setMeta('kept_uuids', JSON.stringify([...this.keptUuids]))
    this.hasOtherUuids = false
    this.changed.clear()
    this.changedSeqs.clear()
    this.changedLength = 0
    this.fresh.clear()
    this.newIds.clear()
    this.merged.length = 0
    this.rewritten.clear()
    this.movedIds.clear()
    this.removedIds.clear()
    this.versions = []
  }

  /** The merges since the last call; null: ids were moved or removed in another way as well. */
  takeMerges(): (readonly [merged: number, survivor: number])[] | null {
    const taken = this.newMerges.map((no) => [no, this.current(no)] as const)
    const isWhole = !this.hasMovedOtherwise
    this.newMerges = []
    this.hasMovedOtherwise = false
    return isWhole ? taken : null
  }

  /** Number of persons that the group has changed so far. */
  get changes(): number {
    return this.changed.size
  }

  /** True if the group should end because of the length of their properties. */
  get isHeavy(): boolean {
    return this.changedLength > this.keptLength
  }

  get isFull(): boolean {
    return this.moved.size > movesKept || this.addedIds.size > idsKept || this.storedIds.size > idsKept
  }

  /** Call it only when every group is committed. */
  forget(): void {
    for (const map of [this.storedIds, this.storedMerges, this.addedIds, this.addedMerges, this.placed]) map.clear()
    if (this.moved.size > movesKept) {
      this.ids.clear()
      this.moved.clear()
    }
  }

  /** Keeps what was used since the previous call, so an uncommitted group is not evicted. */
  trim(): void {
    this.people.trim(lengthOf(this.people.recent()) > this.keptLength)
    this.ids.trim()
  }
}

function* portions<T>(all: readonly T[]): Generator<readonly T[]> {
  for (let from = 0; from < all.length; from += idsOfLook) yield all.slice(from, from + idsOfLook)
}

function append<K, V>(map: Map<K, V[]>, key: K, values: readonly V[]): void {
  if (values.length === 0) return
  const known = map.get(key)
  if (known) for (const value of values) known.push(value)
  else map.set(key, [...values])
}
