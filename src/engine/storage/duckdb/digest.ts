import type { StoreDigest } from '../../execution/ports.ts'
import { type Instance, identifier } from './instance.ts'

// What a store says, in a few hashes: the rows of its tables, and the answers to twenty questions about them. Two stores with the same records say the same, whatever
// numbers their persons and names have, and whenever the records were applied.

const questions = (at: string): Readonly<Record<string, string>> => {
  const events = `(SELECT e.*, n.name AS event, coalesce(m.survivor, e.person_no) AS person FROM ${at}.events AS e
    JOIN ${at}.event_names AS n USING (event_id) LEFT JOIN ${at}.person_merges AS m ON m.merged = e.person_no)`
  const property = (name: string) => `json_extract_string(properties, '$."${name}"')`
  const persons = `(SELECT * FROM ${at}.persons WHERE has_record)`
  return {
    'events by name': `SELECT event, count(*) FROM ${events} GROUP BY 1`,
    'events by day': `SELECT timestamp::DATE, count(*) FROM ${events} GROUP BY 1`,
    'events by hour of the day': `SELECT hour(timestamp), count(*) FROM ${events} GROUP BY 1`,
    'events by weekday and name': `SELECT dayofweek(timestamp), event, count(*) FROM ${events} GROUP BY ALL`,
    'people by name of the event': `SELECT event, count(DISTINCT person) FROM ${events} GROUP BY 1`,
    'people by day': `SELECT timestamp::DATE, count(DISTINCT person) FROM ${events} GROUP BY 1`,
    'people by month and name': `SELECT date_trunc('month', timestamp), event, count(DISTINCT person) FROM ${events} GROUP BY ALL`,
    'people by number of events': `SELECT n, count(*) FROM (SELECT count(*) AS n FROM ${events} GROUP BY person) GROUP BY 1`,
    'people by day of the first event': `SELECT day, count(*) FROM (SELECT min(timestamp)::DATE AS day FROM ${events} GROUP BY person) GROUP BY 1`,
    'people by day of the last event': `SELECT day, count(*) FROM (SELECT max(timestamp)::DATE AS day FROM ${events} GROUP BY person) GROUP BY 1`,
    'distinct ids by name': `SELECT event, count(DISTINCT distinct_id) FROM ${events} GROUP BY 1`,
    'sessions by day': `SELECT timestamp::DATE, count(DISTINCT session_id) FROM ${events} GROUP BY 1`,
    'first groups by name': `SELECT event, count(DISTINCT group_0) FROM ${events} GROUP BY 1`,
    'arrivals by day': `SELECT created_at::DATE, count(*) FROM ${events} GROUP BY 1`,
    'events by browser': `SELECT ${property('$browser')}, count(*) FROM ${events} GROUP BY 1`,
    'events by URL': `SELECT ${property('$current_url')}, count(*) FROM ${events} GROUP BY 1`,
    'characters of properties by name': `SELECT event, sum(strlen(properties)) FROM ${events} GROUP BY 1`,
    'persons by kind': `SELECT is_identified, count(*), sum(strlen(properties)) FROM ${persons} GROUP BY 1`,
    'persons by day': `SELECT created_at::DATE, count(*) FROM ${persons} GROUP BY 1`,
    'properties by scope': `SELECT scope, name, property_type FROM ${at}.property_keys`,
  }
}

/** The columns of each table that do not depend on when or in which order its rows were written. */
const tables = (at: string): Readonly<Record<string, string>> => {
  const survivor = (no: string) =>
    `LEFT JOIN ${at}.person_merges AS m ON m.merged = ${no} JOIN ${at}.persons AS p ON p.person_no = coalesce(m.survivor, ${no})`
  return {
    events: `SELECT e.uuid, n.name, e.timestamp, e.distinct_id, e.session_id, e.window_id, e.group_0, e.group_1, e.group_2, e.group_3, e.group_4, e.created_at,
      e.log_seq, e.person_mode, e.elements_chain, e.properties, p.uuid AS person
      FROM ${at}.events AS e JOIN ${at}.event_names AS n USING (event_id) ${survivor('e.person_no')}`,
    persons: `SELECT uuid, has_record, created_at, is_identified, properties FROM ${at}.persons
      WHERE NOT EXISTS (FROM ${at}.person_merges AS m WHERE m.merged = persons.person_no)`,
    distinct_ids: `SELECT d.distinct_id, p.uuid FROM ${at}.distinct_ids AS d ${survivor('d.person_no')}`,
    groups: `SELECT group_type_index, group_key, created_at, properties FROM ${at}.groups`,
    group_types: `SELECT group_type_index, group_type FROM ${at}.group_types`,
    actions: `SELECT id, definition FROM ${at}.actions`,
    cohorts: `SELECT id FROM ${at}.cohorts`,
  }
}

interface Row {
  readonly name: string
  readonly count: number
  readonly hash: string
}

/** Reads everything in one transaction. */
export async function digestOf(instance: Instance, database: string): Promise<StoreDigest> {
  const at = `${identifier(database)}.main`
  const { connection, close } = await instance.beside()
  try {
    await connection.run('BEGIN TRANSACTION READ ONLY')
    const rows = async (sql: string) => (await connection.runAndReadAll(sql)).getRowsJS()
    const [[seq]] = (await rows(`SELECT value FROM ${at}.meta WHERE key = 'applied_seq'`)) as [[string]]
    const found: Row[] = []
    for (const [name, sql] of [...Object.entries(tables(at)), ...Object.entries(questions(at))]) {
      const [[count, hash]] = (await rows(`SELECT count(*)::DOUBLE, coalesce(sum(hash(t)::HUGEINT), 0)::VARCHAR FROM (${sql}) AS t`)) as [
        [number, string],
      ]
      found.push({ name, count, hash })
    }
    await connection.run('COMMIT')
    return { seq: Number(seq), rows: found }
  } finally {
    await close()
  }
}
