import { nameUuid } from '../../../src/lib/ids/name-uuid.ts'
import type { SentEvent } from '../model.ts'
import { actor, type Draw, type Drawing, pick } from './actor.ts'

export const ids = ['a', 'b', 'c', 'd', 'e', 'f']
export const eventNames = ['visited', 'signed up', 'bought']
const day = 86_400_000

const uuidOf = (n: number) => nameUuid('6ba7b810-9dad-11d1-80b4-00c04fd430c8', `sim ${n}`)
const valuesOf = (draw: Draw) => ({ [pick(draw, ['plan', 'city'])]: pick<unknown>(draw, ['free', 'pro', 3, false]) })

export function drawEvent({ draw, now, next }: Drawing, daysAgo: number): SentEvent {
  const n = next()
  const kind = draw()
  const common = {
    uuid: uuidOf(n),
    distinct_id: pick(draw, ids),
    timestamp: new Date(Math.floor(now - draw() * daysAgo * day)).toISOString(),
  }
  const properties = { n, ...(draw() < 0.1 && { text: 'ü'.repeat(Math.floor(draw() * 3000)) }) }
  const writes = { ...(draw() < 0.4 && { $set: valuesOf(draw) }), ...(draw() < 0.2 && { $set_once: valuesOf(draw) }) }
  if (kind < 0.12) return { ...common, event: '$identify', properties: { ...properties, ...writes, $anon_distinct_id: pick(draw, ids) } }
  if (kind < 0.16) return { ...common, event: '$create_alias', properties: { ...properties, alias: pick(draw, ids) } }
  if (kind < 0.18) return { ...common, event: '$merge_dangerously', properties: { ...properties, alias: pick(draw, ids) } }
  if (kind < 0.24) return { ...common, event: pick(draw, eventNames), properties: { ...properties, $process_person_profile: false } }
  return { ...common, event: pick(draw, eventNames), properties: { ...properties, ...writes } }
}

/** A client sends a batch; now and then events of an earlier one again, as after an answer that was lost. */
export const capture = actor({
  weight: 12,
  draw(drawing) {
    const { draw, model } = drawing
    const events = Array.from({ length: 1 + Math.floor(draw() ** 2 * 12) }, () => drawEvent(drawing, 10))
    const { sent } = model
    if (sent.length > 0 && draw() < 0.35)
      for (let i = 0; i < 1 + draw() * 3; i++) events.splice(Math.floor(draw() * events.length), 0, pick(draw, sent))
    return { events }
  },
  perform: async ({ project }, { events }) => {
    await project.ingest({ batch: events })
  },
  leaves: ({ events }) => ({ deed: 'batch', events }),
})
