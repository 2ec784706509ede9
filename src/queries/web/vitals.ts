import type { Table } from 'apache-arrow'
import { noSpan } from '../../errors/span.ts'
import { alias, call, callWith, field, from, groupBy, literal, order, select } from '../../language/ast/build.ts'
import type { Select } from '../../language/ast/nodes.ts'
import { columnValues } from '../answers/rows.ts'
import type { QueryContext, QueryKind } from '../kind.ts'
import { eventsTable } from '../scope.ts'
import { allOf, queryFilters } from '../series/series-condition.ts'
import type { ShownRanges } from '../time/comparison.ts'
import { cleaning } from './breakdowns.ts'
import { isNamed, nearEvents, planWeb, rangesOf, type WebPlan } from './plan.ts'
import { vitalsSchema, type WebVitalsPathBreakdownQuery } from './schema.ts'

type Band = 'good' | 'needs_improvements' | 'poor'

export interface WebVitalsPathsAnswer extends ShownRanges {
  /** One object: the paths of each band, those with the lowest values first. */
  readonly results: readonly [Readonly<Record<Band, readonly { readonly path: string; readonly value: number }[]>>]
}

const pathsOfBand = 20
const levels = { p75: 0.75, p90: 0.9, p99: 0.99 } as const

/** A percentile of a web vital on each path of the site. */
export const webVitalsPaths: QueryKind<'WebVitalsPathBreakdownQuery', typeof vitalsSchema, WebVitalsPathsAnswer> = {
  kind: 'WebVitalsPathBreakdownQuery',
  isCached: true,
  schema: vitalsSchema,
  *run(query, env) {
    const plan = yield* planWeb(query, env, null)
    const table = (yield { kind: 'statement', label: 'web vitals by path', query: bandsOf(query, plan, env) }) as Table
    const values = (name: string) => columnValues(table.getChild(name)!, 'UTC')
    const [bands, paths, numbers] = [values('band'), values('path'), values('value')]
    const rowsOf = (band: Band) => bands.flatMap((one, i) => (one === band ? [{ path: String(paths[i]), value: Number(numbers[i]) }] : []))
    return {
      results: [{ good: rowsOf('good'), needs_improvements: rowsOf('needs_improvements'), poor: rowsOf('poor') }],
      ...rangesOf(plan),
    }
  },
}

function bandsOf(query: WebVitalsPathBreakdownQuery, plan: WebPlan, env: QueryContext): Select {
  const [good, fair] = query.thresholds as [number, number]
  const number = call('toFloat', field('properties', `$web_vitals_${query.metric}_value`))
  const path = cleaning(query, env)(call('toString', field('properties', '$pathname')))
  const values = select({
    columns: [alias(path, 'path'), alias(callWith('quantile', { params: [literal(levels[query.percentile])], args: [number] }), 'value')],
    from: eventsTable(plan.sample),
    where: allOf(
      plan.inPeriods,
      isNamed('$web_vitals'),
      queryFilters(query, { ...env, madeSessions: { events: nearEvents(plan) } }),
      call('isNotNull', path),
      call('isNotNull', number),
    ),
    groupBy: groupBy(field('path')),
  })
  const atMost = (limit: number) => call('lessOrEquals', field('value'), literal(limit))
  const banded = select({
    columns: [
      alias(call('multiIf', atMost(good), literal('good'), atMost(fair), literal('needs_improvements'), literal('poor')), 'band'),
      field('path'),
      field('value'),
    ],
    from: from(values, 'vitals'),
    where: call('greaterOrEquals', field('value'), literal(0)),
  })
  return select({
    columns: [field('band'), field('path'), field('value')],
    from: from(banded, 'banded'),
    orderBy: [order(field('value')), order(field('path'))],
    limitBy: { kind: 'limitBy', limit: literal(pathsOfBand), offset: null, by: [field('band')], span: noSpan },
  })
}
