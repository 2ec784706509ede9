import { constant } from '../resolver/constants.ts'
import { childrenOf, isAggregateCall, shownParts } from '../resolver/shape.ts'
import type { ColumnNode, ConstantNode, ScanSource, TypedExpr, TypedQuery, TypedSelect, TypedSource } from '../resolver/typed.ts'
import { rewrite, walk } from '../resolver/typed-walk.ts'
import { scalar } from '../types/types.ts'
import type { Pass, PlanContext } from './context.ts'

/**
 * Comparisons of event names with constants become comparisons of their numbers in the dictionary.
 * Before: `event = 'signup'`. After: `@event_id = 3`. If no event has the name, the condition is false.
 */
export const eventNames: Pass = (query, context) => {
  if (!context.capabilities.hasEventDictionary) return query
  const { names, grouped } = lookedAt(query)
  if (names.size === 0) return query
  const isName = (expr: TypedExpr | undefined): expr is ColumnNode => expr?.kind === 'column' && names.get(expr.source) === expr.name
  const idOf = (column: ColumnNode): ColumnNode => ({ ...column, name: '@event_id', type: idType })

  const kept = readAfterGrouping(grouped, isName)
  const replaced = rewrite(query, {
    expr: (expr) => {
      if (kept.has(expr)) return expr
      if (expr.kind === 'in' && 'items' in expr.set && isName(expr.expr) && expr.set.items.every(isText)) {
        const ids = expr.set.items.flatMap((item) => number(context, item as ConstantNode))
        return ids.length ? { ...expr, expr: idOf(expr.expr), set: { items: ids } } : constant(expr.not, expr.span)
      }
      if (expr.kind !== 'call' || (expr.name !== 'equals' && expr.name !== 'notEquals')) return expr
      const [a, b] = expr.args as [TypedExpr, TypedExpr]
      const [name, other] = isName(a) ? [a, b] : [b, a]
      if (!isName(name) || !isText(other)) return expr
      const [id] = number(context, other)
      return id ? { ...expr, args: [idOf(name), id] } : constant(expr.name === 'notEquals', expr.span)
    },
  })
  return rewrite(replaced, { source: (source) => (isEvents(source) && names.has(source.alias) ? withId(source) : source) })
}

/** Expressions that are evaluated after grouping by the name: a group has its name only, not the number. */
function readAfterGrouping(grouped: readonly TypedSelect[], isName: (expr: TypedExpr) => boolean): ReadonlySet<TypedExpr> {
  const found = new Set<TypedExpr>()
  const keep = (expr: TypedExpr): void => {
    if (found.has(expr) || isAggregateCall(expr)) return
    found.add(expr)
    for (const child of childrenOf(expr)) keep(child)
  }
  for (const select of grouped) {
    const keys = [...select.groupBy!.items, ...select.groupBy!.sets.flat()]
    if (keys.some(isName)) for (const expr of [...keys, ...shownParts(select)]) keep(expr)
  }
  return found
}

const idType = scalar('Int32')
const isEvents = (source: TypedSource): source is ScanSource => source.kind === 'scan' && source.table === 'events'
const isText = (expr: TypedExpr): expr is ConstantNode => expr.kind === 'constant' && typeof expr.value === 'string'

function number({ store }: PlanContext, { value, span }: ConstantNode): ConstantNode[] {
  const id = store.eventId(value as string)
  return id === undefined ? [] : [constant(id, span)]
}

const withId = (scan: ScanSource): ScanSource =>
  scan.reads.some((read) => read.name === '@event_id')
    ? scan
    : { ...scan, reads: [...scan.reads, { name: '@event_id', via: [], field: '@event_id', type: idType }] }

/** Alias of each scan of events → its column with the event name; and the selects that group. */
function lookedAt(query: TypedQuery): { names: ReadonlyMap<string, string>; grouped: readonly TypedSelect[] } {
  const names = new Map<string, string>()
  const grouped: TypedSelect[] = []
  walk(query, {
    source: (source) => {
      const read = isEvents(source) && source.reads.find((r) => r.field === 'event')
      if (read) names.set((source as ScanSource).alias, read.name)
    },
    query: (one) => {
      if (one.kind === 'select' && one.groupBy) grouped.push(one)
    },
  })
  return { names, grouped }
}
