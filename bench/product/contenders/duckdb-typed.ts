import type { Contender } from '../contender.ts'
import { eventNames, identify, texts } from '../generator.ts'
import { duckdb } from './duckdb.ts'

const enumOf = (name: string, values: readonly string[]) =>
  `CREATE TYPE "${name}" AS ENUM (${values.map((value) => `'${value}'`).join(', ')})`
const names: readonly string[] = [...eventNames, identify]
const namesText = `[${names.map((name) => `'${name}'`).join(', ')}]`
/** From 1, as positions in a list are counted. */
const codeOf = (name: string) => String(names.indexOf(name) + 1)

const typed: Readonly<Record<string, string>> = {
  $browser: '"$browser"',
  $browser_version: 'USMALLINT',
  $os: '"$os"',
  $current_url: 'VARCHAR',
  $session_id: 'VARCHAR',
  $screen_width: 'USMALLINT',
  country: '"country"',
  plan: '"plan"',
  amount: 'DOUBLE',
  items: 'UTINYINT',
  is_trial: 'BOOLEAN',
  renews_at: 'TIMESTAMP',
  search: 'VARCHAR',
  campaign: '"campaign"',
}

/** As DuckDB is fastest: numbered event names (a filter takes half the time that it takes with ENUM ones), enumerated texts, numbered persons, a typed column for each property. */
export const duckdbTyped: Contender = duckdb({
  name: 'DuckDB (typed columns)',
  layout: 'event names as one-byte numbers, ENUM texts, integer persons resolved before loading, a typed column per property and no JSON',
  tables: [
    ...Object.entries(texts).map(([name, values]) => enumOf(name, values)),
    `CREATE TABLE events (uuid UUID, event UTINYINT, timestamp TIMESTAMP, distinct_id VARCHAR, person UINTEGER,
      ${Object.entries(typed)
        .map(([name, type]) => `"${name}" ${type}`)
        .join(', ')})`,
  ],
  values: `uuid, list_position(${namesText}, event), timestamp, distinct_id, person, ${Object.entries(typed)
    .map(([name, type]) => `(properties->>'$."${name}"')::${type}`)
    .join(', ')}`,
  columns: {
    event: codeOf,
    eventName: `${namesText}[event]`,
    text: (name) => (name in texts ? `"${name}"::VARCHAR` : `"${name}"`),
    number: (name) => `"${name}"`,
  },
})
