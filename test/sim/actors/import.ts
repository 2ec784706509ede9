import type { SentEvent } from '../model.ts'
import { actor, pick } from './actor.ts'
import { drawEvent, eventNames } from './capture.ts'

/** Past events, of persons that nobody else writes about: what past merges do is compared elsewhere. */
export const importPast = actor<{ readonly events: readonly SentEvent[] }>({
  weight: 3,
  draw(drawing) {
    const { draw } = drawing
    const events = Array.from({ length: 1 + Math.floor(draw() ** 2 * 30) }, () => {
      const { uuid, timestamp, properties } = drawEvent(drawing, 400)
      return {
        uuid,
        timestamp,
        event: pick(draw, eventNames),
        distinct_id: pick(draw, ['past 1', 'past 2', 'past 3']),
        properties: { n: properties.n },
      }
    })
    return { events }
  },
  perform: async ({ project }, { events }) => {
    await project.ingest({ batch: events, historical_migration: true })
  },
  leaves: ({ events }) => ({ deed: 'batch', events }),
})
