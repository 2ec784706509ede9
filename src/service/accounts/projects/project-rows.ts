import { type AccountTables, accountShapes } from '../records.ts'

const tablesOfProjects = Object.entries(accountShapes)
  .filter(([, shape]) => 'project_id' in shape)
  .map(([table]) => table as keyof AccountTables)

/** Removes everything that belongs to projects, but not the projects. */
export async function removeProjectRows(tables: AccountTables, projectIds: readonly number[]): Promise<void> {
  for (const table of tablesOfProjects) await tables[table].remove({ project_id: projectIds } as never)
}
