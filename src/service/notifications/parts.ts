import type { AccountContext } from '../accounts/context.ts'
import type { Membership, ProjectRecord } from '../accounts/records.ts'
import type { SecretBox } from '../accounts/secrets/secret-box.ts'
import type { Outbound, Reachable } from '../plugins/ports.ts'
import type { Saved } from '../saved/open-saved.ts'

export interface NotificationParts {
  readonly context: AccountContext
  readonly box: SecretBox
  readonly saved: Saved
  /** Private projects are for some members only. */
  mayRead(project: ProjectRecord, membership: Membership): Promise<boolean>
  /** Which addresses this server may reach for its users, and requests to them. */
  readonly network: Reachable
  readonly fetch: Outbound
  report(error: unknown): void
}
