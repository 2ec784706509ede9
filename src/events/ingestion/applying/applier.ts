import { mustHold } from '../../../errors/invariants.ts'
import { isKept, type KeptFrom } from '../../../language/catalog/removals.ts'
import { isUuid } from '../../../lib/ids/time-ordered-uuid.ts'
import { loadableDefinition } from '../../../limits/definitions.ts'
import { excessOf } from '../../../limits/large-texts.ts'
import { isVisiting, type Visiting, Visits, visitsLimit } from '../cookieless/visits.ts'
import type { PreparedEvent } from '../decoding/prepare.ts'
import { changePerson } from '../persons/change-person.ts'
import { Families } from '../persons/families.ts'
import { Groups, groupTypeLimit, type NamedGroup } from '../persons/groups.ts'
import { type Arrival, alreadyIdentified, identify, personModes } from '../persons/identify.ts'
import { importPerson } from '../persons/import-person.ts'
import { People } from '../persons/people.ts'
import type { Person } from '../persons/person.ts'
import type { EventWriter, StagedGroup, WriterState } from '../ports.ts'
import { type PropertyKey, PropertyKeys } from '../properties/property-keys.ts'
import { propertiesLimit } from '../properties/property-size.ts'
import { addWarning, type Warning, type WarningSummary } from '../warnings.ts'
import type { Content, GroupImport, PersonChange, PersonImport, PropertyTypeRow, RecordWrite, Work } from '../work.ts'
import { EventNames, nameLimit } from './event-names.ts'
import { ImportPlaces } from './import-places.ts'

/** Fields of an event outside its properties. */
const headBytes = 100
const noGroups: readonly string[] = ['', '', '', '', '']

/** A batch, or the rest of one. */
export interface Part {
  readonly work: Work
  readonly from: number
  /** Default: its end. */
  readonly to?: number
}

/** What rows need of the store. */
interface Needs {
  readonly ids: Set<string>
  /** Ids whose persons are needed, and not only their numbers. */
  inFull: Set<string>
  readonly groups: NamedGroup[]
  readonly uuids: string[]
  hasPastMerges: boolean
  isChange: boolean
}

export interface Kept {
  /** How many persons it may cache, in addition to those of uncommitted groups. */
  readonly groupPeople: number
  /** Characters of one family of past merges. */
  readonly pastFamily?: number
}

/** A part of batches that fits into memory. */
interface Fitting {
  readonly ends: number[]
  readonly persons: Set<number>
  readonly groups: Set<string>
  readonly families: Set<number>
}

interface Need {
  readonly ids: readonly string[]
  readonly uuids?: readonly string[]
  readonly group?: NamedGroup | null
}

type Guesses = ReadonlyMap<PreparedEvent, readonly PreparedEvent[]>

const idsOf = ({ distinctId, mergeWith }: PreparedEvent): string[] => (mergeWith === null ? [distinctId] : [distinctId, mergeWith])

/** Null: the row needs nothing, because it is not stored. */
function needOf(content: Content, i: number, guesses: Guesses): Need | null {
  switch (content.kind) {
    case 'event': {
      const event = content.events[i]!
      if (event.isDropped || content.duplicates.has(i)) return null
      return { ids: guesses.get(event)?.flatMap(idsOf) ?? idsOf(event), group: event.group }
    }
    case 'persons':
      return { ids: content.persons[i]!.distinct_ids }
    case 'groups': {
      const { group_type: type, group_key: key } = content.groups[i]!
      return { ids: [], group: key === null ? null : { type, key } }
    }
    case 'records': {
      const record = content.records[i]!
      return { ids: [], uuids: record.table === 'cohort_members' ? record.persons : [] }
    }
    case 'person_changes': {
      const change = content.changes[i]!
      return { ids: [], uuids: change.change === 'merge' ? [change.person, ...change.sources] : [change.person] }
    }
    case 'property_types':
    case 'removals':
      return { ids: [] }
  }
}

function needsOf(works: readonly Part[], rows: number, guesses: Guesses): Needs {
  const needs: Needs = { ids: new Set(), inFull: new Set(), groups: [], uuids: [], hasPastMerges: false, isChange: false }
  const { ids, inFull } = needs
  let left = rows
  for (const { work, from, to = work.count } of works) {
    const { content, isHistorical } = work
    needs.isChange ||= content.kind === 'person_changes'
    for (let i = from; i < to; i++) {
      const need = needOf(content, i, guesses)
      if (!need) continue
      if (content.kind === 'event') {
        if (left-- <= 0) return needs
        const event = content.events[i]!
        for (const guess of guesses.get(event) ?? [event]) {
          const { isPersonless, set, setOnce, unset, mergeWith } = guess
          needs.hasPastMerges ||= isHistorical && mergeWith !== null
          if (isHistorical || isPersonless || set || setOnce || unset || mergeWith !== null) for (const id of idsOf(guess)) inFull.add(id)
        }
      } else for (const id of need.ids) inFull.add(id)
      for (const id of need.ids) ids.add(id)
      if (need.uuids) for (const uuid of need.uuids) needs.uuids.push(uuid)
      if (need.group) needs.groups.push(need.group)
    }
  }
  return needs
}

/** Converts batches to rows. Its state is that of the last staged group; after a failed commit it must be opened again. */
export class Applier {
  readonly keys: PropertyKeys
  private readonly store: EventWriter
  private readonly people: People
  private readonly families: Families
  private readonly groups: Groups
  private readonly visits: Visits
  private readonly names: EventNames
  private readonly places: ImportPlaces
  private readonly warnings: Map<string, WarningSummary>
  private readonly storedWarnings: Set<string>
  private readonly changedWarnings = new Set<WarningSummary>()
  private personNos = new Map<string, number>()
  private records = new Map<string, RecordWrite>()
  appliedSeq: number
  readonly keptFrom: KeptFrom
  private latest = 0
  /** Large texts, as they are stored. */
  private large: string
  /** Characters of large events, and of those in the group. */
  private largeEvents: number
  private largeOfGroup = 0

  private constructor(store: EventWriter, projectId: number, { groupPeople, pastFamily }: Kept, state: WriterState) {
    this.store = store
    this.people = new People(store, projectId, state, groupPeople)
    this.families = new Families(store, this.people, state, pastFamily)
    this.groups = new Groups(store, state, groupPeople)
    this.visits = new Visits(store, state.visitsOfDays)
    this.names = new EventNames(state.eventNames)
    this.places = new ImportPlaces(state.imports)
    this.keys = new PropertyKeys(storedKeys(state), state.retiredSlots, state.appliedSeq)
    this.warnings = new Map(state.warnings.map((stored) => [stored.type, warningOf(stored)]))
    this.storedWarnings = new Set(this.warnings.keys())
    this.appliedSeq = state.appliedSeq
    this.keptFrom = state.keptFrom
    this.large = JSON.stringify(state.large)
    this.largeEvents = state.large.events
  }

  static async open(store: EventWriter, projectId: number, kept: Kept): Promise<Applier> {
    return new Applier(store, projectId, kept, await store.state())
  }

  /**
   * Loads what these batches need into memory: `rows` of their events from `from` on, or as many rows as fit into the memory of a transaction, at least
   * one. Returns for each batch where that ends.
   */
  async load(works: readonly Part[], rows: number): Promise<readonly number[]> {
    const guesses = await this.guesses(works, rows)
    const all = needsOf(works, rows, guesses)
    this.personNos = new Map((await this.store.personNosOfUuids(all.uuids.filter(isUuid))).map((found) => [found.uuid, found.personNo]))
    await this.people.locate(all.ids, all.inFull)
    if (all.isChange) for (const id of await this.people.locatePersons([...this.personNos.values()])) all.inFull.add(id)
    await this.families.locate([...all.inFull].flatMap((id) => this.people.numberOf(id) ?? []))
    await this.groups.locate(all.groups)
    if (this.people.located + this.families.locatedLength + this.groups.located <= this.people.room) {
      await this.loadNeeds(all, null)
      return works.map(({ work, to = work.count }) => to)
    }
    const part = this.fitting(works, rows, guesses)
    const needs = needsOf(
      works.map((one, i) => ({ ...one, to: part.ends[i]! })),
      rows,
      guesses,
    )
    if (all.isChange) needs.inFull = all.inFull
    await this.loadNeeds(needs, part)
    return part.ends
  }

  /** The ids that events of visitors without cookies may get. */
  private async guesses(works: readonly Part[], rows: number): Promise<Guesses> {
    const visiting: Visiting[] = []
    let left = rows
    for (const { work, from, to = work.count } of works)
      if (work.content.kind === 'event')
        for (let i = from; i < to && left > 0; i++) {
          const event = work.content.events[i]!
          if (event.isDropped || work.content.duplicates.has(i)) continue
          left--
          if (isVisiting(event)) visiting.push(event)
        }
    const guesses = new Map<PreparedEvent, PreparedEvent[]>()
    if (visiting.length === 0) return guesses
    await this.visits.load(visiting)
    for (const [event, guess] of this.visits.ahead(visiting)) guesses.set(event, [...(guesses.get(event) ?? []), guess])
    return guesses
  }

  private async loadNeeds(needs: Needs, part: Omit<Fitting, 'ends'> | null): Promise<void> {
    await this.people.load(part?.persons ?? null)
    await this.families.load(part?.families ?? null)
    if (needs.hasPastMerges || needs.isChange) await this.people.loadWhole(needs.inFull)
    await this.groups.load(part?.groups ?? null)
  }

  /** The rows that fit: what they need is counted before any of it is loaded. */
  private fitting(works: readonly Part[], rows: number, guesses: Guesses): Fitting {
    const { people, groups, families } = this
    const fitting: Fitting = { ends: works.map(({ from }) => from), persons: new Set(), groups: new Set(), families: new Set() }
    let room = people.room
    let left = rows
    for (const [k, { work, from, to = work.count }] of works.entries())
      for (let i = from; i < to; i++) {
        const need = needOf(work.content, i, guesses)
        if (need && left-- <= 0) return fitting
        const numbers = new Set(need?.ids.flatMap((id) => people.numberOf(id) ?? []))
        for (const uuid of need?.uuids ?? []) if (this.personNos.has(uuid)) numbers.add(this.personNos.get(uuid)!)
        const newPersons = [...numbers].filter((no) => !fitting.persons.has(no))
        const key = need?.group && groups.keyOf(need.group)
        const newGroups = key && !fitting.groups.has(key) ? [key] : []
        const newFamilies = new Map<number, number>()
        for (const no of numbers) {
          const found = families.locatedOf(no)
          if (found && !fitting.families.has(found.family)) newFamilies.set(found.family, found.size)
        }
        const size =
          newPersons.reduce((sum, no) => sum + people.sizeOf(no), 0) +
          newGroups.reduce((sum, one) => sum + groups.sizeOf(one), 0) +
          [...newFamilies.values()].reduce((sum, one) => sum + one, 0)
        if (size > room && room < people.room) return fitting
        room -= size
        for (const family of newFamilies.keys()) fitting.families.add(family)
        for (const no of newPersons) fitting.persons.add(no)
        for (const one of newGroups) fitting.groups.add(one)
        fitting.ends[k] = i + 1
      }
    return fitting
  }

  /**
   * Processes a batch from index `from` to `to`, or until the group has `maxEvents`. Returns the index where it stopped, and the uuids of imported
   * persons in their order.
   */
  apply(
    work: Work,
    { from, to }: { readonly from: number; readonly to: number },
    group: StagedGroup,
    maxEvents: number,
  ): { readonly next: number; readonly uuids: readonly string[] } {
    const { content } = work
    const first = work.firstSeq + from
    mustHold('records in order', first > this.appliedSeq, () => ({ record: first, applied: this.appliedSeq }))
    /** Rows of these kinds. */
    const each = <T>(rows: readonly T[], apply: (row: T, i: number) => void) => {
      for (let i = from; i < to; i++) if (!work.aside?.has(i)) apply(rows[i]!, i)
    }
    const arrival = (i: number): Arrival => ({ seq: work.firstSeq + i, receivedAt: work.receivedAt, isHistorical: work.isHistorical })
    this.latest = work.receivedAt
    this.visits.startsAt(work.receivedAt)
    let next = to
    const uuids: string[] = []
    switch (content.kind) {
      case 'event':
        for (next = from; next < to && group.events < maxEvents && !this.hasManyLarge; next++)
          if (!content.duplicates.has(next)) this.applyEvent(content.events[next]!, content.bytes, arrival(next), group)
        break
      case 'persons':
        each(content.persons, (person, i) => uuids.push(this.applyPerson(person, arrival(i), group)))
        break
      case 'groups':
        each(content.groups, (row, i) => this.applyGroup(row, arrival(i)))
        break
      case 'property_types':
        each(content.types, (row) => this.applyType(row, work.receivedAt))
        break
      case 'records':
        each(content.records, (record) => this.records.set(`${record.table}:${record.id}`, record))
        break
      case 'person_changes':
        each(content.changes, (change, i) => uuids.push(this.changePerson(change, arrival(i), group)))
        break
      case 'removals': // by the loop, without rows of this group
    }
    if (work.importId !== undefined && next > from) this.places.note(work.importId, first, work.firstSeq + next - 1)
    this.appliedSeq = work.firstSeq + next - 1
    return { next, uuids }
  }

  private applyEvent(prepared: PreparedEvent, given: Uint8Array, arrival: Arrival, group: StagedGroup): void {
    for (const warning of prepared.warnings) this.warn(warning, arrival.receivedAt)
    if (prepared.isDropped) return
    const { event, bytes, isBeyondLimit } = isVisiting(prepared)
      ? this.visits.apply(prepared, given)
      : { event: prepared, bytes: given, isBeyondLimit: false }
    if (isBeyondLimit)
      this.warn({ type: 'too_many_cookieless_visitors', details: { eventUuid: event.uuid, limit: visitsLimit } }, arrival.receivedAt)
    const large = excessOf(event.propertiesTo - event.propertiesFrom) + excessOf(event.elementsChain.length)
    this.largeEvents += large
    this.largeOfGroup += large
    this.people.seq = arrival.seq
    this.people.noteEvent(event.propertiesTo - event.propertiesFrom + headBytes)
    const who = identify(this.people, this.families, event, arrival)
    for (const warning of who.warnings) this.warn(warning, arrival.receivedAt)
    if (who.merge) {
      const { source, target } = who.merge
      group.put(
        'merge_journal',
        {
          seq: arrival.seq,
          merged_at: event.time,
          merged: source.no,
          merged_uuid: source.uuid,
          survivor: target.no,
          survivor_uuid: target.uuid,
          event_uuid: event.uuid,
          event: event.name,
        },
        true,
      )
    }
    if (!event.isPersonless) {
      this.countWrites(event.set, event.setShape, event.time)
      this.countWrites(event.setOnce, event.setOnceShape, event.time)
    }
    if (event.group) this.identifyGroup(event.group, event.propertiesTo - event.propertiesFrom, event.time, arrival)
    const keys = event.groups ? this.groupKeys(event.groups, arrival) : noGroups
    if (!isKept(this.keptFrom, event.name, event.time)) {
      this.warn({ type: 'event_before_retention', details: { eventUuid: event.uuid, event: event.name } }, arrival.receivedAt)
      return
    }
    this.keys.countShape('event', event.shape, event.time)
    group.pushEvent({
      uuid: event.uuid,
      eventId: this.names.count(event.name, event.time),
      time: event.time,
      personNo: who.personNo,
      distinctId: event.distinctId,
      sessionId: event.sessionId,
      windowId: event.windowId,
      groups: keys,
      createdAt: arrival.receivedAt,
      seq: arrival.seq,
      personMode: event.isPersonless ? who.mode : personModes.full,
      elementsChain: event.elementsChain,
      bytes,
      from: event.propertiesFrom,
      to: event.propertiesTo,
    })
  }

  private countWrites(writes: PreparedEvent['set'], shape: PreparedEvent['setShape'], time: number): void {
    if (shape) this.keys.countShape('person', shape, time)
    else if (writes) this.keys.countValues('person', writes, time)
  }

  private identifyGroup(of: NonNullable<PreparedEvent['group']>, length: number, time: number, arrival: Arrival): void {
    const index = this.groupIndex(of.type, arrival)
    if (index < 0) return
    if (!this.groups.identify(index, of.key, { set: of.set, length }, time, arrival)) {
      this.warnOfGroup(of.type, of.key, arrival)
      return
    }
    this.keys.countValues(`group_${index}`, of.set, time)
  }

  private warnOfGroup(groupType: string, groupKey: string, { receivedAt }: Arrival): void {
    this.warn({ type: 'group_properties_too_large', details: { groupType, groupKey, limit: propertiesLimit } }, receivedAt)
  }

  private groupKeys(pairs: NonNullable<PreparedEvent['groups']>, arrival: Arrival): readonly string[] {
    const keys = [...noGroups]
    for (const [type, key] of pairs) {
      const index = this.groupIndex(type, arrival)
      if (index >= 0) keys[index] = key
    }
    return keys
  }

  private groupIndex(type: string, arrival: Arrival): number {
    const index = this.groups.indexOf(type)
    if (index < 0) this.warn({ type: 'too_many_group_types', details: { groupType: type, limit: groupTypeLimit } }, arrival.receivedAt)
    return index
  }

  private applyPerson(row: PersonImport, arrival: Arrival, group: StagedGroup): string {
    this.people.seq = arrival.seq
    for (const id of row.distinct_ids) this.families.end(id)
    const { person, merged } = importPerson(this.people, row, arrival)
    this.noteMerged(merged, person, arrival, group)
    this.keys.countValues('person', row.properties, row.created_at)
    return person.uuid
  }

  /** Merges that no event has caused. */
  private noteMerged(merged: readonly Person[], person: Person, arrival: Arrival, group: StagedGroup): void {
    for (const source of merged)
      group.put(
        'merge_journal',
        {
          seq: arrival.seq,
          merged_at: arrival.receivedAt,
          merged: source.no,
          merged_uuid: source.uuid,
          survivor: person.no,
          survivor_uuid: person.uuid,
          event_uuid: null,
          event: null,
        },
        true,
      )
  }

  /** The person's uuid, or the number of distinct ids that a deleted one had; '' if there is no such person. */
  private changePerson(change: PersonChange, arrival: Arrival, group: StagedGroup): string {
    const { people, families } = this
    people.seq = arrival.seq
    const find = (uuid: string) => {
      const found = people.recordOf(this.personNos.get(uuid))
      return found?.uuid === uuid ? found : undefined // it may have become part of another person
    }
    const changed = changePerson(change, { people, families, group, arrival, find })
    if (!changed) return ''
    this.noteMerged(changed.merged, changed.person, arrival, group)
    if (change.change === 'write') this.keys.countValues('person', change.set, arrival.receivedAt)
    return changed.ids === undefined ? change.person : String(changed.ids)
  }

  private applyGroup(row: GroupImport, arrival: Arrival): void {
    const index =
      row.group_type_index === null ? this.groupIndex(row.group_type, arrival) : this.groups.fix(row.group_type_index, row.group_type)
    if (index < 0 || row.group_key === null) return
    const written = { set: row.properties, unset: row.unset ?? null, length: JSON.stringify(row.properties).length }
    if (!this.groups.identify(index, row.group_key, written, row.created_at, { ...arrival, isHistorical: false })) {
      this.warnOfGroup(row.group_type, row.group_key, arrival)
      return
    }
    this.keys.countValues(`group_${index}`, row.properties, row.created_at)
  }

  private applyType(row: PropertyTypeRow, at: number): void {
    this.keys.define(row.scope, row.name, row.property_type, at)
  }

  private warn(warning: Warning, at: number): void {
    this.changedWarnings.add(addWarning(this.warnings, warning, at))
  }

  /** Adds all changes except events to the group. */
  async stage(group: StagedGroup): Promise<void> {
    if (this.keys.refused > 0) {
      this.warn({ type: 'too_many_property_keys', details: { refused: this.keys.refused } }, this.latest)
      this.keys.refused = 0
    }
    if (this.names.renamed > 0) {
      this.warn({ type: 'too_many_event_names', details: { renamed: this.names.renamed, limit: nameLimit } }, this.latest)
      this.names.renamed = 0
    }
    if (this.people.refusedWrites > 0)
      this.warn(
        { type: 'person_properties_too_large', details: { refused: this.people.refusedWrites, limit: propertiesLimit } },
        this.latest,
      )
    if (this.people.skippedVersions > 0)
      this.warn({ type: 'person_history_too_large', details: { skipped: this.people.skippedVersions } }, this.latest)
    this.people.refusedWrites = this.people.skippedVersions = 0
    this.settleFamilies(group)
    await this.people.stage(group)
    await this.families.stage(group)
    await this.groups.stage(group)
    this.visits.stage(group)
    this.names.stage(group)
    this.places.stage(group)
    this.keys.stage(group)
    this.keys.storedSeq = this.appliedSeq
    for (const record of this.records.values()) this.stageRecord(record, group)
    this.records.clear()
    for (const { type, count, samples, lastSeen } of this.changedWarnings) {
      group.put('warnings', { kind: type, count, samples: JSON.stringify(samples), last_seen: lastSeen }, !this.storedWarnings.has(type))
      this.storedWarnings.add(type)
    }
    this.changedWarnings.clear()
    this.stageLarge(group)
    group.setMeta('applied_seq', String(this.appliedSeq))
  }

  private stageLarge(group: StagedGroup): void {
    const { largeCounts } = this.people
    const others = { groups: this.groups.large.taken, families: this.families.large.taken, events: this.largeEvents }
    const large = JSON.stringify({ ...largeCounts, ...others } satisfies WriterState['large'])
    this.largeOfGroup = 0
    if (large === this.large) return
    this.large = large
    group.setMeta('large', large)
  }

  private settleFamilies(group: StagedGroup): void {
    for (const { merged, refused } of this.families.settle()) {
      for (const { source, target, cause } of merged)
        group.put(
          'merge_journal',
          {
            seq: this.appliedSeq,
            merged_at: cause.at,
            merged: source.no,
            merged_uuid: source.uuid,
            survivor: target.no,
            survivor_uuid: target.uuid,
            event_uuid: cause.uuid,
            event: cause.event,
          },
          true,
        )
      for (const { target, source, uuid } of refused) this.warn(alreadyIdentified(target, source, uuid), this.latest)
    }
  }

  private stageRecord(record: RecordWrite, group: StagedGroup): void {
    group.remove(record.table, record.id)
    if (record.table === 'cohort_members') {
      for (const uuid of record.persons) {
        const no = this.personNos.get(uuid)
        if (no !== undefined) group.put('cohort_members', { cohort_id: record.id, person_no: this.people.current(no) }, true)
      }
    } else if (record.definition !== null)
      group.put(record.table, { id: record.id, definition: loadableDefinition(record.definition) }, true)
  }

  /** Grows with what queries know of names, types and columns. */
  get factsVersion(): number {
    return this.names.size + this.keys.version + this.groups.typeCount
  }

  /** What batches have done to persons since the last call: merges, and perhaps more. */
  takeMerges(): ReturnType<People['takeMerges']> {
    const merges = this.people.takeMerges()
    return this.families.isSettled ? merges : null
  }

  commit(group: StagedGroup): Promise<void> {
    return group.commit({ event: this.keys.slots('event'), person: this.keys.slots('person') })
  }

  get hasChanges(): boolean {
    return this.keys.hasChanges
  }

  warningSummaries(): WarningSummary[] {
    return [...this.warnings.values()].map((summary) => ({ ...summary, samples: [...summary.samples] }))
  }

  groupType(index: number): string | undefined {
    return this.groups.typeOf(index)
  }

  /** Number of persons that the group has changed so far. */
  get changedPeople(): number {
    return this.people.changes
  }

  /** True if the group should end because of its memory. */
  get isHeavy(): boolean {
    return this.people.isHeavy || this.groups.isHeavy || this.families.isHeavy || this.hasManyLarge
  }

  private get hasManyLarge(): boolean {
    return this.largeOfGroup > this.store.largeEvents
  }

  /** True if the caches, apart from the latest persons and groups, are too large. Call `forget` once everything staged is committed. */
  get isFull(): boolean {
    return this.people.isFull || this.families.isFull
  }

  forget(): void {
    this.people.forget()
    this.families.forget()
  }

  /** Evicts persons and groups that were not used recently. Call it between groups, when the one before the last is committed. */
  trim(): void {
    this.people.trim()
    this.groups.trim()
    this.visits.trim()
  }
}

const storedKeys = ({ propertyKeys, appliedSeq }: WriterState): PropertyKey[] =>
  propertyKeys.map((key) => ({ ...key, slots: key.slots.map((slot) => ({ ...slot, unfilledTo: appliedSeq })), counts: [...key.counts] }))

const warningOf = ({ type, samples, ...rest }: WriterState['warnings'][number]): WarningSummary => ({
  ...rest,
  type: type as WarningSummary['type'],
  samples: JSON.parse(samples) as WarningSummary['samples'],
})
