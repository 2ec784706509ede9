import type { AccountContext } from '../accounts/context.ts'
import type { SecretBox } from '../accounts/secret-box.ts'
import type { Outside } from './destinations/destination.ts'
import type { ExportRows } from './ports.ts'

export interface SchedulerParts {
  readonly context: Pick<AccountContext, 'store' | 'clock' | 'newId'>
  readonly box: SecretBox
  readonly outside: Outside
  /** The rows of a project; null if it no longer exists. */
  rows(projectId: number): Promise<ExportRows | null>
  readonly stagingFolder: string
  /** Identifies this process in leases. */
  readonly owner: string
  /** No other process has this store: leases of other owners are those of processes that have ended. */
  readonly isAlone: boolean
  /** Runs at the same time. */
  readonly atOnce: number
  /** For errors outside of runs. */
  report(error: unknown): void
  /** The next run may be due. */
  onRunEnd(): void
}
