import { InternalError } from '../../errors/errors.ts'
import type { ScanSource } from '../../resolver/typed.ts'

// Where the fields of the catalog are in a project's store. `t` is the table itself.

type Need = 'name' | 'merge' | 'person'

interface Place {
  readonly sql: string
  readonly needs?: readonly Need[]
}
interface PhysicalTable {
  readonly table: string
  readonly fields: Readonly<Record<string, Place | string>>
  readonly where?: string
  /** Joined whatever is read: the condition needs it. */
  readonly needs?: readonly Need[]
  /** Persons that live on in another have no row of their own any more. */
  readonly skipsMerged?: true
}

const quoted = (attribute: string) => `'(?::|")${attribute}="(.*?)"'`
const person: Place = { sql: 't.person_no', needs: ['merge'] }

const persons: PhysicalTable['fields'] = {
  id: 't.uuid',
  created_at: 'CASE WHEN t.has_record THEN t.created_at END',
  properties: 't.properties',
  is_identified: 'CASE WHEN t.has_record THEN t.is_identified END',
  '@person_no': 't.person_no',
  version: 't.version',
  is_deleted: '0',
}
const groups: PhysicalTable['fields'] = {
  index: 't.group_type_index',
  key: 't.group_key',
  created_at: 't.created_at',
  updated_at: 't.updated_at',
  properties: 't.properties',
  version: 't.version',
  is_deleted: '0',
}
const members: PhysicalTable['fields'] = {
  person_id: { sql: 'p.uuid', needs: ['person'] },
  cohort_id: 't.cohort_id',
  '@person_no': person,
  sign: '1',
  version: '0',
}
const distinctIds: PhysicalTable = {
  table: 'distinct_ids',
  fields: {
    distinct_id: 't.distinct_id',
    person_id: { sql: 'p.uuid', needs: ['person'] },
    '@person_no': person,
    version: '0',
    is_deleted: '0',
  },
  needs: ['person'],
  where: 'p.has_record',
}

export const physicalTables: Readonly<Record<string, PhysicalTable>> = {
  events: {
    table: 'events',
    fields: {
      uuid: 't.uuid',
      event: { sql: 'n.name', needs: ['name'] },
      properties: 't.properties',
      timestamp: 't.timestamp',
      distinct_id: 't.distinct_id',
      elements_chain: 't.elements_chain',
      created_at: 't.created_at',
      $session_id: 't.session_id',
      $session_id_uuid: 'TRY_CAST(t.session_id AS UUID)',
      $window_id: 't.window_id',
      person_mode: "CASE t.person_mode WHEN 0 THEN 'full' WHEN 1 THEN 'propertyless' ELSE 'force_upgrade' END",
      $group_0: 't.group_0',
      $group_1: 't.group_1',
      $group_2: 't.group_2',
      $group_3: 't.group_3',
      $group_4: 't.group_4',
      elements_chain_href: `regexp_extract(t.elements_chain, ${quoted('href')}, 1)`,
      elements_chain_texts: `list_distinct(regexp_extract_all(t.elements_chain, ${quoted('text')}, 1))`,
      elements_chain_ids: `list_distinct(regexp_extract_all(t.elements_chain, ${quoted('attr_id')}, 1))`,
      elements_chain_elements:
        "list_distinct(regexp_extract_all(t.elements_chain, '(?:^|;)(a|button|form|input|select|textarea|label)(?:\\.|$|:)', 1))",
      '@person_no': person,
      '@event_id': 't.event_id',
      '@micros': 'epoch_us(t.timestamp)',
      '@log_seq': 't.log_seq',
    },
  },
  persons: { table: 'persons', fields: persons, where: 't.has_record', skipsMerged: true },
  raw_persons: { table: 'persons', fields: persons, where: 't.has_record', skipsMerged: true },
  '@people': { table: 'persons', fields: persons },
  person_distinct_ids: distinctIds,
  raw_person_distinct_ids: distinctIds,
  groups: { table: 'groups', fields: groups },
  raw_groups: { table: 'groups', fields: groups },
  cohort_people: { table: 'cohort_members', fields: members },
  raw_cohort_people: { table: 'cohort_members', fields: members },
  static_cohort_people: { table: 'cohort_members', fields: members },
  ...Object.fromEntries(
    [0, 1, 2, 3, 4].map((i) => [`@group_${i}`, { table: 'groups', fields: groups, where: `t.group_type_index = ${i}` }] as const),
  ),
}

/** `SELECT … FROM …` of one scan. `read` prints what is taken from a place. */
export function scanQuery(scan: ScanSource, read: (scanRead: ScanSource['reads'][number], place: string) => string): string {
  const physical = physicalTables[scan.table]
  if (!physical) throw new InternalError(`${scan.table} has no place in the store`)
  const database = `"p${scan.project}".main`
  const needs = new Set<Need>(physical.needs)
  const columns = scan.reads.map((wanted) => {
    const place = physical.fields[wanted.field]
    if (place === undefined) throw new InternalError(`${scan.table}.${wanted.field} has no place in the store`)
    const { sql, needs: more = [] } = typeof place === 'string' ? { sql: place } : place
    for (const need of more) needs.add(need)
    return read(wanted, place === person && scan.withMerges ? 'coalesce(m.survivor, t.person_no)' : sql)
  })
  const personNo = scan.withMerges ? 'coalesce(m.survivor, t.person_no)' : 't.person_no'
  const joins = [
    needs.has('name') ? `JOIN ${database}.event_names n ON n.event_id = t.event_id` : '',
    scan.withMerges && (needs.has('merge') || needs.has('person')) ? `LEFT JOIN ${database}.person_merges m ON m.merged = t.person_no` : '',
    needs.has('person') ? `JOIN ${database}.persons p ON p.person_no = ${personNo}` : '',
  ].filter(Boolean)
  const conditions = [
    physical.where ?? '',
    physical.skipsMerged && scan.withMerges ? `t.person_no NOT IN (SELECT merged FROM ${database}.person_merges)` : '',
    scan.sample ? sampled(scan.sample) : '',
  ].filter(Boolean)
  return [
    `SELECT ${columns.length ? columns.join(', ') : '1 AS "1"'}`,
    `FROM ${database}.${physical.table} t`,
    ...joins,
    ...(conditions.length ? [`WHERE ${conditions.join(' AND ')}`] : []),
  ].join(' ')
}

/** The ring of distinct ids has a million places. */
const ring = 1_000_000
function sampled({ share, start }: NonNullable<ScanSource['sample']>): string {
  const from = Math.round(start * ring)
  return `(md5_number_lower(t.distinct_id) % ${ring} + ${ring - from}) % ${ring} < ${Math.round(share * ring)}`
}
