import type { DuckDBConnection } from '@duckdb/node-api'
import { fullScopes, type ValueCounts, valueTypes } from '../../../language/catalog/property-counts.ts'
import { type PropertyKey, propertyKey, type RowCounts, type StoreFacts } from '../../../language/catalog/store-facts.ts'
import { identifier } from './instance.ts'

async function rows(connection: DuckDBConnection, sql: string): Promise<readonly (readonly unknown[])[]> {
  return (await connection.runAndReadAll(sql)).getRowsJS()
}

/** All facts in one statement: its tables are small, and each statement waits for the event loop. The first column is the kind of the row. */
const factRows = (at: string) => `
  SELECT 'seq' AS fact, value AS a, NULL AS b, NULL AS c, NULL AS d, NULL::BIGINT[] AS counts FROM ${at}.meta WHERE key = 'applied_seq'
  UNION ALL SELECT 'event', name, event_id::VARCHAR, NULL, NULL, NULL FROM ${at}.event_names
  UNION ALL SELECT 'merges', NULL, NULL, NULL, NULL, NULL WHERE EXISTS (FROM ${at}.person_merges)
  UNION ALL SELECT 'person', max(person_no)::VARCHAR, NULL, NULL, NULL, NULL FROM ${at}.persons
  UNION ALL SELECT 'key', scope, name, property_type, ready_slots,
    [count_numeric, count_string, count_boolean, count_datetime, count_other, count_numeric_string] FROM ${at}.property_keys
  UNION ALL SELECT 'group', group_type_index::VARCHAR, group_type, NULL, NULL, NULL FROM ${at}.group_types
  UNION ALL SELECT 'action', id::VARCHAR, definition, NULL, NULL, NULL FROM ${at}.actions
  UNION ALL SELECT 'cohort', id::VARCHAR, definition, NULL, NULL, NULL FROM ${at}.cohorts`

/** `known` is returned again if nothing has been applied since. */
export async function readFacts(connection: DuckDBConnection, database: string, known?: StoreFacts): Promise<StoreFacts> {
  const at = `${identifier(database)}.main`
  if (known) {
    const [[appliedSeq]] = (await rows(connection, `SELECT value FROM ${at}.meta WHERE key = 'applied_seq'`)) as [[string]]
    if (known.appliedSeq === appliedSeq) return known
  }
  const read = (await rows(connection, factRows(at))) as readonly FactRow[]
  const found = (fact: string) => read.filter(([one]) => one === fact)
  const propertyKeys = found('key').map(
    ([, scope, name, type, slots, counts]): PropertyKey => ({
      scope: scope!,
      name: name!,
      type: type as PropertyKey['type'],
      slots: slots!.split(' ').filter(Boolean),
      counts: Object.fromEntries(valueTypes.map((valueType, i) => [valueType, Number(counts![i])])) as ValueCounts,
    }),
  )
  return {
    appliedSeq: found('seq')[0]![1]!,
    eventIds: new Map(found('event').map(([, name, id]) => [name!, Number(id)])),
    hasMerges: found('merges').length > 0,
    lastPersonNo: Number(found('person')[0]?.[1] ?? 0),
    propertyKeys: new Map(propertyKeys.map((key) => [propertyKey(key.scope, key.name), key])),
    fullScopes: fullScopes(propertyKeys.map(({ scope }) => scope)),
    groupTypes: found('group')
      .map(([, index, name]) => ({ index: Number(index), name: name! }))
      .sort((a, b) => a.index - b.index),
    actions: new Map(found('action').map(([, id, definition]) => [Number(id), definition!])),
    cohorts: new Map(found('cohort').map(([, id, definition]) => [Number(id), definition!])),
  }
}

type FactRow = readonly [
  fact: string,
  a: string | null,
  b: string | null,
  c: string | null,
  d: string | null,
  counts: readonly bigint[] | null,
]

/** The totals of a store. */
export async function countRows(connection: DuckDBConnection, database: string): Promise<RowCounts> {
  const at = `${identifier(database)}.main`
  const counts = `SELECT (SELECT count(*) FROM ${at}.events), (SELECT count(*) FROM ${at}.persons WHERE has_record)`
  const [[events, persons]] = (await rows(connection, counts)) as [[bigint, bigint]]
  return { events: Number(events), persons: Number(persons) }
}
