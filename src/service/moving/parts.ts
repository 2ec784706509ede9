import type { Compared } from '../../engine/storage/moving/compare.ts'
import type { CopyProgress } from '../../engine/storage/moving/copy-project.ts'
import type { MoveSource } from '../../engine/storage/moving/source.ts'
import type { EngineChoice } from '../../engine/storage/open-stores.ts'
import { WaymarkError } from '../../errors/errors.ts'
import { keyIdOf, keysOfSecrets } from './copy-accounts.ts'

export interface MoveProgress {
  /** `waiting`: for servers to be stopped, whose number is in `rows`. */
  readonly phase: 'copying' | 'following' | 'comparing' | 'waiting'
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

/** Refuses what servers of a cluster would do otherwise, or not at all. */
export async function mustBeMovable({ instance, dataDir }: MoveSource, secretKeys: readonly string[]): Promise<void> {
  const enabled = await instance.rows<{ name: string }>(
    `SELECT DISTINCT coalesce(name, 'plugin ' || plugin_id) AS name FROM control.main.plugin_configs WHERE enabled AND NOT is_deleted`,
  )
  if (enabled.length > 0) {
    const names = enabled.map(({ name }) => name).join(', ')
    throw failed(`Plugins do not run in a cluster, and these are enabled: ${names}. Disable them first.`)
  }
  const known = new Set(secretKeys.map(keyIdOf))
  const missing = [...(await keysOfSecrets(instance))].filter((id) => !known.has(id))
  if (missing.length > 0)
    throw failed(
      `Secrets (of exports, alerts, second factors) are sealed with the key ${missing.join(', ')}, which WAYMARK_SECRET_KEY does not have. ` +
        `Give this command and all servers WAYMARK_SECRET_KEY="$(paste -sd, ${dataDir}/secret.key)", or a new key, a comma, and that one.`,
    )
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
