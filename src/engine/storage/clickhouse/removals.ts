import type { WithoutProperty } from '../../../events/ingestion/ports.ts'
import {
  copiesOf,
  importKeyOf,
  type KeptFrom,
  objectsOf,
  type PropertyScope,
  partOfTexts,
  partsOfRanges,
  propertyScopes,
  type Removal,
  type RemovalCounts,
  readRanges,
  type SeqRange,
  undoneKeysOf,
} from '../../../language/catalog/removals.ts'
import { metaInsert, metaRow } from './journal.ts'
import { type ProjectStore, rowVersion } from './project-store.ts'
import { literal, literals, numbers, timeText } from './sql.ts'

// What a project does not keep any more, taken out of its rows on a server.

type Step = () => Promise<Partial<RemovalCounts>>

interface How {
  readonly seq: number
  readonly without: WithoutProperty
}

/** Numbers or texts of one statement. */
const numbersOfStep = 2_000
const textsOfStep = 500
/** Of an import: each step is a mutation. */
const mostOfImport = { records: 5_000_000, ranges: 500 } as const

export async function removalSteps(store: ProjectStore, removal: Removal, how: How): Promise<readonly Step[]> {
  switch (removal.remove) {
    case 'old_events':
      return [() => store.alone(async () => ({ events: await removeOldEvents(store, removal.from) }))]
    case 'idle_persons':
      return [() => store.alone(async () => ({ persons: await removeIdlePersons(store, removal.before) }))]
    case 'property':
      return removeProperty(store, removal, how)
    case 'import':
      return removeImport(store, removal.id)
  }
}

const time = (micros: number): string => `toDateTime64('${timeText(micros)}', 6, 'UTC')`
const count = async (store: ProjectStore, rest: string): Promise<number> =>
  (await store.rows<[number]>(`SELECT count() ${rest}`))[0]?.[0] ?? 0

function* portions<T>(all: readonly T[], size: number): Generator<readonly T[]> {
  for (let from = 0; from < all.length; from += size) yield all.slice(from, from + size)
}

function isOld({ all, names }: KeptFrom): string {
  const named = Object.entries(names)
  const conditions = named.flatMap(([name, from]) => (from === null ? [] : [`(event = ${literal(name)} AND timestamp < ${time(from)})`]))
  const others = named.length > 0 ? ` AND event NOT IN (${literals(named.map(([name]) => name))})` : ''
  if (all !== null) conditions.push(`(timestamp < ${time(all)}${others})`)
  return conditions.join(' OR ') || '0'
}

async function removeOldEvents(store: ProjectStore, from: KeptFrom): Promise<number> {
  const old = `FROM events WHERE project_id = ${store.project} AND (${isOld(from)})`
  const events = await count(store, old)
  if (events === 0) return 0
  await store.run(`INSERT INTO last_events SELECT project_id, person_no, max(timestamp) ${old} GROUP BY project_id, person_no`)
  await store.run(`DELETE ${old}`)
  return events
}

async function removeIdlePersons(store: ProjectStore, before: number): Promise<number> {
  const at = time(before)
  return removePersons(
    store,
    `created_at < ${at} AND updated_at < ${at}`,
    `SELECT person_no ${rowsOf(store, 'last_events')} GROUP BY person_no HAVING max(last_at) >= ${at}`,
  )
}

const rowsOf = ({ project }: ProjectStore, table: string): string => `FROM ${table} WHERE project_id = ${project}`

/** In steps that may be repeated: where the events are is forgotten by the last one. */
async function removeImport(store: ProjectStore, id: string): Promise<readonly Step[]> {
  const isOfImport = `startsWith(key, ${literal(importKeyOf(id))})`
  const stored = await store.alone(() => store.rows<[string]>(`SELECT value ${rowsOf(store, 'meta')} AND ${isOfImport}`))
  const ranges = stored.flatMap(([value]) => readRanges(value))
  if (ranges.length === 0) return []
  const isWithin = (column: string, some: readonly SeqRange[]) =>
    some.map(([first, last]) => `${column} BETWEEN ${first} AND ${last}`).join(' OR ')
  const deleted = async (some: readonly SeqRange[]) => {
    const rows = `${rowsOf(store, 'events')} AND (${isWithin('log_seq', some)})`
    const names = await store.rows<[string, number]>(`SELECT event, count() ${rows} GROUP BY event`)
    if (names.length > 0) {
      const keys = await store.rows<[string]>(`SELECT DISTINCT arrayJoin(JSONExtractKeys(properties)) ${rows}`)
      await noteKeys(store, id, keys.flat())
      await store.run(`DELETE ${rows}`)
    }
    for (const portion of portions(names, textsOfStep)) await uncount(store, portion)
    return { events: names.reduce((sum, [, events]) => sum + events, 0) }
  }
  const among = (column: string) =>
    `arrayExists(r -> ${column} BETWEEN r.1 AND r.2, [${ranges.map(([first, last]) => `(${first}, ${last})`).join(', ')}])`
  const onlyHere = `imported_at IS NULL
    AND person_no IN (SELECT person_no ${rowsOf(store, 'distinct_ids')} GROUP BY person_no HAVING min(${among('added_seq')}) = 1)
    AND (${among('changed_seq')} OR person_no IN (SELECT person_no ${rowsOf(store, 'import_members')}))`
  return [
    ...partsOfRanges(ranges, mostOfImport).map((some) => () => store.alone(() => deleted(some))),
    () =>
      store.alone(async () => ({
        persons: await removePersons(store, onlyHere, `SELECT DISTINCT person_no ${rowsOf(store, 'last_events')}`, true),
      })),
    () => store.alone(() => forgetProperties(store, id)),
    () =>
      store.alone(async () => {
        // With the identity of the store the indexes beside it are gone, which know the removed events.
        await store.run(`DELETE ${rowsOf(store, 'meta')} AND (${isOfImport} OR key IN (${literals([undoneKeysOf(id), 'store_id'])}))`)
        return {}
      }),
  ]
}

const readKeys = async (store: ProjectStore, id: string): Promise<readonly string[]> => {
  const [known] = await store.rows<[string]>(`SELECT value ${rowsOf(store, 'meta')} AND key = ${literal(undoneKeysOf(id))}`)
  return known ? (JSON.parse(known[0]) as string[]) : []
}

/** Before the events are removed: a process may end in between. */
async function noteKeys(store: ProjectStore, id: string, keys: readonly string[]): Promise<void> {
  const all = [...new Set([...(await readKeys(store, id)), ...keys])]
  const version = rowVersion(await store.nextVersion(), 'put')
  await store.run(metaInsert, metaRow(store.project, undoneKeysOf(id), JSON.stringify(all), version))
}

/** The newest events have most of the properties that are still sent. */
const recordsLookedAt = 100_000

/** Takes the properties that only removed events had from the list of properties. */
async function forgetProperties(store: ProjectStore, id: string): Promise<Partial<RemovalCounts>> {
  const known = await store.rows<[string]>(`SELECT name ${rowsOf(store, 'property_keys')} AND scope = 'event'`)
  const listed = new Set(known.flat())
  let gone = (await readKeys(store, id)).filter((key) => listed.has(key))
  for (const rows of [`log_seq > (SELECT max(log_seq) - ${recordsLookedAt} ${rowsOf(store, 'events')})`, '1'])
    gone = await without(store, gone, `${rowsOf(store, 'events')} AND ${rows}`)
  await forget(store, 'event', gone)
  return {}
}

/** Names that none of the rows has in its `properties`. */
async function without(store: ProjectStore, names: readonly string[], rows: string): Promise<string[]> {
  const left = new Set(names)
  for (const some of portions(names, textsOfStep)) {
    const found = await store.rows<[string]>(
      `SELECT DISTINCT arrayJoin(arrayIntersect(JSONExtractKeys(properties), [${literals(some)}])) ${rows}`,
    )
    for (const [name] of found) left.delete(name)
  }
  return [...left]
}

/** A declared type stays. */
async function forget(store: ProjectStore, scope: PropertyScope, names: readonly string[]): Promise<void> {
  const counts = ['numeric', 'string', 'boolean', 'datetime', 'other', 'numeric_string'].map((type) => `count_${type}`)
  for (const some of portions(names, textsOfStep)) {
    const rows = `${rowsOf(store, 'property_keys')} AND scope = ${literal(scope)} AND name IN (${literals(some)})`
    const version = rowVersion(await store.nextVersion(), 'put')
    await store.run(
      `INSERT INTO property_keys (project_id, scope, name, property_type, slots, ready_slots, first_seen, last_seen, ${counts.join(', ')}, row_version, row_deleted)
       SELECT project_id, scope, name, property_type, slots, ready_slots, first_seen, last_seen, ${counts.map(() => '0').join(', ')}, ${version}, 0
       ${rows} AND property_type IS NOT NULL`,
    )
    await store.run(`DELETE ${rows} AND property_type IS NULL`)
  }
}

/** Names of events that were taken back. After a process that ended in between, a name keeps a count that is too high. */
async function uncount(store: ProjectStore, names: readonly (readonly [name: string, events: number])[]): Promise<void> {
  const listed = literals(names.map(([name]) => name))
  const version = rowVersion(await store.nextVersion(), 'put')
  await store.run(
    `INSERT INTO event_names (project_id, event_id, name, first_seen, last_seen, count, row_version, row_deleted)
     SELECT n.project_id, n.event_id, n.name, if(e.events > 0, e.first, n.first_seen), if(e.events > 0, e.last, n.last_seen),
       greatest(0, toInt64(n.count) - u.events), ${version}, 0
     FROM (SELECT * ${rowsOf(store, 'event_names')} AND name IN (${listed})) AS n
     INNER JOIN (SELECT * FROM values('name String, events Int64', ${names.map(([name, events]) => `(${literal(name)}, ${events})`).join(', ')})) AS u
       ON u.name = n.name
     LEFT JOIN (SELECT event, count() AS events, min(timestamp) AS first, max(timestamp) AS last ${rowsOf(store, 'events')}
       AND event IN (${listed}) GROUP BY event) AS e ON e.event = n.name SETTINGS join_use_nulls = 0`,
  )
}

/** `others`: numbers that stay although they have no events. `forgets`: properties that only they had are listed no more. */
async function removePersons(store: ProjectStore, condition: string, others: string, forgets = false): Promise<number> {
  const ofProject = (table: string) => rowsOf(store, table)
  const current = (rows: string) =>
    `SELECT if(m.merged = 0, n.person_no, m.survivor) FROM (${rows}) AS n
     LEFT JOIN (SELECT merged, survivor ${ofProject('person_merges')}) AS m ON m.merged = n.person_no SETTINGS join_use_nulls = 0`
  const active = new Set<number>()
  for (const rows of [`SELECT DISTINCT person_no ${ofProject('events')}`, others])
    for (const [no] of await store.rows<[number]>(current(rows))) active.add(no)
  const quiet = await store.rows<[number, boolean, string]>(
    `SELECT person_no, has_record, toString(uuid) ${ofProject('persons')} AND ${condition}`,
  )
  const idle = quiet.filter(([no]) => !active.has(no))
  const keys = new Set<string>()
  for (const some of portions(idle, numbersOfStep)) {
    const own = numbers(some.map(([no]) => no))
    const merged = await store.rows<[number]>(`SELECT merged ${ofProject('person_merges')} AND survivor IN (${own})`)
    const all = numbers([...some, ...merged].map(([no]) => no))
    const families = await store.rows<[number]>(`SELECT DISTINCT family ${ofProject('import_members')} AND person_no IN (${all})`)
    const among = (table: string, column = 'person_no') => `DELETE ${ofProject(table)} AND ${column} IN (${all})`
    if (forgets)
      for (const table of ['persons', 'person_versions'])
        for (const [key] of await store.rows<[string]>(
          `SELECT DISTINCT arrayJoin(JSONExtractKeys(properties)) ${ofProject(table)} AND person_no IN (${all})`,
        ))
          keys.add(key)
    for (const table of ['distinct_ids', 'person_versions', 'cohort_members', 'last_events']) await store.run(among(table))
    if (families.length > 0)
      for (const table of ['import_families', 'import_members'])
        await store.run(`DELETE ${ofProject(table)} AND family IN (${numbers(families.map(([family]) => family))})`)
    await store.run(`DELETE ${ofProject('person_merges')} AND survivor IN (${own})`)
    await store.run(among('persons')) // by which a repetition finds the others
  }
  let gone = [...keys]
  for (const table of ['persons', 'person_versions']) gone = await without(store, gone, ofProject(table))
  await forget(store, 'person', gone)
  await forgetUuids(store, new Set(idle.map(([, , uuid]) => uuid)))
  return idle.filter(([, hasRecord]) => hasRecord).length
}

async function forgetUuids(store: ProjectStore, gone: ReadonlySet<string>): Promise<void> {
  const [known] = await store.rows<[string]>(`SELECT value FROM meta WHERE project_id = ${store.project} AND key = 'kept_uuids'`)
  const kept = known ? (JSON.parse(known[0]) as string[]) : []
  const left = kept.filter((uuid) => !gone.has(uuid))
  if (left.length === kept.length) return
  const version = rowVersion(await store.nextVersion(), 'put')
  await store.run(metaInsert, metaRow(store.project, 'kept_uuids', JSON.stringify(left), version))
}

function removeProperty(store: ProjectStore, { scope, name }: Extract<Removal, { remove: 'property' }>, { seq, without }: How): Step[] {
  const { project } = store
  const group = propertyScopes.indexOf(scope) - 2
  const texts =
    (one: TextTable): Step =>
    () =>
      store.alone(() => rewriteTexts(store, name, one))
  const properties = { columns: ['properties', 'property_times'], without: [without.ofProperties, without.ofTimes] } as const
  const persons: readonly TextTable[] = [
    { table: 'persons', counts: 'persons', ...properties, also: { changed_seq: seq } },
    { table: 'person_versions', columns: ['properties'], without: [without.ofProperties] },
    { table: 'import_families', columns: ['state'], without: [without.ofFamily] },
  ]
  return [
    ...eventStatements(project, scope, name, group, seq).map(
      ({ where, statements }) =>
        () =>
          store.alone(async () => {
            const events = await count(store, `FROM events WHERE ${where}`)
            if (events > 0) for (const statement of statements) await store.run(statement)
            return { events }
          }),
    ),
    ...(scope === 'person' ? persons : []).map(texts),
    ...(group >= 0
      ? [
          texts({
            table: 'groups',
            counts: 'groups',

            ...properties,
            where: `group_type_index = ${group}`,
          }),
        ]
      : []),
    () =>
      store.alone(async () => {
        await store.run(`DELETE FROM property_keys WHERE project_id = ${project} AND scope = ${literal(scope)} AND name = ${literal(name)}`)
        return {}
      }),
  ]
}

/** The JSON of an object without a key. Values keep their text. */
const withoutKey = (json: string, name: string): string =>
  `concat('{', arrayStringConcat(arrayMap(pair -> concat(toJSONString(pair.1), ':', pair.2),
     arrayFilter(pair -> pair.1 != ${literal(name)}, JSONExtractKeysAndValuesRaw(${json}))), ','), '}')`

/** The JSON of an object with another value of a key. */
const withValue = (json: string, name: string, value: string): string =>
  `concat('{', arrayStringConcat(arrayMap(pair -> concat(toJSONString(pair.1), ':', if(pair.1 = ${literal(name)}, ${value}, pair.2)),
     JSONExtractKeysAndValuesRaw(${json})), ','), '}')`

/** Events after `seq` are not looked at: a process that was stopped meanwhile may come here late. */
function eventStatements(project: number, scope: string, name: string, group: number, seq: number) {
  const objects = objectsOf(scope)
  const mutation = 'SETTINGS mutations_sync = 2'
  const update = (set: string, where: string) => `ALTER TABLE events UPDATE ${set} WHERE ${where} ${mutation}`
  if (objects === null) {
    const where = `project_id = ${project} AND log_seq <= ${seq} AND JSONHas(properties, ${literal(name)})`
    const copies = (copiesOf[name] ?? []).map((column) => `${column} = ''`)
    return [{ where, statements: [update([`properties = ${withoutKey('properties', name)}`, ...copies].join(', '), where)] }]
  }
  return objects.map((object) => {
    const ofGroup =
      group < 0
        ? ''
        : ` AND JSONExtractString(properties, '$group_type') IN (SELECT group_type FROM group_types WHERE project_id = ${project} AND group_type_index = ${group})`
    const where = `project_id = ${project} AND log_seq <= ${seq} AND JSONHas(properties, ${literal(object)}, ${literal(name)})${ofGroup}`
    const inner = withoutKey(`JSONExtractRaw(properties, ${literal(object)})`, name)
    return { where, statements: [update(`properties = ${withValue('properties', object, inner)}`, where)] }
  })
}

/** A table with texts that are rewritten here. */
interface TextTable {
  readonly table: string
  /** One or two. */
  readonly columns: readonly string[]
  readonly without: readonly ((text: string, name: string) => string)[]
  readonly also?: Readonly<Record<string, number>>
  readonly where?: string
  readonly counts?: keyof RemovalCounts
}

async function rewriteTexts(
  store: ProjectStore,
  name: string,
  { table, columns, without, also = {}, where = '1', counts }: TextTable,
): Promise<Partial<RemovalCounts>> {
  const { project } = store
  const part = partOfTexts(name)
  const may = part === null ? '1' : columns.map((column) => `position(${column}, ${literal(part)}) > 0`).join(' OR ')
  const [described] = await store.rows<[string[]]>(
    `SELECT groupArray(name) FROM system.columns WHERE database = currentDatabase() AND table = ${literal(table)}`,
  )
  const names = (described?.[0] ?? []).filter((column) => column !== 'row_version' && column !== 'row_deleted')
  const rows = await store.rows<(string | number | boolean | null)[]>(
    `SELECT ${names.join(', ')} FROM ${table} WHERE project_id = ${project} AND ${where} AND (${may})`,
  )
  const version = rowVersion(await store.nextVersion(), 'put')
  const places = columns.map((column) => names.indexOf(column))
  const changed = rows.flatMap((row) => {
    const rest = places.map((place, i) => without[i]!(row[place] as string, name))
    if (places.every((place, i) => row[place] === rest[i])) return []
    const value = (column: string, i: number) => (places.includes(i) ? rest[places.indexOf(i)] : (also[column] ?? row[i]))
    return [JSON.stringify([...names.map(value), version, 0])]
  })
  for (const some of portions(changed, textsOfStep))
    await store.run(
      `INSERT INTO ${table} (${[...names, 'row_version', 'row_deleted'].join(', ')}) FORMAT JSONCompactEachRow`,
      some.join('\n'),
    )
  return counts ? { [counts]: changed.length } : {}
}
