import { and, field } from '../../../language/ast/build.ts'
import { children } from '../../../language/ast/children.ts'
import { columnName } from '../../../language/ast/column-name.ts'
import { identities } from '../../../language/ast/identity.ts'
import type { Alias, Call, Expr, Node, Query, Select } from '../../../language/ast/nodes.ts'
import { childrenOf, rewrite, walk } from '../../../language/ast/walk.ts'
import { tables } from '../../../language/catalog/tables.ts'
import { mapChildren } from '../../../lib/tree.ts'
import { type Refusal, refuse } from '../../refusals.ts'
import { isAggregate, type Measure, measureOf } from './measures.ts'
import { type Bound, boundsOf, type Intervals, intervalsOf } from './times.ts'

// A statement that groups events: `select key, aggregate … from events where … group by key`. What is counted of the events is separated from what the statement does with the
// rows of the groups, which have a column for each key and each aggregate.

export interface GroupedEvents {
  readonly keys: readonly Expr[]
  /** Keys that are parts of other expressions. */
  readonly usedWithin: ReadonlySet<number>
  /** An interval of `timestamp` by which it groups besides. */
  readonly intervals: Intervals | null
  readonly measures: readonly Measure[]
  readonly condition: Expr
  readonly bounds: readonly Bound[]
  /** Over rows with `keyColumn`, `measureColumn` and `timestamp`, instead of over events. */
  readonly overGroups: Select
}

export const keyColumn = (index: number): string => `@key_${index}`
export const measureColumn = (index: number): string => `@measure_${index}`

const unusualNodes: Readonly<Record<string, string>> = { lambda: 'lambdas', subquery: 'subqueries', columns: 'COLUMNS', tag: 'tags' }

const refused = (what: string): Refusal => refuse('statement-without-fold', what)

/** What such a statement may not have. */
function unusual(query: Select): string | null {
  const { from, groupBy, limit } = query
  let node: string | undefined
  walk(query, ({ kind }) => {
    if (Object.hasOwn(unusualNodes, kind)) node ??= unusualNodes[kind]
  })
  if (node !== undefined) return node
  if (query.with.length > 0) return 'WITH'
  if (query.distinct || query.distinctOn.length > 0) return 'DISTINCT'
  if (query.arrayJoin) return 'ARRAY JOIN'
  if (query.prewhere) return 'PREWHERE'
  if (query.qualify || query.windows.length > 0) return 'windows'
  if (query.orderByAll) return 'ORDER BY ALL'
  if (query.limitBy) return 'LIMIT BY'
  if (query.settings.length > 0) return 'SETTINGS'
  if (limit && (limit.percent || limit.withTies)) return 'this LIMIT'
  if (query.orderBy.some(({ fill, collate }) => fill || collate)) return 'this ORDER BY'
  if (groupBy && (groupBy.mode !== 'plain' || groupBy.withTotals)) return 'this GROUP BY'
  if (from?.kind !== 'table' || from.chain.join('.') !== 'events' || from.args) return 'other tables than events'
  return from.alias || from.final || from.sample || from.columnAliases.length > 0 ? 'this FROM' : null
}

const mostNested = 8
/** Nodes that take the places of names: each use of a name is a copy, so names that use others several times multiply. */
const mostCopied = 2_000

type Inline = (expr: Expr) => Expr

/** Replaces names of columns of the statement by what they stand for. Null: a name is ambiguous. `isTooLarge`: some were left, since the copies are too many. */
function inlined(columns: readonly Expr[]): { readonly stands: Inline; isTooLarge(): boolean } | null {
  const named = columns.filter((column) => column.kind === 'alias')
  const aliases = new Map(named.map(({ name, expr }) => [name, expr]))
  const isItself = (name: string, expr: Expr) => expr.kind === 'field' && expr.chain.join('.') === name
  const isOfEvents = ({ name, expr }: Alias) => Object.hasOwn(tables.events!.fields, name) && !isItself(name, expr)
  if (named.length !== aliases.size || named.some(isOfEvents)) return null
  let copied = 0
  const replace = (expr: Expr, depth: number): Expr =>
    rewrite<Expr>({ ...expr }, (node) => {
      if (depth > 0) copied++
      if (node.kind !== 'field' || node.chain.length !== 1 || copied > mostCopied || depth === mostNested) return node
      const [name] = node.chain as [string]
      const expr = aliases.get(name)
      return expr && !isItself(name, expr) ? replace(expr, depth + 1) : node
    })
  return { stands: (expr) => replace(expr, 0), isTooLarge: () => copied > mostCopied }
}

const nameOf = (column: Expr): string => (column.kind === 'alias' ? column.name : columnName(column))
const plain = (column: Expr): Expr => (column.kind === 'alias' ? column.expr : column)

/** The statement as groups of events, or why it is none. */
export function groupedEvents(query: Query): GroupedEvents | Refusal {
  if (query.kind !== 'select') return refused('UNION, INTERSECT and EXCEPT')
  const other = unusual(query)
  if (other) return refused(other)
  const names = inlined(query.columns)
  if (!names) return refused('a column that is named like a field of events')
  const { stands, isTooLarge } = names
  const columns = query.columns.map((column) => stands(plain(column)))
  /** `group by 1` is the first column. */
  const placed = (item: Expr): Expr =>
    item.kind === 'literal' && item.type === 'int' ? (columns[Number(item.value) - 1] ?? item) : stands(item)
  const grouping = (query.groupBy?.items ?? []).map(placed)
  const where = conditionsOf(query.where && stands(query.where))
  const having = query.having && stands(query.having)
  const ordering = query.orderBy.map((item) => ({ ...item, expr: placed(item.expr) }))
  if (isTooLarge()) return refused('names that use each other so often')
  const parts = new Parts(grouping)
  const overGroups: Select = {
    ...query,
    columns: columns.map(
      (column, i): Alias => ({ kind: 'alias', expr: parts.over(column), name: nameOf(query.columns[i]!), span: column.span }),
    ),
    where: having && parts.over(having),
    orderBy: ordering.map((item) => ({ ...item, expr: parts.over(item.expr) })),
    groupBy: null,
    having: null,
  }
  if (parts.refusal) return parts.refusal
  if (grouping.length === 0 && parts.measures.length === 0) return refused('single events')
  return { keys: parts.keys, usedWithin: parts.usedWithin, intervals: parts.intervals, measures: parts.measures, ...where, overGroups }
}

function conditionsOf(where: Expr | null): Pick<GroupedEvents, 'condition' | 'bounds'> {
  const bounds: Bound[] = []
  const conditions: Expr[] = []
  const see = (part: Expr): void => {
    if (part.kind === 'call' && part.name === 'and') {
      for (const arg of part.args) see(arg)
      return
    }
    const found = boundsOf(part)
    if (found) bounds.push(...found)
    else conditions.push(part)
  }
  if (where) see(where)
  return { condition: and(...conditions), bounds }
}

/** The keys and the aggregates of a statement, as they are found. */
class Parts {
  readonly keys: Expr[] = []
  readonly usedWithin = new Set<number>()
  intervals: Intervals | null = null
  readonly measures: Measure[] = []
  refusal: Refusal | null = null
  private readonly idOf = identities()
  private readonly columns = new Map<number, string>()

  constructor(grouping: readonly Expr[]) {
    for (const expr of grouping) {
      const id = this.idOf(expr)
      if (this.columns.has(id)) continue
      const intervals = intervalsOf(expr)
      if (intervals && this.intervals) this.refusal ??= refused('two intervals of time')
      else if (intervals) this.intervals = intervals
      else this.columns.set(id, keyColumn(this.keys.push(expr) - 1))
    }
  }

  /** An expression over the rows of the groups. */
  over(expr: Expr): Expr {
    return this.replaced(expr, false) as Expr
  }

  private replaced(node: Node, isWithin: boolean): Node {
    const id = this.idOf(node)
    const column = this.columns.get(id)
    if (column !== undefined) {
      const key = this.keys.findIndex((one) => this.idOf(one) === id)
      if (isWithin && key >= 0) this.usedWithin.add(key)
      return field(column)
    }
    if (this.intervals && id === this.idOf(this.intervals.expr)) return node // over `timestamp` of the group
    if (node.kind === 'call' && isAggregate(node)) return this.measured(node)
    if (node.kind === 'field') this.refusal ??= refused(`${node.chain.join('.')} outside of an aggregate`)
    if (node.kind === 'star') this.refusal ??= refused('*')
    if (node.kind === 'alias') this.refusal ??= refused('names within an expression')
    if (childrenOf(node).length === 0) return node
    return mapChildren<Node, Node>(node, children[node.kind], (child) => this.replaced(child, true))
  }

  private measured(aggregate: Call): Expr {
    const id = this.idOf(aggregate)
    const measure = measureOf(aggregate)
    if (!measure) {
      this.refusal ??= refused(`this use of ${aggregate.name}`)
      return aggregate
    }
    const name = measureColumn(this.measures.push(measure) - 1)
    this.columns.set(id, name)
    return field(name)
  }
}
