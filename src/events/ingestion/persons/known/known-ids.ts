import { randomFillSync } from 'node:crypto'
import { IdPlaces } from '../../../../lib/ids/id-places.ts'
import { hashWords } from '../../../../lib/ids/keyed-hash.ts'
import type { FoundOwner, FoundPerson, SizedPerson, StoredIdentities } from '../../ports.ts'
import type { PersonFile, Placed } from './person-file.ts'
import { type PersonState, PersonStates } from './person-states.ts'

export interface ChangedPerson {
  readonly no: number
  readonly state: PersonState
  /** Null: it is not in the file of persons. */
  readonly placed: Placed | null
}

/** What a transaction changes of ids and persons, in the order in which it does. */
export interface IdentityChanges {
  readonly merged: (readonly [merged: number, survivor: number])[]
  readonly rewritten: (readonly [no: number, current: number])[]
  readonly movedIds: (readonly [distinctId: string, no: number])[]
  readonly removedIds: string[]
  readonly removedPersons: number[]
  readonly persons: ChangedPerson[]
  readonly ids: (readonly [distinctId: string, no: number])[]
}

export const noChanges = (): IdentityChanges => ({
  merged: [],
  rewritten: [],
  movedIds: [],
  removedIds: [],
  removedPersons: [],
  persons: [],
  ids: [],
})

/** The stored ids of a project and their persons, as of one record of the log. */
export class KnownIds {
  readonly places: IdPlaces
  readonly persons: PersonStates
  /** The persons themselves, where there are more than fit into memory. */
  file: PersonFile | null
  seq: number

  constructor(places: IdPlaces, persons: PersonStates, file: PersonFile | null, seq: number) {
    this.places = places
    this.persons = persons
    this.file = file
    this.seq = seq
  }

  static empty = (file: PersonFile | null): KnownIds =>
    new KnownIds(new IdPlaces(randomFillSync(new Uint32Array(hashWords))), new PersonStates(), file, 0)

  /**
   * Reads what the store has beyond the record that is known, up to `seq`. Merges and additions only: after other changes it is read as a whole. False: two
   * ids have the same hash, or there is no room.
   */
  async read(stored: StoredIdentities, seq: number, hasRoom: (bytes: number) => boolean): Promise<boolean> {
    const { places, persons, file } = this
    const isWhole = this.seq === 0
    let isRoom = true
    let isTwice = false
    await stored.merges(this.seq, (merged, survivors) => {
      for (const [i, no] of merged.entries()) this.merge(no, survivors[i]!, null)
    })
    if (file)
      await stored.persons(this.seq, (found) => {
        for (const person of found) {
          const placed = file.write(person)
          file.place(person.personNo, placed, null)
          persons.set(person.personNo, { hasRecord: person.hasRecord, size: placed.size })
        }
      })
    else
      await stored.personSizes(this.seq, (numbers, haveRecord, sizes) => {
        for (const [i, no] of numbers.entries()) persons.set(no, { hasRecord: haveRecord[i]!, size: sizes[i]! })
      })
    await stored.ids(this.seq, (ids, numbers) => {
      if (!isRoom) return
      for (const [i, id] of ids.entries()) isTwice = places.set(id, numbers[i]!) !== 0 || isTwice
      isRoom = hasRoom(this.bytes)
    })
    this.seq = seq
    return isRoom && !(isTwice && isWhole)
  }

  get bytes(): number {
    return this.places.bytes + this.persons.bytes + (this.file?.memory ?? 0)
  }

  /** Whether the file lacks persons that are known. */
  get lacksPersons(): boolean {
    const { file, persons } = this
    return file !== null && persons.some((no) => !file.has(no))
  }

  private sizeOf(no: number): number {
    return this.persons.get(no)?.size ?? 0
  }

  /** The person of an id, as the store has it. */
  ownerOf(distinctId: string): FoundOwner | null {
    const no = this.places.get(distinctId)
    return no === 0 ? null : this.person(this.persons.current(no))
  }

  person(personNo: number): FoundOwner | null {
    const state = this.persons.get(personNo)
    return state && { personNo, ...state }
  }

  /** Null: it must be read from the store. */
  found({ personNo, size }: SizedPerson): FoundPerson | null {
    try {
      return this.file?.read(personNo, size) ?? null
    } catch {
      return null
    }
  }

  /** A person that was read from the store, unless it has changed since. */
  keep(no: number, placed: Placed): void {
    const { file, persons } = this
    if (!file) return
    if (file.has(no) || persons.get(no)?.size !== placed.size) file.discard(placed)
    else file.place(no, placed, placed.size)
  }

  /** The number has no person any more. */
  private merge(no: number, survivor: number, size: number | null = this.sizeOf(no)): void {
    this.file?.place(no, null, size)
    this.persons.remove(no)
    this.persons.merge(no, survivor)
  }

  /** After their commit. */
  apply(changes: IdentityChanges, seq: number): void {
    const { places, persons, file } = this
    for (const [merged, survivor] of changes.merged) this.merge(merged, survivor)
    for (const [no, current] of changes.rewritten) this.merge(no, current)
    for (const [id, no] of changes.movedIds) places.set(id, no)
    for (const id of changes.removedIds) places.delete(id)
    for (const no of changes.removedPersons) this.merge(no, no)
    for (const { no, state, placed } of changes.persons) {
      file?.place(no, placed, this.sizeOf(no))
      persons.set(no, state)
    }
    for (const [id, no] of changes.ids) places.set(id, no)
    this.seq = seq
  }

  /** Of a transaction that has failed. */
  discard({ persons }: IdentityChanges): void {
    for (const { placed } of persons) if (placed) this.file?.discard(placed)
  }

  close(): void {
    this.file?.close()
  }
}
