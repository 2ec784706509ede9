import { alias, and, call, equals, field, from, groupBy, isIn, literal, select, table, unionAll } from '../ast/build.ts'
import type { Expr, Query, TableSource } from '../ast/nodes.ts'
import { walk } from '../ast/walk.ts'
import { propertyOf } from '../types/property-values.ts'
import { arrayOf, nullable, type SqlType, scalar } from '../types/types.ts'
import { type ChannelField, type ChannelRule, ruledChannel } from './channel-rules.ts'
import { channelType, type VisitStep } from './channels.ts'

// One row per session id, computed from the session's events. Columns are computed from measures, which are aggregates over the
// events. Only the columns that are read are computed, and each measure once.

export interface SessionField {
  readonly type: SqlType
  /** Computed from the measures, by their names. */
  readonly value: (settings: SessionSettings) => Expr
  /** `*` leaves it out. */
  readonly hidden?: true
}
export interface SessionSettings {
  /** A session shorter than this with one page is a bounce. */
  readonly bounceSeconds?: number | undefined
  /** Before the usual ones. */
  readonly channelRules?: readonly ChannelRule[] | undefined
}

export const usualBounceSeconds = 10

/** For an event property: its text, and a number or a time if the context needs one. */
const text = propertyOf({ numbers: 'none', of: [] })
const count = scalar('UInt64')
const time: SqlType = { kind: 'scalar', name: 'DateTime64', nullable: false, parameters: [6] }
const truth = scalar('Bool')

const timestamp = field('timestamp')
const property = (name: string): Expr => call('nullIf', call('toString', field('properties', name)), literal(''))
const named = (...events: string[]): Expr =>
  events.length === 1 ? equals(field('event'), literal(events[0]!)) : isIn(field('event'), events.map(literal))
const isPage = named('$pageview', '$screen')

/** Over the pages, or over all events if there is no page. */
const first = (value: Expr): Expr => call('coalesce', call('argMinIf', value, timestamp, isPage), call('argMin', value, timestamp))
const last = (value: Expr): Expr => call('coalesce', call('argMaxIf', value, timestamp, isPage), call('argMax', value, timestamp))
const distinctEvents = (...events: string[]): Expr => call('uniqExactIf', field('uuid'), named(...events))
const currentUrl = property('$current_url')
const actionNames = ['$pageview', '$screen', '$autocapture']

/** UTM parameters and click ids in the address of the first page. */
const adMarks = [
  'gclid',
  'gad_source',
  'fbclid',
  'gclsrc',
  'dclid',
  'gbraid',
  'wbraid',
  'msclkid',
  'twclid',
  'li_fat_id',
  'mc_cid',
  'igshid',
  'ttclid',
  '_kx',
  'irclid',
  'epik',
  'qclid',
  'sccid',
] as const
const utmMarks = ['utm_source', 'utm_campaign', 'utm_medium', 'utm_term', 'utm_content'] as const
const marks = [...adMarks, ...utmMarks]

const byName = <T>(names: readonly string[], prefix: string, make: (name: string) => T): Record<string, T> =>
  Object.fromEntries(names.map((name) => [`${prefix}${name}`, make(name)]))

/** Aggregates over the events of one session. */
const measures: Readonly<Record<string, Expr>> = {
  started: call('min', timestamp),
  ended: call('max', timestamp),
  inserted: call('max', field('created_at')),
  team: call('any', field('team_id')),
  id_v7: call('any', field('$session_id_uuid')),
  who: call('argMin', field('distinct_id'), timestamp),
  person: call('argMin', field('person_id'), timestamp),
  urls: call('groupUniqArray', currentUrl),
  url_count: call('uniqExact', currentUrl),
  first_url: first(currentUrl),
  last_url: last(currentUrl),
  referring_domain: first(property('$referring_domain')),
  last_click: call('argMaxIf', property('$external_click_url'), timestamp, named('$autocapture')),
  pageviews: distinctEvents('$pageview'),
  autocaptures: distinctEvents('$autocapture'),
  screens: distinctEvents('$screen'),
  actions: distinctEvents(...actionNames),
  action_count: call('countIf', named(...actionNames)),
  ...byName(marks, 'mark_', (name) => first(property(name))),
}
// Prefixed so that no event column has the same name: an alias would shadow it.
const measureName = (name: string) => `@${name}`
const measure = (name: string): Expr => field(measureName(name))

const channel = channelType(
  {
    campaign: measure('mark_utm_campaign'),
    medium: measure('mark_utm_medium'),
    source: measure('mark_utm_source'),
    referringDomain: measure('referring_domain'),
    gclid: measure('mark_gclid'),
    gadSource: measure('mark_gad_source'),
    fbclid: measure('mark_fbclid'),
  },
  measure,
)

const ruled: Readonly<Record<ChannelField, Expr>> = {
  utm_source: measure('mark_utm_source'),
  utm_medium: measure('mark_utm_medium'),
  utm_campaign: measure('mark_utm_campaign'),
  referring_domain: measure('referring_domain'),
  url: measure('first_url'),
  hostname: call('domain', measure('first_url')),
  pathname: call('path', measure('first_url')),
}

const seconds = call('dateDiff', literal('second'), measure('started'), measure('ended'))
const actions = measure('actions')
/** An id is stored once: to count events takes a third less than to read their ids. */
const isSingle = equals(measure('action_count'), literal(1))
const is = (type: SqlType, value: Expr | SessionField['value']): SessionField => ({
  type,
  value: typeof value === 'function' ? value : () => value,
})
const hidden = (shown: SessionField): SessionField => ({ ...shown, hidden: true })
const endUrl = is(text, measure('last_url'))
const endPath = is(text, call('path', measure('last_url')))
const id = is(scalar('String'), measure('id'))
const duration = is(scalar('Int64'), seconds)

export const sessionFields: Readonly<Record<string, SessionField>> = {
  id: hidden(id),
  team_id: hidden(is(scalar('Int32'), measure('team'))),
  session_id: id,
  session_id_v7: is(nullable(scalar('UUID')), measure('id_v7')),
  distinct_id: is(scalar('String'), measure('who')),
  person_id: is(scalar('UUID'), measure('person')),
  session_timestamp: is(time, measure('started')),
  $start_timestamp: is(time, measure('started')),
  $end_timestamp: is(time, measure('ended')),
  max_inserted_at: is(time, measure('inserted')),
  $urls: is(arrayOf(scalar('String', true)), call('arraySort', measure('urls'))),
  $num_uniq_urls: is(count, measure('url_count')),
  $entry_current_url: is(text, measure('first_url')),
  $entry_pathname: is(text, call('path', measure('first_url'))),
  $entry_hostname: is(text, call('domain', measure('first_url'))),
  $end_current_url: endUrl,
  $end_pathname: endPath,
  $end_hostname: is(text, call('domain', measure('last_url'))),
  $exit_current_url: hidden(endUrl),
  $exit_pathname: hidden(endPath),
  $entry_referring_domain: is(text, measure('referring_domain')),
  $last_external_click_url: is(text, measure('last_click')),
  ...byName(marks, '$entry_', (name) => is(text, measure(`mark_${name}`))),
  ...byName(adMarks, '$entry_has_', (name) => is(truth, call('isNotNull', measure(`mark_${name}`)))),
  $pageview_count: is(count, measure('pageviews')),
  $autocapture_count: is(count, measure('autocaptures')),
  $screen_count: is(count, measure('screens')),
  $page_screen_autocapture_count_up_to: is(count, call('if', call('greater', actions, literal(2)), literal(2), actions)),
  $channel_type: is(scalar('String'), ({ channelRules = [] }) =>
    channelRules.length === 0
      ? channel.channel
      : call(
          'coalesce',
          ruledChannel(channelRules, (name) => ruled[name]),
          channel.channel,
        ),
  ),
  $session_duration: duration,
  duration: hidden(duration),
  $is_bounce: is(nullable(truth), ({ bounceSeconds = usualBounceSeconds }) =>
    call('if', equals(measure('action_count'), literal(0)), literal(null), and(isSingle, call('less', seconds, literal(bounceSeconds)))),
  ),
}

/** Session ids are UUIDs of version 7; events with any other value belong to no session. */
export const isSessionId = (id: Expr): Expr => call('match', id, literal(validId))
const validId = '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-7[0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}$'

/** Narrows and extends the sessions of a query. */
export interface SessionOptions {
  /** Further aggregates over the events of a session, as columns with these names. */
  readonly also?: Readonly<Record<string, Expr>>
  /** The events that are looked at. Default all. */
  readonly events?: Expr
  readonly from?: TableSource
  /** Sessions of events that name none, beside the others: one row each with these columns in their order, the id among them. */
  readonly made?: ((measures: Readonly<Record<string, Expr>>) => Query) | null
  readonly onlyMade?: boolean
}

const isMade = 'is_made'
/** What differs in made sessions: they have no UUID. */
const ofMade: Readonly<Record<string, Expr>> = { id_v7: call('nullIf', measures.id_v7!, measures.id_v7!), [isMade]: literal(true) }
/** Events that a server sends without a session id and without an address do not tell where somebody came from. */
const hasNoOrigin = and(measure(isMade), call('isNull', measure('first_url')))

export function sessionsQuery(
  fields: readonly string[],
  settings: SessionSettings,
  { also = {}, events, from: source = table('events', '@session_events'), made = null, onlyMade = false }: SessionOptions = {},
): Query {
  const column = (name: string): Expr => {
    const value = sessionFields[name]!.value(settings)
    return made && name === '$channel_type' ? call('if', hasNoOrigin, literal(null), value) : value
  }
  const columns = [...fields.map((name) => alias(column(name), name)), ...Object.keys(also).map((name) => alias(measure(name), name))]
  const known = { ...measures, [isMade]: literal(false), ...also }
  const measured = (names: readonly string[]) => {
    const stored = measuresQuery(names, known, source, events)
    if (!made) return stored
    const ofThem: Readonly<Record<string, Expr>> = { ...known, ...ofMade, id: field('$session_id') }
    const others = made(Object.fromEntries(names.map((name) => [measureName(name), ofThem[name]!])))
    return onlyMade ? others : unionAll(stored, others)
  }
  return select({ columns, from: from(stepQuery(columns, [...channel.steps].reverse(), measured), '@sessions') })
}

/** The columns that `columns` need, from the last step to the measures. A step without any is left out. */
function stepQuery(
  columns: readonly Expr[],
  [step, ...before]: readonly VisitStep[],
  measured: (names: readonly string[]) => Query,
): Query {
  const read = new Set<string>(['id'])
  const parameters = new Set<string>()
  for (const column of columns)
    walk(column, (node) => {
      if (node.kind === 'lambda') for (const name of node.params) parameters.add(name.slice(1))
      else if (node.kind === 'field') read.add(node.chain[0]!.slice(1))
    })
  for (const name of parameters) read.delete(name)
  if (!step) return measured([...read])
  if (![...read].some((name) => name in step)) return stepQuery(columns, before, measured)
  const made = [...read].map((name) => alias(step[name] ?? measure(name), measureName(name)))
  return select({ columns: made, from: from(stepQuery(made, before, measured), '@steps') })
}

function measuresQuery(names: readonly string[], known: Readonly<Record<string, Expr>>, source: TableSource, events?: Expr): Query {
  const sessionId = field('$session_id')
  return select({
    columns: names.map((name) => alias(name === 'id' ? sessionId : known[name]!, measureName(name))),
    from: source,
    where: events ? and(events, call('notEquals', sessionId, literal(''))) : call('notEquals', sessionId, literal('')),
    groupBy: groupBy(sessionId),
    // Once for each session. Of its events, all have the same id; an aggregate keeps the engine from testing each of them.
    having: isSessionId(call('min', sessionId)),
  })
}
