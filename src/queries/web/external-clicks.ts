import type { Table } from 'apache-arrow'
import { and, call, equals, field, from, groupBy, literal, order, select } from '../../language/ast/build.ts'
import type { Expr } from '../../language/ast/nodes.ts'
import { pageLimit } from '../answers/page-limit.ts'
import { columnValues, type JsonValue } from '../answers/rows.ts'
import type { QueryKind } from '../kind.ts'
import { scaledUp } from '../series/sampling.ts'
import { type Breakdown, eventPart } from './breakdowns.ts'
import { inPeriods, isNamed, planWeb, rangesOf, samplingRate } from './plan.ts'
import { externalClicksSchema } from './schema.ts'
import { defaultLimits, type WebTableAnswer } from './stats-table.ts'
import { valueColumn, valueFields, visitsOf } from './visits.ts'

const address = call('toString', field('properties', '$external_click_url'))
const site = (url: Expr): Expr => call('cutToFirstSignificantSubdomain', url)
const isCaptured = isNamed('$autocapture')
/** A click on a link to another site. */
const isClick = and(
  isCaptured,
  equals(call('toString', field('properties', '$event_type')), literal('click')),
  call('notEquals', site(address), site(call('concat', literal('https://'), call('toString', field('properties', '$host'))))),
)

export const webExternalClicks: QueryKind<'WebExternalClicksTableQuery', typeof externalClicksSchema, WebTableAnswer> = {
  kind: 'WebExternalClicksTableQuery',
  isCached: true,
  schema: externalClicksSchema,
  *run(query, env) {
    const plan = yield* planWeb(query, env, () => isCaptured)
    const { defaultRows, mostRows } = env.limits ?? defaultLimits
    const rows = Math.min(query.limit ?? defaultRows, mostRows)
    const offset = query.offset ?? 0
    const url = query.stripQueryParams ? call('cutQueryStringAndFragment', address) : address
    const breakdown: Breakdown = {
      ...eventPart(url),
      isShown: ([value]) => and(call('isNotNull', value!), call('notEquals', value!, literal(''))),
    }
    const visits = visitsOf(plan, { breakdown, names: isClick, also: { clicks: (counted) => call('countIf', counted) } }, env)
    const [wanted, direction] = query.orderBy ?? ['Clicks', 'DESC']
    const column = wanted === 'Visitors' ? 'visitors' : 'clicks'
    const how = direction === 'ASC' ? 'asc' : 'desc'
    const asked = select({
      columns: [
        ...valueFields(breakdown),
        ...inPeriods(plan, 'visitors', 'visitors', field('person')),
        ...inPeriods(plan, 'clicks', 'sum', field('clicks')),
      ],
      from: from(visits, 'web_clicks'),
      groupBy: groupBy(...valueFields(breakdown)),
    })
    const table = (yield {
      kind: 'statement',
      label: 'external clicks',
      query: select({
        columns: [...valueFields(breakdown), ...['visitors', 'clicks'].flatMap((name) => [field(name), field(`previous_${name}`)])],
        from: from(asked, 'web_rows'),
        orderBy: [
          order(field(column), how),
          ...(plan.previous ? [order(field(`previous_${column}`), how)] : []),
          ...valueFields(breakdown).map((value) => order(value)),
        ],
        limit: pageLimit(rows + 1, offset),
      }),
    }) as Table
    const values = (name: string): JsonValue[] => columnValues(table.getChild(name)!, 'UTC')
    const numbers = (name: string) => values(name).map((value) => (value === null ? null : scaledUp(Number(value), plan.sample)))
    const urls = values(valueColumn(0))
    const pairs = ['visitors', 'clicks'].map((name) => [numbers(name), plan.previous ? numbers(`previous_${name}`) : null] as const)
    return {
      columns: ['url', 'visitors', 'clicks'].map((name) => `context.columns.${name}`),
      results: urls
        .slice(0, rows)
        .map((value, i): JsonValue[] => [value, ...pairs.map(([now, before]) => [now[i]!, before ? before[i]! : null])]),
      hasMore: urls.length > rows,
      limit: rows,
      offset,
      samplingRate: samplingRate(plan),
      ...rangesOf(plan),
    }
  },
}
