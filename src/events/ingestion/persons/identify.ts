import type { PreparedEvent } from '../decoding/prepare.ts'
import { fits, fitTogether, noteWritten } from '../properties/property-size.ts'
import type { Warning } from '../warnings.ts'
import type { Families } from './families.ts'
import { isIllegalId } from './illegal-ids.ts'
import { isVisitFact } from './initial-properties.ts'
import { mergeOutcome, type Side } from './merge-outcome.ts'
import type { People } from './people.ts'
import { absorbProperties, type Person, type PropertyWrites, saysMore, write, writeInThePast, writtenTimes } from './person.ts'

/** As stored in `events.person_mode`. */
export const personModes = { full: 0, propertyless: 1, forceUpgrade: 2 } as const

export interface Arrival {
  readonly seq: number
  /** Microseconds. */
  readonly receivedAt: number
  readonly isHistorical: boolean
}

export interface MergeEntry {
  readonly source: Person
  readonly target: Person
}

export interface Identified {
  readonly personNo: number
  readonly mode: number
  readonly warnings: readonly Warning[]
  readonly merge: MergeEntry | null
}

const minute = 60_000_000
const forcedMerges: ReadonlySet<string> = new Set(['$merge_dangerously'])

/** The person of an event, after the event's changes to persons. */
export function identify(people: People, families: Families, event: PreparedEvent, arrival: Arrival): Identified {
  if (event.isPersonless) return withoutPerson(people, families, event, arrival)
  if (arrival.isHistorical) return identifyPast(people, families, event, arrival)
  families.bringUpToDate(event.distinctId)
  const isPlain = !event.set && !event.setOnce && !event.unset && !event.mergeWith
  if (isPlain && people.hasRecord(event.distinctId))
    return { personNo: people.numberOf(event.distinctId)!, mode: personModes.full, warnings: [], merge: null }
  families.end(event.distinctId)
  if (event.mergeWith !== null) families.end(event.mergeWith)
  const merged = event.mergeWith === null ? notMerged : merge(people, event, event.mergeWith, arrival)
  const known = merged.person ?? people.find(event.distinctId)
  const isNew = !known?.hasRecord
  const person = isNew ? create(people, event, arrival) : known
  if (update(people, person, event, arrival, { isIdentifying: merged.isIdentifying, isVersioned: isNew || merged.isVersioned }))
    people.change(person)
  return { personNo: person.no, mode: personModes.full, warnings: merged.warnings, merge: merged.entry }
}

/** A past event is stored under the number of its own id, and changes the properties of that number. */
function identifyPast(people: People, families: Families, event: PreparedEvent, arrival: Arrival): Identified {
  const found = families.memberOf(event.distinctId)
  const known = found?.member.person ?? people.find(event.distinctId)
  const isNew = !known?.hasRecord
  const person = !isNew
    ? known
    : found
      ? withCreator(Object.assign(found.member.person, nobody(event), { hasRecord: true }), event, arrival)
      : create(people, event, arrival)
  const isChanged = update(people, person, event, arrival, { isIdentifying: false, isVersioned: isNew })
  if (found) families.touch(found.family, event.propertiesTo - event.propertiesFrom)
  else if (isChanged) people.change(person)

  const other = event.mergeWith
  const illegal = other === null ? undefined : illegalOf(event, other)
  const warnings = illegal === undefined || other === event.distinctId ? [] : [illegalId(event, other!, illegal)]
  if (other !== null && other !== event.distinctId && illegal === undefined) {
    if (people.numberOf(other) === undefined) people.add(other, nobody(event), arrival.receivedAt)
    const isLinked = families.link({
      at: event.time,
      uuid: event.uuid,
      event: event.name,
      target: event.distinctId,
      source: other,
      isForced: forcedMerges.has(event.name),
      isRefused: false,
    })
    if (!isLinked) return mergeNow(people, person.no, event, other, arrival)
  }
  return { personNo: person.no, mode: personModes.full, warnings, merge: null }
}

/** A past merge of persons about whom no more can be kept: it counts in order of arrival, as a live one. */
function mergeNow(people: People, personNo: number, event: PreparedEvent, other: string, arrival: Arrival): Identified {
  const merged = merge(people, event, other, arrival)
  if (merged.person && merged.isIdentifying && !merged.person.isIdentified) {
    merged.person.isIdentified = true
    people.change(merged.person)
  }
  const details = { eventUuid: event.uuid, targetPersonDistinctId: event.distinctId, sourcePersonDistinctId: other }
  const warnings: Warning[] = [...merged.warnings, { type: 'past_merge_in_order_of_arrival', details }]
  return { personNo, mode: personModes.full, warnings, merge: merged.entry }
}

function withoutPerson(people: People, families: Families, event: PreparedEvent, arrival: Arrival): Identified {
  const person =
    families.memberOf(event.distinctId)?.member.person ??
    people.find(event.distinctId) ??
    people.add(event.distinctId, nobody(event), arrival.receivedAt)
  // The client should have known a person who has existed for a while, so the event is treated as an ordinary one.
  const isKnown = person.hasRecord && event.time > person.createdAt + minute
  return { personNo: person.no, mode: isKnown ? personModes.forceUpgrade : personModes.propertyless, warnings: [], merge: null }
}

/** A person without other events. */
const nobody = (event: PreparedEvent) => ({ hasRecord: false, createdAt: event.time, isIdentified: false, properties: {}, times: null })

/** Creates a person for the event's id, with the reserved number if the id has one. Its version stays 0 during this event. */
function create(people: People, event: PreparedEvent, arrival: Arrival): Person {
  const kept = people.find(event.distinctId)
  if (!kept) return withCreator(people.add(event.distinctId, { ...nobody(event), hasRecord: true }, arrival.receivedAt), event, arrival)
  people.promote(event.distinctId, Object.assign(kept, nobody(event)))
  return withCreator(kept, event, arrival)
}

function withCreator(person: Person, event: PreparedEvent, arrival: Arrival): Person {
  const writes = { set: null, unset: null, setOnce: creatorOf(event) }
  if (arrival.isHistorical) {
    writeInThePast(person, writes, event.time, event.time)
    return person
  }
  // Initial properties have lower priority than the event's own writes: `$set` replaces them, `$set_once` does not.
  write(person.properties, writes)
  return person
}

const creatorOf = (event: PreparedEvent) => ({ $creator_event_uuid: event.uuid })

function update(
  people: People,
  person: Person,
  event: PreparedEvent,
  arrival: Arrival,
  how: { readonly isIdentifying: boolean; readonly isVersioned: boolean },
): boolean {
  let isChanged = false
  let isMore = false
  const room = event.propertiesTo - event.propertiesFrom
  const isRoom = () => fits(person, room) && people.large.has(person, room)
  const told = (event.set || event.setOnce) && !isRoom() ? refuse(people, event) : event
  if (arrival.isHistorical) {
    // A person created by an import was created by its earliest past event.
    const created = person.times?.$creator_event_uuid?.once?.at ?? Number.NEGATIVE_INFINITY
    const setOnce = event.time <= created ? { ...told.setOnce, ...creatorOf(event) } : told.setOnce
    const change = writeInThePast(person, { set: told.set, setOnce, unset: told.unset }, event.time, person.updatedAt)
    isChanged = change.isChanged
    isMore = change.saysMore
    if (event.time < person.createdAt) {
      person.createdAt = event.time
      isChanged = true
    }
  } else {
    const before = write(person.properties, isOlderThanImport(person, event) ? withoutVisitFacts(told) : told)
    isChanged = before.size > 0
    isMore = saysMore(before.keys(), person.properties)
    if (person.times && isChanged) person.times = writtenTimes(person, before, event.time)
  }
  if (isChanged) {
    noteWritten(person, room)
    people.large.count(person)
    people.noteWritten(room)
  }
  if (how.isIdentifying && !person.isIdentified) {
    person.isIdentified = true
    isChanged = true
  }
  if (how.isVersioned || isMore) people.addVersion(person, arrival.seq)
  if (!isChanged) return false
  if (!how.isVersioned) person.version++
  person.updatedAt = arrival.receivedAt
  return true
}

/** Properties beyond the size limit are not written. Removals still apply. */
function refuse(people: People, { unset }: PropertyWrites): PropertyWrites {
  people.refusedWrites++
  return { set: null, setOnce: null, unset }
}

/** An import sets the person's current properties. Visit properties of an older event do not change them. */
const isOlderThanImport = (person: Person, event: PreparedEvent): boolean => person.importedAt !== null && event.time < person.importedAt

function withoutVisitFacts({ set, setOnce, unset }: PropertyWrites): PropertyWrites {
  const rest = (writes: PropertyWrites['set']) =>
    writes && Object.fromEntries(Object.entries(writes).filter(([name]) => !isVisitFact(name)))
  return { set: rest(set), setOnce: rest(setOnce), unset }
}

const sideOf = (person: Person | undefined): Side => (!person?.hasRecord ? 'unknown' : person.isIdentified ? 'identified' : 'anonymous')

/** The server itself names the visitor that an event without cookies identifies. */
const illegalOf = (event: PreparedEvent, otherId: string): string | undefined =>
  (event.visitor?.isIdentifying ? [event.distinctId] : [event.distinctId, otherId]).find(isIllegalId)

const illegalId = (event: PreparedEvent, otherId: string, illegal: string): Warning => ({
  type: 'cannot_merge_with_illegal_distinct_id',
  details: {
    illegalDistinctId: illegal,
    otherDistinctId: illegal === event.distinctId ? otherId : event.distinctId,
    eventUuid: event.uuid,
  },
})

export const alreadyIdentified = (targetId: string, sourceId: string, eventUuid: string): Warning => ({
  type: 'cannot_merge_already_identified',
  details: { sourcePersonDistinctId: sourceId, targetPersonDistinctId: targetId, eventUuid },
})

interface Merge {
  /** The person of the event, if the merge determines it. */
  readonly person: Person | null
  readonly isIdentifying: boolean
  /** The person's version was incremented, or starts with this event. */
  readonly isVersioned: boolean
  readonly warnings: readonly Warning[]
  readonly entry: MergeEntry | null
}
const notMerged: Merge = { person: null, isIdentifying: false, isVersioned: false, warnings: [], entry: null }

function merge(people: People, event: PreparedEvent, otherId: string, arrival: Arrival): Merge {
  const [targetId, sourceId] = [event.distinctId, otherId]
  const [target, source] = [people.find(targetId), people.find(sourceId)]
  const illegal = illegalOf(event, otherId)
  const outcome = mergeOutcome({
    isSameId: targetId === sourceId,
    isLegal: illegal === undefined,
    target: sideOf(target),
    source: sideOf(source),
    isSamePerson: target !== undefined && target === source,
    isForced: forcedMerges.has(event.name),
  })
  const identifying = (person: Person, entry: MergeEntry | null, isVersioned = false): Merge => ({
    person,
    isIdentifying: true,
    isVersioned,
    warnings: [],
    entry,
  })
  switch (outcome) {
    case 'nothing':
      return notMerged
    case 'illegal':
      return { ...notMerged, warnings: [illegalId(event, otherId, illegal!)] }
    case 'create': {
      const person = create(people, event, arrival)
      return identifying(person, join(people, sourceId, source, person), true)
    }
    case 'add-source':
      return identifying(target!, join(people, sourceId, source, target!))
    case 'add-target':
      return identifying(source!, join(people, targetId, target, source!))
    case 'same':
      return identifying(target!, null)
    case 'refuse':
      return { ...notMerged, person: target!, isIdentifying: true, warnings: [alreadyIdentified(targetId, sourceId, event.uuid)] }
    case 'merge':
      absorb(people, source!, target!, arrival)
      return identifying(target!, { source: source!, target: target! }, true)
  }
}

/** `person` gets a new id, together with the person-less events of that id. */
function join(people: People, id: string, numbered: Person | undefined, person: Person): MergeEntry | null {
  if (!numbered) {
    people.addId(id, person)
    return null
  }
  people.merge(numbered, person)
  return { source: numbered, target: person }
}

function absorb(people: People, source: Person, target: Person, arrival: Arrival): void {
  if (fitTogether(target, source) && people.large.has(target, source.length ?? 0)) absorbProperties(target, source)
  else people.refusedWrites++
  Object.assign(target, {
    createdAt: Math.min(target.createdAt, source.createdAt),
    version: Math.max(target.version, source.version) + 1,
    updatedAt: arrival.receivedAt,
  })
  people.merge(source, target)
}
