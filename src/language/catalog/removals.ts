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

/** What a removal took away or changed. */
export type RemovalCounts = { readonly [K in 'events' | 'persons' | 'groups']: number }
export const noRemovals: RemovalCounts = { events: 0, persons: 0, groups: 0 }
export const addRemovals = (a: RemovalCounts, b: Partial<RemovalCounts>): RemovalCounts => ({
  events: a.events + (b.events ?? 0),
  persons: a.persons + (b.persons ?? 0),
  groups: a.groups + (b.groups ?? 0),
})

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
