import type { SlotUse } from '../../../events/ingestion/ports.ts'
import { type PropertyColumn, propertyColumn } from '../../../language/dialects/clickhouse/property-columns.ts'
import type { ProjectStore } from './project-store.ts'
import { literal } from './sql.ts'

// Which properties of events have a column. Columns are added while events are stored and read, and serve all projects of the database.

/** Further properties are read from the JSON: each column costs time in every INSERT. */
const mostColumns = 250
const prefixed = "match(name, '^[snb]_[0-9a-f]{16}$')"

/** Texts of a property of which so many are different, or a larger share of those that were looked at, are kept as they are; others as numbers of a dictionary. */
const mostDifferent = 5_000
const shareDifferent = 0.3
const rowsLooked = 20_000
/** In fewer rows the values are not computed anew: reads compute them, until the server merges the parts. */
const leastRewritten = 10_000

/** Their names, and of which property each is. */
export const readPropertyColumns = ({ rows }: Pick<ProjectStore, 'rows'>) =>
  rows<[name: string, key: string]>(
    `SELECT name, comment FROM system.columns WHERE database = currentDatabase() AND table = 'events' AND ${prefixed}`,
  )

/** Adds the columns that are missing. */
export async function addPropertyColumns(store: ProjectStore, uses: readonly Pick<SlotUse, 'key' | 'kind'>[]): Promise<void> {
  if (uses.length === 0) return
  const there = new Set((await readPropertyColumns(store)).map(([name]) => name))
  const missing = uses.map(({ key, kind }) => ({ key, kind, column: propertyColumn(key, kind, literal) }))
  const added = missing.filter(({ column }) => !there.has(column.name)).slice(0, Math.max(0, mostColumns - there.size))
  if (added.length === 0) return
  const clauses: string[] = []
  for (const { key, kind, column } of added) {
    const type = kind === 'text' && (await hasFewValues(store, column)) ? `LowCardinality(${column.type})` : column.type
    clauses.push(`ADD COLUMN IF NOT EXISTS ${column.name} ${type} MATERIALIZED ${column.expression} COMMENT ${literal(key)}`)
  }
  await store.run(`ALTER TABLE events ${clauses.join(', ')}`)
  const [[stored] = [0]] = await store.rows<[number]>(`SELECT count() FROM events WHERE project_id = ${store.project}`)
  if (stored < leastRewritten) return
  const rewritten = added.map(({ column }) => `MATERIALIZE COLUMN ${column.name}`)
  await store.run(`ALTER TABLE events ${rewritten.join(', ')}`, '', undefined, { mutations_sync: '0' })
}

async function hasFewValues({ rows, project }: ProjectStore, { expression }: PropertyColumn): Promise<boolean> {
  const [[different, all] = [0, 0]] = await rows<[number, number]>(
    `SELECT uniq(value), count(value) FROM (SELECT ${expression} AS value FROM events WHERE project_id = ${project} LIMIT ${rowsLooked})`,
  )
  return different <= mostDifferent && different <= all * shareDifferent
}
