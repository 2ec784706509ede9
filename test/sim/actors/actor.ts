import type { Deed, Model } from '../model.ts'
import type { World } from '../world.ts'

/** Numbers in [0, 1) from the seed. */
export type Draw = () => number

/** What is known when a step is drawn: drawing asks the model, never the engine. */
export interface Drawing {
  readonly draw: Draw
  readonly model: Model
  /** Milliseconds since 1970. */
  readonly now: number
  /** Different for each call. */
  next(): number
}

/** One kind of act. To add one, write a file with an actor, and its line in `registry.ts`. */
export interface Actor<Act = never> {
  readonly weight: number
  /** Nothing else is begun with it: what it does depends on what is there. */
  readonly isAlone?: boolean
  /** But questions may be asked meanwhile. */
  readonly isAsked?: boolean
  /** Drawn acts are plain JSON, as a saved case keeps them. Null: not possible now. */
  draw(drawing: Drawing): Act | null
  /** Does it. Rejects if the engine refuses it. `meanwhile`: what else may be true until it is done, as others act at the same time. */
  perform(world: World, act: Act, model: Model, meanwhile: () => readonly Model[]): Promise<unknown>
  /** What it leaves if it was acknowledged; null: nothing. */
  leaves(act: Act): Deed | null
}

/** What it draws is given to itself only. */
export type AnyActor = Omit<Actor, 'draw'> & { draw(drawing: Drawing): unknown }

export const actor = <Act>(one: Actor<Act>): Actor<Act> => one

export const pick = <T>(draw: Draw, values: readonly T[]): T => values[Math.floor(draw() * values.length)]!
