import { naiveFunnel } from '../reference/funnels.ts'
import type { Model, ModelRow } from './model.ts'

// Questions of which the naive answer takes a line or two.

export const questionKinds = ['total', 'persons', 'weekly', 'sum', 'of plan', 'funnel', 'sql', 'sql persons'] as const

export interface Question {
  readonly kind: (typeof questionKinds)[number]
  readonly event: string
  readonly following: string
  /** From the lists in memory, or by a statement; null: as the engine likes. */
  readonly road: 'core' | 'sql' | null
  /** Computed again, whatever is kept of earlier answers. */
  readonly isForced: boolean
  /** So often, one after the other: the second time its days are counted, from then on they are read. */
  readonly times: number
  /** The last day. */
  readonly until: string
}

const days = 14
const dayMs = 86_400_000
const windowDays = 5
/** A property of persons, which changes. */
export const wantedPlan = 'pro'

const firstDay = ({ until }: Question) => dayBefore(until, days - 1)
const dayBefore = (day: string, count: number) => new Date(Date.parse(day) - count * dayMs).toISOString().slice(0, 10)

const sqlOf: Partial<Record<Question['kind'], string>> = {
  sql: 'select event, count(), uniq(person_id) from events group by event order by event',
  'sql persons': `select count() from persons where properties.plan = '${wantedPlan}'`,
}
const mathOf: Partial<Record<Question['kind'], object>> = {
  persons: { math: 'dau' },
  weekly: { math: 'weekly_active' },
  sum: { math: 'sum', math_property: 'n' },
  'of plan': { math: 'dau', properties: [{ type: 'person', key: 'plan', operator: 'exact', value: [wantedPlan] }] },
}

export function queryOf(question: Question): object {
  const { kind, event, following, road, until } = question
  const query = sqlOf[kind]
  if (query) return { kind: 'SqlLikeQuery', query }
  const common = { dateRange: { date_from: firstDay(question), date_to: until }, explain: true, ...(road && { modifiers: { road } }) }
  const node = (name: string) => ({ kind: 'EventsNode', event: name })
  if (kind === 'funnel')
    return {
      kind: 'FunnelsQuery',
      series: [node(event), node(following)],
      funnelsFilter: { funnelWindowInterval: windowDays, funnelWindowIntervalUnit: 'day' },
      ...common,
    }
  return { kind: 'TrendsQuery', series: [{ ...node(event), math: 'total', ...mathOf[kind] }], ...common }
}

export function resultsOf({ kind }: Question, answer: object): unknown {
  const { results } = answer as { readonly results: readonly Record<string, unknown>[] }
  if (sqlOf[kind]) return results
  if (kind === 'funnel' && results.length === 0) return [0, 0] // nobody has begun
  return kind === 'funnel' ? results.map(({ count }) => count) : results[0]?.data
}

/** Where the answer comes from: what a run has met. */
export function sourcesOf(answer: object): readonly string[] {
  const { explain = [] } = answer as { readonly explain?: readonly { road?: string; days?: true; files?: object }[] }
  return explain.flatMap(({ road, days, files }) => (days ? ['counts of days'] : files ? ['pages'] : road === 'core' ? ['lists'] : []))
}

export function expectedAnswer(question: Question, model: Model): unknown {
  const { events, persons } = model.contents
  const { kind, event, following, until } = question
  if (kind === 'sql') {
    const names = [...new Set(events.map((one) => one.event))].sort()
    return names.map((name) => {
      const named = events.filter((one) => one.event === name)
      return [name, named.length, new Set(named.map(({ person }) => person)).size]
    })
  }
  const ofPlan = new Set(persons.flatMap(({ person, properties }) => (properties.plan === wantedPlan ? [person] : [])))
  if (kind === 'sql persons') return [[ofPlan.size]]
  const from = firstDay(question)
  if (kind === 'funnel') return funnelOf(between(events, from, until), event, following)
  const named = events.filter((one) => one.event === event && (kind !== 'of plan' || ofPlan.has(one.person)))
  return Array.from({ length: days }, (_, i) => {
    const day = dayBefore(from, -i)
    const ofDay = between(named, kind === 'weekly' ? dayBefore(day, 6) : day, day)
    if (kind === 'total') return ofDay.length
    if (kind === 'sum') return ofDay.reduce((sum, { n }) => sum + Number(n), 0)
    return new Set(ofDay.map(({ person }) => person)).size
  })
}

const between = (events: readonly ModelRow[], from: string, until: string) =>
  events.filter(({ timestamp }) => timestamp.slice(0, 10) >= from && timestamp.slice(0, 10) <= until)

function funnelOf(events: readonly ModelRow[], event: string, following: string): readonly number[] {
  const steps = (name: string) => [event, following].flatMap((one, step) => (one === name ? [step] : []))
  const persons = [...new Set(events.map(({ person }) => person))]
  const depths = persons.map((person) => {
    const own = events.filter((one) => one.person === person).map((one) => ({ time: Date.parse(one.timestamp), steps: steps(one.event) }))
    return naiveFunnel(own, { order: 'ordered', steps: 2, window: windowDays * dayMs })?.depth ?? 0
  })
  return [1, 2].map((depth) => depths.filter((one) => one >= depth).length)
}
