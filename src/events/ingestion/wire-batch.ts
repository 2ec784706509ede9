import { setOwn } from '../../lib/own.ts'
import { Texts } from '../../lib/text/texts.ts'
import type { DecodedBatch } from './decoding/decode-batch.ts'
import type { PreparedEvent } from './decoding/prepare.ts'
import { emptyShape, propertyName, type Shape } from './decoding/shape.ts'
import { valueTypeOf } from './properties/property-types.ts'
import type { Work } from './work.ts'

// A batch of prepared events, column by column: reading it from the log again takes six times as long, and cloning it event by event three times.

const uuidLength = 36

/** A column of an event field; null if every event has the default. */
type Column<F extends keyof PreparedEvent> = readonly PreparedEvent[F][] | null

/** Fields with few own values: JSON is the fastest way to clone them, and equals what a restart would read from the log. */
interface Columns {
  readonly names: readonly string[]
  readonly distinctIds: readonly string[]
  /** Names and types of the properties of each shape, alternating. */
  readonly shapes: readonly (readonly (string | number)[])[]
  readonly elementsChain: Column<'elementsChain'>
  readonly sessionId: Column<'sessionId'>
  readonly windowId: Column<'windowId'>
  readonly isPersonless: Column<'isPersonless'>
  /** Those that have no shape. */
  readonly set: Column<'set'>
  readonly setOnce: Column<'setOnce'>
  /** All values of the others, one after the other. */
  readonly values: readonly unknown[]
  readonly unset: Column<'unset'>
  readonly mergeWith: Column<'mergeWith'>
  readonly visitor: Column<'visitor'>
  readonly groups: Column<'groups'>
  readonly group: Column<'group'>
  readonly warnings: Column<'warnings'>
  readonly isDropped: Column<'isDropped'>
}

/** Numbers, texts and plain data only: it is cloned on the way. */
export interface WireBatch {
  readonly firstSeq: number
  readonly receivedAt: number
  readonly sentAt: string | null
  readonly isHistorical: boolean
  readonly importId?: string
  readonly bytes: number
  readonly content: Uint8Array
  readonly times: Float64Array
  readonly propertiesFrom: Uint32Array
  readonly propertiesTo: Uint32Array
  /** Indexes into `names` and `shapes`. */
  readonly nameOf: Uint32Array
  readonly shapeOf: Uint32Array
  /** Of what an event writes into its person: an index into `shapes`, or one of the numbers below. */
  readonly setOf: Int32Array
  readonly setOnceOf: Int32Array
  /** Concatenated. */
  readonly uuids: string
  readonly columns: string
}

/** Assigns numbers to values in order of appearance. */
class Numbering<T> {
  private readonly numbers = new Map<T, number>()

  of(value: T): number {
    const known = this.numbers.get(value)
    if (known !== undefined) return known
    const number = this.numbers.size
    this.numbers.set(value, number)
    return number
  }

  get values(): T[] {
    return [...this.numbers.keys()]
  }
}

const nothing: readonly never[] = []

/** In the column of its field. */
const inColumn = -1
/** `setOnce` has the values of `set`, as the first ones. */
const asSet = -2

type Values = Readonly<Record<string, unknown>>

/** In place of the type of a null, which is part of no shape. */
const missing = 7

/** All names with the types of their values. Null: a shape cannot have them. */
function namesOfValues(values: Values): Shape | null {
  let names = emptyShape()
  let count = 0
  for (const name in values) {
    const type = valueTypeOf(values[name])
    const of = propertyName(name)
    if (of.isRepaired) return null
    names = names.with(of, type < 0 ? missing : type)
    count++
  }
  return names.length === count ? names : null
}

const initialOf = (name: string): string | null => propertyName(name).initial

/** Whether each value is the first one of a property of `set`, and in its order. */
function isFirstOf(setOnce: Values, set: Values): boolean {
  const names = Object.keys(setOnce)
  let at = 0
  for (const name in set) {
    const initial = names[at++]
    if (initial === undefined || initial !== initialOf(name) || setOnce[initial] !== set[name]) return false
  }
  return at === names.length
}

/** What events write into their persons: names once for all that have the same, and values. */
function writesOf(events: readonly PreparedEvent[], shapes: Numbering<Shape>) {
  const setOf = new Int32Array(events.length).fill(inColumn)
  const setOnceOf = new Int32Array(events.length).fill(inColumn)
  const values: unknown[] = []
  const place = (written: Values | null): number => {
    const names = written && namesOfValues(written)
    if (!names) return inColumn
    for (const name in written) values.push(written[name])
    return shapes.of(names)
  }
  for (const [i, { set, setOnce }] of events.entries()) {
    setOf[i] = place(set)
    setOnceOf[i] = setOf[i] !== inColumn && setOnce && isFirstOf(setOnce, set!) ? asSet : place(setOnce)
  }
  return { setOf, setOnceOf, values }
}

/** Null if the value is not a batch of events. */
export function writeBatch({ firstSeq, receivedAt, sentAt, isHistorical, importId, bytes, content }: Work): WireBatch | null {
  if (content.kind !== 'event') return null
  const { events } = content
  const names = new Numbering<string>()
  const shapes = new Numbering<Shape>()
  const column = <F extends keyof PreparedEvent>(field: F, isDefault: (value: PreparedEvent[F]) => boolean): Column<F> =>
    events.every((event) => isDefault(event[field])) ? null : events.map((event) => event[field])
  const isEmpty = (value: { readonly length: number }) => value.length === 0
  const isFalse = (value: boolean) => !value
  const isNull = (value: unknown) => value === null
  const nameOf = Uint32Array.from(events, ({ name }) => names.of(name))
  const shapeOf = Uint32Array.from(events, ({ shape }) => shapes.of(shape))
  const { setOf, setOnceOf, values } = writesOf(events, shapes)
  const rest = <F extends 'set' | 'setOnce'>(field: F, of: Int32Array): Column<F> =>
    events.every((event, i) => of[i] !== inColumn || event[field] === null)
      ? null
      : events.map((event, i) => (of[i] === inColumn ? event[field] : null))
  const columns: Columns = {
    names: names.values,
    distinctIds: events.map(({ distinctId }) => distinctId),
    shapes: shapes.values.map((shape) => shape.parts().flatMap(({ name, type }) => [name, type])),
    elementsChain: column('elementsChain', isEmpty),
    sessionId: column('sessionId', isEmpty),
    windowId: column('windowId', isEmpty),
    isPersonless: column('isPersonless', isFalse),
    set: rest('set', setOf),
    setOnce: rest('setOnce', setOnceOf),
    values,
    unset: column('unset', isNull),
    mergeWith: column('mergeWith', isNull),
    visitor: column('visitor', isNull),
    groups: column('groups', isNull),
    group: column('group', isNull),
    warnings: column('warnings', isEmpty),
    isDropped: column('isDropped', isFalse),
  }
  return {
    firstSeq,
    receivedAt,
    sentAt,
    isHistorical,
    ...(importId !== undefined && { importId }),
    bytes,
    content: content.bytes,
    times: Float64Array.from(events, ({ time }) => time),
    propertiesFrom: Uint32Array.from(events, (event) => event.propertiesFrom),
    propertiesTo: Uint32Array.from(events, (event) => event.propertiesTo),
    nameOf,
    shapeOf,
    setOf,
    setOnceOf,
    uuids: events.map(({ uuid }) => uuid).join(''),
    columns: JSON.stringify(columns),
  }
}

function readShape(parts: readonly (string | number)[]): Shape {
  let shape = emptyShape()
  for (let i = 0; i < parts.length; i += 2) {
    const type = parts[i + 1] as number
    if (type !== missing) shape = shape.with(propertyName(parts[i] as string), type)
  }
  return shape
}

/** What some events write into their persons: the same names, and values of the same types. */
interface Writes {
  readonly names: readonly string[]
  readonly shape: Shape
}

type Parts = readonly (string | number)[]

const isOfName = (_: unknown, i: number): boolean => i % 2 === 0
const writesOfParts = (parts: Parts): Writes => ({ names: parts.filter(isOfName) as string[], shape: readShape(parts) })
/** The same of the first values. */
const firstParts = (parts: Parts): Parts => parts.map((part, i) => (isOfName(part, i) ? initialOf(part as string)! : part))

const build = (names: readonly string[], values: readonly unknown[], from: number): Values => {
  const built: Record<string, unknown> = {}
  for (let i = 0; i < names.length; i++) setOwn(built, names[i]!, values[from + i])
  return built
}

export function readBatch(batch: WireBatch): Work {
  const { firstSeq, receivedAt, sentAt, isHistorical, bytes, content, times, propertiesFrom, propertiesTo, nameOf, shapeOf, uuids } = batch
  const { setOf, setOnceOf, importId } = batch
  const columns = JSON.parse(batch.columns) as Columns
  const { values } = columns
  const shapes = columns.shapes.map(readShape)
  const known: Writes[] = []
  const first: Writes[] = []
  const writesAt = (index: number): Writes => (known[index] ??= writesOfParts(columns.shapes[index]!))
  const firstAt = (index: number): Writes => (first[index] ??= writesOfParts(firstParts(columns.shapes[index]!)))
  let at = 0
  const events = columns.distinctIds.map((distinctId, i): PreparedEvent => {
    const [ofSet, ofSetOnce] = [setOf[i]!, setOnceOf[i]!]
    const from = at
    const set = ofSet === inColumn ? null : writesAt(ofSet)
    if (set) at += set.names.length
    const setOnce = ofSetOnce === asSet ? firstAt(ofSet) : ofSetOnce === inColumn ? null : writesAt(ofSetOnce)
    const onceFrom = ofSetOnce === asSet ? from : at
    if (setOnce && ofSetOnce !== asSet) at += setOnce.names.length
    return {
      name: columns.names[nameOf[i]!]!,
      distinctId,
      uuid: uuids.slice(i * uuidLength, (i + 1) * uuidLength),
      time: times[i]!,
      propertiesFrom: propertiesFrom[i]!,
      propertiesTo: propertiesTo[i]!,
      derivedBytes: 0,
      elementsChain: columns.elementsChain?.[i] ?? '',
      sessionId: columns.sessionId?.[i] ?? '',
      windowId: columns.windowId?.[i] ?? '',
      isPersonless: columns.isPersonless?.[i] ?? false,
      set: set ? build(set.names, values, from) : (columns.set?.[i] ?? null),
      setOnce: setOnce ? build(setOnce.names, values, onceFrom) : (columns.setOnce?.[i] ?? null),
      setShape: set?.shape ?? null,
      setOnceShape: setOnce?.shape ?? null,
      unset: columns.unset?.[i] ?? null,
      mergeWith: columns.mergeWith?.[i] ?? null,
      visitor: columns.visitor?.[i] ?? null,
      groups: columns.groups?.[i] ?? null,
      group: columns.group?.[i] ?? null,
      shape: shapes[shapeOf[i]!]!,
      warnings: columns.warnings?.[i] ?? nothing,
      isDropped: columns.isDropped?.[i] ?? false,
    }
  })
  const work = { kind: 'event', events, bytes: content, duplicates: new Set<number>() } as const
  const ofImport = importId === undefined ? {} : { importId }
  return { firstSeq, count: events.length, receivedAt, sentAt, isHistorical, ...ofImport, bytes, content: work }
}

/** A batch that has not been in a log, with the texts that the log stores. */
export function readDecoded(batch: WireBatch): DecodedBatch {
  const { sentAt, isHistorical, importId, content } = batch
  const work = readBatch(batch).content as Extract<Work['content'], { kind: 'event' }>
  const offsets = new Int32Array(work.events.length + 1)
  for (const [i, { propertiesTo }] of work.events.entries()) offsets[i + 1] = propertiesTo + 1
  const uuids = work.events.map(({ uuid }) => uuid)
  const ofImport = importId === undefined ? {} : { importId }
  return { events: work.events, payloads: new Texts(content, offsets), uuids, sentAt, isHistorical, ...ofImport }
}
