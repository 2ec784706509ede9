import {
  alias,
  and,
  call,
  equals,
  field,
  from,
  groupBy,
  isIn,
  join,
  literal,
  not,
  order,
  select,
  table,
} from '../../../language/ast/build.ts'
import type { Expr, Query, Select } from '../../../language/ast/nodes.ts'
import type { QueryContext } from '../../kind.ts'
import { at, since, until } from '../../scope.ts'
import type { SeriesNode } from '../../series/series.ts'
import { allOf } from '../../series/series-condition.ts'
import { actorExpr } from '../scan.ts'
import type { Members } from './members.ts'
import { allProperties, type CorrelationQuery } from './schema.ts'

// What actors did or are, joined with whether they converted.

/** Between the type of an autocaptured event and the chain of its elements. */
export const elementsDivider = '__~~__'
export const elementsKey = 'elements_chain'
const autocapture = '$autocapture'
/** Fewer actors than that say nothing of a property of an event. */
const fewestActors = 3

const texts = (names: readonly string[]) => names.map((name) => literal(name))
const noneOf = (value: Expr, names: readonly string[] | null | undefined): Expr =>
  names?.length ? not(isIn(value, texts(names))) : literal(true)
const part = (name: string, index: number) => call('tupleElement', field(name), literal(index))

export const totalsOf = ({ query }: Members): Query =>
  select({
    columns: [alias(call('countIf', equals(field('converted'), literal(1))), 'successes'), alias(call('count'), 'actors')],
    from: from(query, 'members'),
  })

/** Numbers of actors by name: of an event, of a property and its value, of an event and both. */
export function countsOf(query: CorrelationQuery, members: Members, env: QueryContext): Query {
  const named = rowsOf(query, members, env)
  const byActor = select({
    columns: [...named.columns.map((name) => field(name)), field('actor'), alias(call('max', field('converted')), 'converted')],
    from: from(named.rows, 'rows_found'),
    groupBy: groupBy(...named.columns.map((name) => field(name)), field('actor')),
  })
  const names = named.columns.flatMap((name, i) => [...(i > 0 ? [literal('::')] : []), field(name)])
  return select({
    columns: [
      alias(names.length === 1 ? names[0]! : call('concat', ...names), 'name'),
      alias(call('sum', field('converted')), 'successes'),
      alias(call('count'), 'actors'),
    ],
    from: from(byActor, 'by_actor'),
    groupBy: groupBy(...named.columns.map((name) => field(name))),
    having: named.isOfEvents ? call('greaterOrEquals', call('count'), literal(fewestActors)) : null,
    orderBy: [order(field('name'))],
  })
}

interface NamedRows {
  /** Columns `actor` and `converted`, and those of the name. */
  readonly rows: Select
  readonly columns: readonly string[]
  readonly isOfEvents: boolean
}

function rowsOf(query: CorrelationQuery, members: Members, env: QueryContext): NamedRows {
  switch (query.funnelCorrelationType) {
    case 'events':
      return {
        rows: eventsOf(members, [alias(field('event'), 'event')], noneOf(field('event'), query.funnelCorrelationExcludeEventNames), env),
        columns: ['event'],
        isOfEvents: false,
      }
    case 'event_with_properties': {
      const isNamed = isIn(field('event'), texts(query.funnelCorrelationEventNames!))
      const pairs = call('if', equals(field('event'), literal(autocapture)), call('array', elementPair), pairsOf(field('properties')))
      const found = eventsOf(members, [alias(field('event'), 'event'), alias(pairs, 'pairs')], isNamed, env)
      const split = opened(found, ['event'])
      return {
        rows: { ...split, where: noneOf(part('pair', 1), query.funnelCorrelationEventExcludePropertyNames) },
        columns: ['event', 'property', 'value'],
        isOfEvents: true,
      }
    }
    case 'properties': {
      const asked = query.funnelCorrelationNames!
      const own = recordsOf(members, (properties) =>
        asked.includes(allProperties)
          ? pairsOf(field(...properties))
          : call(
              'array',
              ...asked.map((name) =>
                call('tuple', literal(name), call('ifNull', call('toString', field(...properties, name)), literal(''))),
              ),
            ),
      )
      return {
        rows: { ...opened(own, []), where: noneOf(part('pair', 1), query.funnelCorrelationExcludeNames) },
        columns: ['property', 'value'],
        isOfEvents: false,
      }
    }
  }
}

const pairsOf = (properties: Expr): Expr => call('JSONExtractKeysAndValues', call('toString', properties), literal('String'))
const elementPair = call(
  'tuple',
  literal(elementsKey),
  call(
    'concat',
    call('ifNull', call('toString', field('properties', '$event_type')), literal('')),
    literal(elementsDivider),
    call('ifNull', field('elements_chain'), literal('')),
  ),
)

/** A row for each pair of a list. */
const opened = (rows: Select, columns: readonly string[]): Select =>
  select({
    columns: [
      ...columns.map((name) => field(name)),
      field('actor'),
      field('converted'),
      alias(part('pair', 1), 'property'),
      alias(part('pair', 2), 'value'),
    ],
    from: from(
      select({
        columns: [
          ...columns.map((name) => field(name)),
          field('actor'),
          field('converted'),
          alias(call('arrayJoin', field('pairs')), 'pair'),
        ],
        from: from(rows, 'listed'),
      }),
      'opened',
    ),
  })

/** What members did while they were in the funnel, besides its steps. */
export function eventsOf(members: Members, columns: readonly Expr[], where: Expr, env: QueryContext): Select {
  const { scan, query } = members
  const found = select({
    columns: [alias(actorExpr(scan.query, env), 'doer'), alias(at, 'done_at'), ...columns],
    from: table('events'),
    where: allOf(since(scan.range.from), until(scan.range.to), noneOf(field('event'), stepEvents(scan.query.series, env)), where),
  })
  const names = columns.flatMap((column) => (column.kind === 'alias' ? [column.name] : []))
  return select({
    columns: [alias(field('members', 'actor'), 'actor'), field('converted'), ...names.map((name) => field(name))],
    from: join(from(found, 'done'), from(query, 'members'), equals(field('doer'), field('members', 'actor'))),
    where: and(call('greater', field('done_at'), field('first_at')), call('less', field('done_at'), field('ends_at'))),
  })
}

/** The names of the events that steps may be. */
const stepEvents = (series: readonly SeriesNode[], env: QueryContext): readonly string[] => [
  ...new Set(
    series.flatMap((node): readonly string[] => {
      if (node.kind === 'GroupNode') return stepEvents(node.nodes, env)
      if (node.kind === 'EventsNode') return node.event == null ? [] : [node.event]
      return env.action(node.id)?.steps.flatMap(({ event }) => event ?? []) ?? []
    }),
  ),
]

/** The members with a list of pairs from the record of each. */
function recordsOf({ query, group }: Members, pairs: (properties: readonly string[]) => Expr): Select {
  const [actor, converted] = ['actor', 'converted'].map((name) => alias(field('members', name), name))
  if (group === null)
    return select({
      columns: [actor!, converted!, alias(pairs(['people', 'properties']), 'pairs')],
      from: join(from(query, 'members'), table('@people', 'people'), equals(field('members', 'actor'), field('people', '@person_no'))),
    })
  const isOwn = and(equals(field('members', 'actor'), field('records', 'key')), equals(field('records', 'index'), literal(group)))
  return select({
    columns: [actor!, converted!, alias(pairs(['records', 'properties']), 'pairs')],
    from: join(from(query, 'members'), table('groups', 'records'), isOwn, 'left'),
  })
}
