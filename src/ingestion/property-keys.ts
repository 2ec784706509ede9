import type { StagedGroup } from '../storage/duckdb/apply-store.ts'
import type { SlotUse } from '../storage/duckdb/slot-values.ts'
import { type SlotKind, slotNames, slotPools } from '../storage/slots.ts'
import { type PropertyType, valueTypeOf, valueTypes } from './property-types.ts'
import type { Shape } from './shape.ts'

export interface PropertyKey {
  readonly scope: string
  readonly name: string
  /** Null: read as text. */
  type: PropertyType | null
  isDefined: boolean
  slot: string | null
  isSlotReady: boolean
  /** Last record of the log that was stored before the slot was in use; only while it is not ready. */
  unfilledTo: number
  /** In the order of `valueTypes`. */
  readonly counts: number[]
  firstSeen: number
  lastSeen: number
}

/** After so many values a key's type is settled, if all were of one type, and it gets a slot. */
export const settlingCount = 1_000
export const keyLimit = 20_000
/** Characters of a key that is counted. */
export const longestKey = 400
const shapesKept = 5_000
/** Properties of them all. */
const partsKept = 250_000

const other = valueTypes.indexOf('Other')

const slotted: ReadonlySet<string> = new Set(['event', 'person'])
const kindOf: Readonly<Record<PropertyType, SlotKind>> = { Numeric: 'number', String: 'text', Boolean: 'boolean', DateTime: 'time' }
const slotKind = (type: PropertyType | null): SlotKind => (type === null ? 'text' : kindOf[type])
export const kindOfSlot = (column: string): SlotKind =>
  (Object.keys(slotPools) as SlotKind[]).find((kind) => slotPools[kind].prefix === column[0])!

/** Events of one make: their keys and types are looked up once, then only counted together. */
interface CountedShape {
  readonly parts: readonly { readonly key: PropertyKey; readonly type: number }[]
  count: number
  firstSeen: number
  lastSeen: number
}

const sum = (counts: readonly number[]): number => counts.reduce((a, b) => a + b, 0)

/** What is known of the properties: which there are, how often and of which types, and which column of the store has a copy of their values. */
export class PropertyKeys {
  private readonly scopes = new Map<string, Map<string, PropertyKey>>()
  private readonly shapes = new Map<Shape, CountedShape>()
  private shapeParts = 0
  private readonly changed = new Set<PropertyKey>()
  private readonly fresh = new Set<PropertyKey>()
  private readonly unsettled = new Set<PropertyKey>()
  /** `scope:column` of slots whose key has taken another: they hold old values and are not given out again. */
  readonly retired: Set<string>
  private isRetiredChanged = false
  /** Keys that were refused because there are too many, or because they are too long; read and cleared by the apply stage. */
  refused = 0
  /** Last record of the group before the one being worked out. */
  storedSeq: number

  constructor(stored: readonly PropertyKey[], retired: readonly string[], storedSeq: number) {
    this.retired = new Set(retired)
    this.storedSeq = storedSeq
    for (const key of stored) {
      this.scope(key.scope).set(key.name, key)
      if (sum(key.counts) < settlingCount) this.unsettled.add(key)
    }
  }

  private scope(name: string): Map<string, PropertyKey> {
    let keys = this.scopes.get(name)
    if (!keys) {
      keys = new Map()
      this.scopes.set(name, keys)
    }
    return keys
  }

  private key(scope: string, name: string, time: number): PropertyKey | null {
    const keys = this.scope(scope)
    const known = keys.get(name)
    if (known) return known
    if (keys.size >= keyLimit || name.length > longestKey) {
      this.refused++
      return null
    }
    const key: PropertyKey = {
      scope,
      name,
      type: null,
      isDefined: false,
      slot: null,
      isSlotReady: false,
      unfilledTo: 0,
      counts: valueTypes.map(() => 0),
      firstSeen: time,
      lastSeen: time,
    }
    keys.set(name, key)
    this.fresh.add(key)
    this.unsettled.add(key)
    this.changed.add(key)
    return key
  }

  private add(key: PropertyKey, type: number, count: number, first: number, last: number): void {
    key.counts[type]! += count
    if (first < key.firstSeen) key.firstSeen = first
    if (last > key.lastSeen) key.lastSeen = last
    this.changed.add(key)
    if (this.unsettled.has(key) && sum(key.counts) >= settlingCount) this.settle(key)
  }

  private settle(key: PropertyKey): void {
    this.unsettled.delete(key)
    const only = key.counts.findIndex((count) => count > 0)
    const type = valueTypes[only]
    if (!key.isDefined && type && type !== 'Other' && key.counts[only] === sum(key.counts)) key.type = type
    this.giveSlot(key)
  }

  private giveSlot(key: PropertyKey): void {
    if (!slotted.has(key.scope)) return
    if (!key.isDefined && key.counts[other] === sum(key.counts)) return // nested values: a slot would hold their JSON a second time
    const kind = slotKind(key.type)
    if (key.slot !== null) {
      if (kindOfSlot(key.slot) === kind) return
      this.retired.add(`${key.scope}:${key.slot}`)
      this.isRetiredChanged = true
      key.slot = null
      key.isSlotReady = false
    }
    const taken = new Set([...this.scope(key.scope).values()].map((other) => other.slot))
    key.slot = slotNames(kind).find((name) => !taken.has(name) && !this.retired.has(`${key.scope}:${name}`)) ?? null
    key.isSlotReady = false
    key.unfilledTo = this.storedSeq
    this.changed.add(key)
  }

  /** Counts an event's properties by its shape. */
  countShape(of: Shape, time: number): void {
    let shape = this.shapes.get(of)
    if (!shape) {
      if (this.shapes.size >= shapesKept || this.shapeParts >= partsKept) this.flushShapes()
      const parts = of.parts().flatMap(({ name, type }) => {
        const key = this.key('event', name, time)
        return key ? [{ key, type }] : []
      })
      shape = { parts, count: 0, firstSeen: time, lastSeen: time }
      this.shapes.set(of, shape)
      this.shapeParts += parts.length
    }
    shape.count++
    if (time < shape.firstSeen) shape.firstSeen = time
    if (time > shape.lastSeen) shape.lastSeen = time
    // Settling depends on the first values alone, wherever the groups of the apply stage begin and end: a rebuilt store says the same.
    if (this.unsettled.size > 0 && shape.parts.some(({ key }) => this.unsettled.has(key))) this.countOut(shape)
  }

  /** Counts the values of a person's or group's properties. */
  countValues(scope: string, properties: Readonly<Record<string, unknown>>, time: number): void {
    for (const name in properties) {
      const type = valueTypeOf(properties[name])
      if (type < 0) continue
      const key = this.key(scope, name, time)
      if (key) this.add(key, type, 1, time, time)
    }
  }

  private countOut(shape: CountedShape): void {
    if (shape.count > 0) for (const { key, type } of shape.parts) this.add(key, type, shape.count, shape.firstSeen, shape.lastSeen)
    shape.count = 0
    shape.firstSeen = Number.POSITIVE_INFINITY
    shape.lastSeen = Number.NEGATIVE_INFINITY
  }

  private flushShapes(): void {
    for (const shape of this.shapes.values()) this.countOut(shape)
    this.shapes.clear()
    this.shapeParts = 0
  }

  define(scope: string, name: string, type: PropertyType, time: number): void {
    const key = this.key(scope, name, time)
    if (!key) return
    key.type = type
    key.isDefined = true
    this.changed.add(key)
    if (key.slot !== null || sum(key.counts) >= settlingCount) this.giveSlot(key)
  }

  /** Slots whose old rows are filled may be read. */
  markReady(keys: readonly PropertyKey[]): void {
    for (const key of keys) {
      key.isSlotReady = true
      this.changed.add(key)
    }
  }

  unready(): PropertyKey[] {
    return this.all().filter((key) => key.slot !== null && !key.isSlotReady)
  }

  all(): PropertyKey[] {
    return [...this.scopes.values()].flatMap((keys) => [...keys.values()])
  }

  slots(scope: 'event' | 'person'): SlotUse[] {
    return [...this.scope(scope).values()].flatMap((key) =>
      key.slot === null ? [] : [{ column: key.slot, kind: kindOfSlot(key.slot), key: key.name }],
    )
  }

  stage(group: StagedGroup): void {
    for (const shape of this.shapes.values()) this.countOut(shape)
    for (const key of this.changed) {
      const [numeric, string, boolean, dateTime, other] = key.counts as [number, number, number, number, number]
      group.put(
        'property_keys',
        {
          scope: key.scope,
          name: key.name,
          property_type: key.type,
          is_defined: key.isDefined,
          slot: key.slot,
          slot_ready: key.isSlotReady,
          count_numeric: numeric,
          count_string: string,
          count_boolean: boolean,
          count_datetime: dateTime,
          count_other: other,
          first_seen: key.firstSeen,
          last_seen: key.lastSeen,
        },
        this.fresh.has(key),
      )
    }
    if (this.isRetiredChanged) group.setMeta('retired_slots', JSON.stringify([...this.retired]))
    this.isRetiredChanged = false
    this.changed.clear()
    this.fresh.clear()
  }

  get hasChanges(): boolean {
    return this.changed.size > 0
  }
}
