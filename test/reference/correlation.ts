import type { StoreEvent } from '../harness/store.ts'
import { type ReferenceFunnel, referenceOutcomes } from './funnel-queries.ts'

// The correlation of a funnel by loops over an array of events, and the exact test with whole numbers.

export interface ReferenceCorrelation {
  readonly type: 'events' | 'properties' | 'event_with_properties'
  readonly funnel: ReferenceFunnel
  /** Null: the period of the funnel. Else its range is that of the previous period, which this filter gives. */
  readonly comparison: { readonly current: ReferenceFunnel['range']; readonly compareTo: string | null } | null
  /** The step that actors got to. */
  readonly step: number
  readonly excludedEvents: readonly string[]
  /** Of persons or groups; '$all' for all. */
  readonly names: readonly string[]
  readonly excludedNames: readonly string[]
  readonly events: readonly string[]
  readonly excludedProperties: readonly string[]
}

export type Records = Readonly<Record<string, Readonly<Record<string, unknown>>>>

export interface ReferenceName {
  readonly name: string
  readonly actors: readonly { readonly actor: string; readonly isConverted: boolean }[]
}

const hour = 3_600_000_000
const textOf = (value: unknown): string => (value === null || value === undefined ? '' : String(value))

/** Everybody who is compared, and the names with the actors who have them. */
export function referenceNames(events: readonly StoreEvent[], records: Records, query: ReferenceCorrelation) {
  const { funnel, type } = query
  const steps = funnel.steps.length
  const stepEvents = funnel.steps.map(({ event }) => event)
  const members = referenceOutcomes(events, { ...funnel, viz: 'steps', breakdown: [] })
    .filter(({ times }) => times[query.step - 1] !== undefined)
    .map(({ actor, times }) => {
      const first = times.find((time) => time !== undefined)!
      const last = times[steps - 1]
      return { actor, isConverted: last !== undefined, first, end: last ?? first + funnel.windowHours * hour }
    })
  const names = new Map<string, Map<string, boolean>>()
  const add = (name: string, { actor, isConverted }: (typeof members)[number]) => {
    if (!names.has(name)) names.set(name, new Map())
    names.get(name)!.set(actor, isConverted)
  }
  for (const member of members) {
    if (type === 'properties') {
      const record = records[member.actor]
      if (!record && funnel.actor === 'person') continue
      const own = query.names.includes('$all') ? Object.keys(record ?? {}).filter((name) => record![name] !== null) : query.names
      for (const name of own) if (!query.excludedNames.includes(name)) add(`${name}::${textOf(record?.[name])}`, member)
      continue
    }
    for (const event of events) {
      const doer = funnel.actor === 'person' ? String(event.person) : (event.groups?.[0] ?? '')
      if (doer !== member.actor || stepEvents.includes(event.event)) continue
      if (event.at <= member.first || event.at >= member.end || event.at < funnel.range[0] || event.at > funnel.range[1]) continue
      if (type === 'events') {
        if (!query.excludedEvents.includes(event.event)) add(event.event, member)
      } else if (query.events.includes(event.event))
        for (const [key, value] of Object.entries(event.properties ?? {}))
          if (value !== null && value !== undefined && !query.excludedProperties.includes(key))
            add(`${event.event}::${key}::${value}`, member)
    }
  }
  const all = { successes: members.filter(({ isConverted }) => isConverted).length, failures: 0 }
  all.failures = members.length - all.successes
  const found = [...names].map(
    ([name, actors]): ReferenceName => ({ name, actors: [...actors].map(([actor, isConverted]) => ({ actor, isConverted })) }),
  )
  return { all, names: found.filter(({ actors }) => type !== 'event_with_properties' || actors.length > 2) }
}

export interface ReferenceOdds {
  readonly name: string
  readonly successes: number
  readonly failures: number
  readonly odds: number
  readonly p: number
}

/** Those that go with success first. All that are not too few are there. */
export function referenceOdds({ all, names }: ReturnType<typeof referenceNames>): ReferenceOdds[] {
  if (all.successes === 0 || all.failures === 0) return []
  const rows = names.map(({ name, actors }) => {
    const successes = actors.filter(({ isConverted }) => isConverted).length
    const failures = actors.length - successes
    const [c, d] = [all.successes - successes, all.failures - failures]
    return {
      name,
      successes,
      failures,
      odds: ((successes + 1) * (d + 1)) / ((c + 1) * (failures + 1)),
      p: exactTest(successes, failures, c, d),
    }
  })
  const enough = rows.filter(({ successes, failures }) => successes + failures >= Math.min(25, 0.02 * (all.successes + all.failures)))
  const order = (a: ReferenceOdds, b: ReferenceOdds) => (a.name < b.name ? -1 : 1)
  return [
    ...enough.filter(({ odds }) => odds > 1).sort((a, b) => b.odds - a.odds || order(a, b)),
    ...enough.filter(({ odds }) => odds <= 1).sort((a, b) => a.odds - b.odds || order(a, b)),
  ]
}

const ways = (n: number, k: number): bigint => {
  let product = 1n
  for (let i = 1; i <= k; i++) product = (product * BigInt(n - k + i)) / BigInt(i)
  return product
}

/** The share of all ways to fill the table, with its sums, that are at most as many as those of this one. */
export function exactTest(a: number, b: number, c: number, d: number): number {
  const [row, column, all] = [a + b, a + c, a + b + c + d]
  const waysOf = (x: number) => ways(column, x) * ways(all - column, row - x)
  const own = waysOf(a)
  let sum = 0n
  for (let x = Math.max(0, row + column - all); x <= Math.min(row, column); x++) if (waysOf(x) <= own) sum += waysOf(x)
  const scale = 10n ** 40n
  return Number((sum * scale) / ways(all, row)) / 1e40
}
