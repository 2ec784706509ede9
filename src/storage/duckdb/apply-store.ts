import { randomInt } from 'node:crypto'
import type { DuckDBConnection, DuckDBValue } from '@duckdb/node-api'
import { type EventRow, EventStage, eventColumns, stagedEvents } from './event-stage.ts'
import { type SlotUse, slotFromJson, slotTexts, slotValue } from './slot-values.ts'
import { createStage, readStaged, type Stage, type StageColumns } from './stage.ts'

// The apply stage's door to a project's store: it alone writes there. Rows are staged in temporary tables while a group is being worked out,
// and go into the store with the log position in one transaction.

/** Tables that a group changes: their columns, and the keys by which a row that is not new is found. Rows of a table without keys are always new. */
const changedTables = {
  persons: {
    keys: ['person_no'],
    columns: {
      person_no: 'integer',
      uuid: 'uuid',
      has_record: 'boolean',
      created_at: 'time',
      is_identified: 'boolean',
      version: 'bigint',
      updated_at: 'time',
      properties: 'text',
      property_times: 'text',
      imported_at: 'time',
    },
  },
  person_versions: { keys: [], columns: { person_no: 'integer', log_seq: 'bigint', properties: 'text' } },
  import_families: { keys: [], columns: { family: 'integer', state: 'text' } },
  import_members: { keys: [], columns: { person_no: 'integer', family: 'integer' } },
  distinct_ids: { keys: [], columns: { distinct_id: 'text', person_no: 'integer', added_seq: 'bigint' } },
  person_merges: { keys: [], columns: { merged: 'integer', survivor: 'integer' } },
  merge_journal: {
    keys: [],
    columns: {
      seq: 'bigint',
      merged_at: 'time',
      merged: 'integer',
      merged_uuid: 'uuid',
      survivor: 'integer',
      survivor_uuid: 'uuid',
      event_uuid: 'uuid',
      event: 'text',
    },
  },
  groups: {
    keys: ['group_type_index', 'group_key'],
    columns: {
      group_type_index: 'integer',
      group_key: 'text',
      created_at: 'time',
      updated_at: 'time',
      version: 'bigint',
      properties: 'text',
      property_times: 'text',
    },
  },
  group_types: { keys: [], columns: { group_type_index: 'integer', group_type: 'text' } },
  event_names: {
    keys: ['event_id'],
    columns: { event_id: 'integer', name: 'text', first_seen: 'time', last_seen: 'time', count: 'bigint' },
  },
  property_keys: {
    keys: ['scope', 'name'],
    columns: {
      scope: 'text',
      name: 'text',
      property_type: 'text',
      slots: 'text',
      ready_slots: 'text',
      count_numeric: 'bigint',
      count_string: 'bigint',
      count_boolean: 'bigint',
      count_datetime: 'bigint',
      count_other: 'bigint',
      count_numeric_string: 'bigint',
      first_seen: 'time',
      last_seen: 'time',
    },
  },
  warnings: { keys: ['kind'], columns: { kind: 'text', count: 'bigint', samples: 'text', last_seen: 'time' } },
  actions: { keys: ['id'], columns: { id: 'integer', definition: 'text' } },
  cohorts: { keys: ['id'], columns: { id: 'integer', definition: 'text' } },
  cohort_members: { keys: [], columns: { cohort_id: 'integer', person_no: 'integer' } },
} as const satisfies Record<string, { keys: readonly string[]; columns: StageColumns }>

export type ChangedTable = keyof typeof changedTables
type Value = DuckDBValue
type Row<T extends ChangedTable> = { [C in keyof (typeof changedTables)[T]['columns']]: Value }

export interface FoundPerson {
  personNo: number
  uuid: string
  hasRecord: boolean
  createdAt: number
  isIdentified: boolean
  version: number
  updatedAt: number
  properties: string
  propertyTimes: string
  importedAt: number | null
}

/** What one group will change. */
export interface StagedGroup {
  /** How many events it has. */
  readonly events: number
  pushEvent(row: EventRow): void
  put<T extends ChangedTable>(table: T, row: Row<T>, isNew: boolean): void
  /** Hands over the bulk of what was put so far, which is in memory until then. */
  drain(): Promise<void>
  setMeta(key: string, value: string): void
  /** `merged` and everything that points to it belongs to `survivor` from now on. The survivor must not be merged itself in this group. */
  merge(merged: number, survivor: number): void
  /** What is stored of this number is void: it stands for `current` now, which has a new row if it is the number itself. */
  rewrite(no: number, current: number): void
  /** The id belongs to another number than before. */
  moveId(distinctId: string, no: number): void
  removeFamily(family: number): void
  remove(table: 'actions' | 'cohorts' | 'cohort_members', id: number): void
  commit(slots: Readonly<Record<'event' | 'person', readonly SlotUse[]>>): Promise<void>
}

export interface ApplyStore {
  /** Prefix of the names of its tables. */
  readonly tables: string
  rows(sql: string, parameters?: Value[]): Promise<Record<string, unknown>[]>
  personsOfIds(distinctIds: readonly string[]): Promise<(FoundPerson & { distinctId: string })[]>
  personsByNo(numbers: readonly number[]): Promise<FoundPerson[]>
  /** The distinct ids of numbers. */
  idsOf(numbers: readonly number[]): Promise<{ personNo: number; distinctId: string }[]>
  /** The numbers that were merged into these. */
  mergedInto(numbers: readonly number[]): Promise<{ merged: number; survivor: number }[]>
  /** The families of imported people that these numbers are of. */
  families(numbers: readonly number[]): Promise<{ family: number; state: string }[]>
  personNosOfUuids(uuids: readonly string[]): Promise<{ uuid: string; personNo: number }[]>
  groups(keys: readonly (readonly [index: number, key: string])[]): Promise<FoundGroup[]>
  /**
   * Small statements that give the rows of a scope's table the values of `slots` (events: those up to `toSeq`). To be run one by one, never
   * beside a commit.
   */
  fillSteps(scope: 'event' | 'person', slots: readonly SlotUse[], toSeq: number): Promise<(() => Promise<void>)[]>
  /** Uuids of the events of a range of the log, some at a time. */
  uuids(fromSeq: number, toSeq: number): AsyncIterable<{ readonly uuids: readonly string[]; readonly toSeq: number }>
  /** A number made with the store, for files beside it that are of use only to this one. */
  identity(): Promise<number>
  /** A group may be staged while the one before is being committed; commits follow one another. */
  openGroup(): Promise<StagedGroup>
  close(): Promise<void>
}

export interface FoundGroup {
  index: number
  key: string
  createdAt: number
  updatedAt: number
  version: number
  properties: string
  propertyTimes: string
}

const fillRows = 20_000
const uuidRows = 100_000

const personFields = `p.person_no AS "personNo", p.uuid::VARCHAR AS uuid, p.has_record AS "hasRecord", epoch_us(p.created_at)::DOUBLE AS "createdAt",
  p.is_identified AS "isIdentified", p.version::DOUBLE AS version, epoch_us(p.updated_at)::DOUBLE AS "updatedAt", p.properties, p.property_times AS "propertyTimes", epoch_us(p.imported_at)::DOUBLE AS "importedAt"`

export async function openApplyStore(connect: () => Promise<DuckDBConnection>, database: string): Promise<ApplyStore> {
  const main = `"${database}".main`
  const reader = await connect()
  const wanted = {
    texts: createStage(reader, 'wanted_texts', { text: 'text', number: 'integer' }),
    uuids: createStage(reader, 'wanted_uuids', { uuid: 'uuid' }),
    numbers: createStage(reader, 'wanted_numbers', { number: 'integer' }),
  }
  const writers = [await openWriter(await connect(), main), await openWriter(await connect(), main)]
  let turn = 0
  let reading: Promise<unknown> = Promise.resolve()

  const rows = async (sql: string, parameters?: Value[]) =>
    (await reader.run(sql, parameters)).getRowObjectsJS() as Promise<Record<string, unknown>[]>
  /** One statement at a time on the reader: a stage must not be refilled before it was read. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const next = reading.then(work, work)
    reading = next
    return next
  }
  const look = <T>(stage: Stage, values: readonly (readonly Value[])[], sql: string): Promise<T[]> =>
    inTurn(async () => {
      if (values.length === 0) return []
      stage.clear()
      for (const value of values) stage.push(value)
      await stage.finish()
      return (await rows(sql)) as T[]
    })

  const lookNumbers = <T>(numbers: readonly number[], sql: string): Promise<T[]> =>
    look(
      wanted.numbers,
      numbers.map((number) => [number]),
      sql,
    )

  return {
    tables: main,
    rows: (sql, parameters) => inTurn(() => rows(sql, parameters)),
    personsOfIds: (ids) =>
      look(
        wanted.texts,
        ids.map((id) => [id, 0]),
        `SELECT d.distinct_id AS "distinctId", ${personFields} FROM ${main}.distinct_ids d
         JOIN temp.main.wanted_texts w ON w.text = d.distinct_id JOIN ${main}.persons p ON p.person_no = d.person_no`,
      ),
    personsByNo: (numbers) =>
      lookNumbers(numbers, `SELECT ${personFields} FROM ${main}.persons p JOIN temp.main.wanted_numbers w ON w.number = p.person_no`),
    idsOf: (numbers) =>
      lookNumbers(
        numbers,
        `SELECT d.person_no AS "personNo", d.distinct_id AS "distinctId" FROM ${main}.distinct_ids d JOIN temp.main.wanted_numbers w ON w.number = d.person_no`,
      ),
    mergedInto: (numbers) =>
      lookNumbers(
        numbers,
        `SELECT m.merged, m.survivor FROM ${main}.person_merges m JOIN temp.main.wanted_numbers w ON w.number = m.survivor`,
      ),
    families: (numbers) =>
      lookNumbers(
        numbers,
        `SELECT family, state FROM ${main}.import_families WHERE family IN
           (SELECT m.family FROM ${main}.import_members m JOIN temp.main.wanted_numbers w ON w.number = m.person_no)`,
      ),
    personNosOfUuids: (uuids) =>
      look(
        wanted.uuids,
        uuids.map((uuid) => [uuid]),
        `SELECT p.uuid::VARCHAR AS uuid, p.person_no AS "personNo" FROM ${main}.persons p JOIN temp.main.wanted_uuids w ON w.uuid::UUID = p.uuid`,
      ),
    groups: (keys) =>
      look(
        wanted.texts,
        keys.map(([index, key]) => [key, index]),
        `SELECT g.group_type_index::INTEGER AS index, g.group_key AS key, epoch_us(g.created_at)::DOUBLE AS "createdAt", epoch_us(g.updated_at)::DOUBLE AS "updatedAt",
           g.version::DOUBLE AS version, g.properties, g.property_times AS "propertyTimes"
         FROM ${main}.groups g JOIN temp.main.wanted_texts w ON w.text = g.group_key AND w.number = g.group_type_index`,
      ),
    async *uuids(fromSeq, toSeq) {
      for (let from = fromSeq; from <= toSeq; from += uuidRows) {
        const to = Math.min(toSeq, from + uuidRows - 1)
        const found = await inTurn(async () => {
          const result = await reader.runAndReadAll(`SELECT uuid::VARCHAR FROM ${main}.events WHERE log_seq BETWEEN ${from} AND ${to}`)
          return result.getColumns()[0] as string[] | undefined
        })
        yield { uuids: found ?? [], toSeq: to }
      }
    },
    async identity() {
      const [known] = await inTurn(() => rows(`SELECT value FROM ${main}.meta WHERE key = 'store_id'`))
      if (known) return Number(known.value)
      const made = randomInt(2 ** 32)
      await inTurn(() => rows(`INSERT INTO ${main}.meta VALUES ('store_id', '${made}')`))
      return made
    },
    fillSteps: async (scope, slots, toSeq) => {
      const [table, column] = scope === 'event' ? ['events', 'log_seq'] : ['persons', 'person_no']
      const set = slots.map((slot) => `${slot.column} = ${slotFromJson(slot, 'properties')}`).join(', ')
      const old = scope === 'event' ? `WHERE log_seq <= ${toSeq}` : ''
      const [range] = await inTurn(() =>
        rows(`SELECT min(${column})::DOUBLE AS first, max(${column})::DOUBLE AS last FROM ${main}.${table} ${old}`),
      )
      const steps: (() => Promise<void>)[] = []
      for (let from = range!.first as number; range!.first !== null && from <= (range!.last as number); from += fillRows)
        steps.push(() =>
          inTurn(async () => {
            await reader.run(`UPDATE ${main}.${table} SET ${set} WHERE ${column} BETWEEN ${from} AND ${from + fillRows - 1}`)
          }),
        )
      return steps
    },
    openGroup: () => writers[turn++ % writers.length]!.openGroup(),
    async close() {
      await reading.catch(() => undefined)
      reader.closeSync()
      for (const writer of writers) writer.close()
    },
  }
}

async function openWriter(connection: DuckDBConnection, main: string) {
  const events = new EventStage(connection)
  const moves = createStage(connection, 'stage_moves', { merged: 'integer', survivor: 'integer' })
  const rewrites = createStage(connection, 'stage_rewrites', { person_no: 'integer', current: 'integer' })
  const movedIds = createStage(connection, 'stage_moved_ids', { distinct_id: 'text', person_no: 'integer' })
  const stages = new Map<ChangedTable, Stage>()
  for (const [table, { columns }] of Object.entries(changedTables))
    stages.set(table as ChangedTable, createStage(connection, `stage_${table}`, { ...columns, is_new: 'boolean' }))

  async function commit(
    touched: ReadonlySet<ChangedTable>,
    metas: ReadonlyMap<string, string>,
    removals: readonly string[],
    slots: Parameters<StagedGroup['commit']>[0],
  ) {
    events.finish()
    for (const stage of [moves, rewrites, movedIds, ...[...touched].map((table) => stages.get(table)!)])
      if (stage.rows) await stage.finish()
    await connection.run('BEGIN')
    try {
      if (events.rows) await connection.run(insertEvents(main, slots.event))
      if (moves.rows) for (const statement of moveStatements(main)) await connection.run(statement)
      if (rewrites.rows) for (const statement of rewriteStatements(main, movedIds.rows > 0)) await connection.run(statement)
      for (const statement of removals) await connection.run(statement)
      for (const table of touched) {
        const use = table === 'persons' ? slots.person : []
        const { keys } = changedTables[table]
        if (keys.length) await connection.run(deleteChanged(main, table))
        await connection.run(insertStaged(main, table, use))
      }
      for (const [key, value] of metas) {
        await connection.run(`DELETE FROM ${main}.meta WHERE key = $1`, [key])
        await connection.run(`INSERT INTO ${main}.meta VALUES ($1, $2)`, [key, value])
      }
      // Whose numbers changed their meaning cannot be told from the log any more: sets of persons have to be made anew.
      if (rewrites.rows || movedIds.rows) {
        await connection.run(`DELETE FROM ${main}.meta WHERE key = 'rewritten_seq'`)
        await connection.run(`INSERT INTO ${main}.meta VALUES ('rewritten_seq', $1)`, [metas.get('applied_seq') ?? '0'])
      }
      await connection.run('COMMIT')
    } catch (error) {
      await connection.run('ROLLBACK').catch(() => undefined)
      throw error
    }
  }

  return {
    async openGroup(): Promise<StagedGroup> {
      const touched = new Set<ChangedTable>()
      const removals: string[] = []
      const metas = new Map<string, string>()
      for (const stage of [moves, rewrites, movedIds, ...stages.values()]) stage.clear()
      await events.begin()
      return {
        get events() {
          return events.rows
        },
        pushEvent: (row) => events.push(row),
        put(table, row, isNew) {
          touched.add(table)
          const values: Value[] = Object.keys(changedTables[table].columns).map((column) => (row as Record<string, Value>)[column]!)
          values.push(isNew)
          stages.get(table)!.push(values)
        },
        async drain() {
          for (const table of touched) await stages.get(table)!.drain()
        },
        setMeta: (key, value) => metas.set(key, value),
        merge: (merged, survivor) => moves.push([merged, survivor]),
        rewrite: (no, current) => rewrites.push([no, current]),
        moveId: (distinctId, no) => movedIds.push([distinctId, no]),
        removeFamily: (family) =>
          removals.push(
            `DELETE FROM ${main}.import_families WHERE family = ${family}`,
            `DELETE FROM ${main}.import_members WHERE family = ${family}`,
          ),
        remove: (table, id) =>
          removals.push(`DELETE FROM ${main}.${table} WHERE ${table === 'cohort_members' ? 'cohort_id' : 'id'} = ${id}`),
        commit: (slots) => commit(touched, metas, removals, slots),
      }
    },
    close() {
      events.close()
      connection.closeSync()
    },
  }
}

function insertEvents(main: string, slots: readonly SlotUse[]): string {
  const names = eventColumns.map(([name]) => name)
  const target = [...names, ...slots.map((slot) => slot.column)].join(', ')
  if (slots.length === 0) return `INSERT INTO ${main}.events (${target}) SELECT ${names.join(', ')} FROM ${stagedEvents}`
  const slotted = slots.map((_, i) => slotValue(slots, i, 's.texts'))
  return `INSERT INTO ${main}.events (${target}) SELECT ${[...names, ...slotted].join(', ')}
    FROM (SELECT *, ${slotTexts(slots, 'properties')} AS texts FROM ${stagedEvents}) s`
}

const staged = (table: ChangedTable, slots: readonly SlotUse[]): string =>
  slots.length === 0 ? `temp.main.stage_${table}` : `(SELECT *, ${slotTexts(slots, 'properties')} AS texts FROM temp.main.stage_${table})`

function assignments(table: ChangedTable, slots: readonly SlotUse[]): [column: string, value: string][] {
  const columns: StageColumns = changedTables[table].columns
  return [
    ...Object.keys(columns).map((column): [string, string] => [column, readStaged(columns, column, 's')]),
    ...slots.map((slot, i): [string, string] => [slot.column, slotValue(slots, i, 's.texts')]),
  ]
}

const deleteChanged = (main: string, table: ChangedTable): string => {
  const match = changedTables[table].keys.map((key) => `t.${key} = s.${key}`)
  return `DELETE FROM ${main}.${table} t USING temp.main.stage_${table} s WHERE NOT s.is_new AND ${match.join(' AND ')}`
}

function insertStaged(main: string, table: ChangedTable, slots: readonly SlotUse[]): string {
  const pairs = assignments(table, slots)
  return `INSERT INTO ${main}.${table} (${pairs.map(([column]) => column).join(', ')})
    SELECT ${pairs.map(([, value]) => value).join(', ')} FROM ${staged(table, slots)} s`
}

const moveStatements = (main: string): string[] => [
  ...[
    ['distinct_ids', 'person_no'],
    ['cohort_members', 'person_no'],
    ['person_merges', 'survivor'],
  ].map(
    ([table, column]) => `UPDATE ${main}.${table} t SET ${column} = s.survivor FROM temp.main.stage_moves s WHERE t.${column} = s.merged`,
  ),
  `DELETE FROM ${main}.persons WHERE person_no IN (SELECT merged FROM temp.main.stage_moves)`,
  `INSERT INTO ${main}.person_merges SELECT merged, survivor FROM temp.main.stage_moves`,
]

const rewriteStatements = (main: string, hasMovedIds: boolean): string[] => [
  `DELETE FROM ${main}.persons WHERE person_no IN (SELECT person_no FROM temp.main.stage_rewrites)`,
  `DELETE FROM ${main}.person_merges WHERE merged IN (SELECT person_no FROM temp.main.stage_rewrites)`,
  `INSERT INTO ${main}.person_merges SELECT person_no, current FROM temp.main.stage_rewrites WHERE person_no <> current`,
  ...(hasMovedIds
    ? [`UPDATE ${main}.distinct_ids t SET person_no = s.person_no FROM temp.main.stage_moved_ids s WHERE t.distinct_id = s.distinct_id`]
    : []),
]
