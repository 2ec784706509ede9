import { naiveFunnel } from '../reference/funnels.ts'
import type { Model } from './model.ts'

// Questions of which the naive answer takes a line or two.

export interface Question {
  readonly kind: 'total' | 'persons' | 'funnel' | 'sql'
  readonly event: string
  readonly following: string
  /** From the lists in memory, or by a statement; null: as the engine likes. */
  readonly road: 'core' | 'sql' | null
  /** Computed again, whatever is kept of earlier answers. */
  readonly isForced: boolean
  /** The last day. */
  readonly until: string
}

const days = 14
const dayMs = 86_400_000
const windowDays = 5

const firstDay = ({ until }: Question) => new Date(Date.parse(until) - (days - 1) * dayMs).toISOString().slice(0, 10)

export function queryOf(question: Question): object {
  const { kind, event, following, road, until } = question
  if (kind === 'sql')
    return { kind: 'SqlLikeQuery', query: 'select event, count(), uniq(person_id) from events group by event order by event' }
  const common = { dateRange: { date_from: firstDay(question), date_to: until }, ...(road && { modifiers: { road } }) }
  const node = (name: string) => ({ kind: 'EventsNode', event: name })
  if (kind === 'funnel')
    return {
      kind: 'FunnelsQuery',
      series: [node(event), node(following)],
      funnelsFilter: { funnelWindowInterval: windowDays, funnelWindowIntervalUnit: 'day' },
      ...common,
    }
  return { kind: 'TrendsQuery', series: [{ ...node(event), math: kind === 'persons' ? 'dau' : 'total' }], ...common }
}

export function resultsOf({ kind }: Question, answer: object): unknown {
  const { results } = answer as { readonly results: readonly Record<string, unknown>[] }
  if (kind === 'sql') return results
  if (kind === 'funnel' && results.length === 0) return [0, 0] // nobody has begun
  return kind === 'funnel' ? results.map(({ count }) => count) : results[0]?.data
}

export function expectedAnswer(question: Question, model: Model): unknown {
  const { events } = model.contents
  const { kind, event, following, until } = question
  if (kind === 'sql') {
    const names = [...new Set(events.map((one) => one.event))].sort()
    return names.map((name) => {
      const named = events.filter((one) => one.event === name)
      return [name, named.length, new Set(named.map(({ person }) => person)).size]
    })
  }
  const from = firstDay(question)
  const inRange = events.filter(({ timestamp }) => timestamp.slice(0, 10) >= from && timestamp.slice(0, 10) <= until)
  if (kind === 'funnel') {
    const steps = (name: string) => [event, following].flatMap((one, step) => (one === name ? [step] : []))
    const persons = [...new Set(inRange.map(({ person }) => person))]
    const depths = persons.map((person) => {
      const own = inRange
        .filter((one) => one.person === person)
        .map((one) => ({ time: Date.parse(one.timestamp), steps: steps(one.event) }))
      return naiveFunnel(own, { order: 'ordered', steps: 2, window: windowDays * dayMs })?.depth ?? 0
    })
    return [1, 2].map((depth) => depths.filter((one) => one >= depth).length)
  }
  return Array.from({ length: days }, (_, i) => {
    const day = new Date(Date.parse(from) + i * dayMs).toISOString().slice(0, 10)
    const ofDay = inRange.filter((one) => one.event === event && one.timestamp.startsWith(day))
    return kind === 'total' ? ofDay.length : new Set(ofDay.map(({ person }) => person)).size
  })
}
