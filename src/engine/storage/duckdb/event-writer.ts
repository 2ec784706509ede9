import { randomInt } from 'node:crypto'
import type { DuckDBConnection } from '@duckdb/node-api'
import type { EventWriter, SlotUse, StagedGroup, WriterState } from '../../../events/ingestion/ports.ts'
import { type ChangedTable, type ChangedValue, changedTables } from '../../../language/catalog/changed-tables.ts'
import { isImportKey, readKeptFrom } from '../../../language/catalog/removals.ts'
import { traced } from '../../../lib/flow/tracing.ts'
import { excessOf, ordinaryLength } from '../../../limits/large-texts.ts'
import { peopleOf } from './budget.ts'
import { lookups, serialReader, storedIdentities } from './event-lookups.ts'
import { EventStage, eventColumns, stagedEvents } from './event-stage.ts'
import { type Instance, isInvalidated, isOutOfMemory, text } from './instance.ts'
import { removalSteps } from './removals.ts'
import { rowGroupRows } from './schema.ts'
import { slotTexts, slotValue } from './slot-values.ts'
import { createStage, type Stage } from './stage.ts'

// The only writer of a project's store, used by the apply stage. Rows are staged in temporary tables while a group is being processed,
// and written together with the log position in one transaction.

const fillRows = 20_000
const uuidRows = 100_000
/** Rows that a statement writes in the background: it takes much longer than a turn of the main thread. */
const rowsOfLarge = 4_096

/** A statement of a transaction, and how many rows it is about. */
interface Step {
  readonly sql: string
  readonly rows: number
}

type WriterInstance = Pick<
  Instance,
  'connect' | 'memoryLimit' | 'largeEvents' | 'background' | 'checkpoint' | 'checkpointEarly' | 'noteLarge' | 'writing' | 'gate'
>

/** Writes large events to the file before those that are in one row group are too many to be read at a time. */
interface LargeEvents {
  /** Characters of all, with those of the transaction. */
  before(characters: number): Promise<void>
  /** Characters of a transaction. */
  after(characters: number): Promise<void>
}

function largeOf(instance: WriterInstance, database: string): LargeEvents {
  let sinceCheckpoint = 0
  return {
    before: (characters) => instance.noteLarge(database, characters),
    async after(characters) {
      sinceCheckpoint += characters
      if (sinceCheckpoint <= instance.largeEvents) return
      try {
        await instance.checkpoint(database)
        sinceCheckpoint = 0
      } catch (error) {
        if (isInvalidated(error) || isOutOfMemory(error)) throw error
        // Another transaction is at it: after the next commit.
      }
    },
  }
}

/** `committed` is called before a commit is acknowledged. */
export async function openEventWriter(
  instance: WriterInstance,
  database: string,
  committed: () => void = () => undefined,
): Promise<EventWriter> {
  const large = largeOf(instance, database)
  const main = `"${database}".main`
  const reader = serialReader(await instance.connect())
  const { rows, inTurn } = reader
  const writers = [await openGroups(instance, database, large, committed), await openGroups(instance, database, large, committed)]
  let turn = 0

  return {
    groupRows: rowGroupRows,
    groupPeople: peopleOf(instance.memoryLimit),
    largeRoom: Math.floor(instance.memoryLimit / 4),
    largeEvents: instance.largeEvents,
    isTooMuch: isOutOfMemory,
    state: () => inTurn(() => readState(rows, main)),
    ...lookups(reader, main),
    identities: storedIdentities(reader, main),
    async *uuids(fromSeq, toSeq) {
      for (let from = fromSeq; from <= toSeq; from += uuidRows) {
        const to = Math.min(toSeq, from + uuidRows - 1)
        const found = await inTurn(async () => {
          const result = await reader.connection.runAndReadAll(
            ['events', 'removed_events']
              .map((table) => `SELECT uuid::VARCHAR FROM ${main}.${table} WHERE log_seq BETWEEN ${from} AND ${to}`)
              .join(' UNION ALL '),
          )
          return result.getColumns()[0] as string[] | undefined
        })
        yield { uuids: found ?? [], toSeq: to }
      }
    },
    removalSteps: (removal, seq, without) => removalSteps({ reader, instance, database, main, seq, without, committed }, removal),
    async identity() {
      const [known] = await inTurn(() => rows(`SELECT value FROM ${main}.meta WHERE key = 'store_id'`))
      if (known) return Number(known.value)
      const made = randomInt(2 ** 32)
      await inTurn(() => rows(`INSERT INTO ${main}.meta VALUES ('store_id', '${made}')`))
      committed()
      return made
    },
    fillSteps: async (scope, slots, toSeq) => {
      const [table, column] = scope === 'event' ? ['events', 'log_seq'] : ['persons', 'person_no']
      const set = slots.map(({ column }, i) => `${column} = ${slotValue(slots, i, 's.texts')}`).join(', ')
      const old = scope === 'event' ? `WHERE log_seq <= ${toSeq}` : ''
      const [range] = await inTurn(() =>
        rows(`SELECT min(${column})::DOUBLE AS first, max(${column})::DOUBLE AS last FROM ${main}.${table} ${old}`),
      )
      const steps: (() => Promise<void>)[] = []
      for (let from = range!.first as number; range!.first !== null && from <= (range!.last as number); from += fillRows)
        steps.push(() =>
          inTurn(async () => {
            const step = `${column} BETWEEN ${from} AND ${from + fillRows - 1}`
            // Reading JSON takes several times its size for each call: one call for all slots, not one for each.
            const filled = `SELECT rowid AS id, ${slotTexts(slots, 'properties')} AS texts FROM ${main}.${table} WHERE ${step}`
            const update = `UPDATE ${main}.${table} t SET ${set} FROM (${filled}) s WHERE t.rowid = s.id AND t.${step}`
            await instance.gate.write(database, () => reader.connection.run(update))
            committed()
          }),
        )
      return steps
    },
    // One that fails is repeated by a later commit, whose error counts.
    tidy: () => instance.checkpointEarly(database).catch(() => undefined),
    openGroup: () => writers[turn++ % writers.length]!.openGroup(),
    async close() {
      await reader.close()
      for (const writer of writers) writer.close()
    },
  }
}

const tables = Object.keys(changedTables) as ChangedTable[]
const namesOf = Object.fromEntries(tables.map((table) => [table, Object.keys(changedTables[table].columns)])) as unknown as {
  readonly [T in ChangedTable]: readonly string[]
}

/** Small statements together: each run waits for a turn of the main thread, and queries keep it busy. */
async function runSteps(connection: DuckDBConnection, background: Instance['background'], steps: readonly Step[]): Promise<void> {
  let small: string[] = []
  const runSmall = async () => {
    if (small.length > 0) await connection.run(small.join(';\n'))
    small = []
  }
  for (const { sql, rows } of steps) {
    if (rows < rowsOfLarge) {
      small.push(sql)
      continue
    }
    await runSmall()
    await background.run(connection, sql)
  }
  await runSmall()
}

/** One connection, on which groups are staged and committed one after the other. */
async function openGroups(instance: WriterInstance, database: string, large: LargeEvents, committed: () => void) {
  const main = `"${database}".main`
  const connection = await instance.connect()
  const events = new EventStage(connection)
  const moves = createStage(connection, 'stage_moves', { merged: 'integer', survivor: 'integer' })
  const rewrites = createStage(connection, 'stage_rewrites', { person_no: 'integer', current: 'integer' })
  const movedIds = createStage(connection, 'stage_moved_ids', { distinct_id: 'text', person_no: 'integer' })
  const removedIds = createStage(connection, 'stage_removed_ids', { distinct_id: 'text' })
  const emptied = createStage(connection, 'stage_emptied', { person_no: 'integer' })
  const removed = createStage(connection, 'stage_removed', { person_no: 'integer' })
  const ownStages = [moves, rewrites, movedIds, removedIds, emptied, removed]
  const stages = new Map<ChangedTable, Stage>()
  for (const table of tables)
    stages.set(table, createStage(connection, `stage_${table}`, { ...changedTables[table].columns, is_new: 'boolean' }))

  async function commit(
    touched: ReadonlySet<ChangedTable>,
    metas: ReadonlyMap<string, string>,
    removals: readonly string[],
    { movesEvents, isOtherwise, largeEvents }: Changes,
    slots: Parameters<StagedGroup['commit']>[0],
  ) {
    events.finish()
    for (const stage of [...ownStages, ...[...touched].map((table) => stages.get(table)!)]) if (stage.rows) await stage.finish()
    const steps: Step[] = []
    const add = (rows: number, ...statements: readonly string[]) => {
      for (const sql of statements) steps.push({ sql, rows })
    }
    add(0, 'BEGIN')
    if (events.rows) add(events.rows, insertEvents(main, slots.event))
    if (moves.rows) add(moves.rows, ...moveStatements(main))
    if (rewrites.rows) add(rewrites.rows, ...rewriteStatements(main, movedIds.rows > 0))
    add(0, ...removals)
    if (removedIds.rows)
      add(removedIds.rows, `DELETE FROM ${main}.distinct_ids WHERE distinct_id IN (SELECT distinct_id FROM ${removedIds.table})`)
    if (emptied.rows) add(0, ...removePeople(main, emptied.table, false))
    if (removed.rows) add(0, ...removePeople(main, removed.table, true))
    for (const table of touched) {
      const { rows } = stages.get(table)!
      if (changedTables[table].keys.length) add(rows, deleteChanged(main, table))
      add(rows, insertStaged(main, table, table === 'persons' ? slots.person : []))
    }
    const written = new Map(metas)
    // The log does not show whose person numbers changed, so sets of persons must be recomputed.
    if (rewrites.rows || movedIds.rows || movesEvents || isOtherwise || emptied.rows || removed.rows)
      written.set('rewritten_seq', metas.get('applied_seq') ?? '0')
    if (movesEvents || isOtherwise || removed.rows) written.set('changed_events_seq', metas.get('applied_seq') ?? '0')
    for (const [key, value] of written)
      add(0, `DELETE FROM ${main}.meta WHERE key = ${text(key)}`, `INSERT INTO ${main}.meta VALUES (${text(key)}, ${text(value)})`)
    add(0, 'COMMIT')
    if (largeEvents > 0) await large.before((JSON.parse(metas.get('large') ?? '{}') as { events?: number }).events ?? 0)
    try {
      await runSteps(connection, instance.background, steps)
    } catch (error) {
      await connection.run('ROLLBACK').catch(() => undefined)
      throw error
    } finally {
      committed()
    }
  }

  return {
    async openGroup(): Promise<StagedGroup> {
      const touched = new Set<ChangedTable>()
      const removals: string[] = []
      const metas = new Map<string, string>()
      const changes: Changes = { movesEvents: false, isOtherwise: false, largeEvents: 0 }
      for (const stage of [...ownStages, ...stages.values()]) stage.clear()
      await events.begin()
      return {
        get events() {
          return events.rows
        },
        pushEvent(row) {
          changes.largeEvents += excessOf(row.to - row.from) + excessOf(row.elementsChain.length)
          events.push(row)
        },
        put(table, row, isNew) {
          touched.add(table)
          const values: ChangedValue[] = namesOf[table].map((column) => (row as Record<string, ChangedValue>)[column]!)
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
        moveEvents(ids, from) {
          removals.push(...portions(ids).map((some) => moveEvents(main, some, from)))
          changes.movesEvents = true
        },
        removeIds(ids) {
          for (const id of ids) removedIds.push([id])
        },
        removePeople(numbers, withEvents) {
          for (const no of numbers) (withEvents ? removed : emptied).push([no])
        },
        removeVisits: (beforeDay) => removals.push(`DELETE FROM ${main}.cookieless_visits WHERE day < ${beforeDay}`),
        remove: (table, id) =>
          removals.push(`DELETE FROM ${main}.${table} WHERE ${table === 'cohort_members' ? 'cohort_id' : 'id'} = ${id}`),
        noteRemoved() {
          changes.isOtherwise = true
        },
        async commit(slots) {
          const write = () => instance.gate.write(database, () => commit(touched, metas, removals, changes, slots))
          await traced('apply', { 'waymark.store': database }, () => instance.writing(write))
          if (changes.largeEvents > 0) await large.after(changes.largeEvents)
        },
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

const sizeOf = (of: string) => `strlen(${of}properties) + strlen(${of}property_times)`

const staged = (table: ChangedTable, slots: readonly SlotUse[]): string =>
  slots.length === 0 ? `temp.main.stage_${table}` : `(SELECT *, ${slotTexts(slots, 'properties')} AS texts FROM temp.main.stage_${table})`

function assignments(table: ChangedTable, slots: readonly SlotUse[]): [column: string, value: string][] {
  return [
    ...namesOf[table].map((column): [string, string] => [column, `s.${column}`]),
    ...slots.map((slot, i): [string, string] => [slot.column, slotValue(slots, i, 's.texts')]),
  ]
}

const deleteChanged = (main: string, table: ChangedTable): string => {
  const match = changedTables[table].keys.map((key) => `t.${key} = s.${key}`)
  return `DELETE FROM ${main}.${table} t USING temp.main.stage_${table} s WHERE NOT s.is_new AND ${match.join(' AND ')}`
}

function insertStaged(main: string, table: ChangedTable, slots: readonly SlotUse[]): string {
  const pairs = assignments(table, slots)
  if (table === 'persons' || table === 'groups') pairs.push(['size', sizeOf('s.')])
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

/** Ids in one statement. */
const idsOfStatement = 5_000

function portions<T>(all: readonly T[]): T[][] {
  const parts: T[][] = []
  for (let at = 0; at < all.length; at += idsOfStatement) parts.push(all.slice(at, at + idsOfStatement))
  return parts
}

const moveEvents = (main: string, ids: readonly (readonly [string, number])[], from: readonly number[]): string =>
  `UPDATE ${main}.events t SET person_no = s.no FROM (VALUES ${ids.map(([id, no]) => `(${text(id)}, ${no})`).join(', ')}) s(id, no)
   WHERE t.distinct_id = s.id AND t.person_no IN (${from.join(', ')})`

/** Changes of a group that are not in a stage. */
interface Changes {
  movesEvents: boolean
  /** Rows changed before this group. */
  isOtherwise: boolean
  /** Characters of large events. */
  largeEvents: number
}

/** Removes everything about the numbers of a table, or everything but their events. */
function removePeople(main: string, numbers: string, withEvents: boolean): string[] {
  const among = (column: string) => `${column} IN (SELECT person_no FROM ${numbers})`
  const from = (table: string, column = 'person_no') => `DELETE FROM ${main}.${table} WHERE ${among(column)}`
  const statements = [from('person_versions'), from('cohort_members')]
  if (!withEvents) return statements
  return [
    ...statements,
    `INSERT INTO ${main}.removed_events SELECT uuid, log_seq FROM ${main}.events WHERE ${among('person_no')}`,
    from('events'),
    from('last_events'),
    from('persons'),
    from('person_merges', 'merged'),
  ]
}

/** Older stores did not count families. */
async function readLarge(
  stored: string | undefined,
  hasFamilies: boolean,
  rows: (sql: string) => Promise<Record<string, unknown>[]>,
  tables: string,
): Promise<WriterState['large']> {
  const known = JSON.parse(stored ?? '{}') as Partial<WriterState['large']>
  const large = { persons: 0, versions: 0, groups: 0, families: 0, events: 0, ...known }
  if (known.families !== undefined || !hasFamilies) return large
  const excess = `greatest(0, strlen(state) - ${ordinaryLength})`
  const [sum] = await rows(`SELECT coalesce(sum(${excess}), 0)::DOUBLE AS n FROM ${tables}.import_families`)
  return { ...large, families: sum!.n as number }
}

const words = (text: unknown): string[] => (text as string).split(' ').filter((word) => word !== '')

async function readState(rows: (sql: string) => Promise<Record<string, unknown>[]>, tables: string): Promise<WriterState> {
  const meta = new Map((await rows(`SELECT key, value FROM ${tables}.meta`)).map((row) => [row.key as string, row.value as string]))
  const appliedSeq = Number(meta.get('applied_seq') ?? 0)
  const [families] = await rows(`SELECT count(*)::INTEGER AS n FROM ${tables}.import_families`)
  const groupTypes: string[] = []
  for (const row of await rows(`SELECT group_type_index::INTEGER AS index, group_type FROM ${tables}.group_types`))
    groupTypes[row.index as number] = row.group_type as string
  const visits = await rows(`SELECT day, count(*)::DOUBLE AS count FROM ${tables}.cookieless_visits GROUP BY day`)
  const eventNames = await rows(
    `SELECT event_id, name, epoch_us(first_seen)::DOUBLE AS first, epoch_us(last_seen)::DOUBLE AS last, count::DOUBLE AS count FROM ${tables}.event_names`,
  )
  const propertyKeys = await rows(
    `SELECT scope, name, property_type, slots, ready_slots, epoch_us(first_seen)::DOUBLE AS first, epoch_us(last_seen)::DOUBLE AS last,
       [count_numeric, count_string, count_boolean, count_datetime, count_other, count_numeric_string]::DOUBLE[] AS counts FROM ${tables}.property_keys`,
  )
  const warnings = await rows(`SELECT kind, count::DOUBLE AS count, samples, epoch_us(last_seen)::DOUBLE AS last FROM ${tables}.warnings`)
  return {
    appliedSeq,
    rewrittenSeq: Number(meta.get('rewritten_seq') ?? 0),
    hasFamilies: families!.n !== 0,
    nextPersonNo: Number(meta.get('next_person_no') ?? 1),
    keptUuids: JSON.parse(meta.get('kept_uuids') ?? '[]') as string[],
    retiredSlots: JSON.parse(meta.get('retired_slots') ?? '[]') as string[],
    keptFrom: readKeptFrom(meta.get('kept_from')),
    imports: new Map([...meta].filter(([key]) => isImportKey(key))),
    large: await readLarge(meta.get('large'), families!.n !== 0, rows, tables),
    groupTypes,
    visitsOfDays: visits.map((row) => [row.day as number, row.count as number]),
    eventNames: eventNames.map((row) => ({
      id: row.event_id as number,
      name: row.name as string,
      firstSeen: row.first as number,
      lastSeen: row.last as number,
      count: row.count as number,
    })),
    propertyKeys: propertyKeys.map((row): WriterState['propertyKeys'][number] => ({
      scope: row.scope as string,
      name: row.name as string,
      type: row.property_type as WriterState['propertyKeys'][number]['type'],
      slots: words(row.slots).map((column) => ({ column, isReady: words(row.ready_slots).includes(column) })),
      counts: row.counts as number[],
      firstSeen: row.first as number,
      lastSeen: row.last as number,
    })),
    warnings: warnings.map((row) => ({
      type: row.kind as string,
      count: row.count as number,
      samples: row.samples as string,
      lastSeen: row.last as number,
    })),
  }
}
