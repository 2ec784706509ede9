import { InternalError } from '../../errors/errors.ts'
import { samplePlaces } from '../catalog/tables.ts'
import type { ScanSource } from '../resolver/typed.ts'

// Maps the fields of the catalog to columns of an engine's tables. `t` is the table itself; `n`, `m` and `p` are joined tables.

type Need = 'name' | 'merge' | 'person'

interface Place {
  readonly sql: string
  readonly needs?: readonly Need[]
}
type Fields = Readonly<Record<string, Place | string>>
interface PhysicalTable {
  readonly table: string
  readonly fields: Fields
  readonly where?: string
  /** Always joined: the condition needs it. */
  readonly needs?: readonly Need[]
  /** Merged persons no longer have a row of their own. */
  readonly skipsMerged?: true
}

/** The engine-specific parts. */
export interface EngineTables {
  /** A table of one project, as printed in FROM. `slots`: those of its columns that are read. */
  table(name: string, project: number | null, slots: readonly string[]): string
  /** A value that only persons with a record have. */
  whenRecorded(value: string): string
  /** Fields of events whose column has another name or is computed. */
  readonly events: Fields
  /** A 64-bit hash of the distinct id, equal on all engines. */
  readonly hash: string
}

const person: Place = { sql: 't.person_no', needs: ['merge'] }
const groupKeys = [0, 1, 2, 3, 4].map((i) => `group_${i}`)

const groups: Fields = {
  index: 't.group_type_index',
  key: 't.group_key',
  created_at: 't.created_at',
  updated_at: 't.updated_at',
  properties: 't.properties',
  version: 't.version',
  is_deleted: '0',
}
const members: PhysicalTable = {
  table: 'cohort_members',
  fields: {
    person_id: { sql: 'p.uuid', needs: ['person'] },
    cohort_id: 't.cohort_id',
    '@person_no': person,
    sign: '1',
    version: '0',
  },
}
const distinctIds: PhysicalTable = {
  table: 'distinct_ids',
  fields: {
    distinct_id: 't.distinct_id',
    person_id: { sql: 'p.uuid', needs: ['person'] },
    '@person_no': person,
    '@added_seq': 't.added_seq',
    version: '0',
    is_deleted: '0',
  },
  needs: ['person'],
  where: 'p.has_record',
}

function physicalTables({ events, whenRecorded, hash }: EngineTables): Readonly<Record<string, PhysicalTable>> {
  const fields: Fields = {
    id: 't.uuid',
    created_at: whenRecorded('t.created_at'),
    properties: 't.properties',
    is_identified: whenRecorded('t.is_identified'),
    '@person_no': 't.person_no',
    version: 't.version',
    is_deleted: '0',
  }
  const persons: PhysicalTable = { table: 'persons', fields, where: 't.has_record', skipsMerged: true }
  return {
    events: {
      table: 'events',
      fields: {
        uuid: 't.uuid',
        properties: 't.properties',
        timestamp: 't.timestamp',
        distinct_id: 't.distinct_id',
        elements_chain: 't.elements_chain',
        created_at: 't.created_at',
        $session_id: 't.session_id',
        $window_id: 't.window_id',
        ...Object.fromEntries(groupKeys.map((key) => [`$${key}`, `t.${key}`])),
        '@person_no': person,
        '@log_seq': 't.log_seq',
        '@sample_place': `(${placeOf(hash)})`,
        ...events,
      },
    },
    persons,
    raw_persons: persons,
    '@people': {
      table: 'persons',
      fields: { ...fields, '@version': 't.version', '@updated_at': 't.updated_at', '@changed_seq': 't.changed_seq' },
    },
    person_distinct_ids: distinctIds,
    raw_person_distinct_ids: distinctIds,
    '@event_names': { table: 'event_names', fields: { '@event_id': 't.event_id', name: 't.name' } },
    groups: { table: 'groups', fields: groups },
    raw_groups: { table: 'groups', fields: groups },
    cohort_people: members,
    raw_cohort_people: members,
    static_cohort_people: members,
    ...Object.fromEntries(
      groupKeys.map((key, i) => [`@${key}`, { table: 'groups', fields: groups, where: `t.group_type_index = ${i}` }] as const),
    ),
  }
}

/** Prints the read of a column expression. */
type Read = (scanRead: ScanSource['reads'][number], column: string) => string

/** Prints `SELECT … FROM …` for a scan. */
export function scanPrinter(engine: EngineTables): (scan: ScanSource, read: Read) => string {
  const tables = physicalTables(engine)
  return (scan, read) => {
    const physical = tables[scan.table]
    if (!physical) throw new InternalError(`${scan.table} has no physical column in the engine`)
    const own = (name: string, slots: readonly string[] = []) => engine.table(name, scan.project, slots)
    const personNo = scan.withMerges ? 'coalesce(m.survivor, t.person_no)' : 't.person_no'
    const needs = new Set<Need>(physical.needs)
    const columns = scan.reads.map((wanted) => {
      const field = wanted.field === 'team_id' ? teamOf(scan) : physical.fields[wanted.field]
      if (field === undefined) throw new InternalError(`${scan.table}.${wanted.field} has no physical column in the engine`)
      const { sql, needs: more = [] } = typeof field === 'string' ? { sql: field } : field
      for (const need of more) needs.add(need)
      return read(wanted, field === person ? personNo : sql)
    })
    const isMerged = scan.withMerges && (needs.has('merge') || needs.has('person'))
    const joins = [
      needs.has('name') ? `JOIN ${own('event_names')} AS n ON n.event_id = t.event_id` : '',
      isMerged ? `LEFT JOIN ${own('person_merges')} AS m ON m.merged = t.person_no` : '',
      needs.has('person') ? `JOIN ${own('persons')} AS p ON p.person_no = ${personNo}` : '',
    ].filter(Boolean)
    const conditions = [
      physical.where ?? '',
      physical.skipsMerged && scan.withMerges ? `t.person_no NOT IN (SELECT merged FROM ${own('person_merges')})` : '',
      scan.sample ? sampled(engine.hash, scan.sample) : '',
    ].filter(Boolean)
    return [
      `SELECT ${columns.length ? columns.join(', ') : '1 AS one'}`,
      `FROM ${own(physical.table, slotsOf(scan))} AS t`,
      ...joins,
      ...(conditions.length ? [`WHERE ${conditions.join(' AND ')}`] : []),
    ].join(' ')
  }
}

const slotsOf = ({ reads }: ScanSource) => [...new Set(reads.flatMap(({ slot }) => (slot ? [slot.column] : [])))]

/** A store has the rows of one project, or those of each project beside its number: in both cases a scan is restricted to one. */
const teamOf = ({ project }: ScanSource): string => `CAST(${Number(project)} AS INTEGER)`

const placeOf = (hash: string) => `${hash} % ${samplePlaces}`

function sampled(hash: string, { share, start }: NonNullable<ScanSource['sample']>): string {
  const from = Math.round(start * samplePlaces)
  return `(${placeOf(hash)} + ${samplePlaces - from}) % ${samplePlaces} < ${Math.round(share * samplePlaces)}`
}
