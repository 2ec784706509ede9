import { arrayOf, type SqlType, scalar } from '../types/types.ts'
import { sessionFields } from './sessions.ts'

// The tables that statements can read. A field is a column of the table, or leads to another table. Names that start with '@' cannot be written in
// statements; query kinds use them in generated trees.

/** Samples are parts of a ring of places, on which the distinct id of an event has one: `@sample_place`. */
export const samplePlaces = 1_000_000

export type PropertyScope = 'event' | 'person' | 'session' | `group_${number}`

export interface ColumnField {
  readonly kind: 'column'
  readonly type: SqlType
  /** The owner of the properties in a JSON column: their definitions give reads a type. */
  readonly properties?: PropertyScope
  /** `*` leaves it out. */
  readonly hidden?: true
  /** Reached through a lazy field, it still has a value for every row. */
  readonly total?: true
}
/** A table reached by equal fields. It is joined only if a statement reads from it. */
export interface LazyField {
  readonly kind: 'lazy'
  readonly table: string
  /** Pairs of fields: in this table, in the other one. */
  readonly on: readonly (readonly [here: string, there: string])[]
}
/** Another spelling of a longer chain: `person_id` is `person.id`. */
export interface ChainField {
  readonly kind: 'chain'
  readonly chain: readonly string[]
  readonly hidden?: true
}
export type CatalogField = ColumnField | LazyField | ChainField

export interface CatalogTable {
  readonly fields: Readonly<Record<string, CatalogField>>
  /** The field that a date range in `{filters}` applies to. */
  readonly timeField?: string
  /** What `{filters}` filters. */
  readonly scope?: 'event' | 'person' | 'group' | 'session'
  /** A query over other tables, built for the fields that are read; the value is the field to read if there is none. */
  readonly isView?: string
  /** Statements cannot name it in FROM. */
  readonly internal?: true
}

const column = (type: SqlType, more: Omit<ColumnField, 'kind' | 'type'> = {}): ColumnField => ({ kind: 'column', type, ...more })
const chain = (...parts: string[]): ChainField => ({ kind: 'chain', chain: parts })
const text = scalar('String')
const uuid = scalar('UUID')
const json = scalar('JSON')
const time: SqlType = { kind: 'scalar', name: 'DateTime64', nullable: false, parameters: [6] }
const flag = scalar('Bool')
const hidden = { hidden: true } as const
/** The id of the project, on every row. */
const team: Readonly<Record<'team_id', ColumnField>> = { team_id: column(scalar('Int32'), { hidden: true, total: true }) }

const groupLinks = Object.fromEntries(
  [0, 1, 2, 3, 4].map((i): [string, LazyField] => [`group_${i}`, { kind: 'lazy', table: `@group_${i}`, on: [[`$group_${i}`, 'key']] }]),
)

const events: CatalogTable = {
  timeField: 'timestamp',
  scope: 'event',
  fields: {
    ...team,
    uuid: column(uuid),
    event: column(text),
    properties: column(json, { properties: 'event' }),
    timestamp: column(time),
    distinct_id: column(text),
    elements_chain: column(text),
    created_at: column(time),
    $session_id: column(text),
    $session_id_uuid: column(scalar('UUID', true), hidden),
    $window_id: column(text),
    person_id: { ...chain('person', 'id'), hidden: true },
    person_mode: column(text, hidden),
    $group_0: column(text),
    $group_1: column(text),
    $group_2: column(text),
    $group_3: column(text),
    $group_4: column(text),
    elements_chain_href: column(text),
    elements_chain_texts: column(arrayOf(text)),
    elements_chain_ids: column(arrayOf(text)),
    elements_chain_elements: column(arrayOf(text)),
    pdi: { kind: 'lazy', table: 'person_distinct_ids', on: [['distinct_id', 'distinct_id']] },
    person: { kind: 'lazy', table: '@people', on: [['@person_no', '@person_no']] },
    poe: { kind: 'lazy', table: '@people', on: [['@person_no', '@person_no']] },
    session: { kind: 'lazy', table: 'sessions', on: [['$session_id', 'session_id']] },
    ...groupLinks,
    '@person_no': column(scalar('Int32')),
    '@event_id': column(scalar('Int32')),
    '@micros': column(scalar('Int64')),
    '@log_seq': column(scalar('Int64')),
    '@sample_place': column(scalar('Int64')),
  },
}

const personFields: CatalogTable['fields'] = {
  ...team,
  id: column(uuid, { total: true }),
  created_at: column(time),
  properties: column(json, { properties: 'person' }),
  is_identified: column(flag),
  pdi: { kind: 'lazy', table: 'person_distinct_ids', on: [['@person_no', '@person_no']] },
  '@revenue': { kind: 'lazy', table: '@person_revenue', on: [['@person_no', '@person_no']] },
  '@person_no': column(scalar('Int32')),
}

const groupFields = (scope: PropertyScope | undefined): CatalogTable['fields'] => ({
  ...team,
  index: column(scalar('UInt8')),
  key: column(text),
  created_at: column(time),
  updated_at: column(time),
  properties: column(json, { properties: scope }),
})

const memberFields: CatalogTable['fields'] = {
  ...team,
  person_id: column(uuid),
  cohort_id: column(scalar('Int32')),
  person: { kind: 'lazy', table: '@people', on: [['@person_no', '@person_no']] },
  '@person_no': column(scalar('Int32')),
}

const distinctIdFields: CatalogTable['fields'] = {
  ...team,
  distinct_id: column(text),
  person_id: column(uuid),
  person: { kind: 'lazy', table: '@people', on: [['@person_no', '@person_no']] },
  '@person_no': column(scalar('Int32')),
  '@added_seq': column(scalar('Int64')),
}

const sessions: CatalogTable = {
  isView: 'session_id',
  timeField: '$start_timestamp',
  scope: 'session',
  fields: Object.fromEntries(
    Object.entries(sessionFields).map(([name, { type, hidden: isHidden }]) => [name, column(type, isHidden ? hidden : {})]),
  ),
}

const version = column(scalar('Int64'))
const deleted = column(scalar('UInt8'))

/** By their names in FROM. */
export const tables: Readonly<Record<string, CatalogTable>> = {
  events,
  sessions,
  persons: { fields: personFields, timeField: 'created_at', scope: 'person' },
  groups: { fields: groupFields(undefined), timeField: 'created_at', scope: 'group' },
  person_distinct_ids: { fields: distinctIdFields },
  cohort_people: { fields: memberFields },
  static_cohort_people: { fields: memberFields },
  raw_persons: { fields: { ...personFields, version, is_deleted: deleted } },
  raw_person_distinct_ids: { fields: { ...distinctIdFields, version, is_deleted: deleted } },
  raw_groups: { fields: { ...groupFields(undefined), version, is_deleted: deleted } },
  raw_cohort_people: { fields: { ...memberFields, sign: column(scalar('Int8')), version } },
  // Persons with and without a record: every event has one.
  '@people': {
    fields: { ...personFields, '@version': version, '@updated_at': column(time), '@changed_seq': column(scalar('Int64')) },
    internal: true,
  },
  // `person-revenue.ts` makes it of events.
  '@person_revenue': {
    isView: '@person_no',
    fields: { '@person_no': column(scalar('Int32')), revenue: column(scalar('Float64')) },
    internal: true,
  },
  // Of stores whose events have numbers instead of names.
  '@event_names': { fields: { '@event_id': column(scalar('Int32')), name: column(text) }, internal: true },
  ...Object.fromEntries([0, 1, 2, 3, 4].map((i) => [`@group_${i}`, { fields: groupFields(`group_${i}`), internal: true } as const])),
}
