import type { AccountContext } from '../accounts/context.ts'
import type { SecretBox } from '../accounts/secrets/secret-box.ts'
import type { Outside } from './destinations/destination.ts'
import type { ExportRows } from './ports.ts'

// The rules of batch exports, for requests. The scheduler executes what is written here.

export interface ExportServices {
  readonly context: AccountContext
  readonly box: SecretBox
  readonly network: Pick<Outside, 'mustBeAllowed'>
  rows(projectId: number): Promise<ExportRows>
  /** Something may be due. */
  wake(): void
  /** Stops executing these runs. */
  stop(runIds: readonly string[]): void
}
