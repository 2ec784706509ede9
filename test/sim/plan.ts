import { random } from '../../bench/random.ts'
import { type Draw, type Drawing, pick } from './actors/actor.ts'
import { query } from './actors/query.ts'
import { actors } from './actors/registry.ts'
import type { Model } from './model.ts'
import { type Damage, damages, type Ending } from './world.ts'

// What happens in a run: acts, alone or at once, and what befalls the machine meanwhile. A plan is drawn while it is carried out, since acts depend on what is
// there; a plan that was kept is carried out as it is.

export interface Act {
  readonly actor: string
  readonly act: unknown
}

export type Fault =
  /** The process ends after so many calls of the files and the store, or the machine. `again`: so does the next one, while it opens. */
  | { readonly fault: Ending; readonly after: number; readonly again: readonly { readonly ending: Ending; readonly after: number }[] }
  /** So many bytes still fit on the disk. */
  | { readonly fault: 'full disk'; readonly bytes: number }
  /** The clock of the machine is set to another time. */
  | { readonly fault: 'clock'; readonly ms: number }
  | { readonly fault: 'restart' }
  /** The last copy is restored, and the project goes on from there. */
  | { readonly fault: 'restore' }
  /** Between two processes, a file that can be made again is gone, cut, or has other bytes. */
  | { readonly fault: 'damage'; readonly how: Damage; readonly file: number; readonly at: number }
  /** Time passes, with all that is due. */
  | { readonly fault: 'wait'; readonly ms: number }

export interface Step {
  /** Decides in which order the calls of this step are made, and what a power cut leaves. */
  readonly seed: number
  /** Begun at once, in this order. */
  readonly acts: readonly Act[]
  readonly fault?: Fault
}

const mostEndings = 3

export class Planner {
  private readonly draw: Draw
  private readonly next: () => number
  private endings = 0

  constructor(seed: number, next: () => number) {
    this.draw = random(seed)
    this.next = next
  }

  step(model: Model, now: number, hasCopy: boolean): Step {
    const { draw } = this
    const seed = Math.floor(draw() * 2 ** 31)
    const drawing = { draw, model, now, next: this.next }
    const kind = draw()
    if (kind < 0.1 && this.endings < mostEndings) {
      this.endings++
      return { seed, acts: actsOf(drawing, Math.floor(draw() * 4)), fault: this.ending() }
    }
    if (kind < 0.15)
      return {
        seed,
        acts: actsOf(drawing, 1 + Math.floor(draw() * 3)),
        fault: { fault: 'full disk', bytes: Math.floor(draw() ** 2 * 6000) },
      }
    if (kind < 0.17 && this.endings < mostEndings) {
      this.endings++
      return { seed, acts: [], fault: { fault: 'restart' } }
    }
    if (kind < 0.19 && hasCopy && this.endings < mostEndings) {
      this.endings++
      return { seed, acts: [], fault: { fault: 'restore' } }
    }
    if (kind < 0.205 && this.endings < mostEndings) {
      this.endings++
      return { seed, acts: [], fault: { fault: 'damage', how: pick(draw, damages), file: draw(), at: draw() } }
    }
    if (kind < 0.22) {
      const days = draw() < 0.75 ? (draw() - 0.4) * 3 : 10 + draw() * 40 // beyond a month, which may be all that is kept
      return { seed, acts: [], fault: { fault: 'clock', ms: Math.floor(days * 86_400_000) } }
    }
    if (kind < 0.26) return { seed, acts: [], fault: { fault: 'wait', ms: Math.floor(draw() ** 3 * 7_200_000) } }
    return { seed, acts: actsOf(drawing, draw() < 0.7 ? 1 : 2 + Math.floor(draw() * 3)) }
  }

  private ending(): Fault {
    const { draw } = this
    const ending = (): Ending => (draw() < 0.35 ? 'kill' : 'power cut')
    const again = Array.from({ length: draw() < 0.25 ? 1 : 0 }, () => ({ ending: ending(), after: Math.floor(draw() * 200) }))
    return { fault: ending(), after: Math.floor(draw() ** 2 * 80), again }
  }
}

function actsOf(drawing: Drawing, count: number): Act[] {
  const acts: Act[] = []
  while (acts.length < count) {
    const name = weighted(drawing.draw)
    const { isAlone = false, isAsked = false, draw } = actors[name]!
    if (isAlone && acts.length > 0) continue
    const act = draw(drawing)
    if (act === null) continue
    acts.push({ actor: name, act })
    if (!isAlone) continue
    const questions = isAsked && drawing.draw() < 0.5 ? 1 + Math.floor(drawing.draw() * 2) : 0
    for (let i = 0; i < questions; i++) acts.push({ actor: 'query', act: query.draw(drawing) })
    break
  }
  return acts
}

const bag = Object.entries(actors).flatMap(([name, { weight }]) => Array.from({ length: weight }, () => name))
const weighted = (draw: Draw) => pick(draw, bag)
