import { type ProjectStore, rowVersion } from '../clickhouse/project-store.ts'
import { literals } from '../clickhouse/sql.ts'
import { type Instance, identifier } from '../duckdb/instance.ts'
import { openPartitions } from '../postgres/partitions.ts'
import type { MoveTarget } from './target.ts'

// What a store has that is in no log: definitions of actions and cohorts, and the members of cohorts. Numbers of persons may differ between the stores.

const uuidsOfStatement = 5_000
const insertOf = (table: string, columns: string) =>
  `INSERT INTO ${table} (project_id, ${columns}, row_version, row_deleted) FORMAT JSONCompactEachRow`

export async function syncDefinitions(instance: Instance, database: string, target: MoveTarget, project: number): Promise<void> {
  const at = `${identifier(database)}.main`
  const store = target.store(project)
  const version = rowVersion(await openPartitions(target.postgres).nextChange(project), 'put')
  const replace = async (table: string, columns: string, rows: readonly (readonly unknown[])[]) => {
    await store.run(`DELETE FROM ${table} WHERE project_id = ${project}`)
    const lines = rows.map((row) => JSON.stringify([project, ...row, version, 0]))
    if (lines.length > 0) await store.run(insertOf(table, columns), lines.join('\n'))
  }
  for (const table of ['actions', 'cohorts'] as const) {
    const rows = await instance.rows<{ id: number; definition: string }>(`SELECT id, definition FROM ${at}.${table}`)
    await replace(
      table,
      'id, definition',
      rows.map(({ id, definition }) => [id, definition]),
    )
  }
  const members = await instance.rows<{ cohort: number; uuid: string }>(
    `SELECT DISTINCT c.cohort_id AS cohort, p.uuid::VARCHAR AS uuid FROM ${at}.cohort_members AS c
     LEFT JOIN ${at}.person_merges AS m ON m.merged = c.person_no JOIN ${at}.persons AS p ON p.person_no = coalesce(m.survivor, c.person_no)`,
  )
  const numbers = await numbersOf(store, [...new Set(members.map(({ uuid }) => uuid))])
  const rows = members.flatMap(({ cohort, uuid }) => (numbers.has(uuid) ? [[cohort, numbers.get(uuid)!]] : []))
  await replace('cohort_members', 'cohort_id, person_no', rows)
}

async function numbersOf(store: ProjectStore, uuids: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const found = new Map<string, number>()
  for (let from = 0; from < uuids.length; from += uuidsOfStatement) {
    const some = literals(uuids.slice(from, from + uuidsOfStatement))
    const rows = await store.rows<[string, number]>(
      `SELECT toString(uuid), person_no FROM persons WHERE project_id = ${store.project} AND uuid IN (${some})`,
    )
    for (const [uuid, no] of rows) found.set(uuid, no)
  }
  return found
}
