import { WaymarkError } from '../errors/errors.ts'
import { elementsChain } from './elements.ts'
import { eventTime } from './event-time.ts'
import { initialProperties } from './initial-properties.ts'
import { valueTypeOf } from './property-types.ts'
import { cut, isDeeperThan, readable, readableJson } from './text.ts'
import { readUuid } from './uuid.ts'
import type { Warning } from './warnings.ts'

type Properties = Record<string, unknown>

/** An event after everything that can be known from itself and its request. */
export interface PreparedEvent {
  readonly name: string
  readonly distinctId: string
  readonly uuid: string
  /** Microseconds. */
  readonly time: number
  /** JSON text. */
  readonly properties: string
  readonly elementsChain: string
  readonly sessionId: string
  readonly windowId: string
  readonly isPersonless: boolean
  readonly set: Readonly<Properties> | null
  readonly setOnce: Readonly<Properties> | null
  readonly unset: readonly string[] | null
  /** The other id of a merge event. */
  readonly mergeWith: string | null
  readonly groups: readonly (readonly [type: string, key: string])[] | null
  readonly group: { readonly type: string; readonly key: string; readonly set: Readonly<Properties> } | null
  /** Names and types of its properties in one text; equal for events of one make. */
  readonly shape: string
  readonly warnings: readonly Warning[]
  /** Not to be stored; `warnings` say why, if it is worth a word. */
  readonly isDropped: boolean
}

export interface Receipt {
  /** Milliseconds. */
  readonly receivedAt: number
  readonly sentAt: string | null
  readonly ip: string | null
  readonly anonymizeIps: boolean
  /** For an event that brings none. */
  readonly newUuid: () => string
}

export const eventBytesLimit = 1_000_000
export const nestingLimit = 200
const textLimit = 200
const groupKeyLimit = 400
const groupEvents: ReadonlySet<string> = new Set(['$groupidentify', '$group_identify'])
const needPerson: ReadonlySet<string> = new Set(['$identify', '$create_alias', '$merge_dangerously', ...groupEvents])
const aliasEvents: ReadonlySet<string> = new Set(['$create_alias', '$merge_dangerously'])

const refuse = (message: string, index: number | null, attr: string): never => {
  const place = index === null ? '' : `Event ${index} of the batch: `
  throw new WaymarkError('bad-event', { message: `${place}${message}`, index, attr })
}

const isObject = (value: unknown): value is Properties => value !== null && typeof value === 'object' && !Array.isArray(value)

/** An object, or what some languages send for an empty one. */
function objectAt(value: unknown, index: number | null, attr: string): Properties {
  if (value === undefined || value === null || (Array.isArray(value) && value.length === 0)) return {}
  return isObject(value) ? value : refuse(`"${attr}" must be an object.`, index, attr)
}

/** Text of a name or id: containers become JSON. */
const asText = (value: unknown): string =>
  typeof value === 'object' ? (readableJson(value) ?? '') : readable(typeof value === 'string' ? value : String(value))

/** A time as it was sent, in a form that JSON can hold and that is as unreadable as it was. */
export function sentTime(value: unknown): unknown {
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'invalid date' : value.toISOString()
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value)
  return value === null || typeof value === 'boolean' ? value : value === undefined ? undefined : asText(value)
}

const isAbsent = (value: unknown): boolean => value === undefined || value === null || value === ''

/** A copy that later changes of the caller's object do not reach. */
const copyOf = (value: unknown): Properties | null => {
  if (!isObject(value)) return null
  let isFlat = true
  let isEmpty = true
  const flat: Properties = {}
  for (const key in value) {
    const inner = value[key]
    isEmpty = false
    if (typeof inner === 'string') flat[key] = readable(inner)
    else if (typeof inner === 'boolean' || inner === null || (typeof inner === 'number' && Number.isFinite(inner))) flat[key] = inner
    else isFlat = false
    if (key === '__proto__' || readable(key) !== key) isFlat = false
  }
  if (isEmpty) return null
  if (isFlat) return flat
  const copy: unknown = JSON.parse(readableJson(value))
  return isObject(copy) && Object.keys(copy).length > 0 ? copy : null
}

const unsetKeys = (value: unknown): string[] | null => {
  const keys = Array.isArray(value) ? value.filter((key) => typeof key === 'string') : isObject(value) ? Object.keys(value) : []
  return keys.length ? keys.map(readable) : null
}

const shapes = new Map<string, string>()
const shapesKept = 10_000

/** One text for all events of a make: it is kept with each event until that is written. */
function shapeOf(properties: Readonly<Properties>, hasReplacements: boolean): string {
  let shape = ''
  for (const name in properties) {
    const type = valueTypeOf(properties[name])
    if (type >= 0) shape += `${type}${hasReplacements ? readable(name) : name}\0`
  }
  const known = shapes.get(shape)
  if (known !== undefined) return known
  if (shapes.size >= shapesKept) shapes.clear()
  shapes.set(shape, shape)
  return shape
}

function groupsOf(value: unknown): [string, string][] | null {
  if (!isObject(value)) return null
  const pairs = Object.entries(value)
    .filter(([, key]) => !isAbsent(key))
    .map(([type, key]): [string, string] => [readable(type), cut(asText(key), groupKeyLimit)])
  return pairs.length ? pairs : null
}

/**
 * Checks and normalises one event. Pure, and the same again for its own result: what the log keeps may be prepared a second time.
 * `index` is its place in the batch, for the words of a refusal.
 */
export function prepareEvent(raw: unknown, receipt: Receipt, index: number | null): PreparedEvent {
  if (!isObject(raw)) return refuse('It must be an object.', index, 'event')
  const given = objectAt(raw.properties, index, 'properties')
  if (isAbsent(raw.event)) return refuse('All events must have the event field "event".', index, 'event')
  const id = [raw.distinct_id, raw.$distinct_id, given.distinct_id].find((value) => value !== undefined && value !== null)
  if (isAbsent(id)) return refuse('All events must have the event field "distinct_id".', index, 'distinct_id')

  const name = cut(asText(raw.event), textLimit)
  const distinctId = cut(asText(id), textLimit)
  const uuid = isAbsent(raw.uuid) ? receipt.newUuid() : (readUuid(raw.uuid) ?? refuse('"uuid" is not a UUID.', index, 'uuid'))
  const warnings: Warning[] = []
  let isDropped = name === '$performance_event'

  const properties: Properties = { ...given }
  const outerSet = objectAt(raw.$set, index, '$set')
  const outerSetOnce = objectAt(raw.$set_once, index, '$set_once')
  if (Object.keys(outerSet).length) properties.$set = isObject(given.$set) ? { ...given.$set, ...outerSet } : outerSet
  if (Object.keys(outerSetOnce).length)
    properties.$set_once = isObject(given.$set_once) ? { ...given.$set_once, ...outerSetOnce } : outerSetOnce

  if (receipt.anonymizeIps) delete properties.$ip
  else if (isAbsent(properties.$ip)) {
    const ip = raw.ip ?? receipt.ip
    if (isAbsent(ip)) delete properties.$ip
    else properties.$ip = ip
  }

  const sentAt = sentTime(raw.sent_at ?? receipt.sentAt)
  if (!isAbsent(sentAt) && properties.$sent_at === undefined) properties.$sent_at = sentAt

  const profile = properties.$process_person_profile
  if (profile !== undefined && typeof profile !== 'boolean')
    warnings.push({
      type: 'invalid_process_person_profile',
      details: {
        eventUuid: uuid,
        event: name,
        distinctId,
        $process_person_profile: profile === null ? null : asText(profile),
        message: '$process_person_profile must be true or false',
      },
    })
  const isPersonless = profile === false
  if (isPersonless) {
    if (needPerson.has(name)) {
      warnings.push({
        type: 'invalid_event_when_process_person_profile_is_false',
        details: { eventUuid: uuid, event: name, distinctId },
      })
      isDropped = true
    }
    delete properties.$set
    delete properties.$set_once
    delete properties.$unset
  } else {
    const initial = initialProperties(name, properties)
    if (initial) {
      properties.$set = isObject(properties.$set) ? { ...initial.set, ...properties.$set } : initial.set
      properties.$set_once = isObject(properties.$set_once) ? { ...initial.setOnce, ...properties.$set_once } : initial.setOnce
    }
  }

  let chain = typeof raw.elements_chain === 'string' ? raw.elements_chain : ''
  if (properties.$elements !== undefined) {
    chain ||= elementsChain(properties.$elements)
    delete properties.$elements
  }
  if (typeof properties.$elements_chain === 'string') {
    chain ||= properties.$elements_chain
    delete properties.$elements_chain
  }

  const text = jsonOf(properties, index)
  if (text.length + chain.length > eventBytesLimit || (text.length > eventBytesLimit / 4 && Buffer.byteLength(text) > eventBytesLimit)) {
    warnings.push({ type: 'message_size_too_large', details: { eventUuid: uuid, distinctId } })
    isDropped = true
  }

  const time = eventTime(
    { timestamp: sentTime(raw.timestamp), offset: sentTime(raw.offset), sentAt, ignoreSentAt: Boolean(properties.$ignore_sent_at) },
    receipt.receivedAt * 1000,
    { eventUuid: uuid, eventName: name },
  )
  const other = name === '$identify' ? properties.$anon_distinct_id : aliasEvents.has(name) ? properties.alias : undefined
  const groupType = groupEvents.has(name) ? properties.$group_type : undefined
  const groupKey = groupEvents.has(name) ? properties.$group_key : undefined
  return {
    name,
    distinctId,
    uuid,
    time: time.time,
    properties: text,
    elementsChain: readable(chain),
    sessionId: isAbsent(properties.$session_id) ? '' : asText(properties.$session_id),
    windowId: isAbsent(properties.$window_id) ? '' : asText(properties.$window_id),
    isPersonless,
    set: properties.$set === undefined ? null : copyOf(properties.$set),
    setOnce: properties.$set_once === undefined ? null : copyOf(properties.$set_once),
    unset: properties.$unset === undefined ? null : unsetKeys(properties.$unset),
    mergeWith: isAbsent(other) ? null : cut(asText(other), textLimit),
    groups: properties.$groups === undefined ? null : groupsOf(properties.$groups),
    group:
      isAbsent(groupType) || isAbsent(groupKey)
        ? null
        : { type: asText(groupType), key: cut(asText(groupKey), groupKeyLimit), set: copyOf(properties.$group_set) ?? {} },
    shape: isDropped ? '' : shapeOf(properties, text.includes('\uFFFD')),
    warnings: time.warnings.length ? [...warnings, ...time.warnings] : warnings,
    isDropped,
  }
}

function jsonOf(properties: Properties, index: number | null): string {
  let text: string
  try {
    text = readableJson(properties)
  } catch (cause) {
    const reason = cause instanceof RangeError ? `nested more than ${nestingLimit} levels deep` : 'not what JSON can hold'
    return refuse(`Its properties are ${reason}.`, index, 'properties')
  }
  return isDeeperThan(nestingLimit, text)
    ? refuse(`Its properties are nested more than ${nestingLimit} levels deep.`, index, 'properties')
    : text
}
