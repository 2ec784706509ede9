import { keyLimit, longestKey, type ValueType, valueTypes } from '../../../language/catalog/property-counts.ts'
import { kindOfSlot, type SlotKind, slotNames } from '../../../language/catalog/slots.ts'
import { emptyShape, propertyName, type Shape } from '../decoding/shape.ts'
import type { SlotUse, StagedGroup } from '../ports.ts'
import { type PropertyType, valueTypeOf } from './property-types.ts'

/** A column of the store that has a copy of a property's values. */
export interface KeySlot {
  readonly column: string
  isReady: boolean
  /** The last record that was stored before the slot was in use. Only while the slot is not ready. */
  readonly unfilledTo: number
}

export interface PropertyKey {
  readonly scope: string
  readonly name: string
  /** The declared type; null: each value has its own type. */
  type: PropertyType | null
  /** At most one of each kind. */
  readonly slots: KeySlot[]
  /** In the order of `valueTypes`. */
  readonly counts: number[]
  firstSeen: number
  lastSeen: number
}

/** After this many values a key gets slots. They do not change answers. */
export const slotCount = 1_000
const shapesKept = 5_000
/** Maximum number of properties in all cached shapes. */
const partsKept = 250_000

const slotted: ReadonlySet<string> = new Set(['event', 'person'])
const kindOfDeclared: Readonly<Record<PropertyType, SlotKind>> = { Numeric: 'number', String: 'text', Boolean: 'boolean', DateTime: 'text' }

const count = ({ counts }: PropertyKey, type: ValueType): number => counts[valueTypes.indexOf(type)]!

/** The types as which queries usually read the key's values. */
function kindsOf(key: PropertyKey): readonly SlotKind[] {
  if (key.type) return [kindOfDeclared[key.type]]
  const all = sum(key.counts)
  if (count(key, 'Other') === all) return [] // nested values: a slot would hold their JSON a second time
  for (const [type, kind] of [
    ['Numeric', 'number'],
    ['Boolean', 'boolean'],
  ] as const)
    if (count(key, type) === all) return [kind]
  return count(key, 'Numeric') * 2 >= all ? ['text', 'number'] : ['text']
}

/** Events, or changes of persons or groups, of one shape: their keys and types are looked up once, then only counted together. */
interface CountedShape {
  readonly parts: readonly { readonly key: PropertyKey; readonly type: number }[]
  /** Some of its keys have too few values for slots. Once false it stays false. */
  mayBeRare: boolean
  count: number
  firstSeen: number
  lastSeen: number
}

const sum = (counts: readonly number[]): number => counts.reduce((a, b) => a + b, 0)

/** What is known about properties: names, counts, types, and the columns of the store with copies of their values. */
export class PropertyKeys {
  private readonly scopes = new Map<string, Map<string, PropertyKey>>()
  /** By scope. */
  private readonly shapes = new Map<string, Map<Shape, CountedShape>>()
  private shapesCounted = 0
  private shapeParts = 0
  private readonly changed = new Set<PropertyKey>()
  private readonly fresh = new Set<PropertyKey>()
  /** Keys with too few values for slots. */
  private readonly rare = new Set<PropertyKey>()
  /** `scope:column` of slots that belong to a key, or hold values of a former one. */
  private readonly taken: Set<string>
  /** Keys that were refused: too many, or too long. Read and cleared by the apply stage. */
  refused = 0
  /** The last record of the previous group. */
  storedSeq: number
  /** Grows with new keys, types of values and slots. */
  version = 0

  constructor(stored: readonly PropertyKey[], retired: readonly string[], storedSeq: number) {
    this.taken = new Set([...retired, ...stored.flatMap(({ scope, slots }) => slots.map(({ column }) => `${scope}:${column}`))])
    this.storedSeq = storedSeq
    for (const key of stored) {
      this.scope(key.scope).set(key.name, key)
      if (sum(key.counts) < slotCount) this.rare.add(key)
      else this.giveSlots(key)
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
    const key: PropertyKey = { scope, name, type: null, slots: [], counts: valueTypes.map(() => 0), firstSeen: time, lastSeen: time }
    keys.set(name, key)
    this.version++
    this.fresh.add(key)
    this.rare.add(key)
    this.changed.add(key)
    return key
  }

  private add(key: PropertyKey, type: number, count: number, first: number, last: number): void {
    key.counts[type]! += count
    if (first < key.firstSeen) key.firstSeen = first
    if (last > key.lastSeen) key.lastSeen = last
    this.changed.add(key)
    if (sum(key.counts) < slotCount) return
    this.rare.delete(key)
    this.giveSlots(key)
  }

  private giveSlots(key: PropertyKey): void {
    if (!slotted.has(key.scope)) return
    for (const kind of kindsOf(key)) {
      if (key.slots.some(({ column }) => kindOfSlot(column) === kind)) continue
      const column = slotNames(kind).find((name) => !this.taken.has(`${key.scope}:${name}`))
      if (column === undefined) continue
      this.taken.add(`${key.scope}:${column}`)
      key.slots.push({ column, isReady: false, unfilledTo: this.storedSeq })
      this.version++
      this.changed.add(key)
    }
  }

  /** Counts the properties of an event, or the changes of a person or group, by their shape. */
  countShape(scope: string, of: Shape, time: number): void {
    const shape = this.shapes.get(scope)?.get(of) ?? this.addShape(scope, of, time)
    shape.count++
    if (time < shape.firstSeen) shape.firstSeen = time
    if (time > shape.lastSeen) shape.lastSeen = time
    if (!shape.mayBeRare) return
    // Slots depend only on the first values of a key, not on the boundaries of groups, so a rebuilt store has the same slots.
    shape.mayBeRare = shape.parts.some(({ key }) => this.rare.has(key))
    if (shape.mayBeRare) this.countOut(shape)
  }

  /** Counts the values of a person's or group's properties. */
  countValues(scope: string, properties: Readonly<Record<string, unknown>>, time: number): void {
    let shape = emptyShape()
    for (const name in properties) shape = shape.with(propertyName(name), valueTypeOf(properties[name]))
    this.countShape(scope, shape, time)
  }

  private addShape(scope: string, of: Shape, time: number): CountedShape {
    if (this.shapesCounted >= shapesKept || this.shapeParts >= partsKept) this.flushShapes()
    const parts = of.parts().flatMap(({ name, type }) => {
      const key = this.key(scope, name, time)
      if (key?.counts[type] === 0) this.version++
      return key ? [{ key, type }] : []
    })
    const shape: CountedShape = { parts, mayBeRare: true, count: 0, firstSeen: time, lastSeen: time }
    const shapes = this.shapes.get(scope) ?? new Map<Shape, CountedShape>()
    this.shapes.set(scope, shapes.set(of, shape))
    this.shapesCounted++
    this.shapeParts += parts.length
    return shape
  }

  private countOut(shape: CountedShape): void {
    if (shape.count > 0) for (const { key, type } of shape.parts) this.add(key, type, shape.count, shape.firstSeen, shape.lastSeen)
    shape.count = 0
    shape.firstSeen = Number.POSITIVE_INFINITY
    shape.lastSeen = Number.NEGATIVE_INFINITY
  }

  private countAllOut(): void {
    for (const shapes of this.shapes.values()) for (const shape of shapes.values()) this.countOut(shape)
  }

  private flushShapes(): void {
    this.countAllOut()
    this.shapes.clear()
    this.shapesCounted = 0
    this.shapeParts = 0
  }

  define(scope: string, name: string, type: PropertyType, time: number): void {
    const key = this.key(scope, name, time)
    if (!key) return
    key.type = type
    this.version++
    this.changed.add(key)
    if (sum(key.counts) >= slotCount) this.giveSlots(key)
  }

  /** Marks slots as ready once their old rows are filled. */
  markReady(filled: readonly KeySlot[]): void {
    for (const key of this.all())
      for (const slot of key.slots) {
        if (slot.isReady || !filled.includes(slot)) continue
        slot.isReady = true
        this.version++
        this.changed.add(key)
      }
  }

  unready(scope: 'event' | 'person'): { readonly slot: KeySlot; readonly use: SlotUse }[] {
    return this.inUse(scope).filter(({ slot }) => !slot.isReady)
  }

  all(): PropertyKey[] {
    return [...this.scopes.values()].flatMap((keys) => [...keys.values()])
  }

  slots(scope: 'event' | 'person'): SlotUse[] {
    return this.inUse(scope).map(({ use }) => use)
  }

  private inUse(scope: string): { readonly slot: KeySlot; readonly use: SlotUse }[] {
    return [...this.scope(scope).values()].flatMap((key) =>
      key.slots.map((slot) => ({ slot, use: { column: slot.column, kind: kindOfSlot(slot.column), key: key.name } })),
    )
  }

  stage(group: StagedGroup): void {
    this.countAllOut()
    for (const key of this.changed) {
      const names = (slots: readonly KeySlot[]) => slots.map(({ column }) => column).join(' ')
      group.put(
        'property_keys',
        {
          scope: key.scope,
          name: key.name,
          property_type: key.type,
          slots: names(key.slots),
          ready_slots: names(key.slots.filter(({ isReady }) => isReady)),
          count_numeric: count(key, 'Numeric'),
          count_string: count(key, 'String'),
          count_boolean: count(key, 'Boolean'),
          count_datetime: count(key, 'DateTime'),
          count_other: count(key, 'Other'),
          count_numeric_string: count(key, 'NumericString'),
          first_seen: key.firstSeen,
          last_seen: key.lastSeen,
        },
        this.fresh.has(key),
      )
    }
    this.changed.clear()
    this.fresh.clear()
  }

  get hasChanges(): boolean {
    return this.changed.size > 0
  }
}
