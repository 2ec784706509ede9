import type { PlanningBudget } from '../ast/planning-budget.ts'
import { isGrouped, seesWindows } from '../resolver/grouping.ts'
import { childrenOf, holdsQuery } from '../resolver/shape.ts'
import type { TypedCte, TypedExpr, TypedQuery, TypedSelect, TypedSource } from '../resolver/typed.ts'
import { eachSource, rewrite } from '../resolver/typed-walk.ts'
import type { Pass } from './context.ts'
import { correlatedCount } from './correlated-count.ts'
import { partsOf } from './parts-of.ts'

/**
 * Refuses statements that would keep an engine's planner busy for too long: planning ignores the time limit and interrupts. A CTE is expanded at
 * each use. Where that makes the statement too large, an engine that supports it materializes the CTE.
 * Before: `WITH a AS (…), b AS (… FROM a JOIN a …), …`, ten times. After: `WITH a AS MATERIALIZED (…), b AS MATERIALIZED (…), …`.
 */
export const plannerBounds: Pass = (query, { capabilities, budget }) => {
  budget.spend('correlated', correlatedCount(query), query.span)
  const plain = measure(query, { reads: new Map(), materializes: false })
  const isHeavy = plain.sources > fewSources || plain.groupings > fewGroupings || plain.levels > fewLevels
  if (!isHeavy || !capabilities.materializesCtes) return checked(query, plain, budget)
  const reads = readsOf(query)
  const measured = measure(query, { reads, materializes: true })
  const hinted = rewrite(query, {
    query: (one) => {
      const isHinted = ({ name }: TypedCte) => measured.materialized.has(name)
      return one.ctes.some(isHinted) ? { ...one, ctes: one.ctes.map((cte) => (isHinted(cte) ? { ...cte, materialized: true } : cte)) } : one
    },
  })
  return checked(hinted, measured, budget)
}

/** Below this number, the engine decides what to materialize. */
const fewSources = 64
/** Filters are pushed through a grouping twice, so each nested grouping doubles the work. */
const fewGroupings = 5
/** What is below windows is searched for filters twice too, which takes less. */
const fewLevels = 8

interface Load {
  /** Tables read, with all CTEs expanded. */
  readonly sources: number
  /** The depth of nested groupings. */
  readonly groupings: number
  /** The depth of nested groupings and windows. */
  readonly levels: number
}
interface Measured extends Load {
  /** The number of joined tables in each FROM. */
  readonly joins: readonly number[]
  /** For each conjunction: the number of conditions, and of the groupings they are pushed through. */
  readonly conditions: readonly { readonly count: number; readonly groupings: number }[]
  readonly materialized: ReadonlySet<string>
}

function checked(query: TypedQuery, { sources, groupings, levels, joins, conditions }: Measured, budget: PlanningBudget): TypedQuery {
  budget.spend('sources', sources, query.span)
  budget.allow('groupings', groupings, query.span)
  budget.allow('levels', levels, query.span)
  for (const tables of joins) if (tables > 1) budget.spend('joins', tables * tables, query.span)
  for (const { count, groupings: below } of conditions) budget.spend('conditions', count * count * 2 ** below, query.span)
  return query
}

function readsOf(query: TypedQuery): ReadonlyMap<string, number> {
  const reads = new Map<string, number>()
  eachSource(query, (source) => {
    if (source.kind === 'cteRef') reads.set(source.name, (reads.get(source.name) ?? 0) + 1)
  })
  return reads
}

function measure(top: TypedQuery, { reads, materializes }: { reads: ReadonlyMap<string, number>; materializes: boolean }): Measured {
  const joins: number[] = []
  const conditions: { count: number; groupings: number }[] = []
  const materialized = new Set<string>()
  const counts = new Map<TypedExpr, number>()
  type Names = ReadonlyMap<string, Load>

  const isMaterialized = (cte: TypedCte, load: Load, isTop: boolean): boolean => {
    if (cte.recursive || cte.materialized !== null) return cte.recursive || cte.materialized === true
    if (!materializes) return false
    return (reads.get(cte.name) ?? 0) > 1 || (isTop && (load.groupings >= fewGroupings || load.levels >= fewLevels))
  }

  const ofQuery = (query: TypedQuery, outer: Names): Load => {
    const names = new Map(outer)
    let computed = 0
    let deepest = none
    for (const cte of query.ctes) {
      if (cte.recursive) names.set(cte.name, one)
      const load = ofQuery(cte.query, names)
      deepest = both([deepest, { ...load, sources: 0 }])
      if (isMaterialized(cte, load, query === top)) {
        if (cte.materialized === null) materialized.add(cte.name)
        computed += load.sources
        names.set(cte.name, query === top ? one : { ...load, sources: 1 })
      } else names.set(cte.name, load)
    }
    const body = query.kind === 'set' ? both([ofQuery(query.left, names), ofQuery(query.right, names)]) : ofSelect(query, names)
    return both([{ ...deepest, sources: computed }, body])
  }

  const ofSelect = (select: TypedSelect, names: Names): Load => {
    const from = select.from ? ofSource(select.from, names) : one
    if (select.from) joins.push(tablesOf(select.from))
    const seen = new Set<TypedExpr>()
    const inner = both(partsOf(select).map((expr) => ofExpr(expr, names, seen)))
    for (const condition of [select.where, select.having, select.qualify])
      if (condition) conditions.push({ count: countOf(condition), groupings: from.groupings })
    const own = isGrouped(select) || select.limitBy !== null || select.qualify !== null ? 1 : 0
    return deeper(both([from, inner]), own, seesWindows(select) ? 1 : own)
  }

  const ofSource = (source: TypedSource, names: Names): Load => {
    switch (source.kind) {
      case 'derived':
        return ofQuery(source.query, names)
      case 'cteRef':
        return names.get(source.name) ?? one
      case 'join': {
        if (source.on) conditions.push({ count: countOf(source.on), groupings: 0 })
        const load = both([
          ofSource(source.left, names),
          ofSource(source.right, names),
          ...(source.on ? [ofExpr(source.on, names, new Set())] : []),
        ])
        return source.strictness === 'any' ? deeper(load, 1) : load
      }
      case 'unnest':
        return both([
          source.input ? ofSource(source.input, names) : none,
          ...source.items.map((item) => ofExpr(item.expr, names, new Set())),
        ])
      case 'rows':
        return both([one, ...source.rows.flat().map((expr) => ofExpr(expr, names, new Set()))])
      default:
        return one
    }
  }

  const ofExpr = (expr: TypedExpr, names: Names, seen: Set<TypedExpr>): Load => {
    if (!holdsQuery(expr) || seen.has(expr)) return none
    seen.add(expr)
    if (expr.kind === 'scalarQuery' || expr.kind === 'exists') {
      return deeper(ofQuery(expr.query, names), 1)
    }
    const load = both(childrenOf(expr).map((child) => ofExpr(child, names, seen)))
    return expr.kind === 'in' && 'query' in expr.set ? both([load, ofQuery(expr.set.query, names)]) : load
  }

  /** Operands of AND and OR, nested ones included. */
  const countOf = (expr: TypedExpr): number => {
    if (expr.kind !== 'call' || (expr.name !== 'and' && expr.name !== 'or' && expr.name !== 'not')) return 1
    const known = counts.get(expr)
    if (known !== undefined) return known
    const count = expr.args.reduce((sum, arg) => sum + countOf(arg), 0)
    counts.set(expr, count)
    return count
  }

  const load = ofQuery(top, new Map())
  return { ...load, joins, conditions, materialized }
}

const none: Load = { sources: 0, groupings: 0, levels: 0 }
/** A table, or the single row of a SELECT without FROM. */
const one: Load = { sources: 1, groupings: 0, levels: 0 }
const both = (loads: readonly Load[]): Load => ({
  sources: loads.reduce((sum, load) => sum + load.sources, 0),
  groupings: loads.reduce((most, load) => Math.max(most, load.groupings), 0),
  levels: loads.reduce((most, load) => Math.max(most, load.levels), 0),
})
const deeper = (load: Load, groupings: number, levels = groupings): Load => ({
  ...load,
  groupings: load.groupings + groupings,
  levels: load.levels + levels,
})

const tablesOf = (source: TypedSource): number => {
  if (source.kind === 'join') return tablesOf(source.left) + tablesOf(source.right)
  return source.kind === 'unnest' && source.input ? tablesOf(source.input) : 1
}
