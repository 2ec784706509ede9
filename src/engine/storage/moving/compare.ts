import type { ProjectStore } from '../clickhouse/project-store.ts'
import { type Instance, identifier } from '../duckdb/instance.ts'

// The same questions to both stores: counts and sums per day and name, and of the other tables. Numbers of persons may differ between them, uuids may not.

export interface Difference {
  readonly what: string
  readonly here: string
  readonly there: string
}

export interface Compared {
  readonly events: number
  readonly persons: number
  /** Days with a name. */
  readonly groups: number
  readonly differences: readonly Difference[]
}

interface Question {
  readonly what: string
  readonly duckdb: (at: string) => string
  readonly clickhouse: (project: number) => string
}

/** The first four bytes of a uuid as a number. */
const duckUuid = (column: string) => `('0x' || substring(${column}::VARCHAR, 1, 8))::UBIGINT`
const houseUuid = (column: string) => `reinterpretAsUInt32(reverse(unhex(substring(toString(${column}), 1, 8))))`
/** ClickHouse has times of these years only. */
const duckTime = (column: string) => `greatest(least(${column}, TIMESTAMP '2299-12-31 23:59:59'), TIMESTAMP '1900-01-01')`
const duckMicros = (column: string) => `epoch_us(${duckTime(column)})`
const houseMicros = (column: string) => `toUnixTimestamp64Micro(${column})`
/** Sums of large numbers, by their rests. */
const rest = (value: string) => `sum(${value} % 1000003)`

const survivor = (at: string, no: string) =>
  `LEFT JOIN ${at}.person_merges AS m ON m.merged = ${no} LEFT JOIN ${at}.persons AS p ON p.person_no = coalesce(m.survivor, ${no})`
const ofProject = (table: string, project: number) => `(SELECT * FROM ${table} WHERE project_id = ${project})`
const houseSurvivor = (project: number, no: string) =>
  `LEFT JOIN ${ofProject('person_merges', project)} AS m ON m.merged = ${no} LEFT JOIN ${ofProject('persons', project)} AS p ON p.person_no = coalesce(m.survivor, ${no})`

const events: Question = {
  what: 'events',
  duckdb: (
    at,
  ) => `SELECT strftime(${duckTime('e.timestamp')}, '%Y-%m-%d') AS day, n.name, count(*), sum(strlen(e.properties)), sum(strlen(e.distinct_id)), sum(e.log_seq),
    ${rest(duckMicros('e.timestamp'))}, ${rest(duckMicros('e.created_at'))}, sum(${duckUuid('e.uuid')}), coalesce(sum(${duckUuid('p.uuid')}), 0)
    FROM ${at}.events AS e JOIN ${at}.event_names AS n USING (event_id) ${survivor(at, 'e.person_no')} GROUP BY ALL`,
  clickhouse: (
    project,
  ) => `SELECT formatDateTime(e.timestamp, '%Y-%m-%d') AS day, e.event, count(), sum(length(e.properties)), sum(length(e.distinct_id)), sum(e.log_seq),
    ${rest(houseMicros('e.timestamp'))}, ${rest(houseMicros('e.created_at'))}, sum(${houseUuid('e.uuid')}), sum(${houseUuid('p.uuid')})
    FROM ${ofProject('events', project)} AS e ${houseSurvivor(project, 'e.person_no')} GROUP BY 1, 2`,
}

const others: readonly Question[] = [
  {
    what: 'persons',
    duckdb: (
      at,
    ) => `SELECT has_record, is_identified, count(*), sum(strlen(properties)), ${rest(duckMicros('created_at'))}, sum(${duckUuid('uuid')})
      FROM ${at}.persons ANTI JOIN ${at}.person_merges AS m ON m.merged = person_no GROUP BY ALL`,
    clickhouse: (
      project,
    ) => `SELECT has_record, is_identified, count(), sum(length(properties)), ${rest(houseMicros('created_at'))}, sum(${houseUuid('uuid')})
      FROM persons WHERE project_id = ${project} GROUP BY 1, 2`,
  },
  {
    what: 'distinct ids',
    duckdb: (at) =>
      `SELECT count(*), coalesce(sum(strlen(d.distinct_id)), 0), coalesce(sum(${duckUuid('p.uuid')}), 0) FROM ${at}.distinct_ids AS d ${survivor(at, 'd.person_no')}`,
    clickhouse: (project) =>
      `SELECT count(), sum(length(d.distinct_id)), sum(${houseUuid('p.uuid')}) FROM ${ofProject('distinct_ids', project)} AS d ${houseSurvivor(project, 'd.person_no')}`,
  },
  {
    what: 'versions of persons',
    duckdb: (at) => `SELECT count(*), coalesce(sum(strlen(properties)), 0), coalesce(sum(log_seq), 0) FROM ${at}.person_versions`,
    clickhouse: (project) => `SELECT count(), sum(length(properties)), sum(log_seq) FROM person_versions WHERE project_id = ${project}`,
  },
  {
    what: 'merges',
    duckdb: (at) => `SELECT count(*), coalesce(sum(seq), 0), coalesce(sum(${duckUuid('survivor_uuid')}), 0) FROM ${at}.merge_journal`,
    clickhouse: (project) =>
      `SELECT count(), sum(seq), sum(${houseUuid('survivor_uuid')}) FROM merge_journal WHERE project_id = ${project}`,
  },
  {
    what: 'groups',
    duckdb: (at) => `SELECT group_type_index, count(*), sum(strlen(group_key)), sum(strlen(properties)) FROM ${at}.groups GROUP BY ALL`,
    clickhouse: (project) =>
      `SELECT group_type_index, count(), sum(length(group_key)), sum(length(properties)) FROM groups WHERE project_id = ${project} GROUP BY 1`,
  },
  {
    what: 'event names',
    duckdb: (at) => `SELECT name, count FROM ${at}.event_names`,
    clickhouse: (project) => `SELECT name, count FROM event_names WHERE project_id = ${project}`,
  },
  {
    what: 'properties',
    duckdb: (at) => `SELECT scope, name, coalesce(property_type, '') FROM ${at}.property_keys`,
    clickhouse: (project) => `SELECT scope, name, ifNull(property_type, '') FROM property_keys WHERE project_id = ${project}`,
  },
  {
    what: 'removed events',
    duckdb: (at) => `SELECT count(*), coalesce(sum(${duckUuid('uuid')}), 0) FROM ${at}.removed_events`,
    clickhouse: (project) => `SELECT count(), sum(${houseUuid('uuid')}) FROM removed_events WHERE project_id = ${project}`,
  },
  {
    what: 'cohorts',
    duckdb: (at) =>
      `SELECT c.cohort_id, count(DISTINCT p.uuid), coalesce(sum(DISTINCT ${duckUuid('p.uuid')}), 0) FROM ${at}.cohort_members AS c ${survivor(at, 'c.person_no')} GROUP BY 1`,
    clickhouse: (project) =>
      `SELECT c.cohort_id, uniqExact(p.uuid), sumDistinct(${houseUuid('p.uuid')}) FROM ${ofProject('cohort_members', project)} AS c ${houseSurvivor(project, 'c.person_no')} GROUP BY 1`,
  },
  {
    what: 'definitions',
    duckdb: (at) =>
      `SELECT 'action', id, strlen(definition) FROM ${at}.actions UNION ALL SELECT 'cohort', id, strlen(definition) FROM ${at}.cohorts`,
    clickhouse: (project) => `SELECT 'action', id, length(definition) FROM actions WHERE project_id = ${project}
      UNION ALL SELECT 'cohort', id, length(definition) FROM cohorts WHERE project_id = ${project}`,
  },
]

/** Sums are larger than the numbers of JSON. */
const inText = (query: string) => `SELECT * APPLY(x -> ifNull(toString(x), '0')) FROM (${query})`

const mostDifferences = 10
const textOf = (row: readonly unknown[]) => row.map((value) => String(value)).join(' · ')

const onlyIn = (rows: readonly string[], others: ReadonlySet<string>) => rows.filter((row) => !others.has(row)).sort()

async function asked(question: Question, instance: Instance, at: string, store: ProjectStore) {
  const { connection, close } = await instance.beside()
  try {
    const here = ((await connection.runAndReadAll(question.duckdb(at))).getRowsJS() as unknown[][]).map(textOf)
    const there = (await store.rows<unknown[]>(inText(question.clickhouse(store.project)))).map(textOf)
    const [missing, added] = [onlyIn(here, new Set(there)), onlyIn(there, new Set(here))]
    const count = Math.max(missing.length, added.length)
    const differences = Array.from({ length: Math.min(count, mostDifferences) }, (_, i): Difference => {
      return { what: question.what, here: missing[i] ?? 'nothing', there: added[i] ?? 'nothing' }
    })
    return { differences, rows: here.length }
  } finally {
    await close()
  }
}

/** Both must be at the same position of the log. */
export async function compareStores(instance: Instance, database: string, store: ProjectStore): Promise<Compared> {
  const at = `${identifier(database)}.main`
  const ofEvents = await asked(events, instance, at, store)
  const differences = [...ofEvents.differences]
  for (const question of others) differences.push(...(await asked(question, instance, at, store)).differences)
  const [[uuids, all] = [0, 0]] = await store.rows<[number, number]>(
    `SELECT uniqExact(uuid), count() FROM events WHERE project_id = ${store.project}`,
  )
  if (uuids !== all) differences.push({ what: 'uuids', here: 'each once', there: `${all} events with ${uuids} uuids` })
  const [counted] = await instance.rows<{ persons: number }>(
    `SELECT count(*)::DOUBLE AS persons FROM ${at}.persons ANTI JOIN ${at}.person_merges AS m ON m.merged = person_no WHERE has_record`,
  )
  return { events: all, persons: counted?.persons ?? 0, groups: ofEvents.rows, differences }
}
