import type { Contender } from '../contender.ts'
import { clickhouse } from './clickhouse.ts'

/** Properties that the system has a column for; the others are read from the text. */
const materialized = ['$browser', '$os', '$current_url', '$session_id', 'country', 'plan', 'amount']
const extract = (name: string) => `replaceRegexpAll(JSONExtractRaw(properties, '${name}'), '^"|"$', '')`
const text = (name: string) => (materialized.includes(name) ? `\`mat_${name}\`` : extract(name))
const personId = (number: string) => `reinterpretAsUUID(MD5(toString(${number})))`

/** As PostHog keeps events. */
export const clickhouseReference: Contender = clickhouse({
  name: 'ClickHouse (reference layout)',
  layout:
    'String names, UUID persons resolved before loading, properties as JSON text with materialized String columns for seven of them, parts merged',
  table: `(uuid UUID, event String, properties String CODEC(ZSTD(3)), timestamp DateTime64(6, 'UTC'), team_id Int64, distinct_id String, person_id UUID,
      ${materialized.map((name) => `\`mat_${name}\` String MATERIALIZED ${extract(name)}`).join(', ')})
    ENGINE = MergeTree PARTITION BY toYYYYMM(timestamp) ORDER BY (team_id, toDate(timestamp), event, cityHash64(distinct_id), cityHash64(uuid))`,
  values: `uuid, event, properties, timestamp, 1, distinct_id, ${personId('person')}`,
  columns: {
    event: (name) => `'${name}'`,
    eventName: 'event',
    person: 'person_id',
    personLiteral: (number) => personId(String(number)),
    text,
    number: (name) => `toFloat64OrNull(${text(name)})`,
  },
})
