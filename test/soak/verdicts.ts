import type { Disk, Sample } from './measure.ts'

/** One row of the table. */
export interface Slice {
  /** Minutes from the beginning to its end. */
  readonly at: number
  readonly samples: readonly Sample[]
  readonly disk: Disk
  /** Bytes of all backups. */
  readonly backups: number
  /** All that were acknowledged so far, with those that were there before. */
  readonly events: number
  readonly captures: readonly number[]
  /** Milliseconds by kind. */
  readonly queries: ReadonlyMap<string, readonly number[]>
  readonly kills: number
}

export interface Verdict {
  readonly name: string
  readonly holds: boolean
  readonly figures: string
}

/** A minute has some fifty captures: their 95th percentile is that of so many minutes. */
const minutesOfPercentile = 5

/** Times as much that counts as the same. */
export const tolerance = 1.2

const percentile = (all: readonly number[], share: number): number =>
  [...all].sort((a, b) => a - b)[Math.min(all.length - 1, Math.floor(all.length * share))] ?? Number.NaN
export const medianOf = (all: readonly number[]): number => percentile(all, 0.5)
export const p95Of = (all: readonly number[]): number => percentile(all, 0.95)

const thirds = <T>(all: readonly T[]): readonly [second: readonly T[], last: readonly T[]] => {
  const third = Math.ceil(all.length / 3)
  return [all.slice(-2 * third, -third), all.slice(-third)]
}

/** The median of the last third against that of the second one; `slack` is an amount that is never too much. */
function flat(name: string, all: readonly number[], slack: number, unit = ''): Verdict {
  const [second, last] = thirds(all).map((part) => medianOf(part)) as [number, number]
  const holds = last <= Math.max(second * tolerance, second + slack)
  const shown = (value: number) => `${value < 10 ? value.toFixed(2) : Math.round(value).toLocaleString('en-US')}${unit}`
  return { name, holds, figures: `${shown(second)} in the second third, ${shown(last)} in the last` }
}

/** The middle of how much longer the kinds take that were asked in both: a kind that is asked a few times in a minute has no percentile of its own. */
function slowed(first: Slice, last: Slice): { readonly factor: number; readonly worst: readonly [kind: string, factor: number] } {
  const factors: [string, number][] = []
  for (const [kind, before] of first.queries) {
    const after = last.queries.get(kind)
    if (after && after.length > 0 && before.length > 0) factors.push([kind, medianOf(after) / medianOf(before)])
  }
  factors.sort((a, b) => b[1] - a[1])
  return { factor: medianOf(factors.map(([, factor]) => factor)), worst: factors[0] ?? ['none', Number.NaN] }
}

/**
 * Memory, descriptors and threads are those of the last life, the longest one: after a kill a server begins anew. The first slice warms up, so latency is compared
 * with that of the second one.
 */
export function verdictsOf(slices: readonly Slice[]): readonly Verdict[] {
  const life = slices.slice(slices.findLastIndex(({ kills }) => kills > 0) + 1)
  const samples = (of: keyof Sample) => life.map((slice) => medianOf(slice.samples.map((sample) => sample[of])))
  const [first, last] = [slices[1]!, slices.at(-1)!]
  const queries = slowed(first, last)
  const quiet = slices.slice(1).filter(({ kills }) => kills === 0)
  const captures = (some: readonly Slice[]) => some.flatMap((slice) => slice.captures)
  const times = (name: string, when: readonly [string, string], before: number, after: number): Verdict => ({
    name,
    holds: after <= before * tolerance,
    figures: `${before.toFixed(1)} ms in the ${when[0]} after warming up, ${after.toFixed(1)} ms in the ${when[1]}`,
  })
  return [
    flat('memory is flat', samples('memory'), 16, ' MB'),
    flat('descriptors are flat', samples('descriptors'), 4),
    flat('threads are flat', samples('threads'), 4),
    flat(
      'disk per event does not grow',
      slices.map(({ disk, events }) => disk.events / events),
      0,
      ' bytes',
    ),
    flat(
      'disk beside events is flat',
      slices.map(({ disk }) => disk.rest / 1e6),
      16,
      ' MB',
    ),
    flat(
      'backups take no more each minute',
      slices.slice(1).map(({ backups, at }, n) => (backups - slices[n]!.backups) / 1e6 / (at - slices[n]!.at)),
      4,
      ' MB a minute',
    ),
    times('captures stay as fast: p50', ['first minute', 'last'], medianOf(first.captures), medianOf(last.captures)),
    times(
      'captures stay as fast: p95',
      ['first five quiet minutes', 'last five'],
      p95Of(captures(quiet.slice(0, minutesOfPercentile))),
      p95Of(captures(quiet.slice(-minutesOfPercentile))),
    ),
    {
      name: 'queries stay as fast',
      holds: queries.factor <= tolerance,
      figures: `${queries.factor.toFixed(2)} times as long in the middle of all kinds; ${queries.worst[0]} ${queries.worst[1].toFixed(2)} times`,
    },
  ]
}
