// A fictional shop: a month of visits in sessions, sign-ups of people who belong to companies, and purchases. Every first start creates the same data,
// except for the dates.

const people = 300
const days = 30
const day = 86_400_000
const plans = ['free', 'free', 'free', 'pro', 'team']
const browsers = ['Chrome', 'Chrome', 'Safari', 'Firefox', 'Edge']
const countries = ['US', 'DE', 'GB', 'FR', 'BR', 'JP']
const pages = ['/', '/pricing', '/docs', '/blog/launch', '/signup']
const referrers = ['www.google.com', 'news.ycombinator.com', '$direct']
const companies = 40

/** A small, fast pseudorandom generator with the same output on every machine. */
const randomFrom = (seed: number) => () => {
  seed = (seed + 0x6d2b79f5) | 0
  let t = Math.imul(seed ^ (seed >>> 15), 1 | seed)
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
  return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
}

/** Version 7, which sessions require. */
const sessionId = (time: number, random: () => number): string => {
  const hex = (digits: number) =>
    Math.floor(random() * 16 ** digits)
      .toString(16)
      .padStart(digits, '0')
  const millis = Math.floor(time).toString(16).padStart(12, '0')
  return `${millis.slice(0, 8)}-${millis.slice(8)}-7${hex(3)}-8${hex(3)}-${hex(6)}${hex(6)}`
}

interface DemoEvent {
  readonly event: string
  readonly distinct_id: string
  readonly timestamp: string
  readonly properties: Readonly<Record<string, unknown>>
}

export const demoEvents = (now: Date): DemoEvent[] => {
  const random = randomFrom(7)
  const pick = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)]!
  const events: DemoEvent[] = []
  for (let company = 0; company < companies; company++)
    events.push({
      event: '$groupidentify',
      distinct_id: 'shop-server',
      timestamp: new Date(now.getTime() - (days + 1) * day).toISOString(),
      properties: {
        $group_type: 'company',
        $group_key: `company-${company}`,
        $group_set: { name: `Company ${company}`, employees: 5 + Math.floor(random() ** 3 * 500), plan: pick(plans) },
      },
    })
  for (let person = 1; person <= people; person++) {
    const arrival = now.getTime() - random() * days * day
    const about = { $browser: pick(browsers), $geoip_country_code: pick(countries) }
    const [visitor, user] = [`visitor-${person}`, `user-${person}`]
    const plan = pick(plans)
    const $groups = { company: `company-${person % companies}` }
    let session = {}
    let at = arrival
    let isSignedUp = false
    const add = (event: string, properties: object = {}) => {
      at += 5_000 + random() * 90_000
      if (at < now.getTime())
        events.push({
          event,
          distinct_id: isSignedUp ? user : visitor,
          timestamp: new Date(at).toISOString(),
          properties: { ...about, ...session, ...(isSignedUp ? { $groups } : {}), ...properties },
        })
    }
    for (let visit = 0; visit < 1 + random() * 6; visit++) {
      session = { $session_id: sessionId(at, random), $referring_domain: pick(referrers) }
      for (let page = 0; page < 1 + random() * 5; page++) {
        const $pathname = pick(pages)
        add('$pageview', { $current_url: `https://shop.example.com${$pathname}`, $host: 'shop.example.com', $pathname })
      }
      if (!isSignedUp && random() < 0.4) {
        isSignedUp = true
        add('$identify', { $anon_distinct_id: visitor, $set: { plan, email: `${user}@example.com` } })
        add('signed up', { plan })
      }
      if (isSignedUp && random() < 0.5) {
        const items = 1 + Math.floor(random() * 4)
        add('purchase', { price: Math.round(items * (500 + random() * 4500)) / 100, items, currency: 'EUR', is_gift: random() < 0.1 })
      }
      at += (0.5 + random() * 5) * day
    }
  }
  return events.sort((a, b) => (a.timestamp < b.timestamp ? -1 : 1))
}
