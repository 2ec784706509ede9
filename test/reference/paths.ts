import { naiveFunnel } from './funnels.ts'
import { dayNumber, dayText, isSampled, localDay, type ReferenceEvent, textOf } from './trends.ts'

// The edges of paths by loops over an array of events, written from the description of the feature: for each actor its sessions, for each session
// its path as a list of items.

export interface ReferencePaths {
  readonly zone: string
  readonly weekStartDay: 0 | 1
  /** Local dates, both included. */
  readonly from: string
  readonly to: string
  readonly types: readonly string[]
  /** Property that names the item of an event. */
  readonly expression: string | null
  readonly excluded: readonly string[]
  readonly start: string | null
  readonly end: string | null
  readonly steps: number
  readonly edges: number
  readonly least: number
  readonly most: number
  /** Texts with `*`. */
  readonly groupings: readonly string[]
  readonly cleaning: readonly (readonly [regex: string, alias: string])[]
  readonly filter?: readonly [key: string, value: string] | undefined
  readonly perGroup: boolean
  readonly sample?: number | undefined
  /** Around a step of the funnel of two events; its window in minutes. */
  readonly around: { readonly type: 'before' | 'between' | 'after'; readonly step: number; readonly minutes: number } | null
  /** With the days right before, or with those so many days earlier. Null: no comparison. */
  readonly compared: 'before' | number | null
}

export const funnelEvents = ['view', 'buy'] as const

export interface ReferenceEdge {
  readonly compare_label?: 'current' | 'previous'
  readonly source: string
  readonly target: string
  readonly value: number
  readonly average_conversion_time: number
}

export interface ReferencePath {
  readonly actor: string
  readonly items: readonly string[]
  readonly times: readonly number[]
}

const minute = 60_000_000
const actorOf = (e: ReferenceEvent, { perGroup }: ReferencePaths) => (perGroup ? e.group : String(e.person))

function itemOf(e: ReferenceEvent, query: ReferencePaths): string {
  const has = (type: string) => query.types.length === 0 || query.types.includes(type)
  let item = e.event
  if (e.event === '$pageview' && has('$pageview')) {
    const url = textOf(e.properties.$current_url) ?? ''
    item = url.length > 1 && url.endsWith('/') ? url.slice(0, -1) : url
  } else if (e.event === '$screen' && has('$screen')) item = textOf(e.properties.$screen_name) ?? ''
  else if (query.expression !== null && has('hogql')) item = textOf(e.properties[query.expression]) ?? ''
  for (const [regex, alias] of query.cleaning) item = item.replace(new RegExp(regex, 'g'), alias)
  /** The characters of the item after which a grouping is complete. */
  const endOf = (grouping: string) => {
    let end = 0
    for (const part of grouping.split('*')) {
      const place = item.indexOf(part, end)
      if (place < 0) return Number.POSITIVE_INFINITY
      end = place + part.length
    }
    return end
  }
  const ends = query.groupings.map(endOf)
  const least = Math.min(...ends)
  return Number.isFinite(least) ? query.groupings[ends.indexOf(least)]! : item
}

function counts(e: ReferenceEvent, query: ReferencePaths): boolean {
  const names = query.types.filter((type) => type !== 'hogql' && type !== 'custom_event')
  const isIncluded =
    (names.length === 0 && !query.types.includes('custom_event')) ||
    names.includes(e.event) ||
    (query.types.includes('custom_event') && !e.event.startsWith('$'))
  const item = itemOf(e, query)
  return isIncluded && item !== '' && !query.excluded.includes(item) && !query.excluded.includes(e.event)
}

/** When the events of an actor count: from a time to another one. */
function spanOf(actor: string, events: readonly ReferenceEvent[], query: ReferencePaths): readonly [number, number] | null {
  if (!query.around) return [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]
  const { type, step, minutes } = query.around
  const own = events.filter((e) => actorOf(e, query) === actor && isInRange(e, query) && isSampled(e, {}))
  const outcome = naiveFunnel(
    own.map((e) => ({ time: e.at, steps: funnelEvents.flatMap((name, i) => (e.event === name ? [i] : [])) })),
    { order: 'ordered', steps: 2, window: minutes * minute },
  )
  if (!outcome || (step === 2 && outcome.depth < 2) || (step === -2 && outcome.depth > 1)) return null
  const reached = outcome.times[step === 2 ? 1 : 0]!
  if (type === 'before') return [Number.NEGATIVE_INFINITY, reached]
  if (type === 'between') return [outcome.times[0]!, reached]
  return [reached + (step < 0 ? minutes * minute : 0), Number.POSITIVE_INFINITY]
}

const isInRange = (e: ReferenceEvent, { from, to, zone }: ReferencePaths) => {
  const day = localDay(e.at, zone)
  return day >= from && day <= to
}

/** The paths of all actors, as they are cut for the question. */
export function referencePathList(all: readonly ReferenceEvent[], query: ReferencePaths): ReferencePath[] {
  const gap = (query.around?.minutes ?? 30) * minute
  const paths: ReferencePath[] = []
  for (const actor of new Set(all.map((e) => actorOf(e, query)))) {
    const span = actor === '' ? null : spanOf(actor, all, query)
    if (!span) continue
    const own = all
      .map((e, arrival) => ({ e, arrival }))
      .filter(
        ({ e }) =>
          actorOf(e, query) === actor &&
          isInRange(e, query) &&
          isSampled(e, query) &&
          (!query.filter || textOf(e.properties[query.filter[0]]) === query.filter[1]) &&
          counts(e, query) &&
          e.at >= span[0] &&
          e.at <= span[1],
      )
      .sort((a, b) => a.e.at - b.e.at || a.arrival - b.arrival)
      .map(({ e }) => ({ item: itemOf(e, query), at: e.at }))
    const sessions: (typeof own)[] = []
    own.forEach((visit, i) => {
      if (i === 0 || visit.at - own[i - 1]!.at >= gap) sessions.push([])
      sessions.at(-1)!.push(visit)
    })
    for (const session of sessions) {
      const visits = session.filter((visit, i) => session[i + 1]?.item !== visit.item)
      const cut = cutOf(visits, query)
      if (cut) paths.push({ actor, items: cut.map(({ item }) => item), times: cut.map(({ at }) => at) })
    }
  }
  return paths
}

interface Visit {
  readonly item: string
  readonly at: number
}

function cutOf(visits: readonly Visit[], { start, end, steps }: ReferencePaths): readonly Visit[] | null {
  const first = start === null ? 0 : visits.findIndex(({ item }) => item === start)
  if (first < 0) return null
  const begun = visits.slice(first)
  if (end === null) return begun.slice(0, steps)
  const last = begun.findIndex(({ item }) => item === end)
  if (last < 0) return null
  const whole = begun.slice(0, last + 1)
  if (start === null) return whole.slice(-steps)
  if (whole.length <= steps) return whole
  const half = Math.floor(steps / 2)
  return [...whole.slice(0, half), { item: '...', at: whole[half]!.at }, ...whole.slice(whole.length - half)]
}

export interface ReferencePathsAnswer {
  readonly results: readonly ReferenceEdge[]
  readonly hasMore: boolean
  readonly unconnected: number
}

/** The same query for the period that it is compared with. */
export function earlierPaths(query: ReferencePaths): ReferencePaths {
  const [first, last] = [dayNumber(query.from), dayNumber(query.to)]
  const days = query.compared === 'before' ? last - first + 1 : query.compared!
  return { ...query, from: dayText(first - days), to: dayText(last - days), compared: null }
}

export function referencePaths(all: readonly ReferenceEvent[], query: ReferencePaths): ReferencePathsAnswer {
  const current = pathsOfPeriod(all, query)
  if (query.compared === null) return current
  const previous = pathsOfPeriod(all, earlierPaths(query))
  const labelled = ({ results }: ReferencePathsAnswer, compare_label: 'current' | 'previous') =>
    results.map((edge) => ({ ...edge, compare_label }))
  return {
    results: [...labelled(current, 'current'), ...labelled(previous, 'previous')],
    hasMore: current.hasMore || previous.hasMore,
    unconnected: current.unconnected + previous.unconnected,
  }
}

function pathsOfPeriod(all: readonly ReferenceEvent[], query: ReferencePaths): ReferencePathsAnswer {
  const edges = new Map<string, { source: string; target: string; took: number[] }>()
  for (const { items, times } of referencePathList(all, query))
    for (let i = 1; i < items.length; i++) {
      const [source, target] = [`${i}_${items[i - 1]}`, `${i + 1}_${items[i]}`]
      const key = JSON.stringify([source, target])
      if (!edges.has(key)) edges.set(key, { source, target, took: [] })
      edges.get(key)!.took.push(times[i]! - times[i - 1]!)
    }
  const before = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b))
  const ranked = [...edges.values()]
    .filter(({ took }) => took.length >= query.least && took.length <= query.most)
    .sort((a, b) => b.took.length - a.took.length || before(a.source, b.source) || before(a.target, b.target))
  const shown = ranked.slice(0, query.edges)
  const isReached = ({ source }: { source: string }): boolean =>
    source.startsWith('1_') || shown.some((edge) => edge.target === source && isReached(edge))
  const results = shown.filter(isReached).map(({ source, target, took }) => ({
    source,
    target,
    value: query.sample === undefined ? took.length : Math.round(took.length / query.sample),
    average_conversion_time: took.reduce((sum, one) => sum + one, 0) / took.length / 1000,
  }))
  return { results, hasMore: ranked.length > query.edges, unconnected: shown.length - results.length }
}
