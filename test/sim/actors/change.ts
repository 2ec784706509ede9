import type { ModelChange } from '../../reference/identity-model.ts'
import { actor, type Draw, pick } from './actor.ts'
import { ids } from './capture.ts'

function drawChange(draw: Draw, of: string): ModelChange {
  const kind = draw()
  if (kind < 0.4) return { change: 'write', of, set: { plan: pick<unknown>(draw, ['team', 7]) }, unset: draw() < 0.4 ? ['city'] : [] }
  if (kind < 0.6) return { change: 'merge', of, sources: [pick(draw, ids), pick(draw, ids)] }
  if (kind < 0.75) return { change: 'split', of, ids: draw() < 0.5 ? null : [pick(draw, ids)] }
  return { change: 'delete', of, withEvents: draw() < 0.7 }
}

/** An operator changes a person: writes its properties, merges, splits or deletes it. */
export const change = actor<ModelChange>({
  weight: 4,
  isAlone: true,
  isAsked: true,
  draw({ draw, model }) {
    const of = pick(draw, ids)
    return model.personOf(of) === null ? null : drawChange(draw, of)
  },
  async perform({ project }, one, model) {
    const person = model.personOf(one.of) ?? nobody
    const sources = one.change === 'merge' ? one.sources.map((id) => model.personOf(id) ?? nobody) : []
    await project.changePersons([one.change === 'merge' ? { change: 'merge', person, sources } : { ...one, person }])
  },
  leaves: (one) => ({ deed: 'change', change: one }),
})

const nobody = '00000000-0000-4000-8000-000000000000'
