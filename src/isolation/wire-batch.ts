import type { PreparedEvent } from '../ingestion/prepare.ts'
import { emptyShape, propertyName, type Shape } from '../ingestion/shape.ts'
import type { Work } from '../ingestion/work.ts'

// A batch of events as it was prepared. To read it from the log again costs six times as much.

type EventRow = readonly [...values: unknown[], shape: number]

/** Numbers, texts and data only: it is cloned on the way. */
export interface WireBatch {
  readonly firstSeq: number
  readonly receivedAt: number
  readonly isHistorical: boolean
  readonly bytes: number
  readonly content: Uint8Array
  readonly shapes: readonly (readonly (string | number)[])[]
  readonly events: readonly EventRow[]
}

type Plain = Omit<PreparedEvent, 'shape'>
/** All of them: what is left out here does not compile. */
const fields = Object.keys({
  name: true,
  distinctId: true,
  uuid: true,
  time: true,
  propertiesFrom: true,
  propertiesTo: true,
  elementsChain: true,
  sessionId: true,
  windowId: true,
  isPersonless: true,
  set: true,
  setOnce: true,
  unset: true,
  mergeWith: true,
  groups: true,
  group: true,
  warnings: true,
  isDropped: true,
} satisfies Record<keyof Plain, true>) as readonly (keyof Plain)[]

/** Null for what is no batch of events. */
export function writeBatch({ firstSeq, receivedAt, isHistorical, bytes, content }: Work): WireBatch | null {
  if (content.kind !== 'event') return null
  const shapes = new Map<Shape, number>()
  const numberOf = (shape: Shape): number => {
    const known = shapes.get(shape)
    if (known !== undefined) return known
    shapes.set(shape, shapes.size)
    return shapes.size - 1
  }
  const events = content.events.map((event): EventRow => [...fields.map((field) => event[field]), numberOf(event.shape)])
  const parts = [...shapes.keys()].map((shape) => shape.parts().flatMap(({ name, type }) => [name, type]))
  return { firstSeq, receivedAt, isHistorical, bytes, content: content.bytes, shapes: parts, events }
}

function readShape(parts: readonly (string | number)[]): Shape {
  let shape = emptyShape()
  for (let i = 0; i < parts.length; i += 2) shape = shape.with(propertyName(parts[i] as string), parts[i + 1] as number)
  return shape
}

export function readBatch({ firstSeq, receivedAt, isHistorical, bytes, content, shapes, events }: WireBatch): Work {
  const known = shapes.map(readShape)
  const prepared = events.map((row) => {
    const event: Record<string, unknown> = { shape: known[row.at(-1) as number] }
    for (let i = 0; i < fields.length; i++) event[fields[i]!] = row[i]
    return event as unknown as PreparedEvent
  })
  const work = { kind: 'event', events: prepared, bytes: content, duplicates: new Set<number>() } as const
  return { firstSeq, count: events.length, receivedAt, isHistorical, bytes, content: work }
}
