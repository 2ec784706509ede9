import type { EventRow, StagedGroup } from '../../../events/ingestion/ports.ts'
import { type ChangedTable, type ColumnKind, changedTables } from '../../../language/catalog/changed-tables.ts'
import { type Journal, metaInsert, metaRow, type Step } from './journal.ts'
import { type ProjectStore, rowVersion } from './project-store.ts'
import { insertedEvents } from './schema.ts'
import { literals, numbers, timeText } from './sql.ts'

type Value = string | number | bigint | boolean | null

/** Pairs of numbers in one statement. */
const pairsOfStep = 2_000
const decoder = new TextDecoder()
/** Unpaired surrogates have no UTF-8. */
const wellFormed = (text: string): string => (/[\ud800-\udfff]/.test(text) ? Buffer.from(text).toString() : text)
const asJson = (value: Value): string =>
  typeof value === 'string' ? JSON.stringify(wellFormed(value)) : typeof value === 'bigint' ? String(value) : JSON.stringify(value)

const columnsOf = (table: ChangedTable): readonly [name: string, kind: ColumnKind][] => Object.entries(changedTables[table].columns)
const insertInto = (table: string, columns: readonly string[]): string =>
  `INSERT INTO ${table} (${['project_id', ...columns, 'row_version', 'row_deleted'].join(', ')})`
const format = 'FORMAT JSONCompactEachRow'

/** The changes of a group, except its events. */
const noChanges = () => ({
  puts: new Map<ChangedTable, Value[][]>(),
  metas: new Map<string, string>(),
  moves: [] as [merged: number, survivor: number][],
  rewrites: [] as [no: number, current: number][],
  movedIds: [] as [distinctId: string, no: number][],
  families: [] as number[],
  people: [] as ((as: AsOf) => Step)[],
  emptiedPeople: [] as number[],
  removedPeople: [] as number[],
  visits: [] as Step[],
  isOtherwise: false,
  removed: [] as { readonly table: 'actions' | 'cohorts' | 'cohort_members'; readonly id: number }[],
})

/** Statements for rows of a project as of a change. */
const statementsOf = (project: number, change: number) => {
  const written = (
    table: string,
    columns: readonly string[],
    phase: Parameters<typeof rowVersion>[1],
    rows: readonly (readonly Value[])[],
  ) => {
    const version = rowVersion(change, phase)
    const lines = rows.map((row) => `[${[project, ...row.map(asJson), version, 0].join(',')}]`)
    return lines.length ? [{ query: `${insertInto(table, columns)} ${format}`, rows: lines.join('\n') }] : []
  }
  const deleted = (table: string, key: string, phase: Parameters<typeof rowVersion>[1], keys: readonly number[]) => {
    const lines = keys.map((one) => `[${project},${one},${rowVersion(change, phase)},1]`)
    return lines.length ? [{ query: `${insertInto(table, [key])} ${format}`, rows: lines.join('\n') }] : []
  }
  /** Replaces rows of a table. */
  const copied = (table: string, columns: Readonly<Record<string, string>>, where: string, version: number, isDeleted = 0): Step => ({
    query: `${insertInto(table, Object.keys(columns))} SELECT project_id, ${Object.values(columns).join(', ')}, ${version}, ${isDeleted}
        FROM ${table} WHERE project_id = ${project} AND ${where}`,
    rows: '',
  })
  return { written, deleted, copied }
}

type Statements = ReturnType<typeof statementsOf>

/** A step may be executed late, by a process that was stopped meanwhile: it must not change what came after it. */
interface AsOf {
  readonly seq: number
  /** The highest version of rows of the group. */
  readonly version: number
}

const movedPeople = ({ copied }: Statements, moves: readonly (readonly [merged: number, survivor: number])[], version: number): Step[] =>
  portions(moves).flatMap((pairs): Step[] => {
    const merged = numbers(pairs.map(([no]) => no))
    const survivor = (column: string) => `transform(${column}, [${merged}], [${numbers(pairs.map(([, no]) => no))}], ${column})`
    return [
      copied(
        'distinct_ids',
        { distinct_id: 'distinct_id', person_no: survivor('person_no'), added_seq: 'added_seq' },
        `person_no IN (${merged})`,
        version,
      ),
      copied('cohort_members', { cohort_id: 'cohort_id', person_no: survivor('person_no') }, `person_no IN (${merged})`, version),
      copied('cohort_members', { cohort_id: 'cohort_id', person_no: 'person_no' }, `person_no IN (${merged})`, version, 1),
      copied('person_merges', { merged: 'merged', survivor: survivor('survivor') }, `survivor IN (${merged})`, version),
    ]
  })

function stepsOf(project: number, change: number, changes: ReturnType<typeof noChanges>): Step[] {
  const { puts, metas, moves, rewrites, movedIds, families, people, emptiedPeople, removedPeople, visits, removed } = changes
  const statements = statementsOf(project, change)
  const { written, deleted, copied } = statements
  const merges = (pairs: readonly (readonly [number, number])[], phase: 'moved' | 'rewritten') =>
    written('person_merges', ['merged', 'survivor'], phase, pairs)
  const seq = Number(metas.get('applied_seq') ?? 0)
  const asOf: AsOf = { seq, version: rowVersion(change, 'put') }
  const cohorts = removed.filter(({ table }) => table === 'cohort_members').map(({ id }) => id)
  const memberRows = { family: 'family', person_no: 'person_no' }
  return [
    ...movedPeople(statements, moves, rowVersion(change, 'moved')),
    ...deleted(
      'persons',
      'person_no',
      'moved',
      moves.map(([no]) => no),
    ),
    ...merges(moves, 'moved'),
    ...deleted(
      'persons',
      'person_no',
      'rewritten',
      rewrites.map(([no]) => no),
    ),
    ...deleted(
      'person_merges',
      'merged',
      'rewritten',
      rewrites.flatMap(([no, current]) => (no === current ? [no] : [])),
    ),
    ...merges(
      rewrites.filter(([no, current]) => no !== current),
      'rewritten',
    ),
    ...written(
      'distinct_ids',
      ['distinct_id', 'person_no', 'added_seq'],
      'rewritten',
      movedIds.map(([id, no]) => [id, no, seq]),
    ),
    ...people.map((stepOf) => stepOf(asOf)),
    ...removePeople(project, emptiedPeople, false, asOf),
    ...removePeople(project, removedPeople, true, asOf),
    ...deleted('import_families', 'family', 'removed', families),
    ...portions(families).map((some) =>
      copied('import_members', memberRows, `family IN (${numbers(some)})`, rowVersion(change, 'removed'), 1),
    ),
    ...visits,
    ...deleted(
      'actions',
      'id',
      'removed',
      removed.flatMap(({ table, id }) => (table === 'actions' ? [id] : [])),
    ),
    ...deleted(
      'cohorts',
      'id',
      'removed',
      removed.flatMap(({ table, id }) => (table === 'cohorts' ? [id] : [])),
    ),
    ...portions(cohorts).map((some) =>
      copied(
        'cohort_members',
        { cohort_id: 'cohort_id', person_no: 'person_no' },
        `cohort_id IN (${numbers(some)})`,
        rowVersion(change, 'removed'),
        1,
      ),
    ),
    ...[...puts].flatMap(([table, rows]) =>
      written(
        table,
        columnsOf(table).map(([name]) => name),
        'put',
        rows,
      ),
    ),
    { query: metaInsert, rows: [...metas].map(([key, value]) => metaRow(project, key, value, rowVersion(change, 'put'))).join('') },
  ]
}

/** A group that is being written. `eventNames`: the names of event numbers; grows. */
export function stagedGroup(store: ProjectStore, eventNames: Map<number, string>, journal: Journal): StagedGroup {
  const { project } = store
  const events: { readonly eventId: number; readonly rest: string }[] = []
  const changes = noChanges()
  const { puts, metas, moves, rewrites, movedIds, families, people, emptiedPeople, removedPeople, visits, removed } = changes

  return {
    get events() {
      return events.length
    },
    pushEvent: (row) => events.push({ eventId: row.eventId, rest: eventText(row) }),
    put(table, row) {
      const values = row as Readonly<Record<string, Value>>
      if (table === 'event_names') eventNames.set(values.event_id as number, values.name as string)
      const stored = columnsOf(table).map(([name, kind]): Value => {
        const value = values[name]!
        return kind === 'time' && value !== null ? timeText(Number(value)) : value
      })
      const rows = puts.get(table)
      if (rows) rows.push(stored)
      else puts.set(table, [stored])
    },
    drain: async () => undefined,
    setMeta: (key, value) => metas.set(key, value),
    merge: (merged, survivor) => moves.push([merged, survivor]),
    rewrite: (no, current) => rewrites.push([no, current]),
    moveId: (distinctId, no) => movedIds.push([distinctId, no]),
    removeFamily: (family) => families.push(family),
    moveEvents(ids, from) {
      for (const some of portions(ids)) {
        const names = literals(some.map(([id]) => id))
        const moved = `transform(distinct_id, [${names}], [${numbers(some.map(([, no]) => no))}], person_no)`
        const where = `project_id = ${project} AND distinct_id IN (${names}) AND person_no IN (${numbers(from)})`
        const update = `ALTER TABLE events UPDATE person_no = toInt32(${moved}) WHERE ${where}`
        people.push(({ seq }) => step(`${update} AND log_seq <= ${seq} SETTINGS mutations_sync = 2`))
      }
    },
    removeIds(ids) {
      for (const some of portions(ids)) {
        const where = `project_id = ${project} AND distinct_id IN (${literals(some)})`
        people.push(({ version }) => step(`DELETE FROM distinct_ids WHERE ${where} AND row_version < ${version}`))
      }
    },
    removePeople(nos, withEvents) {
      for (const no of nos) (withEvents ? removedPeople : emptiedPeople).push(no)
    },
    removeVisits: (beforeDay) => visits.push(step(`DELETE FROM cookieless_visits WHERE project_id = ${project} AND day < ${beforeDay}`)),
    remove: (table, id) => removed.push({ table, id }),
    noteRemoved() {
      changes.isOtherwise = true
    },
    async commit() {
      const change = await store.nextVersion()
      // The log does not show whose person numbers changed, so sets of persons must be recomputed.
      if (changes.isOtherwise || rewrites.length || movedIds.length || people.length || emptiedPeople.length || removedPeople.length)
        metas.set('rewritten_seq', metas.get('applied_seq') ?? '0')
      const lines = events.map(({ eventId, rest }) => `[${project},${asJson(eventNames.get(eventId)!)},${rest}]`)
      await journal.commit({
        change,
        seq: Number(metas.get('applied_seq') ?? 0),
        events: lines.length > 0 ? { query: insertedEvents, rows: lines.join('\n'), count: lines.length } : null,
        steps: stepsOf(project, change, changes),
      })
    },
  }
}

const step = (query: string): Step => ({ query, rows: '' })

const removePeople = (project: number, nos: readonly number[], withEvents: boolean, { seq, version }: AsOf): Step[] =>
  portions(nos).flatMap((some) => {
    const where = (column: string) => `WHERE project_id = ${project} AND ${column} IN (${numbers(some)})`
    const from = (table: string, column = 'person_no') => step(`DELETE FROM ${table} ${where(column)} AND row_version <= ${version}`)
    const ofEvents = `${where('person_no')} AND log_seq <= ${seq}`
    // Members of cohorts are written by others, too.
    const known = [from('person_versions'), step(`DELETE FROM cohort_members ${where('person_no')}`)]
    if (!withEvents) return known
    return [
      ...known,
      step(`INSERT INTO removed_events SELECT project_id, uuid, log_seq FROM events ${ofEvents}`),
      step(`DELETE FROM events ${ofEvents}`),
      step(`DELETE FROM last_events ${where('person_no')}`),
      from('persons'),
      from('person_merges', 'merged'),
    ]
  })

/** The row as JSON, starting after the event's name. */
function eventText(row: EventRow): string {
  const head = [row.uuid, timeText(row.time), row.personNo, row.distinctId, row.sessionId, row.windowId, ...row.groups]
  const tail = [timeText(row.createdAt), row.seq, row.personMode, row.elementsChain, decoder.decode(row.bytes.subarray(row.from, row.to))]
  return [...head, ...tail].map(asJson).join(',')
}

function portions<T>(all: readonly T[]): T[][] {
  const parts: T[][] = []
  for (let from = 0; from < all.length; from += pairsOfStep) parts.push(all.slice(from, from + pairsOfStep))
  return parts
}
