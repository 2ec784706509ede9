import { QueryError } from '../../errors/errors.ts'
import { PlanningBudget } from '../ast/planning-budget.ts'
import { fixedBytes, headBytes, leastBytes, type Makes } from '../functions/makes.ts'
import { hasAggregate, hasWindow } from '../resolver/shape.ts'
import { type CallNode, outputColumns, type TypedExpr, type TypedQuery, type TypedSelect, type TypedSource } from '../resolver/typed.ts'
import { attachedLookup } from './attached-properties.ts'
import { countingKnown, makesOf } from './known-sizes.ts'
import {
  inProportion,
  isFixed,
  larger,
  largest,
  nothing,
  ofSource,
  plus,
  type Seen,
  type Size,
  type Source,
  scaled,
  sized,
  sumOf,
} from './sizes.ts'

// The intermediate values of a statement. An engine computes an expression for some thousand rows at a time on each thread, and does not count
// these values in its own memory accounting. Sizes are propagated from the columns to the answer. A value that can be larger than its inputs gets
// a limit in bytes per row; all limits together stay below a share of the memory.

export interface Budget {
  /** For all intermediate values of a statement together. */
  readonly bytes: number
  readonly threads: number
}

/** A limit in bytes for one value in one row. */
export interface Bound {
  readonly most: number
  /** How many rows of this size fit at the same time. */
  readonly atOnce: number
}
/** A lambda whose result may outgrow its item: the results for all items together are limited. */
export interface EachBound extends Bound {
  /** The inputs other than the item, and how often each is used: known before the result is. Null: only the result itself has a size. */
  readonly captured: readonly (readonly [TypedExpr, number])[] | null
  /** The result is the next accumulator, so only one exists at a time. */
  readonly isStep: boolean
}

export interface Footprint {
  readonly calls: ReadonlyMap<TypedExpr, Bound>
  /** Aggregates that keep all values of a group. `isSummed`: the limit is for all groups that are computed at the same time. */
  readonly kept: ReadonlyMap<TypedExpr, Bound & { readonly isSummed: boolean }>
  readonly each: ReadonlyMap<TypedExpr, EachBound>
  /** What a recursive query adds in each round. */
  readonly rounds: ReadonlyMap<TypedExpr, Bound>
  /** Columns of tables that are inputs of very large values, by source and name. */
  readonly columns: ReadonlyMap<string, Bound>
  /** The largest size in bytes of a column of the answer in one row; infinite if nothing limits the values of a table. */
  mostOf(column: string): number
}
export const columnKey = (source: string, name: string): string => `${source}.${name}`

const rowsAtOnce = 2048
/** The limit for one call, whatever the memory: an engine cannot be interrupted inside a call. */
const mostOfCall = 8 * 1024 ** 2
/** The engine builds a constant call value by value, which takes about twelve times the bytes of a column. */
const constantFactor = 12
/** Smaller constants are copied into every row without being counted. */
const smallConstant = 4096
/** Up to this multiple of its own size a value may grow before its actual size is checked. */
const freelyOf = ({ kind, atOnce, isInWindow }: Source): number => {
  if (atOnce === 1 || isInWindow) return 0
  return kind === 'column' ? 64 : kind === 'kept' ? 8 : 0
}
/** The values of a column are rarely all as large as the largest one. */
const unevenness = 4

interface Found {
  readonly size: Size
  /** Has the same value in every row. */
  readonly isConstant: boolean
  /** Made from whole groups of rows. */
  readonly isOfGroups: boolean
}
/** The outer scope as a lambda sees it. */
interface Each {
  readonly around: Scope
  readonly params: ReadonlyMap<string, Size>
  readonly captured: Map<string, Seen>
}
interface Scope {
  readonly rows: number
  /** A window can add the sizes of all groups that are computed at the same time: no clause here forbids or already uses windows. */
  readonly isSummed?: boolean
  /** Rows after grouping. */
  readonly groups: number
  readonly each: Each | null
  /** The same node may occur inside and outside a lambda, with different sizes. */
  readonly found: Map<TypedExpr, Found>
}
const scopeOf = (rows: number, groups = rows): Scope => ({ rows, groups, each: null, found: new Map() })

interface Answer {
  readonly columns: ReadonlyMap<string, Size>
  /** The number of rows is at most this. */
  readonly rows: number
}
const unknownRows = Number.POSITIVE_INFINITY

export function footprintOf(query: TypedQuery, budget: Budget, planning = new PlanningBudget()): Footprint {
  const survey = new Survey(budget, planning.anew())
  return survey.footprint(survey.query(query))
}

class Survey {
  private readonly budget: Budget
  private readonly planning: PlanningBudget
  private readonly columns = new Map<string, Size>()
  private readonly ctes = new Map<string, Answer>()
  private readonly sources: Source[] = []
  /** Bytes of constants that calls produce. */
  private constants = 0
  /** Bytes of constants that are copied into each row. */
  private copied = 0

  constructor(budget: Budget, planning: PlanningBudget) {
    this.budget = budget
    this.planning = planning
  }

  footprint(answer: Answer): Footprint {
    const bounded = this.sources.filter((source) => source.weight > freelyOf(source))
    const weights = bounded.reduce((sum, { weight }) => sum + weight, 0)
    const boundOf = ({ kind, atOnce }: Source): Bound => {
      const share = (this.budget.bytes / atOnce - (atOnce > 1 ? this.copied : 0)) / weights
      const most = kind === 'call' || kind === 'round' ? Math.min(share, mostOfCall) : kind === 'column' ? share * unevenness : share
      return { most: Math.floor(most), atOnce }
    }
    const ofKind = <T>(kind: Source['kind'], make: (source: Source) => T) =>
      new Map(bounded.flatMap((source) => (source.kind === kind && source.node ? [[source.node, make(source)] as const] : [])))
    return {
      calls: ofKind('call', boundOf),
      kept: ofKind('kept', (source) => {
        const { most, atOnce } = boundOf(source)
        const isSummed = source.isSummed === true && atOnce > 1
        return { most: isSummed ? most * rowsAtOnce : most, atOnce, isSummed }
      }),
      rounds: ofKind('round', boundOf),
      each: ofKind('each', (source) => ({ ...boundOf(source), captured: source.captured ?? null, isStep: source.isStep === true })),
      columns: new Map(bounded.filter(({ kind }) => kind === 'column').map((source) => [source.name, boundOf(source)])),
      mostOf(column) {
        const size = answer.columns.get(column) ?? nothing
        const most = (source: Source | Seen) =>
          'from' in source || !bounded.includes(source) ? Number.POSITIVE_INFINITY : boundOf(source).most
        return [...size.of].reduce((sum, [source, times]) => sum + times * most(source), size.bytes)
      },
    }
  }

  // --- queries ---------------------------------------------------------------------------------

  query(query: TypedQuery): Answer {
    for (const cte of query.ctes) {
      if (cte.recursive && cte.query.kind === 'set') this.recursive(cte.name, cte.query)
      else this.ctes.set(cte.name, this.query(cte.query))
    }
    const { columns, rows } = query.kind === 'set' ? set(query, this.query(query.left), this.query(query.right)) : this.select(query)
    const { limit } = query
    return { columns, rows: limit && limit.limit !== null && !limit.percent && !limit.withTies ? Math.min(rows, limit.limit) : rows }
  }

  /** Growth has no limit if each round adds a little, so each round is limited. */
  private recursive(name: string, query: Extract<TypedQuery, { kind: 'set' }>): void {
    const first = this.query(query.left)
    const made = query.right.kind === 'select' ? query.right.columns : []
    const rounds = outputColumns(query).map(({ alias, type }, i) => {
      const size = isFixed(type)
        ? sized(headBytes)
        : this.source({ kind: 'round', name: alias, node: made[i]?.expr, atOnce: this.atOnce(scopeOf(unknownRows)), weight: 1 })
      return [alias, size] as const
    })
    const answer = { columns: new Map(rounds), rows: unknownRows }
    this.ctes.set(name, answer)
    this.query(query.right)
    this.ctes.set(name, set(query, first, answer))
  }

  private select(select: TypedSelect): Answer {
    const rows = select.from ? this.from(select.from) : 1
    const { groupBy } = select
    const isByKey = groupBy !== null && (groupBy.mode === 'sets' || groupBy.items.some(({ kind }) => kind !== 'constant'))
    const shown = [...select.columns.map(({ expr }) => expr), ...select.orderBy.map(({ expr }) => expr)]
    const isOfGroups = groupBy !== null || [...shown, ...(select.having ? [select.having] : [])].some(hasAggregate)
    const isSummed = !select.having && !select.qualify && !select.limitBy && select.distinctOn.length === 0 && !shown.some(hasWindow)
    const scope = { ...scopeOf(rows, isOfGroups && !isByKey ? 1 : rows), isSummed }
    const columns = select.columns.map(({ alias, expr }) => [alias, this.expr(expr, scope).size] as const)
    const others = [
      ...select.distinctOn,
      ...(groupBy?.items ?? []),
      ...(groupBy?.sets.flat() ?? []),
      ...select.orderBy.map(({ expr }) => expr),
      ...(select.limitBy?.by ?? []),
    ]
    for (const expr of [...others, select.where, select.having, select.qualify]) if (expr) this.expr(expr, scope)
    return { columns: new Map(columns), rows: scope.groups }
  }

  /** An upper bound of the number of rows. */
  private from(source: TypedSource): number {
    switch (source.kind) {
      case 'scan':
        for (const read of source.reads) {
          const name = columnKey(source.alias, read.name)
          if (!isFixed(read.type))
            this.columns.set(name, this.source({ kind: 'column', name, atOnce: this.atOnce(scopeOf(unknownRows)), weight: 0 }))
        }
        return unknownRows
      case 'derived':
        return this.answered(source.alias, this.query(source.query))
      case 'cteRef':
        return this.answered(source.alias, this.ctes.get(source.name) ?? { columns: new Map(), rows: unknownRows })
      case 'rows': {
        const scope = scopeOf(source.rows.length)
        const sizes = source.rows.map((row) => row.map((item) => this.expr(item, scope).size))
        const columns = source.names.map((name, i) => [name, largest(sizes.map((row) => row[i] ?? nothing))] as const)
        return this.answered(source.alias, { columns: new Map(columns), rows: source.rows.length })
      }
      case 'attached': {
        const columns = source.lookup ? attachedLookup : source.table.columns
        for (const { name: column, type } of columns) {
          const name = columnKey(source.alias, column)
          if (!isFixed(type))
            this.columns.set(name, this.source({ kind: 'column', name, atOnce: this.atOnce(scopeOf(unknownRows)), weight: 0 }))
        }
        return unknownRows
      }
      case 'tableFunction': {
        for (const arg of source.args) this.expr(arg, scopeOf(1))
        const count = source.name === 'numbers' ? source.args.at(-1) : undefined
        return count?.kind === 'constant' && typeof count.value === 'number' ? count.value : unknownRows
      }
      case 'join': {
        const [left, right] = [this.from(source.left), this.from(source.right)]
        // Outer joins keep unmatched rows.
        const rows = Math.max(left, 1) * Math.max(right, 1) + left + right
        if (source.on) this.expr(source.on, scopeOf(rows))
        return rows
      }
      case 'unnest': {
        const scope = scopeOf(source.input ? this.from(source.input) : 1)
        const columns = source.items.map(({ name, expr }) => {
          const { size } = this.expr(expr, scope)
          return [name, expr.kind === 'array' ? largest(expr.items.map((item) => this.expr(item, scope).size)) : size] as const
        })
        return this.answered(source.alias, { columns: new Map(columns), rows: unknownRows })
      }
    }
  }

  private answered(alias: string, { columns, rows }: Answer): number {
    for (const [name, size] of columns) this.columns.set(columnKey(alias, name), size)
    return rows
  }

  // --- expressions -----------------------------------------------------------------------------

  private expr(node: TypedExpr, scope: Scope): Found {
    if (node.kind === 'constant') {
      this.planning.spend('expressions', 1, node.span)
      return this.look(node, scope)
    }
    const known = scope.found.get(node)
    if (known) return known
    // Each lambda analyses what it captures again, and nested lambdas analyse it once more.
    this.planning.spend('expressions', 2, node.span)
    const found = this.look(node, scope)
    scope.found.set(node, found)
    return found
  }

  private look(node: TypedExpr, scope: Scope): Found {
    const leaf = (size: Size, isConstant = false): Found => ({ size, isConstant, isOfGroups: false })
    switch (node.kind) {
      case 'constant':
        return leaf(sized(headBytes + (typeof node.value === 'string' ? Buffer.byteLength(node.value) : 0)), true)
      case 'column':
      case 'parameter': {
        const bytes = fixedBytes(node.type)
        // An item is constant if the arrays are.
        return leaf(bytes === null ? this.seen(node, scope) : sized(bytes), node.kind === 'parameter')
      }
      case 'json':
      case 'cast':
      case 'arrayJoin': {
        const inner = this.expr(node.expr, scope)
        // The text of an array has more bytes than its numbers, and an array parsed from a text may have an item for every second byte.
        const isOther = node.kind === 'cast' && (isNested(node) || isNested(node.expr))
        return this.made(node, scope, [inner], scaled(inner.size, isOther ? 8 : 1))
      }
      case 'array':
      case 'tuple': {
        const items = node.items.map((item) => this.expr(item, scope))
        return this.made(node, scope, items, plus(sized(headBytes), sumOf(items.map(({ size }) => size))))
      }
      case 'lambda':
        return leaf(nothing, true)
      case 'scalarQuery':
        return leaf([...this.query(node.query).columns.values()][0] ?? nothing)
      case 'exists':
        this.query(node.query)
        return leaf(sized(headBytes))
      case 'in': {
        if ('query' in node.set) this.query(node.set.query)
        const parts = [node.expr, ...('items' in node.set ? node.set.items : 'value' in node.set ? [node.set.value] : [])]
        const found = parts.map((part) => this.expr(part, scope))
        return this.made(node, scope, found, sized(headBytes))
      }
      case 'call':
        return this.call(node, scope)
    }
  }

  /** A column, or a parameter of a lambda. Captured values are tracked separately from the lambda's own. */
  private seen(node: Extract<TypedExpr, { kind: 'column' | 'parameter' }>, { each }: Scope): Size {
    const key = node.kind === 'column' ? columnKey(node.source, node.name) : node.name
    if (!each) return this.columns.get(key) ?? nothing
    const own = node.kind === 'parameter' ? each.params.get(key) : undefined
    if (own) return own
    let seen = each.captured.get(key)
    if (!seen) {
      seen = { kind: 'captured', node, from: this.seen(node, each.around) }
      each.captured.set(key, seen)
    }
    return ofSource(seen)
  }

  private call(node: CallNode, scope: Scope): Found {
    const isAggregate = node.row.kind === 'aggregate' && !node.over
    const inside = isAggregate ? { ...scope, groups: scope.rows } : scope
    const args = node.args.map((arg) => this.expr(arg, inside))
    const others = otherParts(node)
    const found = others.length ? [...args, ...others.map((part) => this.expr(part, inside))] : args
    const sizes = args.map(({ size }) => size)
    if (isAggregate || node.over) {
      const isOfGroups = isAggregate || found.some((part) => part.isOfGroups)
      return {
        size: this.aggregated(node, { ...scope, rows: isOfGroups ? scope.groups : scope.rows }, sizes),
        isConstant: false,
        isOfGroups,
      }
    }
    const isOfGroups = found.some((part) => part.isOfGroups)
    const here = isOfGroups ? { ...scope, rows: scope.groups } : scope
    if (!node.args.some((arg) => arg.kind === 'lambda')) return this.made(node, here, found, this.result(node, here, sizes, null))
    const each = this.lambdas(node, here, sizes)
    return this.made(node, here, [...found, ...each.found], this.result(node, here, sizes, each.size))
  }

  private result(node: CallNode, scope: Scope, args: readonly Size[], each: Size | null): Size {
    const makes = makesOf(node)
    if (node.row.scratch) this.charge(inProportion(sumOf(args), node.row.scratch))
    if (makes?.kind === 'inside') return this.bounded(node, scope)
    if (makes?.kind === 'counted') {
      const bytes = makes.bytes(countingKnown(node, args))
      if (bytes === null) return this.bounded(node, scope)
      if (bytes > mostOfCall) this.refuse(node, bytes, mostOfCall)
      return sized(Math.max(0, bytes) + headBytes)
    }
    const fixed = fixedBytes(node.type)
    if (fixed !== null) return sized(fixed)
    return plus(sized(headBytes), each ? proportion(makes, [each]) : proportion(makes, args))
  }

  private aggregated(node: CallNode, scope: Scope, args: readonly Size[]): Size {
    const makes = makesOf(node)
    const { keeps } = node.row
    if (makes?.kind === 'inside') {
      const size = this.bounded(node, scope)
      this.charge(size)
      return size
    }
    if (keeps !== undefined) {
      const kept = this.source({
        kind: 'kept',
        name: node.name,
        node,
        atOnce: this.atOnce(scope),
        weight: 0,
        isSummed: scope.isSummed && !node.over,
        isInWindow: node.over !== null,
      })
      this.charge(scaled(kept, keeps))
      return isFixed(node.type) ? sized(fixedBytes(node.type)!) : kept
    }
    return isFixed(node.type) ? sized(fixedBytes(node.type)!) : proportion(makes, args)
  }

  /** The results of a call's lambdas over all items, and what they contain. */
  private lambdas(node: CallNode, scope: Scope, args: readonly Size[]): { size: Size | null; found: readonly Found[] } {
    const lambdas = node.args.filter((arg) => arg.kind === 'lambda')
    const lists = sumOf(args)
    const found: Found[] = []
    let size: Size | null = null
    for (const lambda of lambdas) {
      const value = this.lambda(node, lambda, scope, lists)
      found.push(value)
      size = larger(size ?? lists, value.size)
    }
    return { size, found }
  }

  private lambda(node: CallNode, { params, body }: Extract<TypedExpr, { kind: 'lambda' }>, scope: Scope, lists: Size): Found {
    const isStep = makesOf(node)?.kind === 'steps'
    const item: Seen = { kind: 'item', from: lists }
    const bound: { -readonly [K in keyof Source]: Source[K] } = {
      kind: 'each',
      name: node.name,
      node,
      atOnce: this.atOnce(scope),
      weight: 0,
      isStep,
    }
    const each: Each = {
      around: scope,
      params: new Map(params.map((name, i) => [name, ofSource(isStep && i === 0 ? bound : item)])),
      captured: new Map(),
    }
    const value = this.expr(body, { ...scope, each, isSummed: false, found: new Map() })
    const ofItems = value.size.of.get(item) ?? 0
    const others = [...value.size.of].filter(([source]) => source !== item)
    const fixed = fixedBytes(body.type)
    if (fixed !== null) return { ...value, size: isStep ? sized(headBytes) : scaled(lists, fixed / leastOfItems(node)) }
    if (isStep) {
      this.sources.push(bound)
      return { ...value, size: ofSource(bound) }
    }
    // An item takes some bytes, so that values that are the same for every item are in proportion to the items.
    const ofEach = scaled(lists, ofItems + (value.size.bytes + headBytes) / leastOfItems(node))
    if (others.length === 0) return { ...value, size: ofEach }
    bound.captured = others.every(([source]) => source.kind === 'captured')
      ? others.map(([source, times]) => [source.node!, times] as const)
      : null
    this.sources.push(bound)
    return { ...value, size: plus(ofEach, ofSource(bound)) }
  }

  /** A value that is computed once per row, or once if it is constant. */
  private made(node: TypedExpr, scope: Scope, parts: readonly Found[], size: Size): Found {
    const isVolatile = node.kind === 'call' && node.row.isVolatile === true
    const isConstant = !isVolatile && parts.every((part) => part.isConstant)
    if (!isFixed(node.type)) {
      this.charge(size)
      if (isConstant) this.constants += node.kind === 'call' ? size.bytes : 0
      else if (size.bytes >= smallConstant && scope.rows > 1) this.copied += size.bytes
      if (this.constants * constantFactor > this.budget.bytes)
        this.refuse(node, size.bytes, this.budget.bytes / constantFactor, this.constants)
      if (this.copied * this.atOnce(scope) > this.budget.bytes)
        this.refuse(node, size.bytes, this.budget.bytes / this.atOnce(scope), this.copied)
    }
    return { size, isConstant, isOfGroups: parts.some((part) => part.isOfGroups) }
  }

  private charge({ of }: Size, times = 1): void {
    for (const [source, n] of of) {
      if ('from' in source) this.charge(source.from, n * times)
      else source.weight += n * times
    }
  }

  private bounded = (node: CallNode, scope: Scope): Size =>
    this.source({ kind: 'call', name: node.name, node, atOnce: this.atOnce(scope), weight: 0 })

  private source(source: Source): Size {
    this.sources.push(source)
    return ofSource(source)
  }

  private atOnce({ rows, each }: Scope): number {
    const threads = rows <= rowsAtOnce ? 1 : this.budget.threads
    return (each ? rowsAtOnce : Math.max(1, Math.min(rows, rowsAtOnce))) * threads
  }

  /** For the result of one function; or for the whole statement (`all`) where this function only adds the last part. */
  private refuse(node: TypedExpr, bytes: number, most: number, all = bytes): never {
    const isOwn = bytes > most && node.kind === 'call'
    const about = { name: isOwn ? node.name : null, bytes: Math.ceil(isOwn ? bytes : all), most: Math.floor(most) }
    throw new QueryError('makes-too-much', about, node.span)
  }
}

const set = (query: TypedQuery, left: Answer, right: Answer): Answer => {
  const [lefts, rights] = [[...left.columns.values()], [...right.columns.values()]]
  const columns = outputColumns(query).map(({ alias }, i) => [alias, larger(lefts[i] ?? nothing, rights[i] ?? nothing)] as const)
  return { columns: new Map(columns), rows: left.rows + right.rows }
}

function proportion(makes: Makes | undefined, args: readonly Size[]): Size {
  if (makes?.kind === 'part') return largest(args)
  return makes?.kind === 'times' ? inProportion(sumOf(args), makes) : sumOf(args)
}

const leastOfItems = ({ args }: CallNode): number =>
  Math.min(...args.flatMap(({ type }) => (type.kind === 'array' ? [leastBytes(type.item)] : [])), headBytes)

const isNested = ({ type }: TypedExpr): boolean => type.kind === 'array' || type.kind === 'tuple' || type.kind === 'map'

/** The inputs of a call besides its arguments. */
function otherParts({ params, orderBy, filter, over }: CallNode): readonly TypedExpr[] {
  if (params.length === 0 && orderBy.length === 0 && !filter && !over) return params
  return [...params, ...orderBy.map(({ expr }) => expr), ...(over ? windowParts(over) : []), ...(filter ? [filter] : [])]
}

const windowParts = ({ partitionBy, orderBy }: NonNullable<CallNode['over']>): readonly TypedExpr[] => [
  ...partitionBy,
  ...orderBy.map(({ expr }) => expr),
]
