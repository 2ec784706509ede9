import type { AccountContext } from '../../accounts/context.ts'
import type { SecretBox } from '../../accounts/secrets/secret-box.ts'
import type { RunnerParts } from '../../jobs/runner.ts'
import type { Outside } from '../destinations/destination.ts'
import type { ExportRows } from '../ports.ts'

export interface SchedulerParts extends RunnerParts {
  readonly context: Pick<AccountContext, 'store' | 'clock' | 'newId'>
  readonly box: SecretBox
  readonly outside: Outside
  /** The rows of a project; null if it no longer exists. */
  rows(projectId: number): Promise<ExportRows | null>
  readonly stagingFolder: string
  /** Runs at the same time. */
  readonly atOnce: number
}
