import { own, setOwn } from '../../../lib/own.ts'
import type { Measured } from '../properties/property-size.ts'
import type { PropertyTime, PropertyTimes } from '../properties/property-times.ts'
import { isVisitFact } from './initial-properties.ts'

type Properties = Record<string, unknown>

/** A person, or the number reserved for a distinct id without a person. Times are microseconds. */
export interface Person extends Measured {
  readonly no: number
  readonly uuid: string
  hasRecord: boolean
  createdAt: number
  isIdentified: boolean
  version: number
  updatedAt: number
  properties: Properties
  /** When each property got its value. Only for persons that an import of past events changed. */
  times: PropertyTimes | null
  /** When `importPersons` last set the person. */
  importedAt: number | null
}

/** Every person in memory is made here: reading objects whose fields came in one order takes a fraction of the time. Callers name the fields, too: copying all of an object is slow. */
export const makePerson = (from: Person): Person => ({
  no: from.no,
  uuid: from.uuid,
  hasRecord: from.hasRecord,
  createdAt: from.createdAt,
  isIdentified: from.isIdentified,
  version: from.version,
  updatedAt: from.updatedAt,
  properties: from.properties,
  times: from.times,
  importedAt: from.importedAt,
  length: from.length,
  counted: from.counted,
  large: from.large,
})

/** A copy that can be changed independently. */
export const ownCopy = (person: Person): Person =>
  makePerson({ ...person, properties: { ...person.properties }, times: person.times && { ...person.times } })

export interface PropertyWrites {
  readonly set: Readonly<Properties> | null
  readonly setOnce: Readonly<Properties> | null
  readonly unset: readonly string[] | null
}

function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (a === null || b === null || typeof a !== 'object' || typeof b !== 'object') return false
  return JSON.stringify(a) === JSON.stringify(b)
}

/** A text, number or Boolean is an own property: what every object inherits is none of them. */
const has = (properties: Readonly<Properties>, key: string): boolean => {
  const type = typeof properties[key]
  return type === 'string' || type === 'number' || type === 'boolean' || Object.hasOwn(properties, key)
}

/** The previous values of the properties that a write changed; undefined for new ones. */
export type Before = ReadonlyMap<string, unknown>

/** Writes in order of arrival, in place: `$set_once` fills, `$set` overwrites, `$unset` removes. */
export function write(properties: Properties, { set, setOnce, unset }: PropertyWrites): Before {
  const before = new Map<string, unknown>()
  for (const key in setOnce) if (!has(properties, key)) put(properties, key, setOnce[key], before)
  for (const key in set) {
    const value = set[key]
    if (!has(properties, key) || !isSame(properties[key], value)) put(properties, key, value, before)
  }
  for (const key of unset ?? [])
    if (has(properties, key)) {
      note(properties, key, before)
      delete properties[key]
    }
  if (unset) for (const [key, value] of before) if (isSame(value, has(properties, key) ? properties[key] : undefined)) before.delete(key)
  return before
}

function note(properties: Properties, key: string, before: Map<string, unknown>): void {
  if (!before.has(key)) before.set(key, has(properties, key) ? properties[key] : undefined)
}

function put(properties: Properties, key: string, value: unknown, before: Map<string, unknown>): void {
  note(properties, key, before)
  setOwn(properties, key, value)
}

/** The times of a person whose properties were written in order of arrival, for later imports. */
export function writtenTimes({ times: known, properties }: Person, before: Before, at: number): PropertyTimes {
  const times = { ...known }
  for (const key of before.keys()) setOwn(times, key, { written: at, ...(!Object.hasOwn(properties, key) && { isUnset: true }) })
  return times
}

const isAfter = (value: unknown, time: number, other: unknown, otherTime: number): boolean =>
  time !== otherTime ? time > otherTime : JSON.stringify(value) > JSON.stringify(other) // equal times: a rule independent of arrival

/** For two writes with equal times, a value takes precedence over a removal. */
function beats(time: PropertyTime, value: unknown, other: PropertyTime, otherValue: unknown): boolean {
  if (time.written === undefined) return false
  if (other.written === undefined || time.written !== other.written) return time.written > (other.written ?? Number.NEGATIVE_INFINITY)
  if (time.isUnset || other.isUnset) return !time.isUnset
  return isAfter(value, time.written, otherValue, other.written)
}

export interface PastState {
  /** Changed in place: an import writes the same persons often, and must not copy their properties for each event. */
  properties: Properties
  times: PropertyTimes | null
}

/**
 * Applies the writes of a past event: the `$set` or `$unset` of a property with the latest event time wins, otherwise the earliest `$set_once`.
 * `known` is the time assumed for properties from before any import. Returns whether it changed anything, and whether it had more than
 * properties of a visit.
 */
export function writeInThePast(
  state: PastState,
  { set, setOnce, unset }: PropertyWrites,
  at: number,
  known: number,
): { readonly isChanged: boolean; readonly saysMore: boolean } {
  const { properties } = state
  const before = unset ? { ...properties } : null // the same event may set a removed property again
  let isChanged = state.times === null
  let isMore = false
  state.times ??= {}
  const { times } = state
  const now: PropertyTime = { written: at }
  const of = (key: string): PropertyTime => own(times, key) ?? (has(properties, key) ? { written: known } : {})
  const note = (key: string, time: PropertyTime) => {
    setOwn(times, key, time)
    isChanged = true
  }
  const write = (key: string, value: unknown) => {
    if (has(properties, key) && isSame(properties[key], value)) return
    setOwn(properties, key, value)
    isChanged = true
    isMore ||= !isVisitFact(key)
  }

  const once: PropertyTime = { once: { at, values: setOnce ?? {} } }
  for (const key in setOnce) {
    const time = of(key)
    if (time.once && !isAfter(time.once.values[key], time.once.at, setOnce[key], at)) continue
    note(key, time.written === undefined ? once : { ...time, ...once })
  }
  for (const key in set) {
    const time = of(key)
    const value = set[key]
    if (!beats(now, value, time, properties[key])) continue
    write(key, value)
    note(key, time.once ? { once: time.once, written: at } : now)
  }
  for (const key of unset ?? []) {
    const time = of(key)
    if (!beats({ written: at, isUnset: true }, undefined, time, properties[key])) continue
    delete properties[key]
    note(key, { ...(time.once && { once: time.once }), written: at, isUnset: true })
  }
  const fill = (key: string) => {
    const time = own(times, key)
    if (!time?.once || (time.written !== undefined && !time.isUnset)) return
    if (time.written === undefined || time.once.at > time.written) write(key, time.once.values[key])
  }
  for (const key in setOnce) fill(key)
  for (const key of unset ?? []) fill(key)
  return { isChanged, saysMore: before ? saysMore(changedNames(before, properties), properties) : isMore }
}

/** Properties of a visit are in the event itself, so a person without other changes needs no new version. */
export function saysMore(changed: Iterable<string>, after: Readonly<Properties>): boolean {
  for (const name of changed) if (!has(after, name) || !isVisitFact(name)) return true
  return false
}

/** The names of properties that differ between two sets. */
function changedNames(before: Readonly<Properties>, after: Readonly<Properties>): string[] {
  const removed = Object.keys(before).filter((name) => !has(after, name))
  return [...removed, ...Object.keys(after).filter((name) => !isSame(before[name], after[name]))]
}

/** Merges the properties of the removed `source` into those of `target`, which win. The shorter object is written into the longer one. */
export function absorbProperties(target: Person, source: Person): void {
  const length = target.length === undefined || source.length === undefined ? undefined : target.length + source.length
  if (target.times || source.times) Object.assign(target, mergedProperties(target, source))
  else if ((source.length ?? 0) > (target.length ?? 0)) {
    for (const key in target.properties) setOwn(source.properties, key, target.properties[key])
    target.properties = source.properties
  } else for (const key in source.properties) if (!has(target.properties, key)) setOwn(target.properties, key, source.properties[key])
  target.length = length
}

/** Merges the properties of both persons. The target's values win, unless the times are known from an import. */
export function mergedProperties(target: Person, source: Person): { properties: Properties; times: PropertyTimes | null } {
  if (!target.times && !source.times) return { properties: { ...source.properties, ...target.properties }, times: null }
  const properties = { ...source.properties, ...target.properties }
  const times: PropertyTimes = {}
  for (const key of new Set([...Object.keys(properties), ...Object.keys(target.times ?? {}), ...Object.keys(source.times ?? {})])) {
    const sides = [target, source].map((person) => ({
      time: own(person.times ?? {}, key) ?? (has(person.properties, key) ? { written: person.updatedAt } : {}),
      value: person.properties[key],
    })) as [{ time: PropertyTime; value: unknown }, { time: PropertyTime; value: unknown }]
    const [a, b] = sides
    const winner = beats(b.time, b.value, a.time, a.value) ? b : a
    const once = [a.time.once, b.time.once].reduce((x, y) => (!x ? y : !y || isAfter(y.values[key], y.at, x.values[key], x.at) ? x : y))
    const { written: at, isUnset } = winner.time
    setOwn(times, key, { ...(at !== undefined && { written: at }), ...(isUnset && { isUnset }), ...(once && { once }) })
    if (at !== undefined && !isUnset) setOwn(properties, key, winner.value)
    else if (once && (at === undefined || once.at > at)) setOwn(properties, key, once.values[key])
    else delete properties[key]
  }
  return { properties, times }
}
