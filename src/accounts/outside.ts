import { WaymarkError } from '../errors/errors.ts'
import { createGate } from '../lib/gate.ts'

// What organizations have servers of others asked or told: names, and mail. Each waits for itself, and what is too much is left out.

const busy = (what: string) => () => new WaymarkError('busy', { what })

export const createOutside = () => ({
  names: createGate({ atOnce: 4, waiting: 256, waitingOfGroup: 64, refusal: busy('DNS lookups') }),
  mails: createGate({ atOnce: 2, waiting: 1000, waitingOfGroup: 200, refusal: busy('outgoing e-mails') }),
})
export type Outside = ReturnType<typeof createOutside>
