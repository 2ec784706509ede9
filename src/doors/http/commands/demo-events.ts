// A fictional shop: ten weeks of visits, of people who come back, sign up, belong to companies and buy. Every first start creates the same data, except for
// the dates.

const days = 70
const day = 86_400_000
const minute = 60_000
const people = 900
const companies = 40
const host = 'shop.example.com'

interface Weighted<T> {
  readonly value: T
  readonly weight: number
}
const weighted = <T>(...pairs: readonly (readonly [T, number])[]): readonly Weighted<T>[] =>
  pairs.map(([value, weight]) => ({ value, weight }))

const plans = weighted(['free', 6], ['pro', 3], ['team', 1])
const browsers = weighted(['Chrome', 6], ['Safari', 3], ['Firefox', 1], ['Edge', 1])
const countries = weighted(
  ...(
    [
      ['US', 'United States', 'America/New_York', 'New York', 28],
      ['DE', 'Germany', 'Europe/Berlin', 'Berlin', 17],
      ['GB', 'United Kingdom', 'Europe/London', 'London', 12],
      ['FR', 'France', 'Europe/Paris', 'Lyon', 9],
      ['BR', 'Brazil', 'America/Sao_Paulo', 'São Paulo', 8],
      ['IN', 'India', 'Asia/Kolkata', 'Pune', 8],
      ['JP', 'Japan', 'Asia/Tokyo', 'Osaka', 6],
      ['CA', 'Canada', 'America/Toronto', 'Toronto', 5],
      ['AU', 'Australia', 'Australia/Sydney', 'Perth', 4],
      ['ZA', 'South Africa', 'Africa/Johannesburg', 'Durban', 3],
    ] as const
  ).map(
    ([code, name, zone, city, weight]) =>
      [{ $geoip_country_code: code, $geoip_country_name: name, $geoip_time_zone: zone, $geoip_city_name: city }, weight] as const,
  ),
)
const devices = weighted(
  [{ $device_type: 'Desktop', $os: 'Windows', $screen_width: 1920, $screen_height: 1080 }, 4],
  [{ $device_type: 'Desktop', $os: 'Mac OS X', $screen_width: 1440, $screen_height: 900 }, 3],
  [{ $device_type: 'Mobile', $os: 'iOS', $screen_width: 390, $screen_height: 844 }, 3],
  [{ $device_type: 'Mobile', $os: 'Android', $screen_width: 412, $screen_height: 915 }, 3],
  [{ $device_type: 'Tablet', $os: 'iOS', $screen_width: 820, $screen_height: 1180 }, 1],
)
/** Where a visit comes from. */
const sources = weighted<Readonly<Record<string, string>>>(
  [{ $referrer: '$direct', $referring_domain: '$direct' }, 5],
  [{ $referrer: 'https://www.google.com/', $referring_domain: 'www.google.com', $search_engine: 'google' }, 6],
  [{ $referrer: 'https://duckduckgo.com/', $referring_domain: 'duckduckgo.com', $search_engine: 'duckduckgo' }, 2],
  [{ $referrer: 'https://news.ycombinator.com/', $referring_domain: 'news.ycombinator.com' }, 2],
  [{ $referrer: 'https://www.youtube.com/', $referring_domain: 'www.youtube.com' }, 1],
  [
    {
      $referrer: 'https://mail.example.org/',
      $referring_domain: 'mail.example.org',
      utm_source: 'newsletter',
      utm_medium: 'email',
      utm_campaign: 'autumn',
    },
    2,
  ],
  [
    {
      $referrer: 'https://www.google.com/',
      $referring_domain: 'www.google.com',
      utm_source: 'google',
      utm_medium: 'cpc',
      utm_campaign: 'brand',
      gclid: 'demo',
    },
    2,
  ],
)
const products = weighted(
  [{ product: 'Backpack', category: 'bags', price: 89 }, 3],
  [{ product: 'Tote', category: 'bags', price: 29.5 }, 4],
  [{ product: 'Trail shoes', category: 'shoes', price: 119 }, 3],
  [{ product: 'Sandals', category: 'shoes', price: 49.9 }, 2],
  [{ product: 'Rain jacket', category: 'clothes', price: 159 }, 2],
  [{ product: 'Socks', category: 'clothes', price: 9.9 }, 5],
  [{ product: 'Postcard', category: 'paper', price: 2.5 }, 2],
)
const readings = weighted(['/pricing', 3], ['/docs', 3], ['/blog/launch', 2], ['/about', 1])
const landings = weighted(['/', 6], ['/blog/launch', 2], ['/products', 2], ['/pricing', 1])
const links = weighted(['https://github.com/example/shop', 2], ['https://www.instagram.com/exampleshop', 3])

const titles: Readonly<Record<string, string>> = { '/': 'Example shop', '/products': 'Products', '/cart': 'Cart', '/checkout': 'Checkout' }

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
type Properties = Readonly<Record<string, unknown>>

const drawsOf = (random: () => number) => {
  const pick = <T>(of: readonly Weighted<T>[]): T => {
    let left = random() * of.reduce((sum, { weight }) => sum + weight, 0)
    for (const { value, weight } of of) {
      left -= weight
      if (left < 0) return value
    }
    return of[0]!.value
  }
  const chance = (share: number) => random() < share
  return { pick, chance }
}

interface Steps {
  readonly add: (event: string, properties?: Properties, after?: number) => void
  readonly open: (to: string, properties?: Properties) => void
}

function buy(random: () => number, { add, open }: Steps, isSignedUp: boolean): void {
  const { pick, chance } = drawsOf(random)
  open('/products')
  const chosen = pick(products)
  open(`/products/${chosen.product.toLowerCase().replace(' ', '-')}`)
  const { product, category } = chosen
  if (chance(0.55)) {
    const items = 1 + Math.floor(random() ** 2 * 4)
    const price = Math.round(items * chosen.price * 100) / 100
    add('product added', { product, category, unit_price: chosen.price, items, currency: 'EUR' })
    open('/cart')
    if (isSignedUp && chance(0.7)) {
      open('/checkout')
      add('checkout started', { total: price, items })
      if (chance(0.72))
        add(
          'purchase',
          { product, category, price, $revenue: price, items, currency: 'EUR', is_gift: chance(0.1) },
          20_000 + random() * 3 * minute,
        )
    }
  }
}

/** Everything that one person does. */
function addVisits(events: DemoEvent[], now: Date, first: number, random: () => number, person: number): void {
  const { pick, chance } = drawsOf(random)
  // More people come as the weeks go by.
  const arrival = first + Math.sqrt(random()) * days * day
  const device = pick(devices)
  const isApp = device.$device_type === 'Mobile' && chance(0.35)
  const about = {
    ...device,
    ...pick(countries),
    ...(isApp ? { $lib: 'app', $app_version: pick(weighted(['2.0.1', 1], ['2.1.0', 3])) } : { $lib: 'web', $browser: pick(browsers) }),
  }
  const [visitor, user] = [`visitor-${person}`, `user-${person}`]
  const plan = pick(plans)
  const company = `company-${Math.floor(random() ** 2 * companies)}`
  const eagerness = random()
  let isSignedUp = false
  let start = arrival

  for (let visit = 0; start < now.getTime() && visit < 40; visit++) {
    visitOf(start, visit)
    // Who bought or signed up comes back more often, and interest fades.
    const isStaying = chance((isSignedUp ? 0.9 : 0.55) * (0.55 + eagerness * 0.45))
    if (!isStaying) break
    start += (0.2 + random() * (isSignedUp ? 5 : 8)) * day
  }

  function visitOf(begin: number, visit: number) {
    let at = begin
    const source = pick(sources)
    const session = { $session_id: sessionId(begin, random), ...source }
    const add = (event: string, properties: Properties = {}, after = 4_000 + random() * 70_000) => {
      at += after
      if (at >= now.getTime()) return
      events.push({
        event,
        distinct_id: isSignedUp ? user : visitor,
        timestamp: new Date(at).toISOString(),
        properties: { ...about, ...session, ...(isSignedUp ? { $groups: { company } } : {}), ...properties },
      })
    }
    let path = ''
    const open = (to: string, properties: Properties = {}) => {
      if (isApp) {
        add('$screen', { $screen_name: (titles[to] ?? to.replace(/^\/(products\/)?/, '')) || 'Home', ...properties })
        return
      }
      const previous = path === '' ? {} : { $prev_pageview_pathname: path }
      path = to
      const where = { $current_url: `https://${host}${to}`, $host: host, $pathname: to }
      add('$pageview', { ...where, ...previous, title: titles[to] ?? to.slice(1), ...properties })
      if (chance(0.12)) {
        const slow = device.$device_type === 'Mobile' ? 1.6 : 1
        const around = (middle: number) => Math.round(middle * slow * (0.5 + random() ** 3 * 4))
        add(
          '$web_vitals',
          {
            ...where,
            $web_vitals_LCP_value: around(1500),
            $web_vitals_INP_value: around(120),
            $web_vitals_FCP_value: around(1000),
            $web_vitals_CLS_value: Math.round(random() ** 3 * 300) / 1000,
          },
          1_500,
        )
      }
    }
    const leave = (within = minute) => {
      if (!isApp && path !== '' && chance(0.7))
        add(
          '$pageleave',
          {
            $current_url: `https://${host}${path}`,
            $host: host,
            $pathname: path,
            $prev_pageview_max_scroll_percentage: Math.round(random() * 100) / 100,
          },
          1_500 + random() * within,
        )
    }

    open(visit > 2 && chance(0.4) ? '/products' : pick(landings))
    if (chance(0.25)) {
      leave(10_000)
      return
    }
    for (let more = random() * 2; more > 0; more--) open(pick(readings))
    if (!isApp && chance(0.06)) {
      const url = pick(links)
      add('$autocapture', {
        $event_type: 'click',
        $external_click_url: url,
        $el_text: 'Follow us',
        $current_url: `https://${host}${path}`,
        $host: host,
        $pathname: path,
      })
    }
    if (!isSignedUp && chance(0.2 + eagerness * 0.3)) {
      open('/signup')
      if (chance(0.75)) {
        isSignedUp = true
        const name = `Customer ${person}`
        const $set = { plan, email: `${user}@example.com`, name }
        add('$identify', { $anon_distinct_id: visitor, $set, $set_once: { first_source: source.$referring_domain } })
        add('signed up', { plan }, 500)
      }
    }
    if (!chance(0.45 + eagerness * 0.4)) {
      leave()
      return
    }
    buy(random, { add, open }, isSignedUp)
    leave()
  }
}

/** Events before `now`, oldest first. */
export const demoEvents = (now: Date): DemoEvent[] => {
  const random = randomFrom(7)
  const { pick } = drawsOf(random)
  const events: DemoEvent[] = []
  const first = now.getTime() - days * day

  // A mistake of a kind that happens, for the page of warnings: an id that is the word "undefined".
  events.push({
    event: '$create_alias',
    distinct_id: 'shop-server',
    timestamp: new Date(first - day).toISOString(),
    properties: { alias: 'undefined' },
  })
  for (let company = 0; company < companies; company++)
    events.push({
      event: '$groupidentify',
      distinct_id: 'shop-server',
      timestamp: new Date(first - day).toISOString(),
      properties: {
        $group_type: 'company',
        $group_key: `company-${company}`,
        $group_set: { name: `Company ${company}`, employees: 5 + Math.floor(random() ** 3 * 500), plan: pick(plans) },
      },
    })

  for (let person = 1; person <= people; person++) addVisits(events, now, first, random, person)
  return events.sort((a, b) => (a.timestamp < b.timestamp ? -1 : 1))
}
