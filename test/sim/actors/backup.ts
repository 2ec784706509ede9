import { actor } from './actor.ts'

/** A copy into the place of this directory. A step may restore it later. */
export const backup = actor<Record<string, never>>({
  weight: 2,
  isAlone: true,
  isAsked: true,
  draw: () => ({}),
  async perform(world, _, model) {
    const copy: { model: typeof model; number: number | null } = { model, number: null }
    world.copies.push(copy)
    copy.number = (await world.waymark.backup(world.place)).copy
  },
  leaves: () => null,
})
