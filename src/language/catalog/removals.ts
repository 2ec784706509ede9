import { isObject } from '../../lib/is-object.ts'
import { own } from '../../lib/own.ts'

// What a project does not keep any more.

/** The time from which events are kept, in microseconds; null: all of them. `names`: those of these names, instead of `all`. */
export interface KeptFrom {
  readonly all: number | null
  readonly names: Readonly<Record<string, number | null>>
}

/** What a project does not keep any more. */
export type Removal =
  /** Events before a time. Such events that come later are not stored, until another record names an earlier time. */
  | { readonly remove: 'old_events'; readonly from: KeptFrom }
  /** Persons and ids without events, about whom nothing is newer than `before`. */
  | { readonly remove: 'idle_persons'; readonly before: number }
  | { readonly remove: 'property'; readonly scope: PropertyScope; readonly name: string }
  /** The events that an import has stored, and persons that only it has made. The same events may come again. */
  | { readonly remove: 'import'; readonly id: string }

/** What a removal took away or changed. */
export type RemovalCounts = { readonly [K in 'events' | 'persons' | 'groups']: number }
export const noRemovals: RemovalCounts = { events: 0, persons: 0, groups: 0 }
export const addRemovals = (a: RemovalCounts, b: Partial<RemovalCounts>): RemovalCounts => ({
  events: a.events + (b.events ?? 0),
  persons: a.persons + (b.persons ?? 0),
  groups: a.groups + (b.groups ?? 0),
})

/** Records of the log from the first to the last one. */
export type SeqRange = readonly [first: number, last: number]

const importKeys = 'import_events '

/** Key of `meta` with the names of properties that removed events of an import had, until it is known which of them no other event has. */
export const undoneKeysOf = (id: string): string => `undone_properties ${id}`

/** Keys of `meta` that say where the events of imports are in the log; those of one import are followed by a number. */
export const importKeyOf = (id: string): string => `${importKeys}${id} `
export const isImportKey = (key: string): boolean => key.startsWith(importKeys)

export function readRanges(value: string): SeqRange[] {
  const numbers = JSON.parse(value) as number[]
  return Array.from({ length: numbers.length / 2 }, (_, i) => [numbers[2 * i]!, numbers[2 * i + 1]!])
}

/** Ranges in parts of about so many records, and not more than so many ranges. */
export function partsOfRanges(ranges: readonly SeqRange[], most: { readonly records: number; readonly ranges: number }): SeqRange[][] {
  const parts: SeqRange[][] = []
  let left = 0
  for (const [first, last] of ranges)
    for (let from = first; from <= last; ) {
      if (left <= 0 || parts.at(-1)!.length >= most.ranges) {
        parts.push([])
        left = most.records
      }
      const to = Math.min(last, from + left - 1)
      parts.at(-1)!.push([from, to])
      left -= to - from + 1
      from = to + 1
    }
  return parts
}

export const propertyScopes = ['event', 'person', 'group_0', 'group_1', 'group_2', 'group_3', 'group_4'] as const
export type PropertyScope = (typeof propertyScopes)[number]

const allKept: KeptFrom = { all: null, names: {} }

/** Whether an event is kept. `time`: microseconds. */
export function isKept({ all, names }: KeptFrom, name: string, time: number): boolean {
  const named = own(names, name)
  const from = named === undefined ? all : named
  return from === null || time >= from
}

export const keptFromText = ({ all, names }: KeptFrom): string =>
  JSON.stringify({ all, names: Object.fromEntries(Object.entries(names).sort()) })

/** Stores of earlier versions have none. */
export function readKeptFrom(text: string | undefined): KeptFrom {
  const read: unknown = text === undefined ? null : JSON.parse(text)
  return isObject(read) ? (read as unknown as KeptFrom) : allKept
}

/** A text without this part has no property of the name; null: only parsing tells. */
export const partOfTexts = (name: string): string | null => (/^[\w$ .:-]+$/.test(name) ? name : null)

/** The objects in an event that hold properties of a scope, beside the event's own; null: it is the event's own. */
export const objectsOf = (scope: string): readonly string[] | null =>
  scope === 'event' ? null : scope === 'person' ? ['$set', '$set_once'] : ['$group_set']

/** Columns of events that copy a property. */
export const copiesOf: Readonly<Record<string, readonly string[]>> = {
  $session_id: ['session_id'],
  $window_id: ['window_id'],
  $groups: ['group_0', 'group_1', 'group_2', 'group_3', 'group_4'],
}
