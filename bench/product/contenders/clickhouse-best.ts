import type { Contender } from '../contender.ts'
import { clickhouse } from './clickhouse.ts'

const typed: Readonly<Record<string, string>> = {
  $browser: 'LowCardinality(String)',
  $browser_version: 'UInt16',
  $os: 'LowCardinality(String)',
  $current_url: 'String',
  $session_id: 'String',
  $screen_width: 'UInt16',
  country: 'LowCardinality(String)',
  plan: 'LowCardinality(String)',
  amount: 'Float64',
  items: 'UInt8',
  is_trial: 'Bool',
  renews_at: 'String',
  search: 'String',
  campaign: 'LowCardinality(String)',
}
const extracted = Object.entries(typed).map(([name, type]) => {
  const value = `JSONExtract(properties, '${name}', '${type.replace(/LowCardinality\((.*)\)/, '$1')}')`
  return name === 'renews_at' ? `parseDateTimeBestEffort(${value}, 'UTC')` : value
})
const columns = Object.entries(typed).map(([name, type]) => `\`${name}\` ${name === 'renews_at' ? "DateTime('UTC')" : type}`)

/** As ClickHouse is fastest: dictionary texts, numbered persons whose merges are resolved before they are loaded, a typed column for each property. */
export const clickhouseBest: Contender = clickhouse({
  name: 'ClickHouse (best layout)',
  layout: 'LowCardinality names, integer persons resolved before loading, a typed column per property and no JSON, parts merged',
  table: `(uuid UUID, event LowCardinality(String), timestamp DateTime64(6, 'UTC'), distinct_id String, person UInt32, ${columns.join(', ')})
    ENGINE = MergeTree ORDER BY (toDate(timestamp), event, cityHash64(person))`,
  values: `uuid, event, timestamp, distinct_id, person, ${extracted.join(', ')}`,
  columns: {
    event: (name) => `'${name}'`,
    eventName: 'event',
    person: 'person',
    personLiteral: String,
    text: (name) => `\`${name}\``,
    number: (name) => `\`${name}\``,
  },
})
