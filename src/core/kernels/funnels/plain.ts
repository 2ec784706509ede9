import type { OrderedFunnel } from './ordered.ts'

/** Events in order of time, each with a code. */
export interface CodedEvents {
  readonly time: Float64Array
  readonly codes: { readonly [index: number]: number; readonly length: number }
  /** By code, the steps that an event matches. */
  readonly steps: Int32Array
}

/**
 * The fold of ordered funnels without exclusions, optional steps and breakdowns, over all events of an actor: those that match no step that can be
 * taken are passed by without a look at their time. For each step it keeps the times of the latest attempt that has reached it.
 */
export class PlainFold {
  /** The times of the steps of the best attempt. Valid up to its depth, after `walk`. */
  readonly times: Float64Array
  private readonly reached: Float64Array

  constructor(private readonly funnel: Pick<OrderedFunnel, 'steps' | 'window'>) {
    this.times = new Float64Array(funnel.steps)
    this.reached = new Float64Array(funnel.steps * funnel.steps)
  }

  /** Of the events from `from` up to `to`; only `allowed` steps count. The depth, or -1: two of them with steps have the same time, which has rules of its own. */
  walk({ time, codes, steps }: CodedEvents, from: number, to: number, allowed: number): number {
    const { steps: count, window } = this.funnel
    const { reached, times } = this
    let live = 0
    let depth = 0
    for (let i = from; i < to; i++) {
      // Only steps whose previous step is live, deepest first.
      let bits = steps[codes[i]!]! & allowed & ((live << 1) | 1)
      if (bits === 0) continue
      const at = time[i]!
      for (let k = i + 1; k < to && time[k] === at; k++) if ((steps[codes[k]!]! & allowed) !== 0) return -1
      for (let k = i - 1; k >= from && time[k] === at; k--) if ((steps[codes[k]!]! & allowed) !== 0) return -1
      do {
        const step = 31 - Math.clz32(bits)
        bits ^= 1 << step
        const own = step * count
        if (step === 0) reached[0] = at
        else {
          const begun = reached[own - count]!
          if (at - begun > window || ((live & (1 << step)) !== 0 && reached[own] === begun)) continue
          for (let k = 0; k < step; k++) reached[own + k] = reached[own - count + k]!
          reached[own + step] = at
        }
        live |= 1 << step
        if (step < depth) continue
        depth = step + 1
        for (let k = 0; k < depth; k++) times[k] = reached[own + k]!
        if (depth === count) return depth
      } while (bits !== 0)
    }
    return depth
  }
}
