import type { FirstStart } from '../accounts/accounts.ts'
import type { Waymark } from '../engine.ts'

// A shop that never was: a month of visits, sign-ups and purchases, the same at every first start but for the dates.

const people = 300
const days = 30
const day = 86_400_000
const plans = ['free', 'free', 'free', 'pro', 'team']
const browsers = ['Chrome', 'Chrome', 'Safari', 'Firefox', 'Edge']
const countries = ['US', 'DE', 'GB', 'FR', 'BR', 'JP']
const pages = ['/', '/pricing', '/docs', '/blog/launch', '/signup']

/** Small, fast and the same everywhere. */
const randomFrom = (seed: number) => () => {
  seed = (seed + 0x6d2b79f5) | 0
  let t = Math.imul(seed ^ (seed >>> 15), 1 | seed)
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
  return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
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
  for (let person = 1; person <= people; person++) {
    const arrival = now.getTime() - random() * days * day
    const about = { $browser: pick(browsers), $geoip_country_code: pick(countries) }
    const [visitor, user] = [`visitor-${person}`, `user-${person}`]
    const plan = pick(plans)
    let at = arrival
    let isSignedUp = false
    const add = (event: string, properties: object = {}) => {
      at += 5_000 + random() * 90_000
      if (at < now.getTime())
        events.push({
          event,
          distinct_id: isSignedUp ? user : visitor,
          timestamp: new Date(at).toISOString(),
          properties: { ...about, ...properties },
        })
    }
    for (let visit = 0; visit < 1 + random() * 6; visit++) {
      for (let page = 0; page < 1 + random() * 5; page++) add('$pageview', { $current_url: `https://shop.example.com${pick(pages)}` })
      if (!isSignedUp && random() < 0.4) {
        isSignedUp = true
        add('$identify', { $anon_distinct_id: visitor, $set: { plan, email: `${user}@example.com` } })
        add('signed up', { plan, $groups: { company: `company-${person % 40}` } })
      }
      if (isSignedUp && random() < 0.5) add('purchase', { price: Math.round(500 + random() * 9500) / 100, currency: 'EUR' })
      at += (0.5 + random() * 5) * day
    }
  }
  return events.sort((a, b) => (a.timestamp < b.timestamp ? -1 : 1))
}

/** A second project beside the first one, with events to look at. */
export const makeDemo = async (waymark: Waymark, { user, organization }: FirstStart): Promise<number> => {
  const { accounts } = waymark
  const membership = await accounts.organizations.membership(organization.id, user)
  const record = await accounts.projects.create({ user, membership: membership! }, { name: 'Demo shop', is_demo: true })
  const project = await waymark.project(record.id)
  await project.ingest({ batch: demoEvents(waymark.clock()), historical_migration: true })
  return record.id
}
