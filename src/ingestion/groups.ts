import { BoundedCache } from '../lib/bounded-cache.ts'
import type { Arrival } from './identify.ts'
import { write, writeInThePast } from './person.ts'
import type { EventWriter, StagedGroup } from './ports.ts'
import { fits, lengthOf, type Measured, noteWritten, usualLength } from './property-size.ts'
import { type PropertyTimes, readTimes, timesText } from './property-times.ts'

interface Group extends Measured {
  readonly index: number
  readonly key: string
  createdAt: number
  updatedAt: number
  version: number
  properties: Record<string, unknown>
  times: PropertyTimes | null
}

interface GroupWrites {
  readonly set: Readonly<Record<string, unknown>>
  readonly unset?: readonly string[] | null
  /** Upper bound of the length of `set` as JSON. */
  readonly length: number
}

export const groupTypeLimit = 5
const groupsKept = 50_000
const cacheKey = (index: number, key: string): string => `${index}:${key}`

/** Group types are numbered by first use. Groups are cached like persons. */
export class Groups {
  private readonly store: EventWriter
  private readonly types: string[]
  private readonly groups = new BoundedCache<string, Group>(groupsKept)
  private readonly changed = new Set<Group>()
  private readonly fresh = new Set<Group>()
  private readonly newTypes: number[] = []

  constructor(store: EventWriter, types: readonly string[]) {
    this.store = store
    this.types = [...types]
  }

  /** -1 if the project has five other types already. */
  indexOf(type: string): number {
    const index = this.types.indexOf(type)
    if (index >= 0) return index
    const free = Array.from({ length: groupTypeLimit }, (_, i) => i).find((i) => this.types[i] === undefined)
    return free === undefined ? -1 : this.fix(free, type)
  }

  /** Assigns a given number to a type, unless the number or the type is taken already. */
  fix(index: number, type: string): number {
    const known = this.types.indexOf(type)
    if (known >= 0) return known
    if (this.types[index] !== undefined || index < 0 || index >= groupTypeLimit) return -1
    this.types[index] = type
    this.newTypes.push(index)
    return index
  }

  typeOf(index: number): string | undefined {
    return this.types[index]
  }

  /** What `indexOf` would return, without assigning a number to a new type. */
  peek(type: string): number {
    return this.types.indexOf(type)
  }

  async load(wanted: readonly { readonly type: string; readonly key: string }[]): Promise<void> {
    const missing = new Map<string, [number, string]>()
    for (const { type, key } of wanted) {
      const index = this.peek(type)
      if (index >= 0 && !this.groups.get(cacheKey(index, key))) missing.set(cacheKey(index, key), [index, key])
    }
    for (const found of await this.store.groups([...missing.values()])) {
      const { propertyTimes, properties, ...rest } = found
      this.groups.set(cacheKey(found.index, found.key), {
        ...rest,
        properties: JSON.parse(properties) as Record<string, unknown>,
        length: properties.length,
        counted: properties.length,
        times: propertyTimes ? readTimes(propertyTimes) : null,
      })
    }
  }

  /** Returns whether the properties were within the limit. */
  identify(index: number, key: string, { set, unset = null, length }: GroupWrites, time: number, arrival: Omit<Arrival, 'seq'>): boolean {
    let group = this.groups.get(cacheKey(index, key))
    if (!group) {
      group = { index, key, createdAt: time, updatedAt: arrival.receivedAt, version: 0, properties: {}, times: null }
      this.groups.set(cacheKey(index, key), group)
      this.fresh.add(group)
    }
    const isRoom = fits(group, length)
    const writes = { set: isRoom ? set : null, setOnce: null, unset }
    let isChanged: boolean
    if (arrival.isHistorical) {
      isChanged = writeInThePast(group, writes, time, group.updatedAt).isChanged || time < group.createdAt
      group.createdAt = Math.min(group.createdAt, time)
    } else {
      isChanged = write(group.properties, writes).size > 0
    }
    if (isChanged) noteWritten(group, length)
    if (!isChanged && !(this.fresh.has(group) && group.version === 0)) return isRoom
    group.version++
    group.updatedAt = arrival.receivedAt
    this.changed.add(group)
    return isRoom
  }

  stage(staged: StagedGroup): void {
    for (const index of this.newTypes) staged.put('group_types', { group_type_index: index, group_type: this.types[index]! }, true)
    for (const group of this.changed) {
      staged.put(
        'groups',
        {
          group_type_index: group.index,
          group_key: group.key,
          created_at: group.createdAt,
          updated_at: group.updatedAt,
          version: group.version,
          properties: JSON.stringify(group.properties),
          property_times: group.times ? timesText(group.times) : '',
        },
        this.fresh.has(group),
      )
    }
    this.newTypes.length = 0
    this.changed.clear()
    this.fresh.clear()
  }

  trim(): void {
    this.groups.trim(lengthOf(this.groups.recent()) > groupsKept * usualLength)
  }
}
