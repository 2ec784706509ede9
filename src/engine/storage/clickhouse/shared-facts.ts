import { type KeptFrom, readKeptFrom } from '../../../language/catalog/removals.ts'
import type { ProjectStore } from './project-store.ts'

// Facts that the process which applies events has in memory, for the others.

export interface StoredWarning {
  readonly type: string
  readonly count: number
  readonly samples: string
  readonly lastSeen: number
}

export async function readWarnings({ rows, project }: ProjectStore): Promise<readonly StoredWarning[]> {
  const found = await rows<[string, number, string, number]>(
    `SELECT kind, count, samples, toUnixTimestamp64Micro(last_seen) FROM warnings WHERE project_id = ${project}`,
  )
  return found.map(([type, count, samples, lastSeen]) => ({ type, count, samples, lastSeen }))
}

export async function readKeptFromOf({ rows, project }: ProjectStore): Promise<KeptFrom> {
  const [row] = await rows<[string]>(`SELECT value FROM meta WHERE project_id = ${project} AND key = 'kept_from'`)
  return readKeptFrom(row?.[0])
}
