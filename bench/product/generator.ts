import { random } from '../random.ts'

// Events of a web product as its clients send them, in the order in which they arrive: one at a time, so that memory does not grow with their number.

export interface DataSet {
  readonly events: number
  readonly seed: number
}

export interface ProductEvent {
  readonly uuid: string
  readonly event: string
  readonly distinct_id: string
  /** ISO 8601 with microseconds. */
  readonly timestamp: string
  readonly properties: Readonly<Record<string, string | number | boolean>>
}

/** With the answer to who did it, for contenders that do not merge persons themselves. */
export interface ResolvedEvent {
  readonly event: ProductEvent
  readonly person: number
  readonly isLate: boolean
}

export const days = 90
const from = Date.UTC(2026, 0, 1)
const msPerDay = 86_400_000
const spanMs = days * msPerDay
const eventsPerPerson = 50

/** The most frequent first: each has the weight 1 / rank. With `identify` they are forty. */
export const eventNames = [
  ...[
    '$pageview',
    '$autocapture',
    'viewed item',
    '$pageleave',
    'searched',
    'added to cart',
    'opened menu',
    'signed up',
    'checked out',
    'played video',
  ],
  ...['purchased', 'shared', 'rated', 'exported', 'invited', 'commented', 'uploaded', 'downloaded', 'saved search', 'changed plan'],
  ...[
    'opened help',
    'asked support',
    'removed from cart',
    'applied coupon',
    'refunded',
    'followed',
    'unfollowed',
    'created list',
    'edited profile',
  ],
  ...['verified email', 'reset password', 'enabled alerts', 'disabled alerts', 'started trial', 'ended trial', 'connected app', 'archived'],
  ...['imported', 'cancelled'],
] as const
/** Sent at the beginning of a session of those who log in; it merges the visitor before with the user. */
export const identify = '$identify'

export const texts = {
  $browser: ['Chrome', 'Safari', 'Firefox', 'Edge', 'Opera', 'Samsung Internet'],
  $os: ['Windows', 'Mac OS X', 'iOS', 'Android', 'Linux'],
  country: ['US', 'DE', 'IN', 'BR', 'GB', 'FR', 'JP', 'NG'],
  plan: ['free', 'pro', 'enterprise'],
  campaign: ['spring', 'summer', 'autumn', 'winter', 'launch', 'partner', 'webinar', 'podcast', 'retarget', 'referral', 'brand', 'video'],
} as const
const widths = [390, 768, 1280, 1440, 1920]
const words = [
  'blue',
  'large',
  'cheap',
  'linen',
  'shoes',
  'table',
  'lamp',
  'garden',
  'winter',
  'kids',
  'used',
  'oak',
  'steel',
  'round',
  'desk',
  'chair',
]

export const peopleOf = ({ events }: DataSet): number => Math.max(20, Math.round(events / eventsPerPerson))

/** Each name as often as it is to be drawn. */
const nameTickets = eventNames.flatMap((name, rank) => Array<string>(Math.round(2000 / (rank + 1))).fill(name))
const daysOfRenewal = Array.from({ length: 365 }, (_, day) => new Date(from + day * msPerDay).toISOString())
const daysOfEvents = Array.from({ length: days + 2 }, (_, day) => new Date(from + day * msPerDay).toISOString().slice(0, 11))
const pick = <T>(values: readonly T[], draw: () => number): T => values[Math.floor(draw() * values.length)]!

const padded = (value: number, digits: number, radix = 10) => value.toString(radix).padStart(digits, '0')
const hex = (value: number, digits: number) => padded(value, digits, 16)
const microsecondsPerSecond = 1_000_000

/** No two events have the same moment, because engines differ in how they order equal ones: the row number replaces the microseconds. */
const momentOf = (ms: number, row: number) => {
  const second = Math.floor((ms - from) / 1000)
  const ofDay = second % 86_400
  const clock = `${padded(Math.floor(ofDay / 3600), 2)}:${padded(Math.floor(ofDay / 60) % 60, 2)}:${padded(ofDay % 60, 2)}`
  const micros = row % microsecondsPerSecond
  return {
    timestamp: `${daysOfEvents[Math.floor(second / 86_400)]}${clock}.${padded(micros, 6)}Z`,
    uuid: uuidOf(from + second * 1000 + Math.floor(micros / 1000), row),
  }
}
/** Version 7, as clients make it. */
const uuidOf = (ms: number, row: number) => {
  const time = hex(ms, 12)
  return `${time.slice(0, 8)}-${time.slice(8)}-7${hex(row % 4096, 3)}-8000-${hex(row, 12)}`
}

/** Of the same shape; other ids make no sessions. */
const sessionIdOf = (a: string, b: string) => `${a}-${b.slice(0, 4)}-7${b.slice(4, 7)}-8000-${b.slice(7)}00000000000`

interface Session {
  readonly person: number
  readonly distinctId: string
  readonly isLate: boolean
  /** The id before the login, where there was one. */
  readonly before: string | null
  readonly id: string
  readonly browser: string
  readonly version: number
  readonly os: string
  readonly country: string
  readonly plan: string
  readonly width: number
  readonly events: number
}

/** More than this, and two events of a hundred million could have one moment. */
export const latestHours = 20
const lateShare = 0.1
const rareShare = 0.02

/** A quarter of the sessions are of a hundredth of the people, and a third of a tenth. */
const drawPerson = (people: number, draw: () => number): number => {
  const tier = draw()
  const among = tier < 0.25 ? Math.ceil(people / 100) : tier < 0.6 ? Math.ceil(people / 10) : people
  return Math.floor(draw() * among)
}

const drawSession = (person: number, draw: () => number): Session => {
  // Three of ten people visit before they log in, and without a login at times.
  const visitsFirst = person % 10 < 3
  const isAnonymous = visitsFirst && draw() < 0.4
  return {
    person,
    distinctId: `${isAnonymous ? 'visitor' : 'user'}-${person}`,
    before: visitsFirst && !isAnonymous ? `visitor-${person}` : null,
    isLate: draw() < lateShare,
    id: sessionIdOf(hex(Math.floor(draw() * 2 ** 32), 8), hex(Math.floor(draw() * 2 ** 32), 8)),
    browser: pick(texts.$browser, draw),
    version: 100 + Math.floor(draw() * 40),
    os: pick(texts.$os, draw),
    country: texts.country[person % texts.country.length]!,
    plan: pick(texts.plan, draw),
    width: pick(widths, draw),
    events: 2 + Math.floor(draw() * 13),
  }
}

const drawProperties = (session: Session, draw: () => number): ProductEvent['properties'] => {
  const campaign: ProductEvent['properties'] = draw() < rareShare ? { campaign: pick(texts.campaign, draw) } : {}
  return {
    $browser: session.browser,
    $browser_version: session.version,
    $os: session.os,
    $current_url: `https://shop.example.com/section-${Math.floor(draw() * 60)}/item-${Math.floor(draw() * 2000)}`,
    $session_id: session.id,
    $screen_width: session.width,
    country: session.country,
    plan: session.plan,
    amount: Math.floor(draw() * 50_000) / 100,
    items: Math.floor(draw() * 9),
    is_trial: draw() < 0.3,
    renews_at: pick(daysOfRenewal, draw),
    search: `${pick(words, draw)} ${pick(words, draw)} ${Math.floor(draw() * 1000)}`,
    ...campaign,
  }
}

/** The same numbers make the same events on every machine. */
export function* productEvents(data: DataSet): Generator<ResolvedEvent, void, undefined> {
  const draw = random(data.seed)
  const people = peopleOf(data)
  let row = 0
  while (row < data.events) {
    const session = drawSession(drawPerson(people, draw), draw)
    let ms = from + (spanMs * row) / data.events
    if (session.isLate) ms = Math.max(from, ms - draw() * latestHours * 3_600_000)
    for (let i = 0; i < session.events && row < data.events; i++) {
      const isLogin = i === 0 && session.before !== null
      const properties = drawProperties(session, draw)
      const event: ProductEvent = {
        ...momentOf(ms, row),
        event: isLogin ? identify : pick(nameTickets, draw),
        distinct_id: session.distinctId,
        properties: isLogin ? { ...properties, $anon_distinct_id: session.before! } : properties,
      }
      yield { event, person: session.person, isLate: session.isLate }
      ms += 5_000 + draw() * 115_000
      row++
    }
  }
}

const newcomerShare = 0.05

/** What such a product goes on to send on the last day: a tenth is late, each changes its person, and one in twenty is of a visitor who turns out to be a known person. */
export function* arrivingEvents({
  events,
  seed,
}: DataSet): Generator<Omit<ProductEvent, 'uuid'> & { readonly $set: object }, never, undefined> {
  const people = peopleOf({ events, seed })
  for (let more = 1; ; more++) {
    const draw = random(seed + more)
    let at = from + (days - 0.5) * msPerDay
    for (const { event } of productEvents({ events, seed: seed + more })) {
      at += draw() * 2
      const { uuid: _, ...known } = event
      const ms = draw() < lateShare ? at - draw() * latestHours * 3_600_000 : at
      const isNewcomer = draw() < newcomerShare
      const anonymous = { $anon_distinct_id: `arriving-${more}-${Math.floor(draw() * 2 ** 32)}` }
      yield {
        ...known,
        ...(isNewcomer && {
          event: identify,
          distinct_id: `user-${Math.floor(draw() * people)}`,
          properties: { ...event.properties, ...anonymous },
        }),
        timestamp: new Date(ms).toISOString(),
        $set: { seen: Math.floor(draw() * 1e6) },
      }
    }
  }
}
