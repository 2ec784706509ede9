import type { AccountContext } from '../accounts/context.ts'
import type { SecretBox } from '../accounts/secret-box.ts'
import type { Outbound } from '../plugins/ports.ts'
import type { Saved } from '../saved/open-saved.ts'

export interface NotificationParts {
  readonly context: AccountContext
  readonly box: SecretBox
  readonly saved: Saved
  /** Requests to addresses that this server may reach for its users. */
  readonly fetch: Outbound
  report(error: unknown): void
}
