import { WaymarkError } from '../../../errors/errors.ts'
import { isObject } from '../../../lib/is-object.ts'
import { storableText } from '../../../lib/text/storable-text.ts'
import type { TextWriter } from '../../../lib/text/text-writer.ts'
import { withoutPersonTraces, withoutTraces } from '../cookieless/site.ts'
import {
  cookielessId,
  findVisitor,
  isCookieless,
  isVisitorId,
  type Sender,
  storedVisitor,
  type Visitor,
  type VisitorRules,
  visitorId,
} from '../cookieless/visitor.ts'
import { givesVisitFacts } from '../persons/initial-properties.ts'
import type { Warning, WarningType } from '../warnings.ts'
import { elementsChain } from './elements.ts'
import { isNoEvent, type StrangeField, strangeFieldWarning, strangeInEvent } from './event-fields.ts'
import { eventTime } from './event-time.ts'
import { longestTime } from './parse-time.ts'
import type { Shape } from './shape.ts'
import { cut, readableJson } from './text.ts'
import { readUuid } from './uuid.ts'
import { fieldText, headText, heldWrites, isPlain, nestingLimit, type WrittenProperties, writeProperties } from './write-event.ts'

type Properties = Record<string, unknown>

/** An event after everything that depends only on itself and its request. */
export interface PreparedEvent {
  readonly name: string
  readonly distinctId: string
  readonly uuid: string
  /** Microseconds. */
  readonly time: number
  /** Where the bytes of its batch hold its properties, as JSON. What the log stores of the event ends one byte later. */
  readonly propertiesFrom: number
  readonly propertiesTo: number
  /** Bytes at the end of its properties that were derived from the others. 0: none, or unknown. */
  readonly derivedBytes: number
  readonly elementsChain: string
  readonly sessionId: string
  readonly windowId: string
  readonly isPersonless: boolean
  readonly set: Readonly<Properties> | null
  readonly setOnce: Readonly<Properties> | null
  /** Names and types of `set` and `setOnce`. Null: unknown. */
  readonly setShape: Shape | null
  readonly setOnceShape: Shape | null
  readonly unset: readonly string[] | null
  /** The other id of a merge event. */
  readonly mergeWith: string | null
  readonly groups: readonly (readonly [type: string, key: string])[] | null
  readonly group: { readonly type: string; readonly key: string; readonly set: Readonly<Properties> } | null
  /** Of a visitor without cookies: its ids and its session are completed when it is applied. */
  readonly visitor: Visitor | null
  /** Names and types of its properties. */
  readonly shape: Shape
  readonly warnings: readonly Warning[]
  /** Not stored. `warnings` give the reason, if there is one. */
  readonly isDropped: boolean
}

export interface Receipt {
  /** Milliseconds. */
  readonly receivedAt: number
  readonly sentAt: string | null
  /** The log has no `sentAt` of the batch, so each event is stored with it. */
  readonly storesSentAt?: boolean
  readonly ip: string | null
  readonly anonymizeIps: boolean
  readonly isHistorical?: boolean
  /** Fields of the batch that are not read. */
  readonly strangeFields?: readonly StrangeField[]
  /** What was recorded on arrival. The log keeps the original value if the change is not reversible. */
  readonly noted?: readonly Warning[]
  /** What was recorded on arrival of an event that plugins have changed since. */
  readonly notedBefore?: readonly Warning[]
  /** Turns events without cookies into visitors, on arrival. Without it they are unknown. */
  readonly visitors?: VisitorRules
  /** The visitor that was found on arrival. */
  readonly visitor?: Visitor | null
  /** Creates the uuid of an event that has none. */
  readonly newUuid: () => string
}

export const eventBytesLimit = 1_000_000
const textLimit = 200
const groupKeyLimit = 400
const none: readonly StrangeField[] = []
const groupEvents: ReadonlySet<string> = new Set(['$groupidentify', '$group_identify'])
const needPerson: ReadonlySet<string> = new Set(['$identify', '$create_alias', '$merge_dangerously', ...groupEvents])
const aliasEvents: ReadonlySet<string> = new Set(['$create_alias', '$merge_dangerously'])

const refuse = (message: string, index: number | null, attr: string): never => {
  const prefix = index === null ? '' : `Event ${index} of the batch: `
  throw new WaymarkError('bad-event', { message: `${prefix}${message}`, index, attr })
}

/** An object, or the empty array that some languages send for an empty object. */
function objectAt(value: unknown, index: number | null, attr: string): Properties {
  if (value === undefined || value === null || (Array.isArray(value) && value.length === 0)) return {}
  return isObject(value) ? value : refuse(`"${attr}" must be an object.`, index, attr)
}

/** Text of a name or id: containers become JSON. */
const asText = (value: unknown): string =>
  typeof value === 'object' ? (readableJson(value) ?? '') : storableText(typeof value === 'string' ? value : String(value))

/** A time as it was sent, as JSON. An invalid time stays invalid; one that is too long is cut. */
export function sentTime(value: unknown): unknown {
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'invalid date' : value.toISOString()
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value)
  if (value === undefined || value === null || typeof value === 'boolean') return value
  const text = asText(value)
  return text.length <= longestTime ? text : `${cut(text, longestTime / 2)}…`
}

const isAbsent = (value: unknown): boolean => value === undefined || value === null || value === ''

const unsetKeys = (value: unknown): string[] | null => {
  const keys = Array.isArray(value) ? value.filter((key) => typeof key === 'string') : isObject(value) ? Object.keys(value) : []
  return keys.length ? keys.map(storableText) : null
}
const isUnset = (value: unknown): boolean => (Array.isArray(value) ? value.every((key) => typeof key === 'string') : isObject(value))

/** An event while it is read. */
interface Reading {
  readonly raw: Readonly<Properties>
  /** Its properties, without what a visitor without cookies must not be known by. */
  readonly given: Readonly<Properties>
  readonly name: string
  readonly uuid: string
  readonly isPersonless: boolean
  readonly isWithoutCookies: boolean
  readonly visitor: Visitor | null
  /** Receives what is wrong with its fields. */
  readonly found: Warning[]
}

interface Field {
  /** Characters that are kept of its text, or of each key and value. */
  readonly limit?: number
  /** Stored beside the properties as the time that was sent. */
  readonly isTime?: boolean
  /** Events in which it means something. Default: all. */
  readonly of?: (reading: Reading) => boolean
  /** Values that are not used, and what is noted about them. */
  readonly unusable?: readonly [is: (value: unknown) => boolean, warning: WarningType]
}

const isNoObject = (value: unknown) => !isAbsent(value) && !isObject(value) && !(Array.isArray(value) && value.length === 0)
const isNoList = (value: unknown) => !isAbsent(value) && !isUnset(value)
const hasPerson = ({ isPersonless }: Reading) => !isPersonless
const isOfGroup = ({ name }: Reading) => groupEvents.has(name)
const isAlias = ({ name }: Reading) => aliasEvents.has(name)

/** The fields that are read from an event, in the order in which they are stored and noted. */
const fields = {
  event: { limit: textLimit },
  distinct_id: { limit: textLimit },
  timestamp: { isTime: true },
  offset: { isTime: true },
  sent_at: { isTime: true },
  $set: { of: hasPerson, unusable: [isNoObject, 'invalid_person_properties'] },
  $set_once: { of: hasPerson, unusable: [isNoObject, 'invalid_person_properties'] },
  $unset: { of: hasPerson, unusable: [isNoList, 'invalid_person_properties'] },
  $groups: { limit: groupKeyLimit, unusable: [isNoObject, 'invalid_groups'] },
  $group_type: { limit: groupKeyLimit, of: isOfGroup, unusable: [isAbsent, 'invalid_groups'] },
  $group_key: { limit: groupKeyLimit, of: isOfGroup, unusable: [isAbsent, 'invalid_groups'] },
  $group_set: { of: isOfGroup, unusable: [isNoObject, 'invalid_groups'] },
  $anon_distinct_id: { limit: textLimit, of: ({ name }) => name === '$identify' },
  alias: { limit: textLimit, of: isAlias, unusable: [isAbsent, 'merge_without_alias'] },
} as const satisfies Record<string, Field>
type TextField = { [F in keyof typeof fields]: (typeof fields)[F] extends { readonly limit: number } ? F : never }[keyof typeof fields]

const rows: readonly (readonly [string, Field])[] = Object.entries(fields)
const sentFields = rows.flatMap(([field, { isTime }]) => (isTime ? [field] : []))
const checked = rows.flatMap(([field, { of, unusable }]) => (unusable ? [{ field, of, isUnusable: unusable[0], type: unusable[1] }] : []))
/** Those of events that only say what somebody did: nearly all. */
const checkedInAll = checked.filter(({ of }) => of !== isOfGroup && of !== isAlias)

/** A text as it is kept. */
function textOf(field: TextField, value: unknown, { uuid, found }: Pick<Reading, 'uuid' | 'found'>): string {
  const text = asText(value)
  if (text.length <= textLimit) return text
  const { limit } = fields[field]
  const kept = cut(text, limit)
  if (kept !== text) found.push({ type: 'text_too_long', details: { eventUuid: uuid, field, limit, kept } })
  return kept
}

/** The other id of a merge event. */
function mergeOf(reading: Reading): string | null {
  const { given, visitor, isWithoutCookies } = reading
  const field = fields.$anon_distinct_id.of(reading) ? '$anon_distinct_id' : isAlias(reading) ? 'alias' : null
  const sent = field === null || isAbsent(given[field]) ? null : textOf(field, given[field], reading)
  return !isWithoutCookies ? sent : visitor?.isIdentifying ? visitorId(visitor.hash, 0) : null
}

function groupsOf(reading: Reading): [type: string, key: string][] | null {
  const { $groups } = reading.given
  if (!isObject($groups)) return null
  const pairs = Object.entries($groups)
    .filter(([, key]) => !isAbsent(key))
    .map(([type, key]): [string, string] => [textOf('$groups', type, reading), textOf('$groups', key, reading)])
  return pairs.length ? pairs : null
}

function groupOf(reading: Reading): { readonly type: string; readonly key: string } | null {
  const { $group_type, $group_key } = reading.given
  if (!isOfGroup(reading) || isAbsent($group_type) || isAbsent($group_key)) return null
  return { type: textOf('$group_type', $group_type, reading), key: textOf('$group_key', $group_key, reading) }
}

/** What is wrong with an event that asks for no person. */
function profileWarnings(profile: unknown, isRefused: boolean, about: { eventUuid: string; event: string; distinctId: string }): Warning[] {
  const warnings: Warning[] = []
  if (typeof profile !== 'boolean') {
    const $process_person_profile = profile === null ? null : cut(asText(profile), textLimit)
    const message = '$process_person_profile must be true or false'
    warnings.push({ type: 'invalid_process_person_profile', details: { ...about, $process_person_profile, message } })
  }
  if (isRefused) warnings.push({ type: 'invalid_event_when_process_person_profile_is_false', details: about })
  return warnings
}

/**
 * Validates and normalizes one event, and appends what the log stores of it to `writer`. Pure otherwise, and idempotent: its own
 * result can be prepared a second time. `index` is its index in the batch, for error messages.
 */
export function prepareEvent(raw: unknown, receipt: Receipt, index: number | null, writer: TextWriter): PreparedEvent {
  if (!isObject(raw)) return refuse('It must be an object.', index, 'event')
  const sent = objectAt(raw.properties, index, 'properties')
  const whole = withBeside(raw, isPlain(sent) && typeof sent.toJSON !== 'function' ? sent : storable({ ...sent }))
  if (isAbsent(raw.event)) return refuse('All events must have the event field "event".', index, 'event')
  const id = raw.distinct_id ?? raw.$distinct_id ?? whole.distinct_id
  if (isAbsent(id)) return refuse('All events must have the event field "distinct_id".', index, 'distinct_id')

  const uuid = isAbsent(raw.uuid) ? receipt.newUuid() : (readUuid(raw.uuid) ?? refuse('"uuid" is not a UUID.', index, 'uuid'))
  const found: Warning[] = []
  for (const strange of receipt.strangeFields ?? none) found.push(strangeFieldWarning(strange, uuid))
  for (const strange of strangeInEvent(raw)) found.push(strangeFieldWarning(strange, uuid))
  const name = textOf('event', raw.event, { uuid, found })
  const sentId = textOf('distinct_id', id, { uuid, found })
  const isWithoutCookies = receipt.visitor != null || isCookieless(sentId, whole)
  const told = isWithoutCookies ? withoutTraces(whole) : whole

  const { $process_person_profile: profile } = told
  const isPersonless = profile === false
  const isRefused = isPersonless && needPerson.has(name)
  const warnings = profile === undefined ? [] : profileWarnings(profile, isRefused, { eventUuid: uuid, event: name, distinctId: sentId })
  const sentAt = sentTime(raw.sent_at ?? receipt.sentAt)
  const time = eventTime(
    {
      timestamp: sentTime(raw.timestamp),
      offset: sentTime(raw.offset),
      sentAt,
      ignoreSentAt: Boolean(told.$ignore_sent_at),
    },
    receipt.receivedAt * 1000,
    { eventUuid: uuid, eventName: name, isHistorical: receipt.isHistorical === true },
  )
  const visit = isWithoutCookies ? visitOf({ name, id: sentId, uuid, time: time.time, whole, ip: raw.ip, receipt }) : ofOthers
  found.push(...visit.found)
  warnings.push(...visit.dropped)
  const { visitor } = visit
  const distinctId = visitor && sentId === cookielessId ? visitorId(visitor.hash, 0) : sentId
  const given = visitor ? withoutIds(told) : told
  const reading: Reading = { raw, given, name, uuid, isPersonless, isWithoutCookies, visitor, found }
  const additions = additionsOf(reading, receipt, index, isAbsent(sentAt) || time.isSentAtUnreadable ? undefined : sentAt)
  const chain = chainOf(raw, given)
  const mergeWith = mergeOf(reading)
  const groups = groupsOf(reading)
  const group = groupOf(reading)
  if (!isRefused)
    for (const { field, of, isUnusable, type } of needPerson.has(name) ? checked : checkedInAll)
      if ((!of || of(reading)) && isUnusable(given[field])) found.push({ type, details: { eventUuid: uuid, field } })
  const noted = receipt.noted ?? [...(receipt.notedBefore ?? []), ...found]
  if (noted.length) warnings.push(...noted)
  if (time.warnings.length) warnings.push(...time.warnings)

  const start = writer.length
  const written = write(
    writer,
    reading,
    { distinctId, chain, noted, sentAt: raw.sent_at ?? (receipt.storesSentAt ? receipt.sentAt : undefined) },
    additions,
    index,
  )
  const isTooLarge = written.to - written.from + chain.length > eventBytesLimit
  if (isTooLarge) warnings.push({ type: 'message_size_too_large', details: { eventUuid: uuid, distinctId } })

  const isDropped = isNoEvent(name) || isRefused || isTooLarge || visit.dropped.length > 0
  if (isDropped) {
    writer.length = start
    writer.write(droppedText(name, distinctId, warnings))
  }
  const end = writer.length - 1
  const event = {
    name,
    distinctId,
    uuid,
    time: time.time,
    propertiesFrom: isDropped ? end : written.from,
    propertiesTo: end,
    derivedBytes: isDropped ? 0 : written.derivedBytes,
    elementsChain: chain,
    sessionId: isAbsent(given.$session_id) ? '' : asText(given.$session_id),
    windowId: isAbsent(given.$window_id) ? '' : asText(given.$window_id),
    isPersonless,
    set: written.set,
    setOnce: written.setOnce,
    setShape: null,
    setOnceShape: null,
    unset: isPersonless || given.$unset === undefined ? null : unsetKeys(given.$unset),
    mergeWith,
    visitor,
    groups,
    group: group && withParsed({ ...group, set: groupWrites(given.$group_set) }, 'set'),
    shape: written.shape,
    warnings,
    isDropped,
  }
  return withParsed(withParsed(event, 'set'), 'setOnce')
}

/** What the server knows of an event, and what was sent beside its properties. */
function additionsOf({ raw, given, isPersonless, isWithoutCookies }: Reading, receipt: Receipt, index: number | null, sentAt: unknown) {
  const changes = (attr: '$set' | '$set_once') => {
    if (isPersonless) return undefined
    const outside = objectAt(raw[attr], index, attr)
    return joined(given[attr], isWithoutCookies ? withoutPersonTraces(outside) : outside)
  }
  const ip = isAbsent(given.$ip) ? (raw.ip ?? receipt.ip) : given.$ip
  return { set: changes('$set'), setOnce: changes('$set_once'), ip: isWithoutCookies || receipt.anonymizeIps ? null : ip, sentAt }
}

/** Appends what the log stores. */
function write(
  writer: TextWriter,
  { raw, given, name, isPersonless, visitor }: Reading,
  { distinctId, chain, noted, sentAt }: { distinctId: string; chain: string; noted: readonly Warning[]; sentAt: unknown },
  additions: ReturnType<typeof additionsOf>,
  index: number | null,
): WrittenProperties {
  try {
    let fields = headText(name, distinctId)
    for (const field of sentFields) fields += fieldText(field, sentTime(field === 'sent_at' ? sentAt : raw[field]))
    if (chain) fields += fieldText('elements_chain', chain)
    if (noted.length) fields += `,"$noted":${JSON.stringify(noted)}`
    if (visitor) fields += `,"$cookieless":${JSON.stringify(storedVisitor(visitor))}`
    return writeProperties(writer, fields, given, additions, { isPersonless, givesFacts: !isPersonless && givesVisitFacts(name) })
  } catch (cause) {
    const reason = cause instanceof RangeError ? `nested more than ${nestingLimit} levels deep` : 'not representable in JSON'
    return refuse(`Its properties are ${reason}.`, index, 'properties')
  }
}

interface Arrived {
  readonly name: string
  readonly id: string
  readonly uuid: string
  readonly time: number
  readonly whole: Readonly<Properties>
  readonly ip: unknown
  readonly receipt: Receipt
}

interface Visit {
  readonly visitor: Visitor | null
  readonly found: readonly Warning[]
  /** Why the event is not stored. */
  readonly dropped: readonly Warning[]
}
const nobody: Sender = { address: null, userAgent: null }
const ofOthers: Visit = { visitor: null, found: [], dropped: [] }

/** The visitor of an event without cookies. */
function visitOf({ name, id, uuid, time, whole, ip, receipt }: Arrived): Visit {
  if (receipt.visitor !== undefined) return { ...ofOthers, visitor: receipt.visitor }
  const note = (type: WarningType, details: object = {}): Warning[] => [{ type, details: { eventUuid: uuid, event: name, ...details } }]
  if (aliasEvents.has(name)) return { ...ofOthers, dropped: note('cookieless_merge') }
  if (id !== cookielessId && isVisitorId(id)) return ofOthers // exported from here, or made up: it stays what it is
  // Past events are sent by somebody else than their visitors.
  const rules = receipt.visitors && receipt.isHistorical ? { ...receipt.visitors, sender: nobody } : receipt.visitors
  const visitor = rules ? findVisitor(rules, { properties: whole, ip, time }) : ({ missing: 'address' } as const)
  const isAnonymous = id === cookielessId
  if ('missing' in visitor) {
    const told = visitor.missing === 'day' ? note('cookieless_too_late') : note('cookieless_visitor_unknown', { missing: visitor.missing })
    if (isAnonymous) return { ...ofOthers, dropped: told }
    return { ...ofOthers, found: name === '$identify' ? told : [] }
  }
  const { hash, day, isUnconfirmed } = visitor
  const anonymous = whole.$anon_distinct_id
  const isIdentifying = name === '$identify' && !isAnonymous && !receipt.isHistorical && (isAbsent(anonymous) || anonymous === cookielessId)
  return {
    visitor: { hash, day, isIdentifying },
    found: [
      ...(isUnconfirmed ? note('cookieless_address_unconfirmed') : []),
      ...(name === '$identify' && !isAnonymous && !isIdentifying ? note('cookieless_merge_ignored') : []),
    ],
    dropped: [],
  }
}

/** Without the ids that the server assigns. */
function withoutIds(given: Properties): Properties {
  const { $session_id: _session, $anon_distinct_id: _anonymous, ...rest } = given
  return rest
}

type Parsed<T, K extends keyof T> = Omit<T, K> & { readonly [P in K]: Exclude<T[P], string> }

/** Values held as JSON are parsed at each use. */
function withParsed<T extends object, K extends keyof T>(holder: T, key: K): Parsed<T, K> {
  const held = holder[key]
  if (typeof held === 'string') Object.defineProperty(holder, key, { get: () => JSON.parse(held) as unknown })
  return holder as unknown as Parsed<T, K>
}

/** What the log stores of an event that is not stored. */
export const droppedText = (name: string, distinctId: string, warnings: readonly Warning[]): string =>
  `${headText(name, distinctId)},"$dropped":${JSON.stringify(warnings)}}`

/** Properties, together with fields that can be inside or beside them. */
function withBeside(raw: Readonly<Properties>, given: Properties): Properties {
  const { $unset, elements } = raw
  if (isAbsent($unset) && isAbsent(elements)) return given
  return {
    ...given,
    ...(isAbsent($unset)
      ? {}
      : { $unset: isAbsent(given.$unset) ? $unset : [...(unsetKeys(given.$unset) ?? []), ...(unsetKeys($unset) ?? [])] }),
    ...(isAbsent(elements) ? {} : { $elements: given.$elements ?? elements }),
  }
}

/** Changes of a person beside the properties override those inside them. */
function joined(inner: unknown, outer: Readonly<Properties>): unknown {
  if (Object.keys(outer).length === 0) return inner
  return isObject(inner) ? { ...inner, ...outer } : outer
}

function chainOf(raw: Readonly<Properties>, given: Readonly<Properties>): string {
  let chain = typeof raw.elements_chain === 'string' ? raw.elements_chain : ''
  if (given.$elements !== undefined) chain ||= elementsChain(given.$elements)
  if (typeof given.$elements_chain === 'string') chain ||= given.$elements_chain
  return chain && storableText(chain)
}

/** A deep copy of an object, as JSON can represent it. */
function storable(value: unknown): Properties {
  const copy: unknown = isObject(value) ? JSON.parse(readableJson(value) ?? 'null') : null
  return isObject(copy) ? copy : {}
}

const groupWrites = (value: unknown): Properties | string => {
  const json = isObject(value) ? readableJson(value) : undefined
  return (json === undefined ? null : (heldWrites(json) as Properties | string | null)) ?? {}
}
