import type { Contender } from '../contender.ts'
import { duckdb } from './duckdb.ts'

/** What is written in an afternoon: texts, and properties as they came. */
export const duckdbJson: Contender = duckdb({
  name: 'DuckDB (JSON text)',
  layout: 'texts and properties as JSON text, integer persons resolved before loading',
  tables: ['CREATE TABLE events (uuid UUID, event VARCHAR, timestamp TIMESTAMP, distinct_id VARCHAR, person UINTEGER, properties JSON)'],
  values: 'uuid, event, timestamp, distinct_id, person, properties',
  columns: {
    event: (name) => `'${name}'`,
    eventName: 'event',
    text: (name) => `(properties->>'$."${name}"')`,
    number: (name) => `(properties->>'$."${name}"')::DOUBLE`,
  },
})
