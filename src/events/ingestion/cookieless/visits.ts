import { BoundedCache } from '../../../lib/memory/bounded-cache.ts'
import type { PreparedEvent } from '../decoding/prepare.ts'
import { propertyName } from '../decoding/shape.ts'
import type { EventWriter, StagedGroup } from '../ports.ts'
import { valueTypeOf } from '../properties/property-types.ts'
import { type Session, sessionAt, sessionId } from './session.ts'
import { digest, type Visitor, visitorId } from './visitor.ts'

// What visitors without cookies have done today: how often they were identified, and when their session last had an event. It is kept in the store,
// changes with the events of the log in their order, and is removed when no more events of the day can come.

/** Of a project. Visitors beyond it have one session a day, and stay anonymous. */
export const visitsLimit = 1_000_000
const visitsKept = 50_000
const dayMicros = 86_400_000_000
/** Events of a day that is further back, in UTC, cannot come: see `salts.ts`. */
const daysKept = 3

interface Visit {
  readonly key: string
  readonly day: number
  /** How often it was identified. */
  number: number
  session: Session | null
}

/** An event with the ids that its visitor has at that moment. */
export interface Visited {
  readonly event: PreparedEvent
  readonly bytes: Uint8Array
  /** The state of the visitor cannot be kept. */
  readonly isBeyondLimit: boolean
}

export type Visiting = PreparedEvent & { readonly visitor: Visitor }

export const isVisiting = (event: PreparedEvent): event is Visiting => event.visitor !== null

const isAnonymous = ({ visitor, distinctId }: Visiting): boolean => distinctId === visitorId(visitor.hash, 0)

/** Who is identified has a session apart from those who are not. */
const identifiedKey = ({ visitor, distinctId }: Visiting): string => `${visitor.hash}.${digest(`${visitor.hash} ${distinctId}`)}`
const keysOf = (event: Visiting): string[] => (isAnonymous(event) ? [event.visitor.hash] : [event.visitor.hash, identifiedKey(event)])

const stateText = ({ number, session }: Visit): string =>
  JSON.stringify(session ? [number, session.id, session.from, session.last] : [number])
const readState = (text: string): Pick<Visit, 'number' | 'session'> => {
  const [number, id, from, last] = JSON.parse(text) as [number, string?, number?, number?]
  return { number, session: id === undefined ? null : { id, from: from!, last: last! } }
}

export class Visits {
  private readonly store: Pick<EventWriter, 'visits'>
  private readonly limit: number
  private readonly visits = new BoundedCache<string, Visit>(visitsKept)
  private readonly changed = new Set<Visit>()
  private readonly fresh = new Set<Visit>()
  /** Stored ones by day. */
  private readonly counts: Map<number, number>
  private total = 0
  /** Earlier days are removed with the next group. */
  private removedBefore: number | null = null

  constructor(store: Pick<EventWriter, 'visits'>, counts: readonly (readonly [day: number, count: number])[], limit = visitsLimit) {
    this.store = store
    this.limit = limit
    this.counts = new Map(counts)
    for (const [, count] of counts) this.total += count
  }

  async load(events: readonly Visiting[]): Promise<void> {
    const missing = new Set<string>()
    for (const event of events) for (const key of keysOf(event)) if (!this.visits.get(key)) missing.add(key)
    if (missing.size === 0) return
    for (const { key, day, state } of await this.store.visits([...missing])) this.visits.set(key, { key, day, ...readState(state) })
  }

  /** Each event with all ids that it may get: `apply` follows with these events, in this order. */
  *ahead(events: readonly Visiting[]): Generator<readonly [of: PreparedEvent, guess: PreparedEvent]> {
    const numbers = new Map<string, number>()
    for (const event of events) {
      const { hash, isIdentifying } = event.visitor
      const number = numbers.get(hash) ?? this.visits.get(hash)?.number ?? 0
      if (isIdentifying) numbers.set(hash, number + 1)
      for (const one of number === 0 ? [0] : [number, 0]) {
        const id = visitorId(hash, one)
        yield [event, isIdentifying ? { ...event, mergeWith: id } : isAnonymous(event) ? { ...event, distinctId: id } : event]
      }
    }
  }

  /** Forgets days of which no more events can come. `receivedAt`: microseconds. */
  startsAt(receivedAt: number): void {
    const first = Math.floor(receivedAt / dayMicros) - daysKept
    for (const [day, count] of this.counts) {
      if (day >= first) continue
      this.counts.delete(day)
      this.total -= count
      this.removedBefore = Math.max(this.removedBefore ?? first, first)
    }
  }

  apply(event: Visiting, bytes: Uint8Array): Visited {
    const { visitor } = event
    const isOwn = isAnonymous(event) || visitor.isIdentifying
    const visit = this.find(isOwn ? visitor.hash : identifiedKey(event), visitor.day)
    if (!visit) return this.withoutState(event, bytes)
    const id = isOwn ? visitorId(visitor.hash, visit.number) : visit.key
    const { id: session, latest } = sessionAt(visit.session, id, event.time)
    if (visitor.isIdentifying) {
      // The session goes on under the person's id; the next visitor from here is another one.
      const identified = this.find(identifiedKey(event), visitor.day)
      if (identified) this.change(identified, latest, identified.number)
      this.change(visit, null, visit.number + 1)
      return withIds({ ...event, mergeWith: id }, bytes, session)
    }
    this.change(visit, latest, visit.number)
    return withIds(isOwn ? { ...event, distinctId: id } : event, bytes, session)
  }

  stage(group: StagedGroup): void {
    if (this.removedBefore !== null) group.removeVisits(this.removedBefore)
    this.removedBefore = null
    for (const visit of this.changed)
      group.put('cookieless_visits', { key: visit.key, day: visit.day, state: stateText(visit) }, this.fresh.has(visit))
    this.changed.clear()
    this.fresh.clear()
  }

  trim(): void {
    this.visits.trim()
  }

  /** Null beyond the limit. */
  private find(key: string, day: number): Visit | null {
    const known = this.visits.get(key)
    if (known) return known
    if (this.total >= this.limit) return null
    const visit: Visit = { key, day, number: 0, session: null }
    this.visits.set(key, visit)
    this.fresh.add(visit)
    this.counts.set(day, (this.counts.get(day) ?? 0) + 1)
    this.total++
    return visit
  }

  private change(visit: Visit, session: Session | null, number: number): void {
    visit.session = session
    visit.number = number
    this.changed.add(visit)
  }

  /** One session a day. An identification is not linked: the state says which number is free. */
  private withoutState(event: Visiting, bytes: Uint8Array): Visited {
    const { hash, day } = event.visitor
    const number = this.visits.get(hash)?.number ?? 0
    const id = visitorId(hash, number)
    const session = sessionId(isAnonymous(event) ? id : identifiedKey(event), day * dayMicros)
    const changed = event.visitor.isIdentifying ? { ...event, mergeWith: null } : isAnonymous(event) ? { ...event, distinctId: id } : event
    return { ...withIds(changed, bytes, session), isBeyondLimit: true }
  }
}

/** The event with its session, and with the visitor's id in its properties if it identifies the visitor. */
function withIds(event: PreparedEvent, bytes: Uint8Array, session: string): Visited {
  const { propertiesFrom: from, propertiesTo: to, mergeWith } = event
  const added: [string, string][] = [['$session_id', session]]
  if (mergeWith !== null) added.push(['$anon_distinct_id', mergeWith])
  const text = added.map(([key, value]) => `"${key}":"${value}"`).join(',')
  const tail = Buffer.from(`${to - from > 2 ? ',' : ''}${text}}`)
  const written = new Uint8Array(to - from - 1 + tail.length)
  written.set(bytes.subarray(from, to - 1))
  written.set(tail, to - from - 1)
  const shape = added.reduce((before, [key, value]) => before.with(propertyName(key), valueTypeOf(value)), event.shape)
  return {
    event: { ...event, sessionId: session, shape, propertiesFrom: 0, propertiesTo: written.length },
    bytes: written,
    isBeyondLimit: false,
  }
}
