import type { Table } from 'apache-arrow'
import { alias, call, field, from, groupBy, literal, order, select } from '../../language/ast/build.ts'
import { pageLimit } from '../answers/page-limit.ts'
import { columnValues } from '../answers/rows.ts'
import { compileFilters } from '../filters/property-filters.ts'
import type { QueryKind } from '../kind.ts'
import { eventsTable } from '../scope.ts'
import { scaledUp } from '../series/sampling.ts'
import { allOf, queryFilters } from '../series/series-condition.ts'
import { isNamed, nearEvents, planWeb } from './plan.ts'
import { urlSearchSchema } from './schema.ts'
import { defaultLimits } from './stats-table.ts'

export interface WebPageURLSearchAnswer {
  readonly results: readonly { readonly url: string; readonly count: number }[]
  readonly hasMore: boolean
  readonly limit: number
}

/** The pages with a text in their address, those with most views first. */
export const webUrlSearch: QueryKind<'WebPageURLSearchQuery', typeof urlSearchSchema, WebPageURLSearchAnswer> = {
  kind: 'WebPageURLSearchQuery',
  isCached: true,
  schema: urlSearchSchema,
  *run(query, env) {
    const plan = yield* planWeb(query, env, null)
    const { defaultRows, mostRows } = env.limits ?? defaultLimits
    const rows = Math.min(query.limit ?? defaultRows, mostRows)
    const address = call('toString', field('properties', '$current_url'))
    const term = query.searchTerm
      ? compileFilters([{ type: 'event', key: '$current_url', operator: 'icontains', value: query.searchTerm }], 'event', env, 'searchTerm')
      : literal(true)
    const counted = select({
      columns: [alias(query.stripQueryParams ? call('cutQueryStringAndFragment', address) : address, 'url'), alias(call('count'), 'views')],
      from: eventsTable(plan.sample),
      where: allOf(
        query.dateRange ? plan.inPeriods : literal(true),
        isNamed('$pageview'),
        queryFilters(query, { ...env, madeSessions: { events: query.dateRange ? nearEvents(plan) : literal(true) } }),
        call('isNotNull', address),
        term,
      ),
      groupBy: groupBy(field('url')),
    })
    const table = (yield {
      kind: 'statement',
      label: 'addresses of pages',
      query: select({
        columns: [field('url'), field('views')],
        from: from(counted, 'urls'),
        orderBy: [order(field('views'), 'desc'), order(field('url'))],
        limit: pageLimit(rows + 1, 0),
      }),
    }) as Table
    const [urls, views] = ['url', 'views'].map((name) => columnValues(table.getChild(name)!, 'UTC'))
    return {
      results: urls!.slice(0, rows).map((url, i) => ({ url: String(url), count: scaledUp(Number(views![i]), plan.sample) })),
      hasMore: urls!.length > rows,
      limit: rows,
    }
  },
}
