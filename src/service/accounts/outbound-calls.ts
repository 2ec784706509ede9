import { WaymarkError } from '../../errors/errors.ts'
import { createConcurrencyLimit } from '../../lib/flow/concurrency-limit.ts'

// Calls to external servers on behalf of organizations: DNS lookups, e-mail, archives of plugins and identity providers. Each kind has its own limit; calls beyond the queue are refused.

const busy = (what: string) => () => new WaymarkError('busy', { what })

export const createOutboundCalls = () => ({
  names: createConcurrencyLimit({ atOnce: 4, waiting: 256, waitingOfGroup: 64, refusal: busy('DNS lookups') }),
  mails: createConcurrencyLimit({ atOnce: 2, waiting: 1000, waitingOfGroup: 200, refusal: busy('outgoing e-mails') }),
  identities: createConcurrencyLimit({ atOnce: 8, waiting: 256, waitingOfGroup: 64, refusal: busy('logins through identity providers') }),
  archives: createConcurrencyLimit({ atOnce: 2, waiting: 64, waitingOfGroup: 8, refusal: busy('downloads of plugins') }),
})
export type OutboundCalls = ReturnType<typeof createOutboundCalls>
