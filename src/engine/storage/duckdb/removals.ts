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
import { ordinaryLength } from '../../../limits/large-texts.ts'
import type { serialReader } from './event-lookups.ts'
import { type Instance, isInvalidated, isOutOfMemory, text } from './instance.ts'
import { pointer } from './slot-values.ts'
import { createStage, type Stage } from './stage.ts'

// What a project does not keep any more, taken out of its store.

type Step = () => Promise<Partial<RemovalCounts>>

interface Parts {
  readonly reader: ReturnType<typeof serialReader>
  readonly instance: Pick<Instance, 'writing' | 'gate' | 'checkpointEarly' | 'memoryLimit'>
  readonly database: string
  readonly main: string
  readonly seq: number
  readonly steps: { done: number }
  readonly without: WithoutProperty
  /** Called after each transaction. */
  committed(): void
}

/** Events of one transaction, and texts, which are held in memory. */
const eventsOfStep = 20_000
const textsOfStep = 2_048
/** Of an import: of its events only the names of their properties are read. */
const mostOfImport = { records: 250_000, ranges: 200 } as const
/** A step that does not fit into memory is done in halves, down to this. */
const leastEvents = 256
/** Of the memory, for what was updated and is not in the file. */
const partOfMemory = 1 / 16

export async function removalSteps(given: Omit<Parts, 'steps'>, removal: Removal): Promise<readonly Step[]> {
  const parts = { ...given, steps: { done: 0 } }
  switch (removal.remove) {
    case 'old_events':
      return [async () => ({ events: await removeOldEvents(parts, removal.from) })]
    case 'idle_persons':
      return [async () => ({ persons: await removeIdlePersons(parts, removal.before) })]
    case 'property':
      return removeProperty(parts, removal)
    case 'import':
      return removeImport(parts, removal.id)
  }
}

const at = (micros: number): string => `make_timestamp(${Math.trunc(micros)})`

/** The condition of events that are not kept. */
function isOld(main: string, { all, names }: KeptFrom): string {
  const named = Object.entries(names)
  const ids = (of: readonly string[]) => `(SELECT event_id FROM ${main}.event_names WHERE name IN (${of.map(text).join(', ')}))`
  const conditions = named.flatMap(([name, from]) => (from === null ? [] : [`(event_id IN ${ids([name])} AND timestamp < ${at(from)})`]))
  if (all !== null)
    conditions.push(`(timestamp < ${at(all)}${named.length > 0 ? ` AND event_id NOT IN ${ids(named.map(([name]) => name))}` : ''})`)
  return conditions.join(' OR ') || 'false'
}

/** Runs statements in one transaction, which nothing else of this connection interrupts. Returns the number of rows that the last one changed. */
const inTransaction = (parts: Parts, before: readonly string[], statements: readonly string[]): Promise<number> => {
  const { reader, instance, database, main, seq, committed } = parts
  const { connection } = reader
  const transaction = async () => {
    try {
      let changed = 0
      await connection.run('BEGIN')
      for (const statement of statements) changed = (await connection.run(statement)).rowsChanged
      // Lists of events from before this step, and from before the next one, are of another store. The record itself writes its whole number.
      const mark = seq - 1 / (2 + parts.steps.done++)
      await connection.run(`DELETE FROM ${main}.meta WHERE key = 'changed_events_seq'`)
      await connection.run(`INSERT INTO ${main}.meta VALUES ('changed_events_seq', '${mark}')`)
      await connection.run('COMMIT')
      return changed
    } catch (error) {
      await connection.run('ROLLBACK').catch(() => undefined)
      throw error
    } finally {
      committed()
    }
  }
  return reader.inTurn(() =>
    instance.writing(async () => {
      await relieve(parts, partOfMemory)
      for (const statement of before) await connection.run(statement)
      return instance.gate.write(database, transaction)
    }),
  )
}

/** Updated rows stay in memory until a checkpoint. */
async function relieve({ instance, database }: Parts, part: number): Promise<void> {
  try {
    await instance.checkpointEarly(database, instance.memoryLimit * part)
  } catch (error) {
    if (isInvalidated(error) || isOutOfMemory(error)) throw error
    // Another transaction is at it: before the next one.
  }
}

/** With the time of the latest one of each number: persons without events are removed by it. */
function removeOldEvents(parts: Parts, from: KeptFrom): Promise<number> {
  const { main } = parts
  const old = isOld(main, from)
  const numbers = `SELECT person_no, timestamp AS last_at FROM ${main}.events WHERE ${old}`
  return inTransaction(
    parts,
    [
      `CREATE OR REPLACE TEMP TABLE old_numbers AS SELECT person_no, max(last_at) AS last_at FROM (${numbers}) GROUP BY person_no`,
      `CREATE OR REPLACE TEMP TABLE old_lasts AS SELECT person_no, max(last_at) AS last_at
         FROM (FROM old_numbers UNION ALL FROM ${main}.last_events WHERE person_no IN (SELECT person_no FROM old_numbers)) GROUP BY person_no`,
    ],
    [
      `DELETE FROM ${main}.last_events WHERE person_no IN (SELECT person_no FROM temp.main.old_lasts)`,
      `INSERT INTO ${main}.last_events SELECT person_no, last_at FROM temp.main.old_lasts`,
      `DELETE FROM ${main}.events WHERE ${old}`,
    ],
  )
}

/** The numbers of today of numbers that may be merged. */
const current = (main: string, numbers: string) =>
  `SELECT coalesce(m.survivor, n.person_no) FROM (${numbers}) n LEFT JOIN ${main}.person_merges m ON m.merged = n.person_no`

function removeIdlePersons(parts: Parts, before: number): Promise<number> {
  const { main } = parts
  const time = at(before)
  return removePersons(
    parts,
    `created_at < ${time} AND updated_at < ${time}
       AND person_no NOT IN (${current(main, `SELECT DISTINCT person_no FROM ${main}.events`)})
       AND person_no NOT IN (${current(main, `SELECT person_no FROM ${main}.last_events WHERE last_at >= ${time}`)})`,
  )
}

/** In transactions that may be repeated: where the events are is forgotten by the last one. */
async function removeImport(parts: Parts, id: string): Promise<readonly Step[]> {
  const { main, reader } = parts
  const isOfImport = `starts_with(key, ${text(importKeyOf(id))})`
  const stored = await reader.inTurn(() => reader.rows(`SELECT value FROM ${main}.meta WHERE ${isOfImport}`))
  const ranges = stored.flatMap(({ value }) => readRanges(value as string))
  if (ranges.length === 0) return []
  const undoneKeys = text(undoneKeysOf(id))
  const deleted = (some: readonly SeqRange[]) => {
    const isUndone = some.map((range) => within('log_seq', range)).join(' OR ')
    return inTransaction(
      parts,
      [
        `CREATE OR REPLACE TEMP TABLE undone_names AS SELECT event_id, count(*) AS events FROM ${main}.events WHERE ${isUndone} GROUP BY event_id`,
        `CREATE OR REPLACE TEMP TABLE undone_keys AS SELECT unnest(json_keys(properties)) AS name FROM ${main}.events WHERE ${isUndone}
           UNION SELECT unnest(from_json(value, '["VARCHAR"]')) FROM ${main}.meta WHERE key = ${undoneKeys}`,
      ],
      [
        `DELETE FROM ${main}.meta WHERE key = ${undoneKeys}`,
        `INSERT INTO ${main}.meta SELECT ${undoneKeys}, coalesce(to_json(list(name))::VARCHAR, '[]') FROM temp.main.undone_keys`,
        `UPDATE ${main}.event_names n SET count = greatest(0, n.count - u.events) FROM temp.main.undone_names u WHERE n.event_id = u.event_id`,
        `UPDATE ${main}.event_names n SET first_seen = e.first, last_seen = e.last FROM (
           SELECT event_id, min(timestamp) AS first, max(timestamp) AS last FROM ${main}.events
           WHERE event_id IN (SELECT event_id FROM temp.main.undone_names) AND NOT (${isUndone}) GROUP BY event_id) e WHERE n.event_id = e.event_id`,
        `DELETE FROM ${main}.events WHERE ${isUndone}`,
      ],
    )
  }
  return [
    ...partsOfRanges(ranges, mostOfImport).map((some) => async () => ({ events: await deleted(some) })),
    async () => ({ persons: await removePersonsOf(parts, ranges) }),
    async () => {
      await forgetProperties(parts, undoneKeys)
      return {}
    },
    async () => {
      // With the identity of the store the indexes beside it are gone, which know the removed events.
      await inTransaction(parts, [], [`DELETE FROM ${main}.meta WHERE ${isOfImport} OR key IN (${undoneKeys}, 'store_id')`])
      return {}
    },
  ]
}

/** The newest events have most of the properties that are still sent. */
const eventsLookedAt = 20_000

/** Takes the properties that only removed events had from the list of properties. A declared type stays. */
async function forgetProperties(parts: Parts, undoneKeys: string): Promise<void> {
  const { main, reader } = parts
  const known = `SELECT unnest(from_json(value, '["VARCHAR"]')) AS name FROM ${main}.meta WHERE key = ${undoneKeys}`
  const still = (rows: string) =>
    `DELETE FROM gone_keys WHERE name IN (SELECT unnest(list_intersect(json_keys(properties), (SELECT list(name) FROM gone_keys))) FROM ${rows})`
  const left = await reader.inTurn(async () => {
    const { connection } = reader
    const count = async () => (await reader.rows('SELECT count(*)::INTEGER AS n FROM gone_keys'))[0]!.n as number
    await connection.run(
      `CREATE OR REPLACE TEMP TABLE gone_keys AS SELECT name FROM (${known}) WHERE name IN (SELECT name FROM ${main}.property_keys WHERE scope = 'event')`,
    )
    await connection.run(still(`(SELECT properties FROM ${main}.events ORDER BY log_seq DESC LIMIT ${eventsLookedAt})`))
    if ((await count()) > 0) await connection.run(still(`${main}.events`))
    return count()
  })
  if (left > 0) await inTransaction(parts, [], forgotten(main, 'event', 'gone_keys'))
}

/** `names`: a table of this connection. */
const forgotten = (main: string, scope: PropertyScope, names: string): string[] => {
  const key = `scope = ${text(scope)} AND name IN (SELECT name FROM temp.main.${names})`
  const counts = ['numeric', 'string', 'boolean', 'datetime', 'other', 'numeric_string'].map((type) => `count_${type} = 0`)
  return [
    `DELETE FROM ${main}.property_keys WHERE ${key} AND property_type IS NULL`,
    `UPDATE ${main}.property_keys SET ${counts.join(', ')} WHERE ${key}`,
  ]
}

/** Persons whose ids all came in these records, who have no events, and whom nobody else has changed. */
async function removePersonsOf(parts: Parts, ranges: readonly SeqRange[]): Promise<number> {
  const { main, reader } = parts
  const rows = ranges.map(([first, last]) => `(${first}, ${last})`).join(', ')
  await reader.inTurn(() =>
    reader.connection.run(
      `CREATE OR REPLACE TEMP TABLE import_ranges AS SELECT first::BIGINT AS first, last::BIGINT AS last FROM (VALUES ${rows}) v(first, last)`,
    ),
  )
  const isWithin = (column: string) => `r.last IS NOT NULL AND ${column} <= r.last`
  const joined = (table: string, column: string) => `${main}.${table} t ASOF LEFT JOIN temp.main.import_ranges r ON ${column} >= r.first`
  return removePersons(
    parts,
    `imported_at IS NULL
       AND person_no IN (SELECT t.person_no FROM ${joined('distinct_ids', 't.added_seq')} GROUP BY t.person_no HAVING bool_and(${isWithin('t.added_seq')}))
       AND (person_no IN (SELECT person_no FROM ${main}.import_members)
         OR person_no IN (SELECT t.person_no FROM ${joined('persons', 't.changed_seq')} WHERE ${isWithin('t.changed_seq')}))
       AND person_no NOT IN (${current(main, `SELECT DISTINCT person_no FROM ${main}.events`)})
       AND person_no NOT IN (${current(main, `SELECT person_no FROM ${main}.last_events`)})`,
    true,
  )
}

/** Properties of persons who go which nobody else has or had. */
const goneWithPersons = (main: string): string[] => {
  const keys = `json_keys(nullif(properties, ''))`
  const others = (table: string) =>
    `DELETE FROM gone_person_keys WHERE name IN (SELECT unnest(list_intersect(${keys}, (SELECT list(name) FROM gone_person_keys)))
       FROM ${main}.${table} WHERE person_no NOT IN (SELECT person_no FROM idle_numbers))`
  const own = ['persons', 'person_versions'].map(
    (table) => `SELECT unnest(${keys}) AS name FROM ${main}.${table} WHERE person_no IN (SELECT person_no FROM idle_numbers)`,
  )
  return [`CREATE OR REPLACE TEMP TABLE gone_person_keys AS ${own.join(' UNION ')}`, others('persons'), others('person_versions')]
}

/** Also ids that have no person, and everything that is known under the numbers of both. `forgets`: their properties are listed no more if nobody else has them. */
async function removePersons(parts: Parts, condition: string, forgets = false): Promise<number> {
  const { main, reader } = parts
  await reader.inTurn(async () => {
    for (const statement of [
      `CREATE OR REPLACE TEMP TABLE idle AS SELECT person_no, uuid, has_record FROM ${main}.persons WHERE ${condition}`,
      `CREATE OR REPLACE TEMP TABLE idle_numbers AS SELECT person_no FROM idle
         UNION SELECT merged FROM ${main}.person_merges WHERE survivor IN (SELECT person_no FROM idle)`,
      `CREATE OR REPLACE TEMP TABLE idle_families AS SELECT DISTINCT family FROM ${main}.import_members
         WHERE person_no IN (SELECT person_no FROM idle_numbers)`,
      ...(forgets ? goneWithPersons(main) : []),
    ])
      await reader.connection.run(statement)
  })
  const found = await reader.inTurn(() =>
    reader.rows(`SELECT (SELECT count(*) FROM idle WHERE has_record)::DOUBLE AS persons, (SELECT count(*) FROM idle)::DOUBLE AS rows,
      (SELECT value FROM ${main}.meta WHERE key = 'kept_uuids') AS kept, list(uuid::VARCHAR) AS uuids
      FROM idle WHERE uuid::VARCHAR IN (SELECT unnest(from_json(coalesce((SELECT value FROM ${main}.meta WHERE key = 'kept_uuids'), '[]'), '["VARCHAR"]')))`),
  )
  const { persons, rows, kept, uuids } = found[0] as { persons: number; rows: number; kept: string | null; uuids: string[] | null }
  if (rows === 0) return 0
  const gone = new Set(uuids ?? [])
  const left = (JSON.parse(kept ?? '[]') as string[]).filter((uuid) => !gone.has(uuid))
  const among = (table: string, column = 'person_no', of = 'idle_numbers') =>
    `DELETE FROM ${main}.${table} WHERE ${column} IN (SELECT ${of === 'idle_families' ? 'family' : 'person_no'} FROM temp.main.${of})`
  await inTransaction(
    parts,
    [],
    [
      ...['distinct_ids', 'person_versions', 'cohort_members', 'last_events', 'persons'].map((table) => among(table)),
      among('person_merges', 'survivor', 'idle'),
      among('import_families', 'family', 'idle_families'),
      among('import_members', 'family', 'idle_families'),
      ...(gone.size > 0 ? [`UPDATE ${main}.meta SET value = ${text(JSON.stringify(left))} WHERE key = 'kept_uuids'`] : []),
      ...(forgets ? forgotten(main, 'person', 'gone_person_keys') : []),
      ...(await recountLarge(parts)),
    ],
  )
  return persons
}

/** The characters of large texts, as they will be when the transaction has changed them: the statement is the last one of it. */
const recountLarge = async ({ main, reader }: Parts): Promise<string[]> => {
  const [known] = await reader.inTurn(() => reader.rows(`SELECT value FROM ${main}.meta WHERE key = 'large'`))
  if (!known) return []
  const excess = (table: string, column = 'properties') =>
    `(SELECT coalesce(sum(greatest(0, strlen(${column}) - ${ordinaryLength})), 0)::BIGINT FROM ${main}.${table})`
  const counted = `json_object('persons', ${excess('persons')}, 'versions', ${excess('person_versions')}, 'groups', ${excess('groups')},
    'families', ${excess('import_families', 'state')})`
  return [`UPDATE ${main}.meta SET value = json_merge_patch(value, ${counted})::VARCHAR WHERE key = 'large'`]
}

async function removeProperty(parts: Parts, { scope, name }: Extract<Removal, { remove: 'property' }>): Promise<readonly Step[]> {
  const { main, reader, seq, without } = parts
  const [key] = await reader.inTurn(() =>
    reader.rows(`SELECT slots FROM ${main}.property_keys WHERE scope = ${text(scope)} AND name = ${text(name)}`),
  )
  const slots = ((key?.slots as string | undefined) ?? '').split(' ').filter((column) => column !== '')
  const emptied = slots.map((column) => `${column} = NULL`)
  const stage = createStage(reader.connection, 'removed_texts', { id: 'bigint', first: 'text', second: 'text' })
  const forget = () =>
    reader.inTurn(async () => {
      stage.clear()
      await reader.connection.run('DROP TABLE IF EXISTS temp.main.removed_texts')
      return {}
    })
  const texts = (table: string, one: Omit<TextTable, 'table'>) => textSteps(parts, stage, name, { table, ...one })
  const properties = {
    columns: ['properties', 'property_times'],
    without: [without.ofProperties, without.ofTimes],
    also: [`size = strlen(s.first) + strlen(s.second)`],
  } as const
  const group = propertyScopes.indexOf(scope) - 2
  const steps: Step[] = [
    ...(await eventSteps(parts, { scope, name, slots: emptied, group })),
    ...(scope === 'person'
      ? [
          ...(await texts('persons', { ...properties, counts: 'persons', also: [...properties.also, ...emptied, `changed_seq = ${seq}`] })),
          ...(await texts('person_versions', { columns: ['properties'], without: [without.ofProperties] })),
          ...(await texts('import_families', { columns: ['state'], without: [without.ofFamily] })),
        ]
      : []),
    ...(group >= 0 ? await texts('groups', { ...properties, counts: 'groups', where: `group_type_index = ${group}` }) : []),
    async () => {
      const forgotten = `DELETE FROM ${main}.property_keys WHERE scope = ${text(scope)} AND name = ${text(name)}`
      await inTransaction(parts, [], [forgotten, ...(await recountLarge(parts))])
      return {}
    },
    forget,
  ]
  return steps
}

type Range = readonly [first: number, last: number]

const within = (column: string, [first, last]: Range): string => `${column} BETWEEN ${first} AND ${last}`

const ranges = async ({ main, reader }: Parts, table: string, column: string, rowsOfStep: number): Promise<Range[]> => {
  const [range] = await reader.inTurn(() =>
    reader.rows(`SELECT min(${column})::DOUBLE AS first, max(${column})::DOUBLE AS last FROM ${main}.${table}`),
  )
  const all: Range[] = []
  for (let from = range!.first as number; range!.first !== null && from <= (range!.last as number); from += rowsOfStep)
    all.push([from, from + rowsOfStep - 1])
  return all
}

/** Updates rows in as many transactions as the memory needs: events may be of any size. What did not fit once is not tried again. */
const inHalves = (parts: Parts, update: (range: Range) => Promise<number>) => {
  let most = Number.POSITIVE_INFINITY
  const updated = async (range: Range): Promise<number> => {
    const [first, last] = range
    const rows = last - first + 1
    if (rows <= most)
      try {
        return await update(range)
      } catch (error) {
        if (!isOutOfMemory(error) || rows <= leastEvents) throw error
        most = Math.ceil(rows / 2)
        await relieve(parts, 0)
      }
    const middle = Math.floor((first + last) / 2)
    return (await updated([first, middle])) + (await updated([middle + 1, last]))
  }
  return updated
}

const has = (column: string, path: string, name: string): string => {
  const part = partOfTexts(name)
  return `${part === null ? '' : `contains(${column}, ${text(part)}) AND `}json_exists(${column}, ${text(path)})`
}

interface EventProperty {
  readonly scope: string
  readonly name: string
  readonly slots: readonly string[]
  /** Negative: none. */
  readonly group: number
}

/** The engine takes it out of the JSON of events; numbers beyond its own keep their digits. */
async function eventSteps(parts: Parts, { scope, name, slots, group }: EventProperty): Promise<Step[]> {
  const { main } = parts
  const nothing = { [name]: null }
  const copies = (copiesOf[name] ?? []).map((column) => `${column} = ''`)
  const ofGroup =
    group < 0
      ? ''
      : ` AND json_extract_string(properties, '/$group_type') IN (SELECT group_type FROM ${main}.group_types WHERE group_type_index = ${group})`
  const changes = (objectsOf(scope) ?? [null]).map((object) => ({
    patch: JSON.stringify(object === null ? nothing : { [object]: nothing }),
    path: pointer(object === null ? name : object) + (object === null ? '' : pointer(name)),
    also: object === null ? [...slots, ...copies] : [],
  }))
  const updates = changes.map(({ patch, path, also }) => {
    const set = [`properties = json_merge_patch(properties, ${text(patch)})::VARCHAR`, ...also].join(', ')
    const where = `${has('properties', path, name)}${ofGroup}`
    const update = (range: Range) =>
      inTransaction(parts, [], [`UPDATE ${main}.events SET ${set} WHERE ${within('log_seq', range)} AND ${where}`])
    return inHalves(parts, update)
  })
  return (await ranges(parts, 'events', 'log_seq', eventsOfStep)).flatMap((range) =>
    updates.map((update) => async () => ({ events: await update(range) })),
  )
}

/** A table with texts that are rewritten here. */
interface TextTable {
  readonly table: string
  /** One or two. */
  readonly columns: readonly string[]
  readonly without: readonly ((text: string, name: string) => string)[]
  /** Further assignments for a changed row. */
  readonly also?: readonly string[]
  readonly where?: string
  readonly counts?: keyof RemovalCounts
}

async function textSteps(
  parts: Parts,
  stage: Stage,
  name: string,
  { table, columns, without, also = [], where = 'true', counts }: TextTable,
) {
  const { main, reader } = parts
  const part = partOfTexts(name)
  const may = part === null ? 'true' : columns.map((column) => `contains(${column}, ${text(part)})`).join(' OR ')
  const [first, second] = columns as readonly [string, string | undefined]
  return (await ranges(parts, table, 'rowid', textsOfStep)).map((range) => async () => {
    const found = await reader.inTurn(() =>
      reader.rows(`SELECT rowid::DOUBLE AS id, ${first} AS first, ${second ?? "''"} AS second FROM ${main}.${table}
        WHERE ${within('rowid', range)} AND ${where} AND (${may})`),
    )
    stage.clear()
    let changed = 0
    for (const row of found as unknown as { id: number; first: string; second: string }[]) {
      const rest = [without[0]!(row.first, name), without[1] ? without[1](row.second, name) : row.second] as const
      if (rest[0] === row.first && rest[1] === row.second) continue
      stage.push([row.id, ...rest])
      changed++
    }
    if (changed === 0) return {}
    await reader.inTurn(() => stage.finish())
    const set = [`${first} = s.first`, ...(second === undefined ? [] : [`${second} = s.second`]), ...also]
    await inTransaction(parts, [], [`UPDATE ${main}.${table} t SET ${set.join(', ')} FROM temp.main.removed_texts s WHERE t.rowid = s.id`])
    return counts ? { [counts]: changed } : {}
  })
}
