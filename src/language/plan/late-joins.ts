import { builtCall } from '../resolver/calls.ts'
import { hasArrayJoin, hasWindow } from '../resolver/shape.ts'
import type { ColumnNode, Read, ScanSource, TypedExpr, TypedQuery, TypedSelect, TypedSource } from '../resolver/typed.ts'
import { emptySelect } from '../resolver/typed.ts'
import { freshAliases, rewrite, walk } from '../resolver/typed-walk.ts'
import { scalar } from '../types/types.ts'
import type { Pass } from './context.ts'
import { partsOf } from './parts-of.ts'
import { ownRead, pathOf, type ReachedTable, reachedTables } from './reached-tables.ts'

/**
 * The first rows of a table are found before what they only show is joined: the names of their events, their persons, their groups. An engine reads the
 * other columns of those rows only, which it does not do below a join, and computes the properties of their persons only. Each join finds at most one row.
 * Before: `SELECT event, person.id FROM events ORDER BY timestamp LIMIT 100`.
 * After: `SELECT n.name, p.id FROM (SELECT @event_id, @person_no, timestamp FROM events ORDER BY timestamp LIMIT 100) events
 * LEFT JOIN @people p ON … JOIN @event_names n ON … ORDER BY timestamp`.
 */
export const lateJoins: Pass = (query, { capabilities }) => {
  if (!capabilities.hasEventDictionary) return query
  const fresh = freshAliases(query)
  return rewrite(query, {
    select: (select) => {
      const late = select.from?.kind === 'scan' ? lateReads(select, select.from) : []
      return late.length > 0 ? split(select, select.from as ScanSource, late, fresh) : select
    },
  })
}

const isName = ({ via, field }: Read) => via.length === 0 && field === 'event'

/** The reads that need a join, and that the rows of the select do not depend on. */
function lateReads(select: TypedSelect, { table, alias, reads, views }: ScanSource): readonly Read[] {
  const { limit, limitBy, orderBy, where, groupBy, having, qualify, distinct, distinctOn } = select
  if (table !== 'events' || !limit || limit.limit === null || limit.percent || limit.withTies || limitBy || orderBy.length === 0) return []
  if (groupBy || having || qualify || distinct || distinctOn.length > 0) return []
  const joined = reads.filter((read) => read.via.length > 0 || isName(read))
  if (joined.length === 0 || partsOf(select).some((expr) => hasWindow(expr) || hasArrayJoin(expr))) return []
  const order = orderBy.map(({ expr }) => expr)
  // The rows are put into order twice.
  if (order.some((expr) => partsIn(expr).some((part) => part.kind === 'call' && part.row.isVolatile === true))) return []
  const early = new Set(
    (where ? [...order, where] : order)
      .flatMap(partsIn)
      .flatMap((part) => (part.kind === 'column' && part.source === alias ? [part.name] : [])),
  )
  // A view is read once: its query cannot be in two places.
  const earlyPaths = new Set(joined.filter(({ name }) => early.has(name)).map(({ via }) => pathOf(via)))
  const isView = ({ via }: Read) => views?.some(({ path }) => path === pathOf(via)) ?? false
  return joined.filter((read) => !early.has(read.name) && !(isView(read) && earlyPaths.has(pathOf(read.via))))
}

function split(select: TypedSelect, scan: ScanSource, late: readonly Read[], fresh: (wanted: string) => string): TypedSelect {
  const { where, orderBy, limit, span } = select
  const column = (source: string, { name, type }: Pick<Read, 'name' | 'type'>): ColumnNode => ({ kind: 'column', source, name, type, span })
  const reached = reachedTables({ ...scan, reads: late.filter((read) => !isName(read)) })
  const aliases = new Map([...reached].map(([path, { via }]) => [path, path === '' ? scan.alias : fresh([scan.alias, ...via].join('_'))]))
  const aliasOf = (via: readonly string[]) => aliases.get(pathOf(via))!
  /** What is shown instead of each late read. */
  const places = new Map(late.map((wanted) => [wanted.name, column(aliasOf(wanted.via), ownRead(wanted))]))

  const reads = new Map(scan.reads.filter((read) => !late.includes(read)).map((read) => [read.name, read]))
  const ownReads = [...reached.get('')!.reads.values()]
  const name = late.find(isName)
  if (name) ownReads.push(eventId)
  for (const read of ownReads) if (!reads.has(read.name)) reads.set(read.name, read)
  const inner: TypedQuery = {
    ...emptySelect,
    columns: [...reads.values()].map((read) => ({ name: read.name, alias: read.name, expr: column(scan.alias, read) })),
    from: { ...scan, reads: [...reads.values()], ...(scan.views && { views: scan.views.filter(({ path }) => !reached.has(path)) }) },
    where,
    orderBy,
    limit,
    span,
  }

  const joined = ({ via, table, reads }: ReachedTable): ScanSource => {
    const views = scan.views?.filter(({ path }) => path === pathOf(via)).map((view) => ({ ...view, path: '' })) ?? []
    return { ...scan, table, alias: aliasOf(via), reads: [...reads.values()], views, sample: null }
  }
  let from: TypedSource = { kind: 'derived', alias: scan.alias, query: inner }
  for (const right of reached.values()) {
    if (right.via.length === 0) continue
    const keys = right.on.map(([before, own]) =>
      builtCall('equals', [column(aliasOf(right.via.slice(0, -1)), before), column(aliasOf(right.via), own)], span),
    )
    const on = keys.length === 1 ? keys[0]! : builtCall('and', keys, span)
    from = { kind: 'join', left: from, right: joined(right), type: 'left', strictness: null, on, span }
  }
  if (name) {
    const names = fresh('event_names')
    const text: Read = { name: 'name', via: [], field: 'name', type: name.type }
    const right: ScanSource = { ...scan, table: '@event_names', alias: names, reads: [eventId, text], views: [], sample: null }
    const on = builtCall('equals', [column(scan.alias, eventId), column(names, eventId)], span)
    from = { kind: 'join', left: from, right, type: 'inner', strictness: null, on, span }
    places.set(name.name, column(names, text))
  }
  const shown = rewrite(
    { ...select, where: null, limit: null, from: null },
    { expr: (expr) => (expr.kind === 'column' && expr.source === scan.alias && places.get(expr.name)) || expr },
  ) as TypedSelect
  return { ...shown, from }
}

const eventId: Read = { name: '@event_id', via: [], field: '@event_id', type: scalar('Int32') }

function partsIn(expr: TypedExpr): readonly TypedExpr[] {
  const parts: TypedExpr[] = []
  walk({ ...emptySelect, columns: [{ name: '', alias: '', expr }], from: null, span: expr.span }, { expr: (part) => void parts.push(part) })
  return parts
}
