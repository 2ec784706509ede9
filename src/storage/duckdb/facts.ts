import type { DuckDBConnection } from '@duckdb/node-api'
import { keyLimit, type ValueCounts, valueTypes } from '../../catalog/property-counts.ts'
import { type PropertyKey, propertyKey, type RowCounts, type StoreFacts } from '../../catalog/store-facts.ts'
import { identifier } from './instance.ts'

async function rows(connection: DuckDBConnection, sql: string): Promise<readonly (readonly unknown[])[]> {
  return (await connection.runAndReadAll(sql)).getRowsJS()
}

/** `known` is answered again when nothing has been applied since. */
export async function readFacts(connection: DuckDBConnection, database: string, known?: StoreFacts): Promise<StoreFacts> {
  const at = `${identifier(database)}.main`
  const [[appliedSeq]] = (await rows(connection, `SELECT value FROM ${at}.meta WHERE key = 'applied_seq'`)) as [[string]]
  if (known?.appliedSeq === appliedSeq) return known
  const names = await rows(connection, `SELECT name, event_id FROM ${at}.event_names`)
  const [[merged]] = (await rows(connection, `SELECT count(*) > 0 FROM ${at}.person_merges`)) as [[boolean]]
  const [[lastPersonNo]] = (await rows(connection, `SELECT coalesce(max(person_no), 0) FROM ${at}.persons`)) as [[number]]
  const keys = await rows(
    connection,
    `SELECT scope, name, property_type, ready_slots, count_numeric, count_string, count_boolean, count_datetime, count_other, count_numeric_string FROM ${at}.property_keys`,
  )
  const full = await rows(connection, `SELECT scope FROM ${at}.property_keys GROUP BY scope HAVING count(*) >= ${keyLimit}`)
  const groupTypes = await rows(connection, `SELECT group_type_index, group_type FROM ${at}.group_types ORDER BY 1`)
  const actions = await rows(connection, `SELECT id, definition FROM ${at}.actions`)
  const cohorts = await rows(connection, `SELECT id, definition FROM ${at}.cohorts`)
  return {
    appliedSeq,
    eventIds: new Map(names.map(([name, id]) => [String(name), Number(id)])),
    hasMerges: merged,
    lastPersonNo: Number(lastPersonNo),
    propertyKeys: new Map(
      keys.map(([scope, name, type, slots, ...counts]) => [
        propertyKey(String(scope), String(name)),
        {
          scope: String(scope),
          name: String(name),
          type: type as PropertyKey['type'],
          slots: String(slots).split(' ').filter(Boolean),
          counts: Object.fromEntries(valueTypes.map((valueType, i) => [valueType, Number(counts[i])])) as ValueCounts,
        },
      ]),
    ),
    fullScopes: new Set(full.map(([scope]) => String(scope))),
    groupTypes: groupTypes.map(([index, name]) => ({ index: Number(index), name: String(name) })),
    actions: new Map(actions.map(([id, definition]) => [Number(id), String(definition)])),
    cohorts: new Map(cohorts.map(([id, definition]) => [Number(id), String(definition)])),
  }
}

/** What a store holds, in all. */
export async function countRows(connection: DuckDBConnection, database: string): Promise<RowCounts> {
  const at = `${identifier(database)}.main`
  const counts = `SELECT (SELECT count(*) FROM ${at}.events), (SELECT count(*) FROM ${at}.persons WHERE has_record)`
  const [[events, persons]] = (await rows(connection, counts)) as [[bigint, bigint]]
  return { events: Number(events), persons: Number(persons) }
}
