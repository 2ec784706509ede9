import { isIP } from 'node:net'
import type { AccountContext } from '../accounts/context.ts'
import type { OutboundCalls } from '../accounts/outbound-calls.ts'
import { invalid } from '../accounts/refusals.ts'
import { WaymarkError } from '../errors/errors.ts'
import { mustBeReachable } from '../lib/reachable-url.ts'
import type { Reachable } from '../plugins/ports.ts'
import { isWebhookUrl, wrongWebhook } from './fields.ts'

// Where notices go. What a delivery would refuse is refused when it is saved: the rules are the same functions.

/** Name servers that do not answer keep nobody from saving. */
const lookupMs = 3_000

/** Why this server sends no mail; null: it does. */
export const mailRefusal = ({ mailer }: Pick<AccountContext, 'mailer'>): string | null =>
  mailer() === null
    ? 'This server sends no mail: no mail server is configured. Its operator starts it with `waymark serve --smtp URL`; a webhook works without one.'
    : null

/** Lookups are made on behalf of an organization. */
export interface Asker {
  readonly outbound: Pick<OutboundCalls, 'names'>
  readonly organization: string
}

/**
 * The error of the same lookup that a connection makes; null: it found addresses, did not end in time, or too many wait. The slot of a lookup is free when the lookup
 * has ended, not when nobody waits for it: it occupies a thread all that time.
 */
const lookedUp = (host: string, { lookup }: Reachable, { outbound, organization }: Asker): Promise<Error | null> =>
  new Promise((resolve) => {
    let isOver = false
    const end = (error: Error | null) => {
      isOver = true
      clearTimeout(timer)
      resolve(error)
    }
    const timer = setTimeout(() => end(null), lookupMs)
    const turn = () =>
      new Promise<void>((done) => {
        if (isOver) return done()
        lookup(host, { all: true }, (error) => {
          end(error)
          done()
        })
      })
    outbound.names(organization, turn).catch(() => end(null))
  })

/** Why a webhook to this address would be refused; null: it would be sent. A name that is not found may be found later. */
export async function webhookRefusal(address: string, network: Reachable, by: Asker): Promise<string | null> {
  if (!isWebhookUrl(address)) return wrongWebhook
  const url = new URL(address)
  try {
    mustBeReachable(url, network)
  } catch (error) {
    return (error as Error).message
  }
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const error = isIP(host) === 0 ? await lookedUp(host, network, by) : null
  return error instanceof WaymarkError && error.code === 'private-address' ? error.detail : null
}

export async function mustTakeWebhook(address: string, network: Reachable, by: Asker, attr: string): Promise<void> {
  const refusal = await webhookRefusal(address, network, by)
  if (refusal !== null) throw invalid(refusal, attr)
}

export function mustTakeMail(context: Pick<AccountContext, 'mailer'>, attr: string): void {
  const refusal = mailRefusal(context)
  if (refusal !== null) throw invalid(refusal, attr)
}
