import { columnCount, type GridPlace } from '../../../service/pictures/grid.ts'
import { readableEvent, readableProperty } from '../../../service/pictures/readable.ts'
import type { Query } from '../../lib/api.ts'

// Dashboards to begin with. A template names the roles that events play in a product; the events of a project are found by their names, and can be chosen.

/** Of several, all must be in the name. */
type Fit = RegExp | readonly RegExp[]
const isFit = (fit: Fit, name: string): boolean => [fit].flat().every((part) => part.test(name))

export interface Role {
  readonly name: string
  readonly title: string
  /** Names of events that fit, the best first. */
  readonly fits: readonly Fit[]
  /** Of events whose numbers are added up: names of properties that fit. */
  readonly numbers?: readonly RegExp[]
}

/** An event, and the property with its numbers if the role has one. */
export interface Player {
  readonly event: string
  readonly number?: string
}
export type Cast = Readonly<Record<string, Player | undefined>>

export interface TemplateTile {
  readonly name: string
  readonly query: Query
  readonly size: typeof small | typeof half | typeof whole
}
export interface Template {
  readonly name: string
  readonly title: string
  readonly about: string
  readonly roles: readonly Role[]
  /** Those that can be asked of these events; `has`: whether events have a property. */
  tiles(cast: Cast, has: (property: string) => boolean): readonly TemplateTile[]
}

/** Columns of twelve, and rows. */
const small = [4, 3] as const
const half = [6, 4] as const
const whole = [12, 4] as const

const node = (event: string, more: object = {}) => ({ kind: 'EventsNode', event, name: event, ...more })
const month = { date_from: '-30d' }
const quarter = { date_from: '-90d' }
const previous = { compare: true }

const trend = (series: readonly object[], more: object = {}): Query => ({
  kind: 'TrendsQuery',
  series,
  interval: 'day',
  dateRange: month,
  trendsFilter: { display: 'ActionsLineGraph' },
  ...more,
})
const number = (series: object): Query => trend([series], { trendsFilter: { display: 'BoldNumber' }, compareFilter: previous })
const split = (series: object, property: string, display: string): Query =>
  trend([series], { breakdownFilter: { breakdowns: [{ property, type: 'event' }] }, trendsFilter: { display } })
const funnel = (events: readonly string[]): Query => ({
  kind: 'FunnelsQuery',
  series: events.map((event) => node(event)),
  dateRange: month,
  funnelsFilter: { funnelWindowInterval: 14, funnelWindowIntervalUnit: 'day' },
})
const entity = (event: string) => ({ id: event, name: event, type: 'events' })
const retention = (event: string, again: string, period: 'Day' | 'Week'): Query => ({
  kind: 'RetentionQuery',
  dateRange: period === 'Day' ? { date_from: '-11d' } : { date_from: '-8w' },
  retentionFilter: {
    period,
    totalIntervals: period === 'Day' ? 11 : 8,
    retentionType: 'retention_first_time',
    targetEntity: entity(event),
    returningEntity: entity(again),
  },
})
const people = (event: string): object => node(event, { math: 'dau' })

/** Those whose events are known; `all`: of these. */
const chosen = (cast: Cast, ...roles: readonly string[]): readonly string[] => roles.flatMap((role) => cast[role]?.event ?? [])
/** The tiles of a condition. */
const when = <T>(value: T | undefined | false, tiles: (value: T) => readonly TemplateTile[]): readonly TemplateTile[] =>
  value === undefined || value === false ? [] : tiles(value)
/** A funnel needs two steps. */
const funnelOf = (name: string, events: readonly string[]): readonly TemplateTile[] =>
  events.length < 2 ? [] : [{ name, query: funnel(events), size: whole }]
const splitsOf = (
  series: object,
  what: string,
  properties: readonly string[],
  has: (property: string) => boolean,
): readonly TemplateTile[] =>
  properties.filter(has).map((property) => ({
    name: `${what} by ${readableProperty(property).toLowerCase()}`,
    query: split(series, property, 'ActionsBarValue'),
    size: half,
  }))

const visit: Role = { name: 'visit', title: 'A visit', fits: [/^\$pageview$/, /^\$screen$/, /page.?view|screen.?view|visit/i] }
const signUp: Role = {
  name: 'signUp',
  title: 'Signing up',
  fits: [/sign(ed)?[ _-]?up/i, /regist(er|rat)/i, /(account|user)[ _-]?(was[ _-])?created/i],
}
const use: Role = {
  name: 'use',
  title: 'Using the product',
  fits: [/^(?!\$).*(creat|complet|upload|publish|send|sent|shar|added|start)/i, /^(?!\$)/, /^\$pageview$|^\$screen$/],
}
const pay: Role = {
  name: 'pay',
  title: 'Paying',
  fits: [
    /purchas|order(ed)?[ _-]?(complet|placed|paid|confirm)|bought/i,
    /subscri(bed|ption)|payment|paid|upgrad|invoice/i,
    /checkout[ _-]?(complet|finish)/i,
  ],
  numbers: [/revenue|amount/i, /total|price|value/i],
}

const active = (event: string): readonly TemplateTile[] => [
  { name: 'People today', query: number({ ...people(event) }), size: small },
  { name: 'Weekly active people', query: trend([node(event, { math: 'weekly_active' })], { dateRange: quarter }), size: half },
]
const paidTiles = ({ event, number: property }: Player): readonly TemplateTile[] => [
  ...(property === undefined
    ? []
    : [
        { name: 'Revenue', query: number(node(event, { math: 'sum', math_property: property })), size: small },
        {
          name: 'Revenue by day',
          query: trend([node(event, { math: 'sum', math_property: property })], { compareFilter: previous }),
          size: half,
        },
        {
          name: 'Average order',
          query: trend([node(event, { math: 'avg', math_property: property })], { interval: 'week', dateRange: quarter }),
          size: half,
        },
      ]),
]

export const templates: readonly Template[] = [
  {
    name: 'saas',
    title: 'Software as a service',
    about: 'Active people, sign-ups, from the first visit to paying, who comes back',
    roles: [visit, signUp, use, pay],
    tiles: (cast, has) => [
      ...when(cast.use, ({ event }) => active(event)),
      ...when(cast.signUp, ({ event }) => [
        { name: 'Sign-ups', query: number(node(event)), size: small },
        { name: 'Sign-ups by day', query: trend([node(event)], { compareFilter: previous }), size: half },
      ]),
      ...funnelOf('From the visit to paying', chosen(cast, 'visit', 'signUp', 'use', 'pay')),
      ...when(cast.use, ({ event }) => [
        { name: 'Who comes back', query: retention(cast.signUp?.event ?? event, event, 'Week'), size: half },
        {
          name: 'New, returning and lost people',
          query: { kind: 'LifecycleQuery', series: [node(event)], interval: 'week', dateRange: quarter },
          size: half,
        },
        { name: 'Days of use', query: { kind: 'StickinessQuery', series: [people(event)], interval: 'day', dateRange: month }, size: half },
      ]),
      ...when(cast.pay, paidTiles),
      ...when(cast.signUp, ({ event }) => splitsOf(node(event), 'Sign-ups', ['$referring_domain', 'utm_source', 'plan'], has)),
    ],
  },
  {
    name: 'shop',
    title: 'Shop',
    about: 'Revenue, orders, from a product to the order, who buys again',
    roles: [
      visit,
      {
        name: 'look',
        title: 'Looking at a product',
        fits: [/(product|item)[ _-]?(was[ _-])?view|view(ed)?[ _-]?(product|item)/i, /product[ _-]?(detail|page|seen)/i, /product|item/i],
      },
      {
        name: 'cart',
        title: 'Adding to the cart',
        fits: [[/add|put/i, /cart|basket|bag/i], /product[ _-]?added|cart|basket/i],
      },
      {
        name: 'checkout',
        title: 'Beginning the checkout',
        fits: [[/checkout/i, /start|begin|began/i], /checkout/i],
      },
      pay,
    ],
    tiles: (cast, has) => [
      ...when(cast.pay, (pay) => [
        { name: 'Orders', query: number(node(pay.event)), size: small },
        ...paidTiles(pay),
        { name: 'Orders by day', query: trend([node(pay.event)], { compareFilter: previous }), size: half },
      ]),
      ...funnelOf('From the product to the order', chosen(cast, 'look', 'cart', 'checkout', 'pay')),
      ...when(cast.visit, ({ event }) => [{ name: 'Visitors', query: trend([people(event)], { compareFilter: previous }), size: half }]),
      ...when(cast.pay, ({ event }) => [
        { name: 'Who buys again', query: retention(event, event, 'Week'), size: half },
        ...splitsOf(node(event), 'Orders', ['utm_source', '$referring_domain', '$device_type', '$geoip_country_name'], has),
      ]),
    ],
  },
  {
    name: 'app',
    title: 'App',
    about: 'Daily and monthly use, who comes back, versions and systems',
    roles: [
      {
        name: 'open',
        title: 'Opening the app',
        fits: [/app(lication)?[ _-]?(was[ _-])?open|session[ _-]?start|launch/i, /^\$screen$/, /^\$pageview$/],
      },
      signUp,
      use,
    ],
    tiles: (cast, has) => [
      ...when(cast.open, ({ event }) => [
        { name: 'People today', query: number(people(event)), size: small },
        {
          name: 'Daily, weekly and monthly use',
          query: trend(
            ['dau', 'weekly_active', 'monthly_active'].map((math) => node(event, { math })),
            { dateRange: quarter },
          ),
          size: half,
        },
        { name: 'Who comes back', query: retention(cast.signUp?.event ?? event, event, 'Day'), size: half },
        { name: 'Days of use', query: { kind: 'StickinessQuery', series: [people(event)], interval: 'day', dateRange: month }, size: half },
      ]),
      ...funnelOf('The first steps', [...new Set(chosen(cast, 'open', 'signUp', 'use'))]),
      ...when(cast.use, ({ event }) => [{ name: readableEvent(event), query: trend([node(event), people(event)]), size: half }]),
      ...when(cast.open, ({ event }) =>
        splitsOf(people(event), 'People', ['$app_version', '$os', '$os_version', '$geoip_country_name'], has),
      ),
    ],
  },
  {
    name: 'content',
    title: 'Content',
    about: 'Readers, what they read, where they come from, who subscribes',
    roles: [
      { ...visit, title: 'Opening a page' },
      { name: 'read', title: 'Reading or watching', fits: [/read|article|post|watch|play|video|listen/i] },
      { ...signUp, name: 'subscribe', title: 'Subscribing', fits: [/subscri/i, /newsletter/i, ...signUp.fits] },
    ],
    tiles: (cast, has) => [
      ...when(cast.visit, ({ event }) => [
        { name: 'Readers', query: number(people(event)), size: small },
        { name: 'Readers by day', query: trend([people(event)], { compareFilter: previous }), size: half },
        ...splitsOf(node(event), 'Views', ['$pathname', '$referring_domain', 'utm_source', '$geoip_country_name'], has),
        { name: 'Who comes back', query: retention(event, event, 'Week'), size: half },
      ]),
      ...when(cast.read, ({ event }) => [{ name: readableEvent(event), query: trend([node(event), people(event)]), size: half }]),
      ...funnelOf('From the page to the subscription', chosen(cast, 'visit', 'read', 'subscribe')),
    ],
  },
]

interface Named {
  readonly name: string
}

/** The first that fits and is not taken. */
const firstFit = (fit: Fit, names: readonly Named[], taken: ReadonlySet<string>): string | undefined =>
  names.find(({ name }) => isFit(fit, name) && !taken.has(name))?.name

/** Which events of a project play the roles. `events`: the most frequent first. `numbers`: properties whose values are numbers. */
export function castOf({ roles }: Template, events: readonly Named[], numbers: readonly Named[]): Cast {
  const players = new Map<string, string>()
  /** What fits a role well is not taken by another one that it fits a little. */
  const cast = (those: readonly Role[]) => {
    const levels = Math.max(0, ...those.map(({ fits }) => fits.length))
    for (let level = 0; level < levels; level++)
      for (const { name, fits } of those) {
        const fit = fits[level]
        const event = fit && !players.has(name) ? firstFit(fit, events, new Set(players.values())) : undefined
        if (event !== undefined) players.set(name, event)
      }
  }
  // Nearly anything is a use.
  cast(roles.filter(({ name }) => name !== use.name))
  cast(roles.filter(({ name }) => name === use.name))
  return Object.fromEntries(
    roles.map(({ name, numbers: fits = [] }) => {
      const event = players.get(name)
      const number = fits.map((fit) => firstFit(fit, numbers, new Set())).find((found) => found !== undefined)
      return [name, event === undefined ? undefined : { event, ...(number !== undefined && { number }) }]
    }),
  )
}

export interface PlacedTile extends TemplateTile {
  readonly place: GridPlace
}

/** Numbers first, side by side; then what takes the whole width, then two in a row. */
export function arrangedTiles(tiles: readonly TemplateTile[]): readonly PlacedTile[] {
  const numbers = tiles.filter(({ size }) => size === small)
  const others = [...tiles.filter(({ size }) => size === whole), ...tiles.filter(({ size }) => size === half)]
  const perRow = Math.min(numbers.length, 4)
  const width = perRow === 0 ? 0 : Math.floor(columnCount / perRow)
  const placed = numbers.map((tile, i): PlacedTile => {
    const [w, h] = [width, small[1]]
    return { ...tile, place: { x: (i % perRow) * w, y: Math.floor(i / perRow) * h, w, h } }
  })
  let [x, y] = [0, perRow === 0 ? 0 : Math.ceil(numbers.length / perRow) * small[1]]
  for (const tile of others) {
    const [w, h] = tile.size
    placed.push({ ...tile, place: { x, y, w, h } })
    x = (x + w) % columnCount
    if (x === 0) y += h
  }
  return placed
}
