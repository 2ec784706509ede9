/** Choices that are the same for a seed on every machine. */
export interface Random {
  next(): number
  below(count: number): number
  chance(share: number): boolean
  pick<T>(of: readonly T[]): T
  weighted<T>(of: readonly (readonly [value: T, weight: number])[]): T
}

export function randomFrom(seed: number): Random {
  let state = Math.imul(seed + 1, 0x9e3779b1) | 0
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
  const below = (count: number) => Math.floor(next() * count)
  return {
    next,
    below,
    chance: (share) => next() < share,
    pick: (of) => of[below(of.length)]!,
    weighted(of) {
      let left = next() * of.reduce((sum, [, weight]) => sum + weight, 0)
      for (const [value, weight] of of) {
        left -= weight
        if (left < 0) return value
      }
      return of.at(-1)![0]
    },
  }
}
