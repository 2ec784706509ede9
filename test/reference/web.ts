import { dayNumber, dayText, isSampled, localDay, type ReferenceEvent, textOf } from './trends.ts'

// Web analytics by loops over an array of events: sessions are lists of events, and each number looks at every session.

export interface ReferenceWeb {
  readonly zone: string
  readonly weekStartDay: 0 | 1
  /** Local dates, both inclusive. */
  readonly from: string
  readonly to: string
  readonly compares: boolean
  readonly filter?: readonly [key: string, value: string] | undefined
  /** A filter on the session. */
  readonly visit?: VisitFilter | undefined
  readonly goal?: string | undefined
  readonly sample?: number | undefined
  readonly cleans: boolean
}

export type VisitFilter = readonly [
  key:
    | '$entry_pathname'
    | '$end_pathname'
    | '$channel_type'
    | '$session_duration'
    | '$is_bounce'
    | '$entry_utm_campaign'
    | '$pageview_count',
  operator: 'exact' | 'is_not' | 'gt',
  value: string | number,
]

export interface ReferenceTable extends ReferenceWeb {
  readonly breakdown:
    | 'Page'
    | 'InitialPage'
    | 'ExitPage'
    | 'Browser'
    | 'InitialUTMSource'
    | 'InitialUTMCampaign'
    | 'InitialUTMMedium'
    | 'InitialUTMTerm'
    | 'InitialUTMContent'
    | 'InitialReferringDomain'
    | 'InitialChannelType'
    | 'Viewport'
    | 'City'
    | 'Timezone'
    | 'FrustrationMetrics'
    | 'PreviousPage'
    | 'ExitClick'
    | 'InitialUTMSourceMediumCampaign'
    | 'Language'
  readonly bounces: boolean
  readonly scrolls: boolean
}

type Events = readonly ReferenceEvent[]
type Pair = readonly [now: number | null, before: number | null]
type Ranges = readonly (readonly [from: string, to: string])[]

const dayMicros = 86_400_000_000
const pages = ['$pageview', '$screen']
const isPage = ({ event }: ReferenceEvent) => pages.includes(event)
const sum = (numbers: readonly number[]) => numbers.reduce((a, b) => a + b, 0)
const mean = (numbers: readonly number[]) => (numbers.length === 0 ? null : sum(numbers) / numbers.length)
const distinct = (values: readonly unknown[]) => new Set(values).size

function rangesOf({ from, to, compares }: ReferenceWeb): Ranges {
  const days = dayNumber(to) - dayNumber(from) + 1
  const back = (date: string) => dayText(dayNumber(date) - days)
  return compares
    ? [
        [from, to],
        [back(from), back(to)],
      ]
    : [[from, to]]
}

const within = (at: number, [from, to]: readonly [string, string], zone: string, margin = 0) =>
  localDay(at + margin, zone) >= from && localDay(at - margin, zone) <= to

interface Session {
  readonly start: number
  readonly seconds: number
  readonly isBounce: boolean | null
  readonly first: (key: string) => string | null
  readonly last: (key: string) => string | null
  readonly channel: string | null
  readonly click: string | null
  readonly pageviews: number
  /** Events that count. */
  readonly counted: Events
  readonly person: number
}

const seconds = (at: number) => Math.floor(at / 1_000_000)
const set = (value: string | null) => (value === '' ? null : value)

/** The sessions with events that count. Events a day away from the ranges are not looked at. */
function sessionsOf(
  events: Events,
  query: ReferenceWeb,
  names: readonly string[],
  filter = (e: ReferenceEvent) => isFiltered(e, query),
): Session[] {
  const ranges = rangesOf(query)
  const near = events.filter((e) => isSampled(e, query) && ranges.some((range) => within(e.at, range, query.zone, dayMicros)))
  const isNamed = ({ session }: ReferenceEvent) => /^[0-9a-f]{8}-[0-9a-f]{4}-7/.test(session)
  const ids = [...new Set(near.filter(isNamed).map((e) => e.session))]
  const named = ids.map((id) => ({ isMade: false, own: near.filter((e) => e.session === id).sort((a, b) => a.at - b.at) }))
  const made = madeOf(near.filter((e) => !isNamed(e))).map((own) => ({ isMade: true, own }))
  return [...named, ...made].flatMap(({ isMade, own }) => {
    const [start, end] = [own[0]!.at, own.at(-1)!.at]
    const length = seconds(end) - seconds(start)
    const actions = own.filter((e) => isPage(e) || e.event === '$autocapture').length
    const values = (key: string) => {
      const found = (list: Events) => list.map((e) => set(textOf(e.properties[key]))).filter((value) => value !== null)
      const onPages = found(own.filter(isPage))
      return onPages.length > 0 ? onPages : found(own)
    }
    const first = (key: string) => values(key)[0] ?? null
    const last = (key: string) => values(key).at(-1) ?? null
    const counted = own.filter(
      (e) => ranges.some((range) => within(e.at, range, query.zone)) && filter(e) && (names.includes(e.event) || e.event === query.goal),
    )
    if (counted.length === 0) return []
    // A server that tells neither a session nor an address does not know where somebody came from.
    const channel = isMade && first('$current_url') === null ? null : channelOf(first('utm_source'), first('$referring_domain'))
    const session = {
      start,
      seconds: length,
      isBounce: actions === 0 ? null : actions === 1 && length < 10,
      first,
      last,
      click:
        own
          .flatMap((e) => (e.event === '$autocapture' ? [set(textOf(e.properties.$external_click_url))] : []))
          .findLast((url) => url !== null) ?? null,
      channel,
      pageviews: own.filter((e) => e.event === '$pageview').length,
      counted,
      person: Math.min(...counted.map((e) => e.person)),
    }
    return isVisit(session, query) ? [session] : []
  })
}

const channelOf = (source: string | null, domain: string | null): string =>
  source === 'google' ? 'Organic Search' : source === 'email' ? 'Email' : domain === 'other.org' ? 'Referral' : 'Unknown'

function isVisit(session: Session, { visit }: ReferenceWeb): boolean {
  if (!visit) return true
  const [key, operator, value] = visit
  const own = {
    $entry_pathname: () => pathOf(session.first('$current_url')),
    $end_pathname: () => pathOf(session.last('$current_url')),
    $channel_type: () => session.channel,
    $session_duration: () => session.seconds,
    $is_bounce: () => session.isBounce && String(session.isBounce),
    $entry_utm_campaign: () => session.first('utm_campaign'),
    $pageview_count: () => session.pageviews,
  }[key]()
  if (operator === 'is_not') return own !== value
  return operator === 'gt' ? own !== null && own > value : own === value
}

/** Of each person, the events with pauses of at most thirty minutes. */
function madeOf(events: Events): ReferenceEvent[][] {
  const sessions: ReferenceEvent[][] = []
  for (const person of new Set(events.map((e) => e.person))) {
    let last = Number.NEGATIVE_INFINITY
    for (const event of events.filter((e) => e.person === person).sort((a, b) => a.at - b.at)) {
      if (event.at - last > 30 * 60_000_000) sessions.push([])
      sessions.at(-1)!.push(event)
      last = event.at
    }
  }
  return sessions
}

const isFiltered = (e: ReferenceEvent, { filter }: ReferenceWeb) => !filter || textOf(e.properties[filter[0]]) === filter[1]
const pathOf = (url: string | null) => (url === null ? null : new URL(url).pathname)

/** Of each period. */
function inPeriods(query: ReferenceWeb, of: (isIn: (session: Pick<Session, 'start'>) => boolean) => number | null): Pair {
  const [now, before] = rangesOf(query).map((range) => of(({ start }) => within(start, range, query.zone)))
  return [now!, before === undefined ? null : before]
}

const scaled = (n: number, { sample }: ReferenceWeb) => (sample === undefined ? n : Math.round(n / sample))

export function referenceOverview(events: Events, query: ReferenceWeb): Readonly<Record<string, Pair>> {
  const sessions = sessionsOf(events, query, pages)
  const over = (of: (own: Session[]) => number | null) => inPeriods(query, (isIn) => of(sessions.filter(isIn)))
  const count = (of: (own: Session[]) => number) => over((own) => scaled(of(own), query))
  const visitors = count((own) => distinct(own.map((s) => s.person)))
  if (query.goal !== undefined) {
    const isGoal = (e: ReferenceEvent) => e.event === query.goal
    const unique = count((own) => distinct(own.filter((s) => s.counted.some(isGoal)).map((s) => s.person)))
    const rate = (i: 0 | 1) => (visitors[i] ? (100 * unique[i]!) / visitors[i]! : null)
    return {
      visitors,
      'total conversions': count((own) => sum(own.map((s) => s.counted.filter(isGoal).length))),
      'unique conversions': unique,
      'conversion rate': [rate(0), rate(1)],
    }
  }
  return {
    visitors,
    views: count((own) => sum(own.map((s) => s.counted.length))),
    sessions: count((own) => own.length),
    'session duration': over((own) => mean(own.map((s) => s.seconds))),
    'bounce rate': over((own) => {
      const rate = mean(bouncesOf(own))
      return rate === null ? null : 100 * rate
    }),
  }
}

const bouncesOf = (sessions: readonly Session[]) => sessions.flatMap(({ isBounce }) => (isBounce === null ? [] : [isBounce ? 1 : 0]))

type Value = string | number | null | readonly (string | number | null)[]

const cleaned = (path: string | null, { cleans }: ReferenceWeb) => (cleans && path !== null ? path.replace(/\d+/g, ':id') : path)
const number = (value: unknown) => (value === null || value === undefined || value === '' ? null : Number(value))

/** The value of an event; undefined: it is not shown. */
function valueOfEvent(e: ReferenceEvent, query: ReferenceTable): Value | undefined {
  const text = (key: string) => textOf(e.properties[key]) ?? undefined
  switch (query.breakdown) {
    case 'Page':
    case 'FrustrationMetrics':
      return text('$pathname') === undefined ? undefined : cleaned(text('$pathname')!, query)!
    case 'Browser':
      return text('$browser')
    case 'Viewport': {
      const size = [number(e.properties.$viewport_width), number(e.properties.$viewport_height)]
      return size.every((side) => side !== null && side !== 0) ? size : undefined
    }
    case 'City':
      return text('$geoip_city_name') === undefined ? undefined : [text('$geoip_country_code') ?? null, text('$geoip_city_name')!]
    case 'PreviousPage': {
      const [before, referrer, here] = [text('$prev_pageview_pathname'), text('$referrer'), text('$current_url')]
      if (before !== undefined) return cleaned(before, query)!
      const host = (url: string | undefined) => url && new URL(url).hostname
      return host(here) === host(referrer) ? (cleaned(pathOf(referrer ?? null), query) ?? undefined) : referrer
    }
    case 'Language':
      return text('$browser_language')?.split('-')[0]
    case 'Timezone': {
      const offset = number(e.properties.$timezone_offset)
      return offset === null ? undefined : (0 - offset) / 60
    }
    default:
      return undefined
  }
}
function valueOfSession(s: Session, query: ReferenceTable): Value | undefined {
  switch (query.breakdown) {
    case 'InitialPage':
      return cleaned(pathOf(s.first('$current_url')), query) ?? undefined
    case 'ExitPage':
      return cleaned(pathOf(s.last('$current_url')), query) ?? undefined
    case 'InitialUTMSource':
      return s.first('utm_source')
    case 'InitialUTMCampaign':
      return s.first('utm_campaign')
    case 'InitialUTMMedium':
      return s.first('utm_medium')
    case 'InitialUTMTerm':
      return s.first('utm_term')
    case 'InitialUTMContent':
      return s.first('utm_content')
    case 'InitialReferringDomain':
      return s.first('$referring_domain') ?? undefined
    case 'InitialChannelType':
      return s.channel ?? undefined
    case 'ExitClick':
      return s.click ?? undefined
    case 'InitialUTMSourceMediumCampaign':
      return [s.first('utm_source') ?? s.first('$referring_domain'), s.first('utm_medium'), s.first('utm_campaign')]
        .map((part) => part ?? '(none)')
        .join(' / ')
    default:
      return undefined
  }
}
const isOfSession = ({ breakdown }: ReferenceTable) => /^Initial|^Exit/.test(breakdown)

type Visit = Session & { readonly value: Value }

function visitsOf(sessions: readonly Session[], query: ReferenceTable, valueIn = valueOfEvent): Visit[] {
  return sessions.flatMap((s): Visit[] => {
    if (isOfSession(query)) {
      const value = valueOfSession(s, query)
      return value === undefined ? [] : [{ ...s, value }]
    }
    const values = new Map<string, Value>()
    for (const e of s.counted) {
      const value = valueIn(e, query)
      if (value !== undefined) values.set(JSON.stringify(value), value)
    }
    return [...values.values()].map((value) => {
      const counted = s.counted.filter((e) => JSON.stringify(valueIn(e, query)) === JSON.stringify(value))
      return { ...s, value, counted, person: Math.min(...counted.map((e) => e.person)) }
    })
  })
}

const order = (a: Value, b: Value): number => {
  if (Array.isArray(a) && Array.isArray(b)) return order(a[0], b[0]) || order(a[1], b[1])
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1
  return a < b ? -1 : a > b ? 1 : 0
}

/** Rows in their order: the value, then a pair for each column. */
export function referenceTable(events: Events, query: ReferenceTable): (readonly [Value, ...Pair[]])[] {
  const isFrustration = query.breakdown === 'FrustrationMetrics'
  const names = isFrustration ? [...pages, '$rageclick', '$dead_click', '$exception'] : pages
  const ranges = rangesOf(query)
  const counts = (session: Session) => ranges.some((range) => within(session.start, range, query.zone))
  const visits = visitsOf(sessionsOf(events, query, names).filter(counts), query)
  const values = new Map(visits.map(({ value }) => [JSON.stringify(value), value]))
  const hasBounces = !isFrustration && query.goal === undefined && (query.bounces || query.scrolls)
  const hasScroll = hasBounces && query.scrolls && query.breakdown === 'Page'
  const bouncing = query.breakdown === 'Page' ? visitsOf(sessionsOf(events, query, pages), { ...query, breakdown: 'InitialPage' }) : visits
  const scrolling = hasScroll ? visitsOf(sessionsOf(events, query, [...pages, '$pageleave']), query, (e) => pageBefore(e, query)) : []
  const rows = [...values].map(([key, value]): readonly [Value, ...Pair[]] => {
    const of = (list: readonly Visit[]) => (aggregate: (own: readonly Visit[]) => number | null) =>
      inPeriods(query, (isIn) => aggregate(list.filter((visit) => JSON.stringify(visit.value) === key && isIn(visit))))
    const over = of(visits)
    const count = (aggregate: (own: readonly Visit[]) => number) => over((own) => scaled(aggregate(own), query))
    const named = (name: string) => count((own) => sum(own.map((visit) => visit.counted.filter((e) => e.event === name).length)))
    if (isFrustration) return [value, named('$rageclick'), named('$dead_click'), named('$exception')]
    const visitors = count((own) => distinct(own.map((visit) => visit.person)))
    if (query.goal !== undefined) {
      const isGoal = (e: ReferenceEvent) => e.event === query.goal
      const unscaled = (converted: boolean) =>
        over((own) => distinct(own.filter((visit) => !converted || visit.counted.some(isGoal)).map((visit) => visit.person)))
      const [unique, all] = [unscaled(true), unscaled(false)]
      const rate = (i: 0 | 1) => (all[i] ? unique[i]! / all[i]! : null)
      const converted = unique.map((n) => (n === null ? null : scaled(n, query))) as unknown as Pair
      return [value, visitors, named(query.goal), converted, [rate(0), rate(1)]]
    }
    const views = count((own) => sum(own.map((visit) => visit.counted.length)))
    const share = (list: readonly Visit[], numbers: (e: ReferenceEvent) => number | null) =>
      of(list)((own) => mean(own.flatMap((visit) => visit.counted.map(numbers)).filter((n) => n !== null)))
    return [
      value,
      visitors,
      views,
      ...(hasBounces ? [of(bouncing)((own) => mean(bouncesOf(own)))] : []),
      ...(hasScroll
        ? [
            share(scrolling, (e) => number(e.properties.$prev_pageview_max_scroll_percentage)),
            share(scrolling, (e) => {
              const content = number(e.properties.$prev_pageview_max_content_percentage)
              return content === null ? null : content > 0.8 ? 1 : 0
            }),
          ]
        : []),
    ]
  })
  // A language is shown as its most frequent tag, of those with as many visits the first one.
  const tagOf = (language: Value): Value => {
    const tags = visits
      .filter(({ value }) => value === language)
      .flatMap(({ counted }) => [...new Set(counted.map((e) => textOf(e.properties.$browser_language)!))])
    const count = (tag: string) => tags.filter((one) => one === tag).length
    return [...new Set(tags)].sort((a, b) => count(b) - count(a) || order(a, b))[0]!
  }
  const columns = isFrustration ? [3, 2, 1] : query.goal !== undefined ? [3, 2, 1] : [1, 2]
  const sorted = rows.sort((a, b) => {
    for (const column of columns)
      for (const i of [0, 1] as const) {
        const [one, other] = [(a[column] as Pair)[i] ?? 0, (b[column] as Pair)[i] ?? 0]
        if (one !== other) return other - one
      }
    return order(a[0], b[0])
  })
  return query.breakdown === 'Language' ? sorted.map(([value, ...pairs]) => [tagOf(value), ...pairs]) : sorted
}

/** Who did an event, how often, and the share of the visitors who did. */
export function referenceGoals(events: Events, query: ReferenceWeb, goals: readonly string[]): (readonly [string, ...Pair[]])[] {
  const sessions = sessionsOf(events, { ...query, goal: undefined }, [...pages, ...goals])
  const people = (of: (s: Session) => boolean) =>
    inPeriods(query, (isIn) => distinct(sessions.filter((s) => isIn(s) && of(s)).map((s) => s.person)))
  const visitors = people(() => true)
  return goals.map((goal) => {
    const unique = people((s) => s.counted.some(({ event }) => event === goal))
    const total = inPeriods(query, (isIn) => sum(sessions.filter(isIn).map((s) => s.counted.filter(({ event }) => event === goal).length)))
    const rate = (i: 0 | 1) => (unique[i] === null ? null : visitors[i] ? unique[i]! / visitors[i]! : 0)
    const whole = ([now, before]: Pair): Pair => [now === null ? null : scaled(now, query), before === null ? null : scaled(before, query)]
    return [goal, whole(unique), whole(total), [rate(0), rate(1)]]
  })
}

/** The page views in the range whose sessions pass the filter. */
export const referenceViews = (events: Events, query: ReferenceWeb): number =>
  sum(sessionsOf(events, { ...query, goal: undefined, compares: false }, ['$pageview']).map(({ counted }) => counted.length))

/** The address, who clicked, and how often. */
export function referenceClicks(events: Events, query: ReferenceWeb): (readonly [Value, ...Pair[]])[] {
  const site = (host: string) => host.split('.').slice(-2).join('.')
  const urlOf = (e: ReferenceEvent) => set(textOf(e.properties.$external_click_url))
  const isClick = (e: ReferenceEvent) => {
    const [url, host] = [urlOf(e), textOf(e.properties.$host)]
    return textOf(e.properties.$event_type) === 'click' && url !== null && (host === null || site(new URL(url).hostname) !== site(host))
  }
  const plain = { ...query, goal: undefined }
  const ranges = rangesOf(query)
  const sessions = sessionsOf(events, plain, ['$autocapture'], (e) => isFiltered(e, query) && isClick(e)).filter((s) =>
    ranges.some((range) => within(s.start, range, query.zone)),
  )
  const urls = [...new Set(sessions.flatMap((s) => s.counted.map((e) => urlOf(e)!)))]
  const rows = urls.map((url): readonly [string, Pair, Pair] => {
    const own = sessions.flatMap((s) => {
      const counted = s.counted.filter((e) => urlOf(e) === url)
      return counted.length === 0 ? [] : [{ ...s, counted, person: Math.min(...counted.map((e) => e.person)) }]
    })
    const of = (count: (list: typeof own) => number) => inPeriods(query, (isIn) => scaled(count(own.filter(isIn)), query))
    return [url, of((list) => distinct(list.map((s) => s.person))), of((list) => sum(list.map((s) => s.counted.length)))]
  })
  return rows.sort(([a, , now], [b, , then]) => then[0]! - now[0]! || (then[1] ?? 0) - (now[1] ?? 0) || order(a, b))
}

/** The third quartile of each path, in bands. */
export function referenceVitals(events: Events, query: ReferenceWeb, [good, fair]: readonly [number, number]) {
  const own = events.filter((e) => {
    const inRange = e.event === '$web_vitals' && within(e.at, [query.from, query.to], query.zone)
    return inRange && isSampled(e, query) && isFiltered(e, query)
  })
  const valueOfPath = (path: string) => {
    const values = own
      .filter((e) => cleaned(textOf(e.properties.$pathname), query) === path)
      .flatMap((e) => number(e.properties.$web_vitals_LCP_value) ?? [])
      .sort((a, b) => a - b)
    const at = 0.75 * (values.length - 1)
    const low = values[Math.floor(at)]!
    return values.length === 0 ? null : low + (values[Math.ceil(at)]! - low) * (at % 1)
  }
  const paths = [...new Set(own.flatMap((e) => cleaned(textOf(e.properties.$pathname), query) ?? []))]
  const rows = paths
    .flatMap((path) => {
      const value = valueOfPath(path)
      return value === null || value < 0 ? [] : [{ path, value }]
    })
    .sort((a, b) => a.value - b.value || order(a.path, b.path))
  const band = (low: number, high: number) => rows.filter(({ value }) => value > low && value <= high)
  return { good: band(-1, good), needs_improvements: band(good, fair), poor: band(fair, Number.POSITIVE_INFINITY) }
}

const pageBefore = (e: ReferenceEvent, query: ReferenceTable): Value | undefined => {
  const path = textOf(e.properties.$prev_pageview_pathname)
  return path === null ? undefined : cleaned(path, query)!
}
