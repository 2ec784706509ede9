import { numberText } from '../../../language/types/property-values.ts'
import type { FileFormat, Migration } from '../format.ts'
import { createStore, storeFormat } from './schema.ts'

/** Texts that read as a number, by the scope and name of their key. */
const numericStrings = (main: string): string => {
  const texts = (scope: string, table: string) => `SELECT ${scope} AS scope, j.key AS name, j.atom ->> '$' AS text
     FROM ${main}.${table} AS t, json_each(t.properties) AS j WHERE j.type = 'VARCHAR'`
  return `SELECT scope, name, count(*) AS n FROM (
     ${[texts("'event'", 'events'), texts("'person'", 'persons'), texts("'group_' || t.group_type_index", 'groups')].join(' UNION ALL ')})
   WHERE regexp_full_match(text, '${numberText}') AND isfinite(TRY_CAST(text AS DOUBLE)) GROUP BY ALL`
}

/**
 * Drops types that were derived from counts. A key may have several slots, and texts that read as a number are counted separately. Slots of times
 * were never read. The table is rebuilt: DuckDB does not commit a transaction that both alters a table and writes to it.
 */
const typesOfValues: Migration = {
  to: 2,
  statements: (database) => {
    const main = `"${database}".main`
    return [
      `CREATE TABLE ${main}.property_keys_1 AS SELECT * FROM ${main}.property_keys`,
      `DROP TABLE ${main}.property_keys`,
      `CREATE TABLE ${main}.property_keys (scope VARCHAR NOT NULL, name VARCHAR NOT NULL, property_type VARCHAR, slots VARCHAR NOT NULL,
         ready_slots VARCHAR NOT NULL, count_numeric BIGINT NOT NULL, count_string BIGINT NOT NULL, count_boolean BIGINT NOT NULL,
         count_datetime BIGINT NOT NULL, count_other BIGINT NOT NULL, count_numeric_string BIGINT NOT NULL, first_seen TIMESTAMP, last_seen TIMESTAMP)`,
      // Slots of numbers held a number for texts such as 'nan' and ' 5 ', so they are filled again.
      `INSERT INTO ${main}.property_keys
       SELECT scope, name, property_type, slots, CASE WHEN slot_ready AND NOT (starts_with(slots, 'n') AND strings > 0) THEN slots ELSE '' END,
         count_numeric, strings, count_boolean, count_datetime, count_other, numeric_strings, first_seen, last_seen
       FROM (SELECT * EXCLUDE property_type, CASE WHEN is_defined THEN property_type END AS property_type,
           CASE WHEN slot IS NULL OR starts_with(slot, 't') THEN '' ELSE slot END AS slots,
           coalesce(n, 0) AS numeric_strings, greatest(0, count_string - numeric_strings) AS strings
         FROM ${main}.property_keys_1 LEFT JOIN (${numericStrings(main)}) USING (scope, name))`,
      `DROP TABLE ${main}.property_keys_1`,
    ]
  },
}

/** For exports of persons that have changed. */
const positionsOfPersons: Migration = {
  to: 3,
  statements: (database) => [`ALTER TABLE "${database}".main.persons ADD COLUMN changed_seq BIGINT DEFAULT 0`],
}

/** For persons that are deleted with their events. */
const removedEvents: Migration = {
  to: 4,
  statements: (database) => [`CREATE TABLE "${database}".main.removed_events (uuid UUID NOT NULL, log_seq BIGINT NOT NULL)`],
}

/** For visitors without cookies. */
const cookielessVisits: Migration = {
  to: 5,
  statements: (database) => [
    `CREATE TABLE "${database}".main.cookieless_visits (key VARCHAR NOT NULL, day INTEGER NOT NULL, state VARCHAR NOT NULL)`,
  ],
}

/** Characters of a row that do not count as large. */
const ordinaryLength = 8_192

/** What a transaction must load is known before it is loaded. DuckDB does not commit a transaction that both alters a table and writes to it. */
const sizes: readonly Migration[] = [
  {
    to: 6,
    statements: (database) =>
      ['persons', 'groups'].map((table) => `ALTER TABLE "${database}".main.${table} ADD COLUMN size BIGINT DEFAULT 0`),
  },
  {
    to: 7,
    statements: (database) => {
      const main = `"${database}".main`
      const large = (table: string) =>
        `(SELECT coalesce(sum(greatest(0, strlen(properties) - ${ordinaryLength})), 0)::BIGINT FROM ${main}.${table})`
      return [
        ...['persons', 'groups'].map((table) => `UPDATE ${main}.${table} SET size = strlen(properties) + strlen(property_times)`),
        `INSERT INTO ${main}.meta SELECT 'large',
           json_object('persons', ${large('persons')}, 'versions', ${large('person_versions')}, 'groups', ${large('groups')})::VARCHAR`,
      ]
    },
  },
]

/** For projects that keep events for some time only. */
const lastEvents: Migration = {
  to: 8,
  statements: (database) => [`CREATE TABLE "${database}".main.last_events (person_no INTEGER NOT NULL, last_at TIMESTAMP NOT NULL)`],
}

/** Steps of store.duckdb, oldest first. A step never reads what a later version wrote. */
const storeMigrations: readonly Migration[] = [typesOfValues, positionsOfPersons, removedEvents, cookielessVisits, ...sizes, lastEvents]

export const storeFile: FileFormat = { version: storeFormat, create: createStore, migrations: storeMigrations }
