import { isObject } from '../../../lib/is-object.ts'
import type { TextWriter } from '../../../lib/text/text-writer.ts'
import { valueTypeOf } from '../properties/property-types.ts'
import { emptyShape, propertyName, type Shape } from './shape.ts'
import { isDeeperThan, readableJson } from './text.ts'

// Writes an event in the format of the log, including the JSON text of its properties for the store.

type Properties = Record<string, unknown>

export const nestingLimit = 200
/** Maximum characters of a list or an object as a property of a visit. Clients send texts and numbers. */
const longestNestedFact = 1_000
const longestHeld = 4_000

export interface WrittenProperties {
  readonly from: number
  readonly to: number
  readonly shape: Shape
  readonly set: Writes
  readonly setOnce: Writes
  /** Bytes at the end of the properties that hold `$set` and `$set_once`, if both were only derived from other properties. */
  readonly derivedBytes: number
}

/** The person's changes, in a separate object. As JSON if long and nested: parsed values take many times the memory. */
export type Writes = Readonly<Properties> | string | null

/** Properties added after those that were sent. */
interface Additions {
  readonly set: unknown
  readonly setOnce: unknown
  readonly ip: unknown
  readonly sentAt: unknown
}

const isAbsent = (value: unknown): boolean => value === undefined || value === null || value === ''
/** What clients send as a property of a visit: texts and numbers, and short lists. */
const isFact = (value: unknown): boolean =>
  typeof value !== 'object' || value === null || (readableJson(value) ?? 'null').length <= longestNestedFact
const isSimple = (value: unknown): boolean =>
  typeof value === 'string' || typeof value === 'boolean' || value === null || (typeof value === 'number' && Number.isFinite(value))

export const isPlain = (value: object): boolean => {
  const proto: unknown = Object.getPrototypeOf(value)
  return proto === Object.prototype || proto === null
}

export const headText = (event: string, distinctId: string): string => `{"event":${quickJson(event)},"distinct_id":${quickJson(distinctId)}`

/** Writes a field of the event, unless it is missing. */
export const fieldText = (name: string, value: unknown): string =>
  value === undefined || value === null ? '' : `,"${name}":${quickJson(value)}`

/** Writes `head` and the properties. Throws TypeError for values without JSON, and RangeError for values nested too deep. */
export function writeProperties(
  writer: TextWriter,
  head: string,
  given: Readonly<Properties>,
  additions: Additions,
  { isPersonless, givesFacts }: { readonly isPersonless: boolean; readonly givesFacts: boolean },
): WrittenProperties {
  let shape = emptyShape()
  let latest: Properties | null = null
  let first: Properties | null = null
  /** The facts equal their JSON, unless a text is repaired in it: they need no copy. */
  let areSimple = true
  let others: Properties | null = null // without those that are handled separately
  let isNested = false
  for (const key in given) {
    const value = given[key]
    const name = propertyName(key)
    if (name.isRepaired) return writeProperties(writer, head, withReadableNames(given), additions, { isPersonless, givesFacts })
    if (name.role !== 'plain' && !isStored(name.role, value, additions, isPersonless)) {
      others ??= { ...given }
      delete others[key]
      continue
    }
    if (typeof value === 'object' && value !== null && !isListOfSimple(value)) isNested = true
    shape = shape.with(name, valueTypeOf(value))
    if (name.initial === null || !givesFacts || value === undefined || !isFact(value)) continue
    areSimple &&= isSimple(value)
    const fact = typeof value === 'function' || typeof value === 'symbol' ? null : value
    latest ??= {}
    latest[key] = fact
    first ??= {}
    first[name.initial] = fact
  }
  const body = readableJson(others ?? given)
  let tail = ''
  const add = (key: string, value: unknown, json: string | undefined) => {
    if (json === undefined) return
    shape = shape.with(propertyName(key), valueTypeOf(value))
    tail += `${tail === '' && body.length === 2 ? '' : ','}"${key}":${json}`
  }
  if (additions.ip !== given.$ip && !isAbsent(additions.ip)) {
    add('$ip', additions.ip, readableJson(additions.ip))
    if (typeof additions.ip === 'object') isNested = true
  }
  if (additions.sentAt !== undefined && given.$sent_at === undefined) add('$sent_at', additions.sentAt, readableJson(additions.sentAt))
  const addWrites = (key: string, value: unknown, facts: Properties | null): Writes => {
    const all = facts === null ? value : isObject(value) ? { ...facts, ...value } : facts
    if (all === undefined) return null
    const json = readableJson(all)
    add(key, all, json)
    if (all === facts && areSimple && !json?.includes('\uFFFD')) return facts
    if (!isObject(all) || json === undefined || json === '{}') return null
    if (isFlat(all) && !json.includes('\uFFFD')) return all === value ? { ...all } : all
    isNested = true
    return heldWrites(json)
  }
  const sentTo = tail.length
  const isDerived = latest !== null && first !== null && additions.set === undefined && additions.setOnce === undefined
  const set = addWrites('$set', additions.set, latest)
  const setOnce = addWrites('$set_once', additions.setOnce, first)
  if (isNested && isDeeperThan(nestingLimit, `${body.slice(0, -1)}${tail}}`))
    throw new RangeError(`nested more than ${nestingLimit} levels deep`)
  // In pieces: joining the texts first would copy them.
  writer.write(head)
  writer.write(',"properties":')
  const from = writer.length
  writer.write(body)
  let derivedBytes = 0
  if (tail !== '') {
    writer.length-- // the closing bracket
    if (sentTo > 0) writer.write(tail.slice(0, sentTo))
    const derivedFrom = writer.length
    writer.write(sentTo > 0 ? tail.slice(sentTo) : tail)
    if (isDerived) derivedBytes = writer.length - derivedFrom
    writer.write('}')
  }
  const to = writer.length
  writer.write('}')
  return { from, to, shape, set, setOnce, derivedBytes }
}

/** Properties from their JSON, unless that is long. */
export function heldWrites(json: string): Writes {
  if (json.length > longestHeld) return json
  const copy: unknown = JSON.parse(json)
  return isObject(copy) ? copy : null
}

/** Of names that become equal, the last one counts. */
const withReadableNames = (given: Readonly<Properties>): Properties =>
  Object.fromEntries(Object.entries(given).map(([key, value]): [string, unknown] => [propertyName(key).name, value]))

const needsCare = /[^ !#-[\]-\x7e]/

/** JSON of a value. For a short text, a call of JSON.stringify costs more than checking its characters. */
const quickJson = (value: unknown): string | undefined =>
  typeof value === 'string' && !needsCare.test(value) ? `"${value}"` : readableJson(value)

/** True for a short list without lists and objects in it, which is not deep. */
function isListOfSimple(value: object): boolean {
  if (!Array.isArray(value) || value.length > 100) return false
  for (const one of value) if (typeof one === 'object' && one !== null) return false
  return true
}

/** True if the object equals its JSON, with nothing inside that a caller could still change. */
function isFlat(value: Readonly<Properties>): boolean {
  if (!isPlain(value)) return false
  for (const key in value) if (key === '__proto__' || !isSimple(value[key])) return false
  return true
}

/** True if a property with special treatment stays in its position. */
function isStored(role: string, value: unknown, additions: Additions, isPersonless: boolean): boolean {
  switch (role) {
    case 'set':
    case 'set-once':
    case 'elements':
      return false // written after the others, or stored separately
    case 'unset':
      return !isPersonless
    case 'ip':
      return additions.ip === value && !isAbsent(value)
    case 'elements-chain':
      return typeof value !== 'string'
    default:
      return true
  }
}
