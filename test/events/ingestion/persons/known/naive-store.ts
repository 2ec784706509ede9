import type { EventWriter, FoundPerson, SizedPerson, StagedGroup } from '../../../../../src/events/ingestion/ports.ts'

// The tables of ids and persons as plain rows, changed as the statements of a store change them.

interface Tables {
  ids: { id: string; no: number; seq: number }[]
  persons: { no: number; person: FoundPerson; seq: number }[]
  merges: { merged: number; survivor: number }[]
  journal: { merged: number; survivor: number; seq: number }[]
  seq: number
  rewrittenSeq: number
}

const sizeOf = ({ properties, propertyTimes }: FoundPerson) => Buffer.byteLength(properties + propertyTimes)

const copyOf = (tables: Tables): Tables => structuredClone(tables)

export class NaiveStore {
  tables: Tables = { ids: [], persons: [], merges: [], journal: [], seq: 0, rewrittenSeq: 0 }
  id = 1
  /** How often all ids were read. */
  reads = 0
  /** How often persons were read by their numbers. */
  personReads = 0
  /** What the next commit does. */
  refusal: 'before' | 'after' | null = null

  copy = (): Tables => copyOf(this.tables)

  owners(ids: readonly string[]) {
    return ids.flatMap((distinctId) =>
      this.tables.ids.filter(({ id }) => id === distinctId).flatMap(({ no }) => this.sizes([no]).map((one) => ({ distinctId, ...one }))),
    )
  }

  sizes(numbers: readonly number[]) {
    return numbers.flatMap((personNo) =>
      this.tables.persons
        .filter(({ no }) => no === personNo)
        .map(({ person }) => ({ personNo, hasRecord: person.hasRecord, size: sizeOf(person) })),
    )
  }

  /** Like a real one, it finds a person only with its true size. */
  found(persons: readonly SizedPerson[]): FoundPerson[] {
    return persons.flatMap(({ personNo, size }) =>
      this.tables.persons.filter(({ no, person }) => no === personNo && sizeOf(person) === size).map(({ person }) => person),
    )
  }

  get writer(): EventWriter {
    const store = this
    return {
      state: async () => ({ appliedSeq: store.tables.seq, rewrittenSeq: store.tables.rewrittenSeq }),
      identity: async () => store.id,
      ownersOfIds: async (ids: readonly string[]) => store.owners(ids),
      sizesOf: async (numbers: readonly number[]) => store.sizes(numbers),
      personsByNo: async (persons: readonly SizedPerson[]) => {
        store.personReads++
        return store.found(persons)
      },
      openGroup: async () => store.group(),
      close: async () => undefined,
      identities: {
        count: async () => store.tables.ids.length,
        async ids(afterSeq, take) {
          if (afterSeq === 0) store.reads++
          const found = store.tables.ids.filter(({ seq }) => seq > afterSeq)
          take(
            found.map(({ id }) => id),
            found.map(({ no }) => no),
          )
        },
        async persons(afterSeq, take) {
          take(store.tables.persons.filter(({ seq }) => seq > afterSeq || afterSeq === 0).map(({ person }) => person))
        },
        async personSizes(afterSeq, take) {
          const found = store.tables.persons.filter(({ seq }) => afterSeq === 0 || seq > afterSeq)
          take(
            found.map(({ no }) => no),
            found.map(({ person }) => person.hasRecord),
            found.map(({ person }) => sizeOf(person)),
          )
        },
        async merges(afterSeq, take) {
          const found = afterSeq === 0 ? store.tables.merges : store.tables.journal.filter(({ seq }) => seq > afterSeq)
          take(
            found.map(({ merged }) => merged),
            found.map(({ survivor }) => survivor),
          )
        },
      },
    } as Partial<EventWriter> as EventWriter
  }

  private group(): StagedGroup {
    const store = this
    const tables = copyOf(store.tables)
    const moves: (readonly [number, number])[] = []
    const rewrites: (readonly [number, number])[] = []
    const movedIds: (readonly [string, number])[] = []
    const removedIds: string[] = []
    const removed: number[] = []
    const persons: Tables['persons'] = []
    const ids: Tables['ids'] = []
    const journal: Tables['journal'] = []
    let isRewritten = false
    return {
      events: 0,
      drain: async () => undefined,
      put(table: string, row: Record<string, never>) {
        if (table === 'persons')
          persons.push({
            no: row.person_no!,
            person: {
              personNo: row.person_no!,
              uuid: row.uuid!,
              hasRecord: row.has_record!,
              createdAt: row.created_at!,
              isIdentified: row.is_identified!,
              version: row.version!,
              updatedAt: row.updated_at!,
              properties: row.properties!,
              propertyTimes: row.property_times!,
              importedAt: row.imported_at!,
            },
            seq: row.changed_seq!,
          })
        if (table === 'distinct_ids') ids.push({ id: row.distinct_id!, no: row.person_no!, seq: row.added_seq! })
        if (table === 'merge_journal') journal.push({ merged: row.merged!, survivor: row.survivor!, seq: row.seq! })
      },
      setMeta(key: string, value: string) {
        if (key === 'applied_seq') tables.seq = Number(value)
      },
      merge: (merged: number, survivor: number) => void moves.push([merged, survivor]),
      rewrite: (no: number, current: number) => void rewrites.push([no, current]),
      moveId: (id: string, no: number) => void movedIds.push([id, no]),
      removeIds: (some: readonly string[]) => void removedIds.push(...some),
      removePeople(numbers: readonly number[], withEvents: boolean) {
        isRewritten = true
        if (withEvents) removed.push(...numbers)
      },
      async commit() {
        if (store.refusal === 'before') throw new Error('refused')
        // Sources and survivors of one statement are those before it.
        const survivorOf = new Map(moves)
        for (const one of tables.ids) one.no = survivorOf.get(one.no) ?? one.no
        for (const one of tables.merges) one.survivor = survivorOf.get(one.survivor) ?? one.survivor
        tables.persons = tables.persons.filter(({ no }) => !survivorOf.has(no))
        tables.merges.push(...moves.map(([merged, survivor]) => ({ merged, survivor })))
        const rewritten = new Set(rewrites.map(([no]) => no))
        tables.persons = tables.persons.filter(({ no }) => !rewritten.has(no))
        tables.merges = tables.merges.filter(({ merged }) => !rewritten.has(merged))
        for (const [merged, survivor] of rewrites) if (merged !== survivor) tables.merges.push({ merged, survivor })
        const moved = new Map(movedIds)
        for (const one of tables.ids) one.no = moved.get(one.id) ?? one.no
        tables.ids = tables.ids.filter(({ id }) => !removedIds.includes(id))
        tables.persons = tables.persons.filter(({ no }) => !removed.includes(no))
        tables.merges = tables.merges.filter(({ merged }) => !removed.includes(merged))
        const changed = new Set(persons.map(({ no }) => no))
        tables.persons = [...tables.persons.filter(({ no }) => !changed.has(no)), ...persons]
        tables.ids.push(...ids)
        tables.journal.push(...journal)
        if (rewrites.length > 0 || movedIds.length > 0 || isRewritten) tables.rewrittenSeq = tables.seq
        store.tables = tables
        if (store.refusal === 'after') throw new Error('committed, and not said')
      },
    } as Partial<StagedGroup> as StagedGroup
  }
}
