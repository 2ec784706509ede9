import { mustBeReachable } from '../../lib/web/reachable-url.ts'
import type { AccountContext } from '../accounts/context.ts'
import { invalid } from '../accounts/refusals.ts'
import type { Reachable } from '../plugins/ports.ts'
import { isWebhookUrl, wrongWebhook } from './fields.ts'

// Where notices go. What a delivery would refuse is refused when it is saved: the rules are the same functions.

/** Why this server sends no mail; null: it does. */
export const mailRefusal = ({ mailer }: Pick<AccountContext, 'mailer'>): string | null =>
  mailer() === null
    ? 'This server sends no mail: no mail server is configured. Its operator starts it with `waymark serve --smtp URL`; a webhook works without one.'
    : null

/**
 * Why a webhook to this address would be refused; null: as far as is known it would be sent. No name is looked up: who may save a webhook would learn which names
 * the network of this server has. A delivery, and a test, look it up.
 */
export function webhookRefusal(address: string, network: Pick<Reachable, 'mustBeAllowed'>): string | null {
  if (!isWebhookUrl(address)) return wrongWebhook
  try {
    mustBeReachable(new URL(address), network)
    return null
  } catch (error) {
    return (error as Error).message
  }
}

export function mustTakeWebhook(address: string, network: Pick<Reachable, 'mustBeAllowed'>, attr: string): void {
  const refusal = webhookRefusal(address, network)
  if (refusal !== null) throw invalid(refusal, attr)
}

export function mustTakeMail(context: Pick<AccountContext, 'mailer'>, attr: string): void {
  const refusal = mailRefusal(context)
  if (refusal !== null) throw invalid(refusal, attr)
}
