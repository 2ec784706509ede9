import { randomInt } from 'node:crypto'
import type { EventWriter, FoundOwner, FoundPerson, WriterState } from '../../../events/ingestion/ports.ts'
import { isImportKey, readKeptFrom } from '../../../language/catalog/removals.ts'
import { kindOfSlot } from '../../../language/catalog/slots.ts'
import { isOutOfMemory } from './engine-errors.ts'
import { type Journal, journalInStore, metaInsert, metaRow } from './journal.ts'
import { type ProjectStore, rowVersion } from './project-store.ts'
import { addPropertyColumns } from './property-columns.ts'
import { removalSteps } from './removals.ts'
import { literals, numbers } from './sql.ts'
import { stagedGroup } from './staged-group.ts'

/** Events of one INSERT: a server handles few large ones best. */
const groupRows = 61_440
const groupPeople = 50_000
const uuidRows = 1_000_000
/** Its text is held as a whole. */
const largeEventsOfInsert = 64 * 1024 ** 2

const micros = (column: string) => `toUnixTimestamp64Micro(${column})`
const rowsOf = ({ project }: ProjectStore, table: string) => `FROM ${table} WHERE project_id = ${project}`
const readerOf = (store: ProjectStore) => ({
  /** Not allowed while a group changes several tables. */
  look: <T extends readonly unknown[]>(query: string): Promise<T[]> => store.alone(() => store.rows<T>(query)),
  ofProject: (table: string) => rowsOf(store, table),
})
const among = async <T, R>(values: readonly T[], read: () => Promise<R[]>): Promise<R[]> => (values.length ? read() : [])

const personsByNo = (store: ProjectStore, nos: readonly number[]): Promise<FoundPerson[]> =>
  among(nos, async () => {
    const found = await store.rows<[number, string, boolean, number, boolean, number, number, string, string, number | null]>(
      `SELECT person_no, toString(uuid), has_record, ${micros('created_at')}, is_identified, version, ${micros('updated_at')}, properties,
           property_times, ${micros('imported_at')} ${rowsOf(store, 'persons')} AND person_no IN (${numbers(nos)})`,
    )
    return found.map(([personNo, uuid, hasRecord, createdAt, isIdentified, version, updatedAt, properties, propertyTimes, importedAt]) => ({
      personNo,
      uuid,
      hasRecord,
      createdAt,
      isIdentified,
      version,
      updatedAt,
      properties,
      propertyTimes,
      importedAt,
    }))
  })

const sizesOf = (store: ProjectStore, nos: readonly number[]): Promise<FoundOwner[]> =>
  among(nos, async () => {
    const found = await store.rows<[number, boolean, number]>(
      `SELECT person_no, has_record, length(properties) + length(property_times) ${rowsOf(store, 'persons')} AND person_no IN (${numbers(nos)})`,
    )
    return found.map(([personNo, hasRecord, size]) => ({ personNo, hasRecord, size }))
  })

const ofGroups = (store: ProjectStore, keys: readonly (readonly [index: number, key: string])[]) =>
  `${rowsOf(store, 'groups')} AND group_type_index IN (${numbers([...new Set(keys.map(([index]) => index))])}) AND group_key IN (${literals([...new Set(keys.map(([, key]) => key))])})`
const personReads = (store: ProjectStore) => {
  const { look, ofProject } = readerOf(store)
  return {
    ownersOfIds: (ids) =>
      among(ids, () =>
        store.alone(async () => {
          const owners = await store.rows<[string, number]>(
            `SELECT distinct_id, person_no ${ofProject('distinct_ids')} AND distinct_id IN (${literals(ids)})`,
          )
          const persons = new Map(
            (
              await sizesOf(
                store,
                owners.map(([, no]) => no),
              )
            ).map((person) => [person.personNo, person]),
          )
          return owners.flatMap(([distinctId, no]) => {
            const person = persons.get(no)
            return person ? [{ ...person, distinctId }] : []
          })
        }),
      ),
    sizesOf: (nos) => store.alone(() => sizesOf(store, nos)),
    personsByNo: (persons) =>
      store.alone(() =>
        personsByNo(
          store,
          persons.map(({ personNo }) => personNo),
        ),
      ),
    idsOf: (nos) =>
      among(nos, async () => {
        const found = await look<[number, string]>(
          `SELECT person_no, distinct_id ${ofProject('distinct_ids')} AND person_no IN (${numbers(nos)})`,
        )
        return found.map(([personNo, distinctId]) => ({ personNo, distinctId }))
      }),
    mergedInto: (nos) =>
      among(nos, async () => {
        const found = await look<[number, number]>(
          `SELECT merged, survivor ${ofProject('person_merges')} AND survivor IN (${numbers(nos)})`,
        )
        return found.map(([merged, survivor]) => ({ merged, survivor }))
      }),
    familySizes: (nos) =>
      among(nos, () =>
        store.alone(async () => {
          const members = await store.rows<[number, number]>(
            `SELECT person_no, family ${ofProject('import_members')} AND person_no IN (${numbers(nos)})`,
          )
          const families = [...new Set(members.map(([, family]) => family))]
          const found = await among(families, () =>
            store.rows<[number, number]>(
              `SELECT family, length(state) ${ofProject('import_families')} AND family IN (${numbers(families)})`,
            ),
          )
          const sizes = new Map(found)
          return members.flatMap(([personNo, family]) => (sizes.has(family) ? [{ personNo, family, size: sizes.get(family)! }] : []))
        }),
      ),
    families: (families) =>
      among(families, async () => {
        const wanted = numbers(families.map(({ family }) => family))
        const found = await look<[number, string]>(`SELECT family, state ${ofProject('import_families')} AND family IN (${wanted})`)
        return found.map(([family, state]) => ({ family, state }))
      }),
    personNosOfUuids: (uuids) =>
      among(uuids, async () => {
        const found = await look<[string, number]>(
          `SELECT toString(uuid), person_no ${ofProject('persons')} AND uuid IN (${literals(uuids)})`,
        )
        return found.map(([uuid, personNo]) => ({ uuid, personNo }))
      }),
  } satisfies Partial<EventWriter>
}

const otherReads = (store: ProjectStore) => {
  const { look, ofProject } = readerOf(store)
  return {
    groupSizes: (keys) =>
      among(keys, async () => {
        const wanted = new Set(keys.map(([index, key]) => `${index}:${key}`))
        const found = await look<[number, string, number]>(
          `SELECT group_type_index, group_key, length(properties) + length(property_times) ${ofGroups(store, keys)}`,
        )
        return found.filter(([index, key]) => wanted.has(`${index}:${key}`)).map(([index, key, size]) => ({ index, key, size }))
      }),
    groups: (sized) =>
      among(sized, async () => {
        const keys = sized.map(({ index, key }) => [index, key] as const)
        const wanted = new Set(keys.map(([index, key]) => `${index}:${key}`))
        const found = await look<
          [number, string, number, number, number, string, string]
        >(`SELECT group_type_index, group_key, ${micros('created_at')}, ${micros('updated_at')}, version, properties, property_times
           ${ofGroups(store, keys)}`)
        return found
          .filter(([index, key]) => wanted.has(`${index}:${key}`))
          .map(([index, key, createdAt, updatedAt, version, properties, propertyTimes]) => ({
            index,
            key,
            createdAt,
            updatedAt,
            version,
            properties,
            propertyTimes,
          }))
      }),
    visits: (keys) =>
      among(keys, async () => {
        const found = await look<[string, number, string]>(
          `SELECT key, day, state ${ofProject('cookieless_visits')} AND key IN (${literals(keys)})`,
        )
        return found.map(([key, day, state]) => ({ key, day, state }))
      }),
  } satisfies Partial<EventWriter>
}

export function openEventWriter(store: ProjectStore, journal: Journal = journalInStore(store)): EventWriter {
  const { project } = store
  const reader = readerOf(store)
  const { look, ofProject } = reader
  const eventNames = new Map<number, string>()

  return {
    groupRows,
    groupPeople,
    // The server reads few rows at a time where they are large.
    largeRoom: Number.POSITIVE_INFINITY,
    largeEvents: largeEventsOfInsert,
    isTooMuch: isOutOfMemory,
    async state() {
      const appliedSeq = await journal.recover()
      const state = await readState(reader, appliedSeq)
      for (const { id, name } of state.eventNames) eventNames.set(id, name)
      await store.alone(() => addPropertyColumns(store, slotsOf(state))) // of rows that an earlier version stored
      return state
    },
    ...personReads(store),
    ...otherReads(store),
    fillSteps: async (scope, slots) => (scope === 'event' ? [() => store.alone(() => addPropertyColumns(store, slots))] : []),
    async *uuids(fromSeq, toSeq) {
      for (let from = fromSeq; from <= toSeq; from += uuidRows) {
        const to = Math.min(toSeq, from + uuidRows - 1)
        const found = await look<[string]>(
          ['events', 'removed_events']
            .map((table) => `SELECT toString(uuid) ${ofProject(table)} AND log_seq BETWEEN ${from} AND ${to}`)
            .join(' UNION ALL '),
        )
        yield { uuids: found.map(([uuid]) => uuid), toSeq: to }
      }
    },
    removalSteps: (removal, seq, without) => removalSteps(store, removal, { seq, without }),
    async identity() {
      const [known] = await look<[string]>(`SELECT value ${ofProject('meta')} AND key = 'store_id'`)
      if (known) return Number(known[0])
      const made = randomInt(2 ** 32)
      await store.run(metaInsert, metaRow(project, 'store_id', String(made), rowVersion(await store.nextVersion(), 'put')))
      return made
    },
    openGroup: async () => stagedGroup(store, eventNames, journal),
    close: () => store.alone(async () => undefined).catch(() => undefined),
  }
}

const slotsOf = ({ propertyKeys }: WriterState) =>
  propertyKeys.flatMap(({ scope, name, slots }) =>
    scope === 'event' ? slots.map(({ column }) => ({ key: name, kind: kindOfSlot(column) })) : [],
  )

const words = (text: string): string[] => text.split(' ').filter((word) => word !== '')

async function readState({ look, ofProject }: ReturnType<typeof readerOf>, appliedSeq: number): Promise<WriterState> {
  const meta = new Map(await look<[string, string]>(`SELECT key, value ${ofProject('meta')}`))
  const [[families] = [0]] = await look<[number]>(`SELECT count() ${ofProject('import_families')}`)
  const groupTypes: string[] = []
  for (const [index, name] of await look<[number, string]>(`SELECT group_type_index, group_type ${ofProject('group_types')}`))
    groupTypes[index] = name
  const visitsOfDays = await look<[number, number]>(`SELECT day, count() ${ofProject('cookieless_visits')} GROUP BY day`)
  const seen = `${micros('first_seen')}, ${micros('last_seen')}`
  const names = await look<[number, string, number, number, number]>(`SELECT event_id, name, ${seen}, count ${ofProject('event_names')}`)
  const keys = await look<
    [string, string, WriterState['propertyKeys'][number]['type'], string, string, number, number, ...number[]]
  >(`SELECT scope, name, property_type, slots, ready_slots, ${seen}, count_numeric, count_string, count_boolean, count_datetime, count_other,
       count_numeric_string ${ofProject('property_keys')}`)
  const warnings = await look<[string, number, string, number]>(
    `SELECT kind, count, samples, ${micros('last_seen')} ${ofProject('warnings')}`,
  )
  return {
    appliedSeq,
    rewrittenSeq: Number(meta.get('rewritten_seq') ?? 0),
    hasFamilies: families !== 0,
    nextPersonNo: Number(meta.get('next_person_no') ?? 1),
    keptUuids: JSON.parse(meta.get('kept_uuids') ?? '[]') as string[],
    retiredSlots: JSON.parse(meta.get('retired_slots') ?? '[]') as string[],
    keptFrom: readKeptFrom(meta.get('kept_from')),
    imports: new Map([...meta].filter(([key]) => isImportKey(key))),
    large: {
      persons: 0,
      versions: 0,
      groups: 0,
      families: 0,
      events: 0,
      ...(JSON.parse(meta.get('large') ?? '{}') as Partial<WriterState['large']>),
    },
    groupTypes,
    visitsOfDays,
    eventNames: names.map(([id, name, firstSeen, lastSeen, count]) => ({ id, name, firstSeen, lastSeen, count })),
    propertyKeys: keys.map(([scope, name, type, slots, ready, firstSeen, lastSeen, ...counts]) => ({
      scope,
      name,
      type,
      slots: words(slots).map((column) => ({ column, isReady: words(ready).includes(column) })),
      counts,
      firstSeen,
      lastSeen,
    })),
    warnings: warnings.map(([type, count, samples, lastSeen]) => ({ type, count, samples, lastSeen })),
  }
}
