import { setImmediate } from 'node:timers/promises'
import { BoundedCache } from '../../../lib/memory/bounded-cache.ts'
import { excessOf } from '../../../limits/large-texts.ts'
import type { EventWriter, SizedGroup, StagedGroup, WriterState } from '../ports.ts'
import { fits, LargeRoom, lengthOf, type Measured, noteWritten, usualLength } from '../properties/property-size.ts'
import { type PropertyTimes, readTimes, timesText } from '../properties/property-times.ts'
import type { Arrival } from './identify.ts'
import { write, writeInThePast } from './person.ts'

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
/** Names of one look. */
const groupsOfLook = 1_024
/** Characters that are staged before the event loop gets a turn. */
const lengthOfSlice = 4_000_000

export interface NamedGroup {
  readonly type: string
  readonly key: string
}

function* portions<T>(all: readonly T[]): Generator<readonly T[]> {
  for (let from = 0; from < all.length; from += groupsOfLook) yield all.slice(from, from + groupsOfLook)
}

const cacheKey = (index: number, key: string): string => `${index}:${key}`

/** Group types are numbered by first use. Groups are cached like persons. */
export class Groups {
  private readonly store: EventWriter
  private readonly types: string[]
  /** Maximum characters of cached properties. */
  private readonly keptLength: number
  private readonly groups = new BoundedCache<string, Group>(groupsKept)
  /** Sizes of located groups that are not loaded. */
  private readonly sizes = new Map<string, SizedGroup>()
  /** Properties that are larger than usual. */
  readonly large: LargeRoom
  private changedLength = 0
  private readonly changed = new Set<Group>()
  private readonly fresh = new Set<Group>()
  private readonly newTypes: number[] = []

  /** `kept`: about how many of usual size may be cached. */
  constructor(store: EventWriter, { groupTypes: types, large }: WriterState, kept: number) {
    this.large = new LargeRoom(large.groups, store.largeRoom)
    this.store = store
    this.keptLength = Math.min(groupsKept, kept) * usualLength
    this.types = [...types]
  }

  get typeCount(): number {
    return this.types.filter((type) => type !== undefined).length
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

  /** Finds the sizes of the groups that `load` would read. */
  async locate(wanted: readonly NamedGroup[]): Promise<void> {
    const missing = new Map<string, [number, string]>()
    this.sizes.clear()
    for (const { type, key } of wanted) {
      const index = this.peek(type)
      if (index >= 0 && !this.groups.get(cacheKey(index, key))) missing.set(cacheKey(index, key), [index, key])
    }
    for (const some of portions([...missing.values()]))
      for (const found of await this.store.groupSizes(some)) this.sizes.set(cacheKey(found.index, found.key), found)
  }

  /** Names a group in the calls below. */
  keyOf({ type, key }: NamedGroup): string {
    return cacheKey(this.peek(type), key)
  }

  /** Bytes that `load` would read for a group; 0: it is loaded, or does not exist. */
  sizeOf(key: string): number {
    const found = this.sizes.get(key)
    return found ? Math.max(found.size, usualLength) : 0
  }

  /** Bytes that `load` would read for all located groups. */
  get located(): number {
    let sum = 0
    for (const { size } of this.sizes.values()) sum += Math.max(size, usualLength)
    return sum
  }

  /** Loads located groups: all of them, or those among these. */
  async load(among: ReadonlySet<string> | null): Promise<void> {
    const wanted = [...this.sizes].flatMap(([key, found]) => (!among || among.has(key) ? [found] : []))
    this.sizes.clear()
    for (const some of portions(wanted)) await this.read(some)
  }

  private async read(wanted: readonly SizedGroup[]): Promise<void> {
    for (const found of await this.store.groups(wanted)) {
      const { propertyTimes, properties, ...rest } = found
      this.groups.set(cacheKey(found.index, found.key), {
        ...rest,
        properties: JSON.parse(properties) as Record<string, unknown>,
        length: properties.length,
        counted: properties.length,
        large: excessOf(properties.length),
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
    const isRoom = fits(group, length) && this.large.has(group, length)
    const writes = { set: isRoom ? set : null, setOnce: null, unset }
    let isChanged: boolean
    if (arrival.isHistorical) {
      isChanged = writeInThePast(group, writes, time, group.updatedAt).isChanged || time < group.createdAt
      group.createdAt = Math.min(group.createdAt, time)
    } else {
      isChanged = write(group.properties, writes).size > 0
    }
    if (isChanged) {
      noteWritten(group, length)
      this.large.count(group)
    }
    if (!isChanged && !(this.fresh.has(group) && group.version === 0)) return isRoom
    group.version++
    group.updatedAt = arrival.receivedAt
    this.changedLength += this.changed.has(group) ? length : (group.length ?? usualLength)
    this.changed.add(group)
    return isRoom
  }

  /** True if the transaction should end because of the length of their properties. */
  get isHeavy(): boolean {
    return this.changedLength > this.keptLength
  }

  async stage(staged: StagedGroup): Promise<void> {
    let length = 0
    for (const index of this.newTypes) staged.put('group_types', { group_type_index: index, group_type: this.types[index]! }, true)
    for (const group of this.changed) {
      const properties = JSON.stringify(group.properties)
      length += properties.length
      group.length = group.counted = properties.length
      this.large.count(group)
      if (length > lengthOfSlice) {
        length = 0
        await staged.drain()
        await setImmediate()
      }
      staged.put(
        'groups',
        {
          group_type_index: group.index,
          group_key: group.key,
          created_at: group.createdAt,
          updated_at: group.updatedAt,
          version: group.version,
          properties,
          property_times: group.times ? timesText(group.times) : '',
        },
        this.fresh.has(group),
      )
    }
    this.newTypes.length = 0
    this.changedLength = 0
    this.changed.clear()
    this.fresh.clear()
  }

  trim(): void {
    this.groups.trim(lengthOf(this.groups.recent()) > this.keptLength)
  }
}
