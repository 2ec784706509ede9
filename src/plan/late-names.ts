import { builtCall } from '../resolver/calls.ts'
import { hasArrayJoin, hasWindow } from '../resolver/shape.ts'
import type { ColumnNode, Read, ScanSource, TypedExpr, TypedQuery, TypedSelect } from '../resolver/typed.ts'
import { emptySelect } from '../resolver/typed.ts'
import { freshAliases, rewrite, walk } from '../resolver/typed-walk.ts'
import { scalar } from '../types/types.ts'
import type { Pass } from './context.ts'
import { partsOf } from './parts-of.ts'

/**
 * The first rows of a table are found before the names of their events are looked up: an engine reads the other columns of those rows only, which it does
 * not do below a join.
 * Before: `SELECT event, uuid FROM events ORDER BY timestamp LIMIT 100`.
 * After: `SELECT n.name, uuid FROM (SELECT @event_id, uuid, timestamp FROM events ORDER BY timestamp LIMIT 100) events JOIN @event_names n ON … ORDER BY timestamp`.
 */
export const lateNames: Pass = (query, { capabilities }) => {
  if (!capabilities.hasEventDictionary) return query
  let given: ((wanted: string) => string) | null = null
  const fresh = (wanted: string) => {
    given ??= freshAliases(query)
    return given(wanted)
  }
  return rewrite(query, {
    select: (select) => {
      const name = select.from?.kind === 'scan' ? nameOf(select, select.from) : null
      return name ? split(select, select.from as ScanSource, name, fresh) : select
    },
  })
}

/** The column of the scan with the name, if the rows of the select do not depend on it. */
function nameOf(select: TypedSelect, { table, alias, reads }: ScanSource): Read | null {
  const { limit, limitBy, orderBy, where, groupBy, having, qualify, distinct, distinctOn } = select
  if (table !== 'events' || !limit || limit.limit === null || limit.percent || limit.withTies || limitBy || orderBy.length === 0)
    return null
  if (groupBy || having || qualify || distinct || distinctOn.length > 0) return null
  if (reads.some(({ via }) => via.length > 0)) return null
  const name = reads.find(({ field }) => field === 'event')
  if (!name || partsOf(select).some((expr) => hasWindow(expr) || hasArrayJoin(expr))) return null
  const isName = (expr: TypedExpr) => expr.kind === 'column' && expr.source === alias && expr.name === name.name
  // The rows are put into order twice.
  const isOther = (expr: TypedExpr) => isName(expr) || (expr.kind === 'call' && expr.row.isVolatile === true)
  return orderBy.some(({ expr }) => holds(expr, isOther)) || (where && holds(where, isName)) ? null : name
}

function split(select: TypedSelect, scan: ScanSource, name: Read, fresh: (wanted: string) => string): TypedSelect {
  const { where, orderBy, limit, span } = select
  const names = fresh('event_names')
  const others = scan.reads.filter((read) => read !== name && read.field !== '@event_id')
  const known = scan.reads.find(({ field }) => field === '@event_id')
  const id: Read = known ?? { name: '@event_id', via: [], field: '@event_id', type: scalar('Int32') }
  const reads = [...others, id]
  const column = (source: string, read: Read): ColumnNode => ({ kind: 'column', source, name: read.name, type: read.type, span })
  const inner: TypedQuery = {
    ...emptySelect,
    columns: reads.map((read) => ({ name: read.name, alias: read.name, expr: column(scan.alias, read) })),
    from: { ...scan, reads },
    where,
    orderBy,
    limit,
    span,
  }
  const ids: Read = { name: '@event_id', via: [], field: '@event_id', type: id.type }
  const texts: Read = { name: 'name', via: [], field: 'name', type: name.type }
  const dictionary: ScanSource = { ...scan, table: '@event_names', alias: names, reads: [ids, texts], views: [], sample: null }
  const found: TypedSelect = {
    ...select,
    where: null,
    limit: null,
    from: {
      kind: 'join',
      left: { kind: 'derived', alias: scan.alias, query: inner },
      right: dictionary,
      type: 'inner',
      strictness: null,
      on: builtCall('equals', [column(scan.alias, id), column(names, ids)], span),
      span,
    },
  }
  const shown = rewrite(
    { ...found, from: null },
    {
      expr: (expr) =>
        expr.kind === 'column' && expr.source === scan.alias && expr.name === name.name ? { ...expr, source: names, name: 'name' } : expr,
    },
  ) as TypedSelect
  return { ...shown, from: found.from }
}

function holds(expr: TypedExpr, isIt: (expr: TypedExpr) => boolean): boolean {
  let found = false
  walk(
    { ...emptySelect, columns: [{ name: '', alias: '', expr }], from: null, span: expr.span },
    {
      expr: (one) => {
        found ||= isIt(one)
      },
    },
  )
  return found
}
