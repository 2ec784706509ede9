import { random } from '../../../bench/random.ts'
import { families } from '../../cost/families.ts'
import type { HttpInput, Probe } from '../../cost/probe.ts'

/** The five heaviest statements of the cost fuzzer, each with its size. `tsx test/engine/isolation/find-heaviest.ts` finds them. */
export const heaviest: readonly (readonly [name: string, size: number])[] = [
  ['query: values that a filter contains', 5_000],
  ['statement: arrayJoin', 40],
  ['query: names of events', 100_000],
  ['query: series with a math each', 8_192],
  ['query: filters', 5_000],
]

/** What asks something. */
export function* probes(): Generator<Probe> {
  for (const { name, probes } of families)
    if (name === 'statement' || name === 'query') yield* probes(random(1), { ids: new Map(), strangers: [] })
}

/** Null if the statement cannot be built in this size. */
export function bodyOf(probe: Probe, size: number): string | null {
  try {
    const { body } = probe.make(size) as HttpInput
    return typeof body === 'string' ? body : null
  } catch {
    return null
  }
}

export function heaviestBodies(): readonly string[] {
  const all = [...probes()]
  return heaviest.map(([name, size]) => {
    const probe = all.find((one) => one.name === name)
    if (!probe) throw new Error(`The fuzzer has no ${name}`)
    return bodyOf(probe, size)!
  })
}
