// Visitors without cookies, as docs/cookieless.md describes them: events in their order of arrival, without a store.

export interface Visit {
  /** The address and the browser. */
  readonly from: number
  readonly what: 'seen' | 'identify' | 'identified'
  /** The customer, unless the visitor is only seen. */
  readonly customer: string
  /** Minutes since the start of the first day. */
  readonly minute: number
}

export interface Expected {
  /** A name for its distinct id; a customer's own. */
  readonly id: string
  readonly session: string
}

const dayMinutes = 1_440
const pauseMinutes = 30

/** Ids and sessions of events, and which ids are one person. */
export function expectedVisits(visits: readonly Visit[]): { readonly events: readonly Expected[]; personOf(id: string): string } {
  const identifications = new Map<string, number>()
  const sessions = new Map<string, { name: string; first: number; last: number }>()
  const owners = new Map<string, string>()
  const sessionOf = (who: string, minute: number): string => {
    const open = sessions.get(who)
    if (open && minute <= open.last + pauseMinutes && minute >= open.first - pauseMinutes) {
      open.first = Math.min(open.first, minute)
      open.last = Math.max(open.last, minute)
      return open.name
    }
    const fresh = { name: `${who} from ${minute}`, first: minute, last: minute }
    if (!open || minute > open.last) sessions.set(who, fresh)
    return fresh.name
  }
  const events = visits.map(({ from, what, customer, minute }): Expected => {
    const place = `${from} on ${Math.floor(minute / dayMinutes)}`
    const number = identifications.get(place) ?? 0
    const anonymous = `${place} #${number}`
    if (what === 'seen') return { id: anonymous, session: sessionOf(anonymous, minute) }
    const known = `${place} as ${customer}`
    if (what === 'identified') return { id: customer, session: sessionOf(known, minute) }
    const session = sessionOf(anonymous, minute)
    const open = sessions.get(anonymous)
    if (open) sessions.set(known, { ...open })
    owners.set(anonymous, customer)
    identifications.set(place, number + 1)
    return { id: customer, session }
  })
  return { events, personOf: (id) => owners.get(id) ?? id }
}
