import type { AccountContext } from '../accounts/context.ts'
import type { Membership, ProjectRecord } from '../accounts/records.ts'
import type { SecretBox } from '../accounts/secret-box.ts'
import type { Outbound } from '../plugins/ports.ts'
import type { Saved } from '../saved/open-saved.ts'

export interface NotificationParts {
  readonly context: AccountContext
  readonly box: SecretBox
  readonly saved: Saved
  /** Private projects are for some members only. */
  mayRead(project: ProjectRecord, membership: Membership): Promise<boolean>
  /** Requests to addresses that this server may reach for its users. */
  readonly fetch: Outbound
  report(error: unknown): void
}
