import type { Table } from 'apache-arrow'
import type { Query } from '../../../language/ast/nodes.ts'
import { elementsOf } from '../../answers/elements.ts'
import type { JsonValue } from '../../answers/rows.ts'
import { doubles, texts } from '../../answers/vectors.ts'
import type { QueryKind, StatementAsk } from '../../kind.ts'
import { scaledUp } from '../../series/sampling.ts'
import { membersOf } from './members.ts'
import { type Correlation, isSkewed, type NamedSplit, ranked, type Split } from './odds.ts'
import { correlationSchema } from './schema.ts'
import { countsOf, elementsDivider, elementsKey, totalsOf } from './statement.ts'

/** An event, a property with a value (`plan::pro`), or an event with both (`upload::format::png`), and who converted with it. */
export interface OddsRatio {
  readonly event: {
    readonly event: string
    readonly properties: Readonly<Record<string, string>>
    /** Of an autocaptured event. */
    readonly elements: readonly JsonValue[]
  }
  readonly success_count: number
  readonly failure_count: number
  readonly odds_ratio: number
  readonly correlation_type: 'success' | 'failure'
  /** Of Fisher's exact test, two-sided. */
  readonly p_value: number
  /** Strong below 0.01, weak below 0.05. */
  readonly significance: 'strong' | 'weak' | 'none'
}

export interface CorrelationAnswer {
  readonly results: {
    readonly events: readonly OddsRatio[]
    /** There are more than ten times as many of one kind as of the other, or none. */
    readonly skewed: boolean
    readonly success_total: number
    readonly failure_total: number
  }
  /** More than ten go with success, or with failure. */
  readonly hasMore: boolean
}

export const correlation: QueryKind<'FunnelCorrelationQuery', typeof correlationSchema, CorrelationAnswer> = {
  kind: 'FunnelCorrelationQuery',
  isCached: true,
  schema: correlationSchema,
  *run(query, env) {
    const members = yield* membersOf(query.source, env)
    const asks = [countsAsk(countsOf(query, members, env)), ...(members.totals ? [] : [totalsAsk(totalsOf(members))])]
    const [counts, totals] = (yield asks) as readonly [Table, Table?]
    const all = members.totals ?? splitIn(totals!)
    const { shown, hasMore } = ranked(namesIn(counts), all)
    const scaled = (count: number) => scaledUp(count, query.source.source.samplingFactor)
    return {
      results: {
        events: shown.map((one) => shownOf(one, scaled)),
        skewed: isSkewed(all),
        success_total: scaled(all.successes),
        failure_total: scaled(all.failures),
      },
      hasMore,
    }
  },
}

const countsAsk = (query: Query): StatementAsk => ({ kind: 'statement', query, label: 'correlation' })
const totalsAsk = (query: Query): StatementAsk => ({ kind: 'statement', query, label: 'actors of the funnel' })

function splitIn(table: Table): Split {
  const [successes, actors] = [doubles(table, 'successes')[0]!, doubles(table, 'actors')[0]!]
  return { successes, failures: actors - successes }
}

function namesIn(table: Table): readonly NamedSplit[] {
  const names = texts(table, 'name')
  const [successes, actors] = [doubles(table, 'successes'), doubles(table, 'actors')]
  return names.map((name, i) => ({ name: name ?? '', successes: successes[i]!, failures: actors[i]! - successes[i]! }))
}

const shownOf = ({ name, successes, failures, oddsRatio, pValue }: Correlation, scaled: (count: number) => number): OddsRatio => ({
  event: definitionOf(name),
  success_count: scaled(successes),
  failure_count: scaled(failures),
  odds_ratio: oddsRatio,
  correlation_type: oddsRatio > 1 ? 'success' : 'failure',
  p_value: pValue,
  significance: pValue < 0.01 ? 'strong' : pValue < 0.05 ? 'weak' : 'none',
})

function definitionOf(name: string): OddsRatio['event'] {
  const begin = `$autocapture::${elementsKey}::`
  if (!name.startsWith(begin)) return { event: name, properties: {}, elements: [] }
  const [type, chain] = name.slice(begin.length).split(elementsDivider) as [string, string | undefined]
  return { event: name, properties: { $event_type: type }, elements: elementsOf(chain ?? '') }
}
