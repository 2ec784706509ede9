import { isObject } from '../../../lib/is-object.ts'
import { own, setOwn } from '../../../lib/own.ts'

/** Orders writes by event time, not by arrival. */
export type PropertyTimes = Record<string, PropertyTime>

export interface PropertyTime {
  /** Time of the latest `$set` or `$unset`. */
  written?: number
  isUnset?: true
  once?: Once
}

/** Time of the earliest `$set_once`, with all its values. Properties written by one event share this object. */
export interface Once {
  readonly at: number
  readonly values: Readonly<Record<string, unknown>>
}

/** Most properties of a person were written by a few events, so the text has each time once, before the properties that share it. */
type TimesText = readonly [
  written: [at: number, keys: string[]][],
  unset: [at: number, keys: string[]][],
  once: [at: number, values: Record<string, unknown>][],
]

export function timesText(times: PropertyTimes): string {
  const written = new Map<number, string[]>()
  const unset = new Map<number, string[]>()
  const once = new Map<number, Record<string, unknown>>()
  for (const key in times) {
    const time = times[key]!
    if (time.written !== undefined) at(time.isUnset ? unset : written, time.written, newList).push(key)
    if (time.once) at(once, time.once.at, newRecord)[key] = time.once.values[key]
  }
  return JSON.stringify([[...written], [...unset], [...once]] satisfies TimesText)
}

/** As it was written before. */
type TimesByProperty = Record<string, { written?: number; isUnset?: true; once?: { at: number; value: unknown } }>

const readByProperty = (read: TimesByProperty): PropertyTimes =>
  Object.fromEntries(
    Object.entries(read).map(([key, { once, ...time }]) => [
      key,
      once ? { ...time, once: { at: once.at, values: { [key]: once.value } } } : time,
    ]),
  )

const newList = (): string[] => []
const newRecord = (): Record<string, unknown> => Object.create(null)

function at<T>(groups: Map<number, T>, time: number, make: () => T): T {
  const known = groups.get(time)
  if (known !== undefined) return known
  const group = make()
  groups.set(time, group)
  return group
}

export function readTimes(text: string): PropertyTimes {
  const read = JSON.parse(text) as TimesText | TimesByProperty
  if (isObject(read)) return readByProperty(read as TimesByProperty)
  const times: PropertyTimes = {}
  const [written, unset, once] = read
  for (const [at, keys] of written) {
    const time = { written: at }
    for (const key of keys) setOwn(times, key, time)
  }
  for (const [at, keys] of unset) for (const key of keys) setOwn(times, key, { written: at, isUnset: true })
  for (const [at, values] of once) {
    const time = { once: { at, values } }
    for (const key of Object.keys(values)) setOwn(times, key, { ...own(times, key), ...time })
  }
  return times
}
