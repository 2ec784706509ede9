import { createHash } from 'node:crypto'
import { random } from '../../bench/random.ts'

// What the clients send, decided by numbers alone: a batch that is sent again after a crash is the same batch, uuids included. Clients share no
// distinct ids, so what must become of a client's persons depends on the order of its own batches only.

export interface SentEvent {
  readonly uuid: string
  readonly event: string
  readonly distinct_id: string
  readonly timestamp: string
  readonly properties: Readonly<Record<string, unknown>>
}

export const clients = 4

const uuidOf = (name: string): string => {
  const hex = createHash('sha1').update(name).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

const start = Date.UTC(2026, 0, 5, 10)

export function batchOf(client: number, batch: number): readonly SentEvent[] {
  const draw = random(client * 100_003 + batch)
  const size = 1 + Math.floor(draw() ** 3 * 80)
  return Array.from({ length: size }, (_, i) => {
    const name = `${client}/${batch}/${i}`
    const user = `user-${client}-${Math.floor(draw() * 12)}`
    const anonymous = `anonymous-${client}-${Math.floor(draw() * 40)}`
    const number = batch * 100 + i
    const kind = draw()
    const common = { uuid: uuidOf(name), timestamp: new Date(start + number * 1000).toISOString() }
    if (kind < 0.15) {
      const properties = { $anon_distinct_id: anonymous, $set: { plan: number }, $set_once: { joined: number } }
      return { ...common, event: '$identify', distinct_id: user, properties }
    }
    if (kind < 0.5) return { ...common, event: 'viewed', distinct_id: anonymous, properties: { name, $set_once: { seen: number } } }
    return { ...common, event: 'bought', distinct_id: user, properties: { name, text: 'ü'.repeat(10), $set: { last: number } } }
  })
}

/** What an operator does to the person of an id. Repeating it has no further effect. */
export interface Deed {
  readonly what: 'write' | 'split' | 'delete'
  readonly of: string
  readonly n: number
}

/** Every fifth step of a client is no batch. */
export const deedOf = (client: number, step: number): Deed | null =>
  step % 5 === 4
    ? { what: (['write', 'split', 'delete'] as const)[((step - 4) / 5) % 3]!, of: `user-${client}-${step % 12}`, n: step }
    : null

export function stepOf(client: number, step: number): readonly (SentEvent | Deed)[] {
  const deed = deedOf(client, step)
  return deed ? [deed] : batchOf(client, step)
}

export interface ModelPerson {
  readonly ids: string[]
  properties: Record<string, unknown>
  isIdentified: boolean
}

/** The events and persons after these steps, by the rules for live events, with loops over an array. */
export function stateAfter(steps: Iterable<SentEvent | Deed>): {
  readonly events: readonly SentEvent[]
  readonly persons: ReadonlySet<ModelPerson>
} {
  let events: SentEvent[] = []
  const byId = new Map<string, ModelPerson>()
  const personOf = (id: string): ModelPerson => {
    let person = byId.get(id)
    if (!person) {
      person = { ids: [id], properties: {}, isIdentified: false }
      byId.set(id, person)
    }
    return person
  }
  for (const step of steps) {
    if ('what' in step) {
      const person = byId.get(step.of)
      if (person && step.what === 'write') person.properties = { ...person.properties, note: step.n }
      else if (person && step.what === 'delete') {
        events = events.filter(({ distinct_id }) => !person.ids.includes(distinct_id))
        for (const id of person.ids) byId.delete(id)
      } else if (person && person.ids.length > 1) {
        for (const id of person.ids.splice(1)) byId.set(id, { ids: [id], properties: {}, isIdentified: false })
        person.properties = {}
      }
      continue
    }
    events.push(step)
    const { event, distinct_id, properties } = step
    if (event === '$identify') identify(byId, personOf, distinct_id, properties.$anon_distinct_id as string)
    const person = personOf(distinct_id)
    person.properties = { ...(properties.$set_once as object), ...person.properties, ...(properties.$set as object) }
  }
  return { events, persons: new Set(byId.values()) }
}

function identify(byId: Map<string, ModelPerson>, personOf: (id: string) => ModelPerson, to: string, from: string): void {
  const [target, source] = [byId.get(to), byId.get(from)]
  if (!target || !source || target === source) {
    const person = target ?? source ?? personOf(to)
    for (const id of [to, from]) {
      if (byId.has(id)) continue
      byId.set(id, person)
      person.ids.push(id)
    }
    person.isIdentified = true
    return
  }
  target.isIdentified = true
  if (source.isIdentified) return
  target.properties = { ...source.properties, ...target.properties }
  for (const id of source.ids) {
    target.ids.push(id)
    byId.set(id, target)
  }
}
