import { InternalError } from '../../errors/errors.ts'
import type { ScanSource } from '../../resolver/typed.ts'

// Where the fields of the catalog are in the tables of a ClickHouse server. Each table is narrowed to the project before anything is joined
// to it, so that no condition of an outer join can let others' rows in or lose the project's own.

type Need = 'merge' | 'person'
interface Place {
  readonly sql: string
  readonly needs?: readonly Need[]
}
interface PhysicalTable {
  readonly table: string
  readonly fields: Readonly<Record<string, Place | string>>
  readonly where?: string
  readonly needs?: readonly Need[]
  readonly skipsMerged?: true
}

const attribute = (name: string) => `'(?::|")${name}="(.*?)"'`
const person: Place = { sql: 't.person_no', needs: ['merge'] }

const persons: PhysicalTable['fields'] = {
  id: 't.uuid',
  created_at: 'if(t.has_record, t.created_at, NULL)',
  properties: 't.properties',
  is_identified: 'if(t.has_record, t.is_identified, NULL)',
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

const physicalTables: Readonly<Record<string, PhysicalTable>> = {
  events: {
    table: 'events',
    fields: {
      uuid: 't.uuid',
      event: 'CAST(t.event AS String)',
      properties: 't.properties',
      timestamp: 't.timestamp',
      distinct_id: 't.distinct_id',
      elements_chain: 't.elements_chain',
      created_at: 't.created_at',
      $session_id: 't.session_id',
      $session_id_uuid: 'toUUIDOrNull(t.session_id)',
      $window_id: 't.window_id',
      person_mode: "multiIf(t.person_mode = 0, 'full', t.person_mode = 1, 'propertyless', 'force_upgrade')",
      $group_0: 't.group_0',
      $group_1: 't.group_1',
      $group_2: 't.group_2',
      $group_3: 't.group_3',
      $group_4: 't.group_4',
      elements_chain_href: `extract(t.elements_chain, ${attribute('href')})`,
      elements_chain_texts: `arrayDistinct(extractAll(t.elements_chain, ${attribute('text')}))`,
      elements_chain_ids: `arrayDistinct(extractAll(t.elements_chain, ${attribute('attr_id')}))`,
      elements_chain_elements:
        "arrayDistinct(extractAll(t.elements_chain, '(?:^|;)(a|button|form|input|select|textarea|label)(?:\\\\.|$|:)'))",
      '@person_no': person,
      '@micros': 'toUnixTimestamp64Micro(t.timestamp)',
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

export function scanQuery(scan: ScanSource, read: (scanRead: ScanSource['reads'][number], place: string) => string): string {
  const physical = physicalTables[scan.table]
  if (!physical) throw new InternalError(`${scan.table} has no place on the server`)
  const own = (table: string) => `(SELECT * FROM ${table} WHERE project_id = ${Number(scan.project)})`
  const personNo = scan.withMerges ? 'coalesce(m.survivor, t.person_no)' : 't.person_no'
  const needs = new Set<Need>(physical.needs)
  const columns = scan.reads.map((wanted) => {
    const place = physical.fields[wanted.field]
    if (place === undefined) throw new InternalError(`${scan.table}.${wanted.field} has no place on the server`)
    const { sql, needs: more = [] } = typeof place === 'string' ? { sql: place } : place
    for (const need of more) needs.add(need)
    return read(wanted, place === person ? personNo : sql)
  })
  const merged = scan.withMerges && (needs.has('merge') || needs.has('person'))
  const conditions = [
    physical.where ?? '',
    physical.skipsMerged && scan.withMerges ? `t.person_no NOT IN (SELECT merged FROM ${own('person_merges')})` : '',
    scan.sample ? sampled(scan.sample) : '',
  ].filter(Boolean)
  return [
    `SELECT ${columns.length ? columns.join(', ') : '1 AS `1`'}`,
    `FROM ${own(physical.table)} AS t`,
    ...(merged ? [`LEFT JOIN ${own('person_merges')} AS m ON m.merged = t.person_no`] : []),
    ...(needs.has('person') ? [`INNER JOIN ${own('persons')} AS p ON p.person_no = ${personNo}`] : []),
    ...(conditions.length ? [`WHERE ${conditions.join(' AND ')}`] : []),
  ].join(' ')
}

const ring = 1_000_000
function sampled({ share, start }: NonNullable<ScanSource['sample']>): string {
  const from = Math.round(start * ring)
  return `(reinterpretAsUInt64(substring(MD5(t.distinct_id), 9, 8)) % ${ring} + ${ring - from}) % ${ring} < ${Math.round(share * ring)}`
}
