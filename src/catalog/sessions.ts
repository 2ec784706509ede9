import { alias, and, call, equals, field, groupBy, isIn, literal, select, table } from '../ast/build.ts'
import type { Expr, Query } from '../ast/nodes.ts'
import { arrayOf, nullable, type SqlType, scalar } from '../types/types.ts'
import { channelType } from './channels.ts'

// One row per session id, made from the session's events when it is asked for. Only the columns that are read are computed.

export interface SessionField {
  readonly type: SqlType
  readonly value: (settings: SessionSettings) => Expr
  /** `*` leaves it out. */
  readonly hidden?: true
}
export interface SessionSettings {
  /** A session shorter than this with one page is a bounce. */
  readonly bounceSeconds: number
}

const text = scalar('String', true)
const count = scalar('UInt64')
const time: SqlType = { kind: 'scalar', name: 'DateTime64', nullable: false, parameters: [6] }
const truth = scalar('Bool')

const timestamp = field('timestamp')
const property = (name: string): Expr => call('nullIf', call('toString', field('properties', name)), literal(''))
const named = (...events: string[]): Expr =>
  events.length === 1 ? equals(field('event'), literal(events[0]!)) : isIn(field('event'), events.map(literal))
const isPage = named('$pageview', '$screen')

/** Of the pages, or of all events when none of them is a page. */
const first = (value: Expr): Expr => call('coalesce', call('argMinIf', value, timestamp, isPage), call('argMin', value, timestamp))
const last = (value: Expr): Expr => call('coalesce', call('argMaxIf', value, timestamp, isPage), call('argMax', value, timestamp))
const distinctEvents = (...events: string[]): Expr => call('uniqExactIf', field('uuid'), named(...events))

const start = call('min', timestamp)
const end = call('max', timestamp)
const seconds = call('dateDiff', literal('second'), start, end)
const actions = distinctEvents('$pageview', '$screen', '$autocapture')
const entry = (name: string): Expr => first(property(name))

/** Marks that links and advertisements leave in the address of the first page. */
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

const currentUrl = property('$current_url')
const firstUrl = first(currentUrl)
const lastUrl = last(currentUrl)

const is = (type: SqlType, value: Expr | SessionField['value']): SessionField => ({
  type,
  value: typeof value === 'function' ? value : () => value,
})
const byName = <T extends string>(names: readonly T[], prefix: string, make: (name: T) => SessionField) =>
  Object.fromEntries(names.map((name) => [`${prefix}${name}`, make(name)]))

export const sessionFields: Readonly<Record<string, SessionField>> = {
  id: { ...is(scalar('String'), field('$session_id')), hidden: true },
  session_id: is(scalar('String'), field('$session_id')),
  session_id_v7: is(nullable(scalar('UUID')), call('any', field('$session_id_uuid'))),
  distinct_id: is(scalar('String'), call('argMin', field('distinct_id'), timestamp)),
  person_id: is(scalar('UUID'), call('argMin', field('person_id'), timestamp)),
  session_timestamp: is(time, start),
  $start_timestamp: is(time, start),
  $end_timestamp: is(time, end),
  max_inserted_at: is(time, call('max', field('created_at'))),
  $urls: is(arrayOf(text), call('arraySort', call('groupUniqArray', currentUrl))),
  $num_uniq_urls: is(count, call('uniqExact', currentUrl)),
  $entry_current_url: is(text, firstUrl),
  $entry_pathname: is(text, call('path', firstUrl)),
  $entry_hostname: is(text, call('domain', firstUrl)),
  $end_current_url: is(text, lastUrl),
  $end_pathname: is(text, call('path', lastUrl)),
  $end_hostname: is(text, call('domain', lastUrl)),
  $exit_current_url: { ...is(text, lastUrl), hidden: true },
  $exit_pathname: { ...is(text, call('path', lastUrl)), hidden: true },
  $entry_referring_domain: is(text, entry('$referring_domain')),
  $last_external_click_url: is(text, call('argMaxIf', property('$external_click_url'), timestamp, named('$autocapture'))),
  ...byName(utmMarks, '$entry_', (name) => is(text, entry(name))),
  ...byName(adMarks, '$entry_', (name) => is(text, entry(name))),
  ...byName(adMarks, '$entry_has_', (name) => is(truth, call('isNotNull', entry(name)))),
  $pageview_count: is(count, distinctEvents('$pageview')),
  $autocapture_count: is(count, distinctEvents('$autocapture')),
  $screen_count: is(count, distinctEvents('$screen')),
  $page_screen_autocapture_count_up_to: is(count, call('if', call('greater', actions, literal(2)), literal(2), actions)),
  $channel_type: is(
    scalar('String'),
    channelType({
      campaign: entry('utm_campaign'),
      medium: entry('utm_medium'),
      source: entry('utm_source'),
      referringDomain: entry('$referring_domain'),
      gclid: entry('gclid'),
      gadSource: entry('gad_source'),
      fbclid: entry('fbclid'),
    }),
  ),
  $session_duration: is(scalar('Int64'), seconds),
  duration: { ...is(scalar('Int64'), seconds), hidden: true },
  $is_bounce: is(nullable(truth), ({ bounceSeconds }) =>
    call('if', equals(actions, literal(0)), literal(null), and(equals(actions, literal(1)), call('less', seconds, literal(bounceSeconds)))),
  ),
}

/** Session ids are UUIDs of version 7; events that carry anything else belong to no session. */
const validId = '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-7[0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}$'

export const sessionsQuery = (fields: readonly string[], settings: SessionSettings): Query =>
  select({
    columns: fields.map((name) => alias(sessionFields[name]!.value(settings), name)),
    from: table('events', '@session_events'),
    where: call('match', field('$session_id'), literal(validId)),
    groupBy: groupBy(field('@session_events', '$session_id')),
  })
