import { alias, and, call, callWith, equals, field, from, groupBy, literal, or, order, select } from '../../ast/build.ts'
import type { Expr, FrameBound, Query, TableSource, WindowSpec } from '../../ast/nodes.ts'
import { rewrite } from '../../ast/walk.ts'
import { noSpan } from '../../errors/span.ts'
import { lookup } from '../../functions/registry.ts'
import { minute } from '../../lib/zone.ts'
import { at, person } from '../scope.ts'

// Sessions of events that name none: those of one person belong together as long as no pause is longer than thirty minutes. They are made when a query
// asks and never stored, so an event that arrives late moves their limits.

const longestPause = 30 * minute
const id = field('$session_id')

/** The shape of a session id only: a look at each character of every event would take longer than the rest of the query. */
export const isWithoutSession: Expr = or(
  equals(id, literal('')),
  call('notEquals', call('length', id), literal(36)),
  call('notEquals', call('substring', id, literal(15), literal(1)), literal('7')),
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

  aggregate(expr: Expr): Expr {
    return rewrite(expr, (node) =>
      node.kind === 'call' && isAggregate(node.name) ? { ...node, args: node.args.map((arg) => this.column(arg)) } : node,
    )
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

/** In place of the events of stored sessions, for `sessionsQuery`. */
export const madeMeasures =
  (source: TableSource, events: Expr) =>
  (measures: Readonly<Record<string, Expr>>): Query => {
    const lifted = new Lifted()
    const columns = Object.entries(measures).map(([name, expr]) => alias(name === '@id' ? madeSession : lifted.aggregate(expr), name))
    return select({ columns, from: from(madeEvents(lifted.columns, source, events), 'made_events'), groupBy: groupBy(madeSession) })
  }
