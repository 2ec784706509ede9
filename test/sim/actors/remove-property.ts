import { actor, pick } from './actor.ts'

/** An administrator deletes a property from all persons, and from the events that set it. */
export const removeProperty = actor({
  weight: 1,
  isAlone: true,
  isAsked: true,
  draw: ({ draw, model }) => (model.deeds.length > 0 ? { name: pick(draw, ['plan', 'city']) } : null),
  perform: ({ project }, { name }) => project.removeProperty('person', name),
  leaves: ({ name }) => ({ deed: 'removal', name }),
})
