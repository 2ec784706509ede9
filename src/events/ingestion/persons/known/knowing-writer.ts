import { mkdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { MemoryShare } from '../../../../lib/memory/memory-share.ts'
import type { EventWriter, FoundOwner, FoundPerson, SizedPerson, StagedGroup, StoredIdentities, WriterState } from '../../ports.ts'
import { readKnown, removeKnown, writeKnown } from './known-file.ts'
import { type IdentityChanges, KnownIds, noChanges } from './known-ids.ts'
import { PersonFile, type Placed } from './person-file.ts'

// A store whose ids are looked up in memory, and whose persons are read from a file of their own if they are more than memory holds. Both hold what is
// committed, as the store itself does, and are made from it when they are missing.

export interface KnowingOptions {
  /** Where the index is kept; null: it is not. */
  readonly folder: string | null
  /** Of all projects; null: there is none. */
  readonly memory: MemoryShare | null
  /** Fewer ids are not kept in a file. */
  readonly leastSaved?: number
  /** More persons than this are in a file. Default: those that stay in memory. */
  readonly mostInMemory?: number
  /** For what the project can do without. */
  report(error: unknown): void
}

/** Fewer are read from the store in a moment. */
const leastSaved = 20_000

/** Of the memory, for one project: a large one leaves room for the others. */
const mostOfOne = 0.75

const bytesOf = (text: string): number => Buffer.byteLength(text)

export const withKnownIds = (store: EventWriter, { memory, ...options }: KnowingOptions): EventWriter =>
  store.identities && memory ? new KnowingWriter(store, store.identities, { ...options, memory }).writer : store

class KnowingWriter {
  private readonly store: EventWriter
  private readonly identities: StoredIdentities
  private readonly memory: MemoryShare
  private readonly report: (error: unknown) => void
  private readonly leastSaved: number
  private readonly mostInMemory: number
  private readonly paths: { readonly folder: string; readonly index: string; readonly persons: string } | null
  private known: KnownIds | null = null
  /** There is no memory for it. */
  private isOff = false
  /** The file of persons could not be written. */
  private isWithoutFile = false
  /** Its file was begun when the store had persons already. */
  private lacksPersons = false
  /** The store has changed otherwise. */
  private isStale = false
  /** Of groups that are not committed. */
  private readonly staged = new Set<IdentityChanges>()
  private readonly holder = { evict: () => false }

  constructor(
    store: EventWriter,
    identities: StoredIdentities,
    { folder, memory, report, ...options }: KnowingOptions & { readonly memory: MemoryShare },
  ) {
    this.store = store
    this.identities = identities
    this.memory = memory
    this.report = report
    this.leastSaved = options.leastSaved ?? leastSaved
    this.mostInMemory = options.mostInMemory ?? store.groupPeople
    this.paths = folder === null ? null : { folder, index: join(folder, 'known.ids'), persons: join(folder, 'persons') }
  }

  get writer(): EventWriter {
    const { store } = this
    return {
      ...store,
      state: async () => {
        const state = await store.state()
        await this.follow(state)
        return state
      },
      ownersOfIds: async (ids) => {
        const { known } = this
        if (!known) return store.ownersOfIds(ids)
        const found: (FoundOwner & { distinctId: string })[] = []
        for (const distinctId of ids) {
          const owner = known.ownerOf(distinctId)
          if (owner) found.push({ distinctId, ...owner })
        }
        return found
      },
      sizesOf: async (numbers) => {
        const { known } = this
        return known ? numbers.flatMap((no) => known.person(no) ?? []) : store.sizesOf(numbers)
      },
      personsByNo: (persons) => this.personsByNo(persons),
      removalSteps: async (removal, seq, without) => {
        const steps = await store.removalSteps(removal, seq, without)
        return steps.map((step) => async () => {
          if (removal.remove !== 'old_events') this.isStale = true
          return step()
        })
      },
      openGroup: async () => this.group(await store.openGroup()),
      close: async () => {
        if (this.known && !this.isStale) await this.save(this.known)
        this.known?.close()
        this.memory.give(this.holder)
        await store.close()
      },
    }
  }

  private async personsByNo(persons: readonly SizedPerson[]): Promise<FoundPerson[]> {
    const { known, store } = this
    if (!known?.file) return store.personsByNo(persons)
    const found: FoundPerson[] = []
    let others = notFound(known, persons, found)
    if (others.length > 0 && this.lacksPersons) {
      await this.readOthers(known)
      others = notFound(known, others, found)
    }
    if (others.length === 0) return found
    for (const person of await store.personsByNo(others)) {
      found.push(person)
      this.written(person, (placed) => known.keep(person.personNo, placed))
    }
    return found
  }

  /** All persons that the file lacks, in one pass: to read them one batch after the other takes a pass for each. */
  private async readOthers(known: KnownIds): Promise<void> {
    this.lacksPersons = false
    await this.identities.persons(0, (persons) => {
      for (const person of persons)
        if (known.file && !known.file.has(person.personNo)) this.written(person, (placed) => known.keep(person.personNo, placed))
    })
  }

  private readonly hasRoom = (bytes: number): boolean => bytes <= this.memory.most * mostOfOne && this.memory.take(this.holder, bytes)

  /** Brings what is known to the state of the store. */
  private async follow(state: WriterState): Promise<void> {
    if (this.isOff) return
    const { appliedSeq, rewrittenSeq, nextPersonNo } = state
    for (const changes of this.staged) this.known?.discard(changes)
    this.staged.clear()
    this.known ??= await this.load(state)
    const { known, identities } = this
    const hasFile = known?.file !== null || nextPersonNo <= this.mostInMemory || !this.paths || this.isWithoutFile
    const isOfStore = known !== null && known.seq <= appliedSeq && (known.seq === appliedSeq || rewrittenSeq <= known.seq)
    if (isOfStore && hasFile && !this.isStale) {
      const isRead = known.seq === appliedSeq || (await this.read(known, appliedSeq))
      if (isRead && (await identities.count()) === known.places.count && this.hasRoom(known.bytes)) return
    }
    await this.readAnew(appliedSeq, nextPersonNo)
  }

  /** The index that a clean end has left. It is used once: a process that is killed leaves none, because the store may lose what it had committed last. */
  private async load({ appliedSeq }: WriterState): Promise<KnownIds | null> {
    if (!this.paths) return null
    const { index, persons } = this.paths
    try {
      const found = await readKnown(index, await this.store.identity(), persons)
      await removeKnown(index)
      this.lacksPersons = found?.lacksPersons === true
      if (found?.seq === appliedSeq) return found
      found?.close()
    } catch (error) {
      this.report(error)
    }
    return null
  }

  private async readAnew(appliedSeq: number, nextPersonNo: number): Promise<void> {
    this.isStale = false
    this.lacksPersons = false
    for (let attempt = 0; attempt < 3; attempt++) {
      this.known?.close()
      this.known = null
      await this.forgetFile()
      const known = KnownIds.empty(nextPersonNo > this.mostInMemory ? this.newFile() : null)
      this.known = known
      if ((await this.read(known, appliedSeq)) && (await this.identities.count()) === known.places.count) return
    }
    this.stop()
  }

  private async read(known: KnownIds, appliedSeq: number): Promise<boolean> {
    try {
      return await known.read(this.identities, appliedSeq, this.hasRoom)
    } catch (error) {
      if (!known.file?.isBroken) throw error
      this.isWithoutFile = true
      this.report(error)
      return false
    }
  }

  /** Neither file is left. */
  private async forgetFile(): Promise<void> {
    if (!this.paths) return
    await removeKnown(this.paths.index).catch(this.report)
    await rm(this.paths.persons, { force: true }).catch(this.report)
  }

  private newFile(): PersonFile | null {
    if (!this.paths || this.isWithoutFile) return null
    try {
      mkdirSync(this.paths.folder, { recursive: true, mode: 0o700 })
      return new PersonFile(this.paths.persons, null)
    } catch (error) {
      this.isWithoutFile = true
      this.report(error)
      return null
    }
  }

  private stop(): void {
    this.known?.close()
    this.known = null
    this.isOff = true
    void this.forgetFile()
    this.memory.give(this.holder)
    const most = Math.round(this.memory.most / 1024 ** 2)
    this.report(
      new Error(
        `The index of distinct ids does not fit into its memory, ${most} MiB for all projects: ids are looked up in the store, which is slower. Give Waymark more memory.`,
      ),
    )
  }

  private committed(known: KnownIds, changes: IdentityChanges, seq: number): void {
    known.apply(changes, seq)
    if (known.file && changes.persons.some(({ placed }) => placed === null)) this.lacksPersons = true // staged before there was a file
    if (!this.hasRoom(known.bytes)) this.stop()
  }

  private async save(known: KnownIds): Promise<void> {
    if (!this.paths || known.places.count < this.leastSaved) return
    try {
      await writeKnown(this.paths.index, known, await this.store.identity())
    } catch (error) {
      this.report(error)
    }
  }

  /** Null: there is no file of persons. */
  private written(person: FoundPerson, place?: (placed: Placed) => void): Placed | null {
    const { known } = this
    if (!known) return null
    try {
      if (!known.file && person.personNo > this.mostInMemory) {
        known.file = this.newFile()
        this.lacksPersons = true
      }
      const placed = known.file?.write(person) ?? null
      if (placed) place?.(placed)
      return placed
    } catch (error) {
      // A full disk, mostly: persons are read from the store then. What names this file goes first.
      this.isWithoutFile = true
      known.file?.close()
      known.file = null
      void this.forgetFile()
      this.report(error)
      return null
    }
  }

  private group(group: StagedGroup): StagedGroup {
    const changes = noChanges()
    this.staged.add(changes)
    let seq: number | null = null
    return {
      get events() {
        return group.events
      },
      pushEvent: (row) => group.pushEvent(row),
      put: (table, row, isNew) => {
        group.put(table, row, isNew)
        if (table === 'persons') changes.persons.push(this.changedPerson(row as StagedPerson))
        else if (table === 'distinct_ids') {
          const { distinct_id, person_no } = row as { distinct_id: string; person_no: number }
          changes.ids.push([distinct_id, person_no])
        }
      },
      drain: () => group.drain(),
      setMeta: (key, value) => {
        if (key === 'applied_seq') seq = Number(value)
        group.setMeta(key, value)
      },
      merge: (merged, survivor) => {
        changes.merged.push([merged, survivor])
        group.merge(merged, survivor)
      },
      rewrite: (no, current) => {
        changes.rewritten.push([no, current])
        group.rewrite(no, current)
      },
      moveId: (distinctId, no) => {
        changes.movedIds.push([distinctId, no])
        group.moveId(distinctId, no)
      },
      removeFamily: (family) => group.removeFamily(family),
      moveEvents: (ids, from) => group.moveEvents(ids, from),
      removeIds: (ids) => {
        for (const id of ids) changes.removedIds.push(id)
        group.removeIds(ids)
      },
      removePeople: (numbers, withEvents) => {
        if (withEvents) for (const no of numbers) changes.removedPersons.push(no)
        group.removePeople(numbers, withEvents)
      },
      removeVisits: (beforeDay) => group.removeVisits(beforeDay),
      remove: (table, id) => group.remove(table, id),
      noteRemoved: () => group.noteRemoved(),
      commit: async (slots) => {
        await group.commit(slots)
        this.staged.delete(changes)
        if (this.known) this.committed(this.known, changes, seq ?? this.known.seq)
      },
    }
  }

  private changedPerson(row: StagedPerson) {
    const { person_no: no, has_record: hasRecord, properties, property_times: propertyTimes } = row
    const placed = this.written({
      personNo: no,
      uuid: row.uuid,
      hasRecord,
      createdAt: row.created_at,
      isIdentified: row.is_identified,
      version: row.version,
      updatedAt: row.updated_at,
      properties,
      propertyTimes,
      importedAt: row.imported_at,
    })
    return { no, state: { hasRecord, size: placed?.size ?? bytesOf(properties) + bytesOf(propertyTimes) }, placed }
  }
}

/** Adds those that the file has. Returns the others. */
function notFound(known: KnownIds, persons: readonly SizedPerson[], found: FoundPerson[]): SizedPerson[] {
  return persons.filter((one) => {
    const person = known.found(one)
    if (person) found.push(person)
    return person === null
  })
}

interface StagedPerson {
  readonly person_no: number
  readonly uuid: string
  readonly has_record: boolean
  readonly created_at: number
  readonly is_identified: boolean
  readonly version: number
  readonly updated_at: number
  readonly properties: string
  readonly property_times: string
  readonly imported_at: number | null
}
