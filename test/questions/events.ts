// Events of one week of a shop, and the answers to the questions of the page counted from them one by one.

export interface ShopEvent {
  readonly event: string
  readonly distinct_id: string
  readonly timestamp: string
  readonly properties: { readonly plan: string; readonly price?: number }
}

type Rows = readonly (readonly unknown[])[]

/** The three of the page. */
export const fewEvents: readonly ShopEvent[] = [
  { event: 'signup', distinct_id: 'ana', timestamp: '2026-01-05T10:00:00.000Z', properties: { plan: 'pro' } },
  { event: 'purchase', distinct_id: 'ana', timestamp: '2026-01-06T11:00:00.000Z', properties: { plan: 'pro', price: 20 } },
  { event: 'signup', distinct_id: 'ben', timestamp: '2026-01-07T09:00:00.000Z', properties: { plan: 'free' } },
]

const firstDay = Date.parse('2026-01-01T00:00:00Z')
const day = 86_400_000
const plans = ['free', 'pro', 'team'] as const
const scattered = (n: number): number => {
  const mixed = Math.imul(n ^ (n >>> 16), 0x45d9f3b)
  return (mixed ^ (mixed >>> 16)) >>> 0
}

/** In order of time, no two at one instant: half of the people sign up with their first event, then they look around and buy. */
export function* manyEvents(count: number): Generator<ShopEvent, void> {
  const people = Math.max(1, Math.floor(count / 10))
  const isKnown = new Uint8Array(people)
  for (let i = 0; i < count; i++) {
    const who = scattered(i) % people
    const chance = scattered(i + 7) % 10
    const isSignup = isKnown[who] === 0 && who % 2 === 0
    isKnown[who] = 1
    const event = isSignup ? 'signup' : chance < 2 ? 'purchase' : 'view'
    const plan = plans[who % plans.length]!
    yield {
      event,
      distinct_id: `u${who}`,
      timestamp: new Date(firstDay + Math.floor((i / count) * 7 * day)).toISOString(),
      properties: { plan, ...(event === 'purchase' && { price: 1 + (scattered(i + 13) % 40) }) },
    }
  }
}

interface Person {
  readonly firstDay: number
  signup: number | null
  /** The first one after the sign-up. */
  bought: number | null
  lastPurchase: number | null
  lastActiveDay: number
}

const days = [0, 1, 2, 3, 4, 5, 6]
const zeros = () => days.map(() => 0)
const dateOf = (index: number) => new Date(firstDay + index * day).toISOString().slice(0, 10)
/** Days with a number, as statements answer them. */
const rowsOf = (numbers: readonly number[]): Rows => numbers.flatMap((n, i) => (n === 0 ? [] : [[dateOf(i), n]]))

/** The answers by the numbers of the questions: of the statement, and of the query of a kind. The events come in order of time. */
export function countedAnswers(events: Iterable<ShopEvent>): readonly { readonly sql: Rows; readonly kind: Rows }[] {
  const people = new Map<string, Person>()
  const payers = new Set<string>()
  const revenueOf = new Map<string, number>()
  const signupsOf = new Map<string, number>()
  const [revenue, signups, active, isNew] = [zeros(), zeros(), zeros(), zeros()]
  const latest: (readonly [string, number])[] = []
  const above: (readonly [string, number])[] = []
  let [count, purchases, sum, largest] = [0, 0, 0, 0]
  for (const { event, distinct_id: who, timestamp, properties } of events) {
    const at = Date.parse(timestamp)
    const index = Math.floor((at - firstDay) / day)
    const known = people.get(who)
    const person: Person = known ?? { firstDay: index, signup: null, bought: null, lastPurchase: null, lastActiveDay: -1 }
    if (!known) {
      people.set(who, person)
      isNew[index]!++
    }
    if (person.lastActiveDay !== index) active[index]!++
    person.lastActiveDay = index
    count++
    if (event === 'signup') {
      person.signup ??= at
      signups[index]!++
      signupsOf.set(properties.plan, (signupsOf.get(properties.plan) ?? 0) + 1)
    }
    if (event === 'purchase') {
      const price = properties.price!
      purchases++
      sum += price
      largest = Math.max(largest, price)
      revenue[index]! += price
      payers.add(who)
      revenueOf.set(properties.plan, (revenueOf.get(properties.plan) ?? 0) + price)
      latest.unshift([who, price])
      latest.length = Math.min(latest.length, 3)
      if (price > 10 && above.length < 3) above.push([who, price])
      person.lastPurchase = at
      if (person.signup !== null) person.bought ??= at
    }
  }
  const all = [...people.values()]
  const signedUp = all.filter(({ signup }) => signup !== null)
  const buyers = signedUp.filter(({ bought }) => bought !== null)
  const seconds = (wanted: (from: number, to: number) => number) =>
    buyers.reduce((total, { signup, bought }) => total + wanted(signup!, bought!), 0) / buyers.length
  let running = 0
  const growth = signups.map((n) => {
    running += n
    return running
  })
  const sorted = (counts: ReadonlyMap<string, number>): Rows => [...counts].sort(([a], [b]) => (a < b ? -1 : 1))
  const same = (rows: Rows) => ({ sql: rows, kind: rows })
  const daily = (numbers: readonly number[]) => ({ sql: rowsOf(numbers), kind: [numbers] })
  return [
    same([[sum]]),
    daily(revenue),
    same([[purchases]]),
    same([[sum / purchases]]),
    same([[largest]]),
    same([[payers.size]]),
    same(sorted(revenueOf)),
    same([[sum / payers.size]]),
    same(latest),
    same(above),
    same([[signedUp.length]]),
    daily(signups),
    same(sorted(signupsOf)),
    { sql: growth.flatMap((n, i) => (signups[i] === 0 ? [] : [[dateOf(i), n]])), kind: [growth] },
    same([[signedUp.length, signedUp.filter(({ signup, lastPurchase }) => lastPurchase !== null && lastPurchase > signup!).length]]),
    {
      // A statement that counts seconds counts how many begin between two moments.
      sql: [[seconds((from, to) => Math.floor(to / 1000) - Math.floor(from / 1000))]],
      kind: [[seconds((from, to) => (to - from) / 1000)]],
    },
    same([[people.size]]),
    daily(active),
    same([[count / people.size]]),
    daily(isNew),
  ]
}
