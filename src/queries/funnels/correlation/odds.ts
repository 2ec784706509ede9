import { fisherExact } from '../../../lib/numbers/fisher-exact.ts'

/** Numbers of actors: of those who converted and of those who did not. */
export interface Split {
  readonly successes: number
  readonly failures: number
}
export interface NamedSplit extends Split {
  readonly name: string
}

export interface Correlation extends NamedSplit {
  readonly oddsRatio: number
  readonly pValue: number
}

/** Added to each of the four numbers, so that none is 0. */
const prior = 1
/** Names of fewer actors are left out: as many actors, or this share of them. */
const fewest = 25
const fewestShare = 0.02
/** Names that are shown of each kind. */
const shownNames = 10
const skewedFrom = 10

export const isSkewed = ({ successes, failures }: Split): boolean =>
  successes === 0 || failures === 0 || successes / failures > skewedFrom || failures / successes > skewedFrom

/** Compares those with the name with those without. */
function correlationOf({ name, successes, failures }: NamedSplit, all: Split): Correlation {
  const without = { successes: all.successes - successes, failures: all.failures - failures }
  return {
    name,
    successes,
    failures,
    oddsRatio: ((successes + prior) * (without.failures + prior)) / ((without.successes + prior) * (failures + prior)),
    pValue: fisherExact(successes, failures, without.successes, without.failures),
  }
}

export interface Ranked {
  /** What goes with success first, then what goes with failure, each with the strongest first. */
  readonly shown: readonly Correlation[]
  readonly hasMore: boolean
}

export function ranked(names: readonly NamedSplit[], all: Split): Ranked {
  if (all.successes === 0 || all.failures === 0) return { shown: [], hasMore: false }
  const least = Math.min(fewest, fewestShare * (all.successes + all.failures))
  const found = names.filter(({ successes, failures }) => successes + failures >= least).map((one) => correlationOf(one, all))
  const byName = (a: Correlation, b: Correlation) => (a.name < b.name ? -1 : 1)
  const success = found.filter(({ oddsRatio }) => oddsRatio > 1).sort((a, b) => b.oddsRatio - a.oddsRatio || byName(a, b))
  const failure = found.filter(({ oddsRatio }) => oddsRatio <= 1).sort((a, b) => a.oddsRatio - b.oddsRatio || byName(a, b))
  return {
    shown: [...success.slice(0, shownNames), ...failure.slice(0, shownNames)],
    hasMore: success.length > shownNames || failure.length > shownNames,
  }
}
