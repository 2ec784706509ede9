import type { Compared } from '../../engine/storage/moving/compare.ts'
import type { CopyProgress } from '../../engine/storage/moving/copy-project.ts'
import type { MoveSource } from '../../engine/storage/moving/source.ts'
import type { EngineChoice } from '../../engine/storage/open-stores.ts'
import { WaymarkError } from '../../errors/errors.ts'
import { keyIdOf, keysOfSecrets } from './copy-accounts.ts'

export interface MoveProgress {
  /** `leaving`: the server closes the directory. `waiting`: for servers to be stopped, whose number is in `rows`. */
  readonly phase: 'copying' | 'following' | 'comparing' | 'leaving' | 'waiting'
  readonly project: number
  readonly table?: string
  readonly rows?: number
  readonly ofRows?: number
}

export interface MovedProjectSummary {
  readonly id: number
  readonly name: string
  /** The last record of its log. */
  readonly position: number
  readonly events: number
  readonly persons: number
  /** All of it was copied once more while nobody took events, because the two sides differed. */
  readonly copied_again: boolean
}

/** A server of the cluster, for a moment. */
export interface ApplyingServer {
  /** Resolves when everything in the log of the project is applied. */
  reach(project: number): Promise<void>
  close(): Promise<void>
}

export interface MoveParts {
  /** Absolute. */
  readonly dataDir: string
  readonly engine: EngineChoice
  readonly memoryLimit: string | undefined
  /** Of the servers, the newest first. */
  readonly secretKeys: readonly string[]
  /** Opens the directory, applies all records of its logs, and closes it. */
  settle(dataDir: string): Promise<void>
  /** Opens the databases as one of the servers, which applies what their logs have. */
  openCluster(): Promise<ApplyingServer>
  readonly signal: AbortSignal
  onProgress(progress: MoveProgress): void
}

/** What a copy of a project is told. */
export const copying = (project: number, { signal, onProgress }: MoveParts) => ({
  project,
  signal,
  onProgress: (at: CopyProgress) => onProgress({ phase: 'copying', project, ...at }),
})

export const failed = (message: string) => new WaymarkError('command-failed', { message })

/** Refuses what servers of a cluster could not open. */
export async function mustBeMovable({ instance, dataDir }: MoveSource, secretKeys: readonly string[]): Promise<void> {
  const known = new Set(secretKeys.map(keyIdOf))
  const missing = [...(await keysOfSecrets(instance))].filter((id) => !known.has(id))
  if (missing.length > 0)
    throw failed(
      `Secrets (of exports, alerts, second factors) are sealed with the key ${missing.join(', ')}, which WAYMARK_SECRET_KEY does not have. ` +
        `Give this command and all servers WAYMARK_SECRET_KEY="$(paste -sd, ${dataDir}/secret.key)", or a new key, a comma, and that one.`,
    )
}

/** Projects whose events pass plugins before they are stored. The log has them as they were sent, and must not pass the plugins again. */
export async function projectsWithTransformations({ instance }: MoveSource): Promise<ReadonlySet<number>> {
  const mayTransform = (table: string) => `(${table}.capabilities NOT LIKE '%"methods"%' OR ${table}.capabilities LIKE '%"processEvent"%')`
  const found = await instance.rows<{ id: number }>(
    `SELECT DISTINCT c.project_id AS id FROM control.main.plugin_configs AS c JOIN control.main.plugins AS p ON p.id = c.plugin_id
     WHERE c.enabled AND NOT c.is_deleted AND (${mayTransform('p')}
       OR EXISTS (FROM control.main.plugin_versions AS v WHERE v.plugin_id = p.id AND ${mayTransform('v')}))`,
  )
  return new Set(found.map(({ id }) => id))
}

export const projectsOf = ({ instance }: MoveSource) =>
  instance.rows<{ id: number; name: string }>('SELECT id, name FROM control.main.projects ORDER BY id')

/** Of a project: the directory here, the cluster there. */
export function mustBeEqual(id: number, { differences }: Compared): void {
  const [first] = differences
  if (!first) return
  throw failed(
    `Project ${id} is not the same on both sides, so nothing was switched. ${differences.length} differences, the first in ${first.what}: ` +
      `the directory has ${first.here}, the cluster ${first.there}.`,
  )
}
