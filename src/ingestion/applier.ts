import { isUuid } from '../lib/time-ordered-uuid.ts'
import { loadableDefinition } from '../limits/definitions.ts'
import { changePerson } from './change-person.ts'
import { isVisiting, Visits, visitsLimit } from './cookieless/visits.ts'
import { EventNames, nameLimit } from './event-names.ts'
import { Families } from './families.ts'
import { Groups, groupTypeLimit } from './groups.ts'
import { type Arrival, alreadyIdentified, identify, personModes } from './identify.ts'
import { importPerson } from './import-person.ts'
import { People } from './people.ts'
import type { Person } from './person.ts'
import type { EventWriter, StagedGroup, WriterState } from './ports.ts'
import type { PreparedEvent } from './prepare.ts'
import { type PropertyKey, PropertyKeys } from './property-keys.ts'
import { propertiesLimit } from './property-size.ts'
import { addWarning, type Warning, type WarningSummary } from './warnings.ts'
import type { GroupImport, PersonChange, PersonImport, PropertyTypeRow, RecordWrite, Work } from './work.ts'

const familiesKept = 50_000
/** Fields of an event outside its properties. */
const headBytes = 100
const noGroups: readonly string[] = ['', '', '', '', '']

/** Converts batches to rows. Its state is that of the last staged group; after a failed commit it must be opened again. */
export class Applier {
  readonly keys: PropertyKeys
  private readonly store: EventWriter
  private readonly people: People
  private readonly families: Families
  private readonly groups: Groups
  private readonly visits: Visits
  private readonly names: EventNames
  private readonly warnings: Map<string, WarningSummary>
  private readonly storedWarnings: Set<string>
  private readonly changedWarnings = new Set<WarningSummary>()
  private personNos = new Map<string, number>()
  private records = new Map<string, RecordWrite>()
  appliedSeq: number
  private latest = 0

  private constructor(store: EventWriter, projectId: number, peopleKept: number, state: WriterState) {
    this.store = store
    this.people = new People(store, projectId, state, peopleKept)
    this.families = new Families(store, this.people, !state.hasFamilies)
    this.groups = new Groups(store, state.groupTypes)
    this.visits = new Visits(store, state.visitsOfDays)
    this.names = new EventNames(state.eventNames)
    this.keys = new PropertyKeys(storedKeys(state), state.retiredSlots, state.appliedSeq)
    this.warnings = new Map(state.warnings.map((stored) => [stored.type, warningOf(stored)]))
    this.storedWarnings = new Set(this.warnings.keys())
    this.appliedSeq = state.appliedSeq
  }

  /** `peopleKept`: how many persons it may cache, in addition to those of uncommitted groups. */
  static async open(store: EventWriter, projectId: number, peopleKept: number): Promise<Applier> {
    return new Applier(store, projectId, peopleKept, await store.state())
  }

  /** Loads what these batches need into memory: `count` of their events from `from` on. */
  async load(works: readonly { readonly work: Work; readonly from: number }[], rows: number, mayRefuse: boolean): Promise<void> {
    const ids = new Set<string>()
    const inFull = new Set<string>()
    const groups: { type: string; key: string }[] = []
    const uuids: string[] = []
    const visiting: PreparedEvent[] = []
    let hasPastMerges = false
    let left = rows
    const want = (event: PreparedEvent, isHistorical: boolean) => {
      ids.add(event.distinctId)
      if (event.mergeWith !== null) ids.add(event.mergeWith)
      if (isHistorical && event.mergeWith !== null) hasPastMerges = true
      if (isHistorical || event.isPersonless || event.set || event.setOnce || event.unset || event.mergeWith !== null) {
        inFull.add(event.distinctId)
        if (event.mergeWith !== null) inFull.add(event.mergeWith)
      }
      if (event.group) groups.push(event.group)
    }
    for (const { work, from } of works) {
      const { content, isHistorical } = work
      if (content.kind === 'event')
        for (let i = from; i < content.events.length && left > 0; i++) {
          const event = content.events[i]!
          if (event.isDropped || content.duplicates.has(i)) continue
          left--
          if (event.visitor !== null) visiting.push(event)
          else want(event, isHistorical)
        }
      else if (content.kind === 'persons')
        for (const id of content.persons.flatMap((person) => person.distinct_ids)) {
          ids.add(id)
          inFull.add(id)
        }
      else if (content.kind === 'groups')
        for (const group of content.groups) {
          if (group.group_key !== null) groups.push({ type: group.group_type, key: group.group_key })
        }
      else if (content.kind === 'records')
        for (const record of content.records) if (record.table === 'cohort_members') uuids.push(...record.persons)
    }
    for (const { content } of works.map(({ work }) => work))
      if (content.kind === 'person_changes')
        for (const change of content.changes) uuids.push(change.person, ...(change.change === 'merge' ? change.sources : []))
    this.personNos = new Map((await this.store.personNosOfUuids(uuids.filter(isUuid))).map((found) => [found.uuid, found.personNo]))
    const isChange = works.some(({ work }) => work.content.kind === 'person_changes')
    if (isChange) for (const id of await this.people.loadPersons([...this.personNos.values()])) inFull.add(id)
    if (visiting.length > 0) {
      const events = visiting.filter(isVisiting)
      await this.visits.load(events)
      const isHistorical = works.some(({ work }) => work.isHistorical)
      for (const event of this.visits.ahead(events)) want(event, isHistorical)
    }
    await this.people.load(ids, inFull, mayRefuse)
    await this.families.load([...inFull].flatMap((id) => this.people.numberOf(id) ?? []))
    if (hasPastMerges || isChange) await this.people.loadWhole(inFull)
    if (groups.length) await this.groups.load(groups)
  }

  /**
   * Processes a batch from index `from` on, until the group has `maxEvents`. Returns the index where it stopped, and the uuids of imported
   * persons in their order.
   */
  apply(work: Work, from: number, group: StagedGroup, maxEvents: number): { readonly next: number; readonly uuids: readonly string[] } {
    const { content } = work
    const arrival = (i: number): Arrival => ({ seq: work.firstSeq + i, receivedAt: work.receivedAt, isHistorical: work.isHistorical })
    this.latest = work.receivedAt
    this.visits.startsAt(work.receivedAt)
    let next = work.count
    let uuids: string[] = []
    switch (content.kind) {
      case 'event':
        for (next = from; next < work.count && group.events < maxEvents; next++)
          if (!content.duplicates.has(next)) this.applyEvent(content.events[next]!, content.bytes, arrival(next), group)
        break
      case 'persons':
        uuids = content.persons.map((person, i) => this.applyPerson(person, arrival(i), group))
        break
      case 'groups':
        for (const [i, row] of content.groups.entries()) this.applyGroup(row, arrival(i))
        break
      case 'property_types':
        for (const row of content.types) this.applyType(row, work.receivedAt)
        break
      case 'records':
        for (const record of content.records) this.records.set(`${record.table}:${record.id}`, record)
        break
      case 'person_changes':
        uuids = content.changes.map((change, i) => this.changePerson(change, arrival(i), group))
    }
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
    if (!event.isPersonless && event.set) this.keys.countValues('person', event.set, event.time)
    if (!event.isPersonless && event.setOnce) this.keys.countValues('person', event.setOnce, event.time)
    if (event.group) this.identifyGroup(event.group, event.propertiesTo - event.propertiesFrom, event.time, arrival)
    const keys = event.groups ? this.groupKeys(event.groups, arrival) : noGroups
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

  /** The person's uuid; '' if there is no such person. */
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
    return change.person
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
    this.families.stage(group)
    this.groups.stage(group)
    this.visits.stage(group)
    this.names.stage(group)
    this.keys.stage(group)
    this.keys.storedSeq = this.appliedSeq
    for (const record of this.records.values()) this.stageRecord(record, group)
    this.records.clear()
    for (const { type, count, samples, lastSeen } of this.changedWarnings) {
      group.put('warnings', { kind: type, count, samples: JSON.stringify(samples), last_seen: lastSeen }, !this.storedWarnings.has(type))
      this.storedWarnings.add(type)
    }
    this.changedWarnings.clear()
    group.setMeta('applied_seq', String(this.appliedSeq))
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
    return this.people.isHeavy
  }

  /** True if the caches, apart from the latest persons and groups, are too large. Call `forget` once everything staged is committed. */
  get isFull(): boolean {
    return this.people.isFull || this.families.size > familiesKept
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
