import { WaymarkError } from '../../errors/errors.ts'
import type { FileFormat } from '../format.ts'
import type { Sql } from '../sql.ts'

export interface ProjectRecord {
  readonly id: number
  /** The fields that were given, by their names in the API. */
  readonly settings: Readonly<Record<string, unknown>>
}

export interface ProjectRecords {
  create(settings: Readonly<Record<string, unknown>>): Promise<ProjectRecord>
  byId(id: number): Promise<ProjectRecord | null>
}

export const projectsFile: FileFormat = {
  version: 1,
  create: (database) => [
    `CREATE TABLE "${database}".main.meta (key VARCHAR NOT NULL, value VARCHAR NOT NULL)`,
    `CREATE TABLE "${database}".main.projects (id INTEGER NOT NULL, settings VARCHAR NOT NULL, created_at TIMESTAMP NOT NULL)`,
    `INSERT INTO "${database}".main.meta VALUES ('format', '1')`,
  ],
  migrations: [],
}

export const projectRecords = (sql: Sql, clock: () => Date): ProjectRecords => ({
  create: (settings) =>
    sql.transaction(async (inside) => {
      const [last] = await inside.rows<{ id: number | null }>('SELECT max(id) AS id FROM control.main.projects')
      const id = (last?.id ?? 0) + 1
      const at = clock().toISOString().slice(0, -1)
      await inside.run('INSERT INTO control.main.projects VALUES ($1, $2, CAST($3 AS TIMESTAMP))', [id, JSON.stringify(settings), at])
      return { id, settings }
    }),
  async byId(id) {
    if (!Number.isInteger(id)) throw new WaymarkError('not-found', { what: 'project', id: String(id) })
    const [row] = await sql.rows<{ settings: string }>('SELECT settings FROM control.main.projects WHERE id = $1', [id])
    return row ? { id, settings: JSON.parse(row.settings) as Record<string, unknown> } : null
  },
})
