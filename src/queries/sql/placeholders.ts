import { QueryError } from '../../errors/errors.ts'
import type { Span } from '../../errors/span.ts'
import { and, call, field, literal } from '../../language/ast/build.ts'
import type { Expr, Literal, Node, Placeholder, Query, Source } from '../../language/ast/nodes.ts'
import { PlanningBudget } from '../../language/ast/planning-budget.ts'
import { rewrite, walk } from '../../language/ast/walk.ts'
import { tables } from '../../language/catalog/tables.ts'
import { own } from '../../lib/own.ts'
import { nearestSpellings } from '../../lib/text/spelling.ts'
import { calendarOf } from '../../lib/time/calendar.ts'
import { compileFilters, type FilterScope } from '../filters/property-filters.ts'
import type { QueryContext } from '../kind.ts'
import { qualified } from '../qualified.ts'
import { dateInstant, micros, notADate } from '../time/dates.ts'
import { viewColumns } from '../view-columns.ts'
import type { SqlQuery } from './schema.ts'
import { isOfTemplate } from './template.ts'
import { mistakeOfValue, shown } from './values.ts'

/** The statement with every `{…}` replaced by its value. */
export function fillPlaceholders(query: Query, given: SqlQuery, env: QueryContext, budget = new PlanningBudget(env.checkpoint)): Query {
  const values = given.values ?? {}
  const variables = new Map(Object.values(given.variables ?? {}).map((v) => [v.code_name, v.isNull ? null : (v.value ?? null)]))
  if (Object.hasOwn(values, 'filters') && given.filters)
    throw new QueryError('invalid-query', { message: 'The query has a value named filters and the field filters: keep one of them' })

  let asksForFilters = false
  walk(query, (node) => {
    asksForFilters ||= node.kind === 'placeholder' && isFilters(node, values)
    return !asksForFilters
  })
  // A statement without a placeholder ignores the filters, but invalid ones are refused.
  if (given.filters && !asksForFilters) conditionsOf(given.filters, 'event', 'timestamp', env)
  const filtersAt = new Map<Source | null, Expr>()
  const filters = (source: Source | null): Expr => {
    const known = filtersAt.get(source) ?? filtersOf(given.filters, source, env)
    filtersAt.set(source, known)
    return known
  }
  /** Ends that the range does not have: what compares with one holds. */
  const open = new Set<Node>()
  const endOfRange = ({ chain, span }: Placeholder): Expr => {
    const end = rangeEnd(given.filters?.dateRange, chain[2] === 'from' ? 'date_from' : 'date_to', env)
    if (end) return { ...call('toDateTime', end), span }
    const missing: Expr = { ...literal(true), span }
    open.add(missing)
    return missing
  }
  const replace = (node: Node): Node => {
    if (node.kind === 'placeholder' && isEndOfRange(node, values)) return endOfRange(node)
    if (node.kind === 'call' && comparisons.has(node.name) && node.args.some((arg) => open.has(arg)))
      return { ...literal(true), span: node.span }
    if (node.kind === 'placeholder' && !isFilters(node, values)) return standsFor(node, values, variables, budget)
    // Inner selects come first, so the remaining ones belong to this select.
    if (node.kind === 'select' && asksForFilters)
      return rewrite<Node>({ ...node }, (inner) => {
        budget.spend('tree', 1, inner.span)
        return inner.kind === 'placeholder' && isFilters(inner, values) ? filters(node.from) : inner
      })
    return node
  }
  return rewrite(query, replace)
}

const isFilters = ({ chain }: Placeholder, values: object) =>
  chain[0] === 'filters' && chain.length === 1 && !Object.hasOwn(values, 'filters')

/** `{filters.dateRange.from}` */
const isEndOfRange = ({ chain }: Placeholder, values: object) =>
  chain.length === 3 && /^filters[.]dateRange[.](from|to)$/.test(chain.join('.')) && !Object.hasOwn(values, 'filters')
const comparisons: ReadonlySet<string> = new Set(['equals', 'notEquals', 'less', 'lessOrEquals', 'greater', 'greaterOrEquals'])

function standsFor(
  { chain, span }: Placeholder,
  values: Readonly<Record<string, unknown>>,
  variables: ReadonlyMap<string, unknown>,
  budget: PlanningBudget,
): Expr {
  const [name, ...rest] = chain as [string, ...string[]]
  if (name === 'variables' && !Object.hasOwn(values, name)) {
    const wanted = rest.join('.')
    if (!variables.has(wanted))
      throw new QueryError('unknown-variable', { name: wanted, candidates: closest(wanted, [...variables.keys()]) }, span)
    return constantTree(variables.get(wanted), ['variables', wanted], span, budget)
  }
  let value: unknown = values
  for (const part of chain) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part))
      throw new QueryError(
        'unknown-placeholder',
        {
          name: chain.join('.'),
          candidates: closest(
            name,
            Object.keys(values).filter((known) => !isOfTemplate(known)),
          ),
        },
        span,
      )
    value = (value as Record<string, unknown>)[part]
  }
  return constantTree(value, ['values', ...chain], span, budget)
}

/** The nearest name by spelling; if there are few names, also a distant one. */
function closest(name: string, names: readonly string[]): string[] {
  const near = nearestSpellings(name, names)
  return near.length > 0 || names.length > 3 ? near : [...names]
}

/** A value of a request as a tree. */
function constantTree(given: unknown, path: readonly string[], span: Span, budget: PlanningBudget): Expr {
  budget.spend('tree', 1, span)
  const mistake = mistakeOfValue(given)
  if (mistake) throw new QueryError('validation-failed', { message: `${path.join('.')} is ${mistake}.`, attr: path.join('__') }, span)
  const value = shown(given)
  if (Array.isArray(value))
    return { kind: 'array', items: value.map((item, i) => constantTree(item, [...path, String(i)], span, budget)), span }
  if (typeof value !== 'object' || value === null) return { ...literal(value as Literal['value']), span }
  const entries = Object.entries(value).map(([key, item]) => ({
    kind: 'dictEntry' as const,
    key: { ...literal(key), span },
    value: constantTree(item, [...path, key], span, budget),
    span,
  }))
  return { kind: 'dict', entries, span }
}

/** The filters as a condition on the table that the select reads first. */
function filtersOf(filters: SqlQuery['filters'], from: Source | null, env: QueryContext): Expr {
  const first = firstTable(from, env)
  const table = first && own(tables, first.table)
  const timeField = table ? (table.timeField ?? null) : first && timeOfView(first.table, env)
  const condition = and(...conditionsOf(filters, table?.scope ?? 'event', timeField, env))
  return first ? qualified(condition, first.name) : condition
}

/** A view has times if it has the column of events. */
const timeOfView = (name: string, env: QueryContext): string | null =>
  viewColumns(name, env)?.some((column) => column.name === 'timestamp') ? 'timestamp' : null

const conditionsOf = (filters: SqlQuery['filters'], scope: FilterScope, timeField: string | null, env: QueryContext): readonly Expr[] => [
  ...(filters?.properties?.length ? [compileFilters(filters.properties, scope, env, 'filters__properties')] : []),
  ...(filters?.filterTestAccounts ? [compileFilters(env.project.testAccountFilters, scope, env)] : []),
  ...(timeField ? dateConditions(filters?.dateRange, timeField, env) : []),
]

function dateConditions(range: NonNullable<SqlQuery['filters']>['dateRange'], time: string, env: QueryContext): Expr[] {
  const [from, to] = [rangeEnd(range, 'date_from', env), rangeEnd(range, 'date_to', env)]
  return [...(from ? [call('greaterOrEquals', field(time), from)] : []), ...(to ? [call('less', field(time), to)] : [])]
}

/** Null: the range is open there. */
function rangeEnd(range: NonNullable<SqlQuery['filters']>['dateRange'], name: 'date_from' | 'date_to', env: QueryContext): Expr | null {
  const text = range?.[name]
  if (!text || (name === 'date_from' && text === 'all')) return null
  const found = dateInstant(text, micros(env.now), calendarOf(env.project))
  if (found === null) throw notADate(text, `filters__dateRange__${name}`)
  return literal(new Date(found / 1000).toISOString())
}

function firstTable(source: Source | null, env: QueryContext): { readonly table: string; readonly name: string } | null {
  if (source?.kind === 'join') return firstTable(source.left, env)
  if (source?.kind !== 'table') return null
  const table = source.chain.join('.')
  return Object.hasOwn(tables, table) || env.viewNames?.includes(table) ? { table, name: source.alias ?? table } : null
}
