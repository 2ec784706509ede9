import { noSpan } from '../../errors/span.ts'
import { alias, and, call, callWith, equals, field, from, groupBy, inQuery, literal, or, order, select } from '../../language/ast/build.ts'
import { children } from '../../language/ast/children.ts'
import type { Expr, FrameBound, Node, Query, TableSource, WindowSpec } from '../../language/ast/nodes.ts'
import { type SessionSettings, sessionsQuery } from '../../language/catalog/sessions.ts'
import { lookup } from '../../language/functions/registry.ts'
import { day, type Micros, minute } from '../../lib/time/zone.ts'
import { mapChildren } from '../../lib/tree.ts'
import { at, eventsTable, person, since, until } from '../scope.ts'

// Sessions of events that name none: those of one person belong together as long as no pause is longer than thirty minutes. They are made when a query
// asks and never stored, so an event that arrives late moves their limits.

/** Client libraries end a session after a day: its events are at most this far from the range. */
export const longestSession: Micros = day
const longestPause = 30 * minute
const id = field('$session_id')

/** The shape of a session id only: a look at each character of every event would take longer than the rest of the query. */
export const isWithoutSession: Expr = or(
  equals(id, literal('')),
  call('notEquals', call('length', id), literal(36)),
  call('notLike', id, literal(`${'_'.repeat(14)}7%`)),
)

const before: FrameBound = { kind: 'frameBound', type: 'preceding', offset: literal(1), span: noSpan }
const rowBefore = { unit: 'rows', start: before, end: before } as const

/** The session of each row of `madeEvents`. */
export const madeSession: Expr = field('@made_session')

/** Aggregates over columns: what they read of an event is a column of the events that they are computed of. */
export class Lifted {
  readonly columns: Record<string, Expr> = {}
  private readonly known = new Map<Expr, Expr>()

  /** The column with this value. */
  column(expr: Expr): Expr {
    const known = this.known.get(expr)
    if (known) return known
    const name = `@made_${this.known.size}`
    this.columns[name] = expr
    const made = field(name)
    this.known.set(expr, made)
    return made
  }

  /** The aggregates of subqueries are their own. */
  aggregate(expr: Expr): Expr {
    const lifted = (node: Node): Node =>
      node.kind === 'call' && isAggregate(node.name)
        ? { ...node, args: node.args.map((arg) => this.column(arg)) }
        : node.kind === 'subquery'
          ? node
          : mapChildren<Node, Node>(node, children[node.kind], lifted)
    return lifted(expr) as Expr
  }
}
const isAggregate = (name: string): boolean => lookup(name.replace(/If$/, ''))?.row.kind === 'aggregate'

/** One row per event without a session, with its made session and these columns. */
export function madeEvents(columns: Readonly<Record<string, Expr>>, source: TableSource, events: Expr): Query {
  const names = Object.keys(columns)
  const [who, when] = [field('@made_who'), field('@made_at')]
  const over = (frame: WindowSpec['frame']): WindowSpec => ({
    kind: 'window',
    partitionBy: [who],
    orderBy: [order(when)],
    frame,
    span: noSpan,
  })
  const read = select({
    columns: [alias(person, '@made_who'), alias(at, '@made_at'), ...names.map((name) => alias(columns[name]!, name))],
    from: source,
    where: and(events, isWithoutSession),
  })
  const last = callWith('max', { args: [when], over: over(rowBefore) })
  const paused = select({
    columns: [who, when, ...names.map((name) => field(name)), alias(call('minus', when, last), '@made_pause')],
    from: from(read, 'made_read'),
  })
  const isFirst = call(
    'if',
    call('ifNull', call('greater', field('@made_pause'), literal(longestPause)), literal(true)),
    literal(1),
    literal(0),
  )
  const numbered = select({
    columns: [who, ...names.map((name) => field(name)), alias(callWith('sum', { args: [isFirst], over: over(null) }), '@made_number')],
    from: from(paused, 'made_paused'),
  })
  const name = call('concat', call('toString', who), literal('.'), call('toString', field('@made_number')))
  return select({
    columns: [alias(name, '@made_session'), ...names.map((column) => field(column))],
    from: from(numbered, 'made_numbered'),
  })
}

/** Events that may belong to a session with an event in the range. */
export const nearRange = ({ firstEvent, to }: { readonly firstEvent: Micros; readonly to: Micros }): Expr =>
  and(since(firstEvent - longestSession), until(to + longestSession))

/** For `sessionsQuery`. */
export const madeMeasures =
  (source: TableSource, events: Expr) =>
  (measures: Readonly<Record<string, Expr>>): Query => {
    const lifted = new Lifted()
    const columns = Object.entries(measures).map(([name, expr]) => alias(name === '@id' ? madeSession : lifted.aggregate(expr), name))
    return select({ columns, from: from(madeEvents(lifted.columns, source, events), 'made_events'), groupBy: groupBy(madeSession) })
  }

/** Whether the made session of an event has this property. `events`: those that sessions are made of. */
export function isInMadeSession(condition: Expr, fields: readonly string[], settings: SessionSettings, events: Expr): Expr {
  const ids = 'session_events'
  const made = madeMeasures(eventsTable(null), events)
  const sessions = sessionsQuery(fields, settings, { also: { [ids]: call('groupUniqArray', field('uuid')) }, made, onlyMade: true })
  const found = select({ columns: [alias(call('arrayJoin', field(ids)), 'uuid')], from: from(sessions, 'made_sessions'), where: condition })
  return inQuery(field('uuid'), found)
}
