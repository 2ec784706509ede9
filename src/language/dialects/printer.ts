import { randomInt } from 'node:crypto'
import { InternalError, placed, UnsupportedError } from '../../errors/errors.ts'
import type { Span } from '../../errors/span.ts'
import { assertNever } from '../../lib/assert-never.ts'
import { likeMemory, mostStepsOfRow, patternMemory, textMemory } from '../../lib/text/pattern-memory.ts'
import { type IdOf, identities } from '../ast/identity.ts'
import { PlanningBudget } from '../ast/planning-budget.ts'
import type { AttachedTable } from '../catalog/attached.ts'
import { type AggregateContext, type Arg, type CellContext, isUnsupported } from '../functions/row.ts'
import { constantsOf } from '../functions/text/search-variants.ts'
import { type FrameEdge, overText, type WindowContext } from '../functions/windows/window-frame.ts'
import type { Footprint } from '../plan/footprint.ts'
import { groupKeys, holdsQuery } from '../resolver/shape.ts'
import {
  type CallNode,
  outputColumns,
  type TypedBound,
  type TypedCte,
  type TypedExpr,
  type TypedGroupBy,
  type TypedOrder,
  type TypedQuery,
  type TypedSelect,
  type TypedSet,
  type TypedSource,
  type TypedWindow,
} from '../resolver/typed.ts'
import { eachSource } from '../resolver/typed-walk.ts'
import type { CurrencyRates } from '../types/currency-rates.ts'
import { isNamed, isNullable } from '../types/types.ts'
import { Bounded } from './bounded.ts'
import type { Dialect, ParameterValue, PrintedQuery, Printing } from './dialect.ts'

export interface PrintSettings {
  readonly timezone: string
  readonly weekStartDay: 0 | 1
  readonly timeRange?: readonly [from: number, to: number]
  /** The value of `now()` in the statement, in milliseconds since 1970. */
  readonly now?: number
  readonly currencyRates?: CurrencyRates | undefined
  /** The size limits for one row; absent for engines with limits of their own. */
  readonly footprint?: Footprint
  readonly budget?: PlanningBudget
  readonly idOf?: IdOf
}

/** Random for each process, and never sent anywhere: no name and no text of a statement can look like a parameter. */
const nonce = String(randomInt(2 ** 47))
const parameterMark = (index: number) => `\u0001${nonce}${index}\u0002`
const parameterMarks = new RegExp(`\u0001${nonce}(\\d+)\u0002`, 'g')

export function printQuery(query: TypedQuery, dialect: Dialect, settings: PrintSettings): PrintedQuery {
  const printer = new Printer(dialect, settings)
  const { sql, params } = printer.withParameters(printer.statement(query))
  printer.checkLoad(sql, query.span)
  const columns = outputColumns(query).map(({ name, type }) => ({ name, type }))
  return { sql, params, columns, ...(printer.attached.size > 0 && { attached: [...printer.attached] }) }
}

/** Some grouping sets have no key, so an engine may return a group for no rows. An empty set among GROUPING SETS requires it. */
const hasTotals = ({ mode, items }: TypedGroupBy): boolean =>
  mode === 'rollup' || mode === 'cube' || (mode === 'plain' && items.length > 0 && groupKeys(items).length === 0)

const memoryOf = { regexp: patternMemory, regexps: patternMemory, like: likeMemory, text: textMemory } as const

class Printer implements Printing {
  /** The tables beside those of the project that the statement reads. */
  readonly attached = new Set<AttachedTable>()
  private readonly values: ParameterValue[] = []
  private readonly dialect: Dialect
  private readonly bound = new Map<ParameterValue, string>()
  private readonly budget: PlanningBudget
  private readonly idOf: IdOf
  private readonly printed = new Map<TypedExpr, string>()
  private readonly args = new Map<TypedExpr, Arg>()
  /** Calls whose text differs from that of equal calls, by their identity. */
  private readonly named = new Map<string, string>()
  private readonly items = new Set<string>()
  /** Calls whose patterns were counted. */
  private readonly compiled = new Set<number>()
  private names = 0
  private readonly bounded: Bounded | null
  /** The context that all calls share. */
  private readonly common: Omit<CellContext, 'type' | 'params' | 'refuse' | 'within'>

  constructor(dialect: Dialect, settings: PrintSettings) {
    const { timezone, weekStartDay, timeRange, now, currencyRates } = settings
    this.common = {
      timezone,
      weekStartDay,
      ...(timeRange ? { timeRange } : {}),
      ...(now === undefined ? {} : { now }),
      ...(currencyRates ? { currencyRates } : {}),
      literal: (text) => this.dialect.literal(text),
      bind: (value) => this.bind(value),
      fresh: () => this.fresh(),
    }
    this.dialect = dialect
    this.bounded = dialect.guards && settings.footprint ? new Bounded(dialect.guards, settings.footprint, this) : null
    this.budget = settings.budget ?? new PlanningBudget()
    this.idOf = settings.idOf ?? identities()
  }

  // Equal values share one parameter, so that an expression in GROUP BY matches the same one in the select list. Numbers are assigned at the
  // end: a cell may bind a constant and not print it.
  bind(value: ParameterValue): string {
    let text = this.bound.get(value)
    if (text === undefined) {
      text = parameterMark(this.values.length)
      this.values.push(value)
      this.bound.set(value, text)
    }
    return text
  }

  /** The printed text, with its parameters numbered in order of first use. */
  withParameters(text: string): { sql: string; params: ParameterValue[] } {
    const params: ParameterValue[] = []
    const numbers = new Map<string, number>()
    const sql = text.replace(parameterMarks, (_, index: string) => {
      const value = this.values[Number(index)]
      if (value === undefined) throw new InternalError(`a parameter that was not bound: ${index}`)
      let number = numbers.get(index)
      if (number === undefined) {
        number = params.push(value)
        numbers.set(index, number)
      }
      return this.dialect.parameter(number, value)
    })
    return { sql, params }
  }

  checkLoad(sql: string, span: Span): void {
    const load = this.dialect.planningLoad?.(sql)
    if (load) for (const what of ['nesting', 'selects', 'aggregates', 'windows'] as const) this.budget.allow(what, load[what], span)
  }

  fresh(): string {
    return `_${++this.names}`
  }

  identifier(name: string): string {
    return this.dialect.identifier(name)
  }

  statement(query: TypedQuery): string {
    const refused = this.dialect.refused?.(query)
    if (refused) this.refuse(refused.what, refused.span)
    eachSource(query, (source) => {
      if (source.kind === 'unnest') this.items.add(source.alias)
    })
    return this.query(query)
  }

  // --- queries ---------------------------------------------------------------------------------

  query(query: TypedQuery): string {
    const body = query.kind === 'set' ? this.set(query) : this.select(query)
    const text = `${this.ctes(query.ctes)}${body}`
    this.budget.allow('sql', text.length, query.span)
    return text
  }

  /**
   * Concatenates texts. The length is checked before anything is concatenated: aliases that use aliases that use others grow
   * exponentially.
   */
  private texts<T>(items: readonly T[], print: (item: T) => string, span: Span | null = null): string[] {
    const texts: string[] = []
    let length = 0
    for (const item of items) {
      const text = print(item)
      length += text.length
      this.budget.allow('sql', length, span)
      texts.push(text)
    }
    return texts
  }

  private ctes(ctes: readonly TypedCte[]): string {
    if (ctes.length === 0) return ''
    const parts = ctes.map((cte) => {
      const { query } = cte
      if (cte.recursive && query.kind === 'set' && !query.all && !this.dialect.hasRecursiveDistinct)
        this.refuse('a recursive UNION DISTINCT', query.span)
      const hint = cte.materialized === null ? '' : cte.materialized ? 'MATERIALIZED ' : 'NOT MATERIALIZED '
      return this.dialect.cte(this.identifier(this.dialect.cteName(cte.name)), hint, this.query(cte.query))
    })
    return `WITH ${ctes.some((cte) => cte.recursive) ? 'RECURSIVE ' : ''}${parts.join(', ')} `
  }

  private set(set: TypedSet): string {
    const side = (query: TypedQuery) => `(${this.query(query)})`
    const text = `${side(set.left)} ${set.op.toUpperCase()}${set.all ? ' ALL' : this.dialect.distinctSet} ${side(set.right)}`
    const order = set.orderBy.map((item) => this.order(item)).join(', ')
    const tail = `${order ? ` ORDER BY ${order}` : ''}${set.limit ? this.dialect.limit(set.limit) : ''}`
    if (!tail || this.dialect.hasSetTail) return `${text}${tail}`
    return `SELECT * FROM (${text})${tail}`
  }

  private select(select: TypedSelect): string {
    const parts = ['SELECT']
    if (select.distinctOn.length) parts.push(`DISTINCT ON (${this.list(select.distinctOn)})`)
    else if (select.distinct) parts.push('DISTINCT')
    const columns = this.texts(select.columns, (column) => `${this.expr(column.expr)} AS ${this.identifier(column.alias)}`, select.span)
    parts.push(columns.join(', '))
    if (select.from) parts.push(`FROM ${this.source(select.from)}`)
    if (select.where) parts.push(`WHERE ${this.expr(select.where)}`)
    if (select.groupBy) parts.push(this.groupBy(select.groupBy))
    const having = [
      ...(select.having ? [this.expr(select.having)] : []),
      // No rows, no totals.
      ...(select.groupBy && hasTotals(select.groupBy) && this.dialect.hasEmptyTotals ? ['count(*) > 0'] : []),
    ]
    if (having.length) parts.push(`HAVING ${having.map((condition) => (having.length > 1 ? `(${condition})` : condition)).join(' AND ')}`)
    const ordered = this.selectOrder(select)
    const qualify = [
      ...(select.qualify ? [this.expr(select.qualify)] : []),
      ...(select.limitBy && !this.dialect.hasLimitBy ? [this.limitByCondition(select)] : []),
      ...(select.limit?.withTies && !this.dialect.hasTies ? [this.tiesCondition(select)] : []),
    ]
    if (qualify.length) parts.push(`QUALIFY ${qualify.map((q) => (qualify.length > 1 ? `(${q})` : q)).join(' AND ')}`)
    if (ordered) parts.push(`ORDER BY ${ordered}`)
    if (select.limitBy && this.dialect.hasLimitBy) {
      const { limit, offset, by } = select.limitBy
      parts.push(`LIMIT ${limit}${offset ? ` OFFSET ${offset}` : ''} BY ${this.list(by)}`)
    }
    const limit =
      select.limit?.withTies && !this.dialect.hasTies ? { ...select.limit, limit: null, percent: false, withTies: false } : select.limit
    return `${parts.join(' ')}${limit ? this.dialect.limit(limit) : ''}`
  }

  private groupBy({ mode, items, sets }: TypedGroupBy): string {
    if (mode === 'sets') return `GROUP BY GROUPING SETS (${this.texts(sets, (set) => `(${this.list(groupKeys(set))})`).join(', ')})`
    const keys = mode === 'plain' ? groupKeys(items) : items.filter((item) => item.kind !== 'constant')
    if (keys.length === 0) return items.length ? `GROUP BY ${this.dialect.emptyGroup}` : ''
    return mode === 'plain' ? `GROUP BY ${this.list(keys)}` : `GROUP BY ${mode.toUpperCase()}(${this.list(keys)})`
  }

  /** ORDER BY a column of the select list uses its position: with DISTINCT and after grouping nothing else is reliable. */
  private selectOrder(select: TypedSelect): string {
    const positions = new Map<TypedExpr, number>()
    for (const [i, { expr }] of select.columns.entries()) if (!positions.has(expr)) positions.set(expr, i + 1)
    const items = select.orderBy.filter((item) => item.expr.kind !== 'constant')
    return this.texts(items, (item) => {
      const position = select.distinctOn.length ? undefined : positions.get(item.expr)
      return this.order(item, position === undefined ? undefined : String(position))
    }).join(', ')
  }

  private order({ expr, descending, nulls }: TypedOrder, text = this.expr(expr)): string {
    return `${text}${descending ? ' DESC' : ''} NULLS ${nulls.toUpperCase()}`
  }

  private orderList = (orderBy: readonly TypedOrder[]) =>
    this.texts(
      orderBy.filter((item) => item.expr.kind !== 'constant'),
      (item) => this.order(item),
    ).join(', ')

  private limitByCondition({ limitBy, orderBy }: TypedSelect): string {
    const { limit, offset, by } = limitBy!
    const order = this.orderList(orderBy)
    const number = `row_number() OVER (PARTITION BY ${this.list(by)}${order ? ` ORDER BY ${order}` : ''})`
    return offset ? `${number} BETWEEN ${offset + 1} AND ${offset + limit}` : `${number} <= ${limit}`
  }

  private tiesCondition({ limit, orderBy }: TypedSelect): string {
    const order = this.orderList(orderBy)
    const { limit: rows, offset, percent } = limit!
    // If only constants are ordered by, all rows are ties.
    const rank = order ? `rank() OVER (ORDER BY ${order})` : 'rank() OVER ()'
    return `${rank} <= ${percent ? `floor(count(*) OVER () * ${rows} / 100.0) + ${offset}` : (rows ?? 0) + offset}`
  }

  // --- sources ---------------------------------------------------------------------------------

  private source(source: TypedSource): string {
    const as = (alias: string) => ` AS ${this.identifier(alias)}`
    switch (source.kind) {
      case 'scan':
        if (source.project === null) throw new InternalError(`a scan of ${source.table} has not passed the tenant guard`)
        return `(${this.dialect.scan(source, this)})${as(source.alias)}`
      case 'derived':
        return `${source.lateral ? 'LATERAL ' : ''}(${this.query(source.query)})${as(source.alias)}`
      case 'cteRef':
        return `${this.identifier(this.dialect.cteName(source.name))}${as(source.alias)}`
      case 'rows':
        return this.dialect.values(
          source.rows.map((row) => this.texts(row, (item) => this.expr(item))),
          this.identifier(source.alias),
          source.names.map((name) => this.identifier(name)),
          source.rows[0]?.map((item) => item.type) ?? [],
        )
      case 'tableFunction':
        return `${this.dialect.tableFunction(
          source,
          this.texts(source.args, (arg) => this.expr(arg)),
        )}${as(source.alias)}`
      case 'attached':
        this.attached.add(source.table)
        return `(${this.dialect.attached(source)})${as(source.alias)}`
      case 'join':
        return this.join(source)
      case 'unnest': {
        const texts = this.texts(source.items, (item) => this.expr(item.expr), source.span)
        // Each array is compared in length with the first.
        this.budget.allow('sql', texts.length * (texts[0]?.length ?? 0), source.span)
        return this.dialect.unnest(
          source,
          source.input ? this.source(source.input) : null,
          source.items.map((item, i) => ({
            name: this.identifier(item.name),
            plainName: item.name,
            sql: texts[i]!,
            type: item.expr.type,
          })),
        )
      }
    }
    return assertNever(source)
  }

  private refuse(what: string, span: Span): never {
    throw new UnsupportedError('unsupported-syntax', { what, engine: this.dialect.capabilities.engine }, span)
  }

  private join(written: Extract<TypedSource, { kind: 'join' }>): string {
    const source = this.dialect.turnsJoin?.(written)
      ? { ...written, type: 'left' as const, left: written.right, right: written.left }
      : written
    if (source.strictness === 'any' && this.dialect.anyJoin)
      return this.dialect.anyJoin(source, this.source(source.left), this.source(source.right), source.on ? this.expr(source.on) : 'true')
    const right =
      source.right.kind === 'join' || source.right.kind === 'unnest' ? `(${this.source(source.right)})` : this.source(source.right)
    return `${this.source(source.left)} ${this.dialect.join(source)} ${right}${source.on ? ` ON ${this.expr(source.on)}` : ''}`
  }

  // --- expressions -----------------------------------------------------------------------------

  private list = (exprs: readonly TypedExpr[]): string => this.texts(exprs, (expr) => this.expr(expr)).join(', ')

  expr(expr: TypedExpr): string {
    if (expr.kind === 'constant') return this.print(expr)
    if (expr.kind === 'column') return this.bounded ? this.bounded.value(expr, this.print(expr)) : this.print(expr)
    const known = this.printed.get(expr)
    if (known !== undefined) return known
    this.budget.work(1)
    const printed = this.print(expr)
    const text = this.bounded ? this.bounded.value(expr, printed) : printed
    this.budget.allow('sql', text.length, expr.span)
    this.printed.set(expr, text)
    return text
  }

  private print(expr: TypedExpr): string {
    switch (expr.kind) {
      case 'constant':
        return this.dialect.constant(expr, this)
      case 'column':
        return expr.source === '' ? this.identifier(expr.name) : this.dialect.column(expr.source, expr.name, this.items.has(expr.source))
      case 'parameter':
        return this.identifier(expr.name)
      case 'json':
        return this.dialect.json(this.expr(expr.expr), expr.path, expr.as, this)
      case 'cast':
        return this.dialect.cast(this.expr(expr.expr), expr)
      case 'array':
        return this.dialect.array(
          this.texts(expr.items, (item) => this.expr(item), expr.span),
          expr.type,
        )
      case 'tuple':
        return this.dialect.tuple(
          this.texts(expr.items, (item) => this.expr(item), expr.span),
          expr.type,
        )
      case 'lambda':
        // Cells print lambdas from their parts.
        return ''
      case 'scalarQuery':
        return `(${this.query(expr.query)})`
      case 'exists':
        return `EXISTS (${this.query(expr.query)})`
      case 'arrayJoin':
        return this.dialect.arrayJoin(this.expr(expr.expr))
      case 'in':
        return this.in(expr)
      case 'call':
        return this.call(expr)
    }
    return assertNever(expr)
  }

  private in(expr: Extract<TypedExpr, { kind: 'in' }>): string {
    const value = this.expr(expr.expr)
    if ('query' in expr.set) return this.dialect.inQuery(value, this.query(expr.set.query), expr, outputColumns(expr.set.query).length)
    if ('value' in expr.set) return this.dialect.inArray(value, this.expr(expr.set.value), expr)
    const texts = this.texts(expr.set.items, (item) => this.expr(item), expr.span)
    const items = expr.set.items.map((item, i) => ({
      sql: texts[i]!,
      isNull: item.kind === 'constant' && item.value === null,
      mayBeNull: isNullable(item.type),
    }))
    // Nullable values are compared one by one.
    if (items.some((item) => item.mayBeNull && !item.isNull)) this.budget.allow('sql', items.length * value.length, expr.span)
    return this.dialect.in(value, items, expr, this)
  }

  private arg(expr: TypedExpr): Arg {
    if (this.args.size > 0) {
      const known = this.args.get(expr)
      if (known) return known
    }
    if (expr.kind === 'lambda' && !this.dialect.hasQueriesInLambdas && holdsQuery(expr.body))
      this.refuse('a subquery inside of a lambda; join it in FROM and read its column', expr.span)
    const { type } = expr
    switch (expr.kind) {
      case 'constant':
        return { sql: this.expr(expr), type, constant: expr.value }
      case 'lambda': {
        const body = this.expr(expr.body)
        return { sql: '', type, lambda: { params: expr.params.map((name) => this.identifier(name)), body, type: expr.body.type } }
      }
      case 'array':
      case 'tuple':
        return this.remembered(expr, { sql: this.expr(expr), type, items: expr.items.map((item) => this.arg(item)) })
      case 'call':
        if (isNamed(type, 'Interval'))
          return this.remembered(expr, {
            sql: this.expr(expr),
            type,
            call: { name: expr.name, args: expr.args.map((arg) => this.arg(arg)) },
          })
    }
    return { sql: this.expr(expr), type }
  }

  private remembered(expr: TypedExpr, arg: Arg): Arg {
    this.args.set(expr, arg)
    return arg
  }

  private argList(exprs: readonly TypedExpr[], span: Span): Arg[] {
    const args: Arg[] = []
    let length = 0
    for (const expr of exprs) {
      const arg = this.arg(expr)
      length += (arg.lambda?.body ?? arg.sql).length
      this.budget.allow('sql', length, span)
      args.push(arg)
    }
    return args
  }

  private call(call: CallNode): string {
    const cell = this.dialect.cell(call.row)
    if (isUnsupported(cell)) {
      const { engine } = this.dialect.capabilities
      throw new UnsupportedError('unsupported-function', { name: call.name, engine, reason: cell.unsupported }, call.span)
    }
    const isRows = call.row.kind === 'aggregate' || call.row.kind === 'window'
    const given = this.argList(call.args, call.span)
    const params = this.argList(call.params, call.span)
    const aggregate = isRows
      ? {
          distinct: call.distinct,
          orderBy: this.orderList(call.orderBy),
          order: call.orderBy.map(({ expr, descending }) => ({ arg: this.arg(expr), descending })),
          filter: call.filter ? this.expr(call.filter) : '',
          ignoreNulls: call.ignoreNulls,
          ...this.over(call.over),
        }
      : undefined
    const names = this.names
    let refuses = false
    const refuse = (message: string) => {
      refuses = true
      return this.dialect.refuse?.(message, call) ?? message
    }
    const args = call.row.compiles ? this.withPattern(call, given, call.row.compiles, refuse) : given
    // Without the spread operator: a statement may have thousands of calls, and copying would double the cost.
    const { timezone, weekStartDay, timeRange, now, currencyRates, literal, bind, fresh } = this.common
    const context: CellContext = {
      timezone,
      weekStartDay,
      timeRange,
      now,
      currencyRates,
      literal,
      bind,
      fresh,
      type: call.type,
      params,
      aggregate,
      refuse,
      within: (bytes: string, made: string) => this.bounded?.within(call, bytes, made) ?? made,
    }
    const { withEqualLengths } = this.dialect
    const { sideBySide } = call.row
    const isEven = withEqualLengths === undefined || sideBySide === undefined || args.slice(...sideBySide).length < 2
    const printed = (some: readonly Arg[]) =>
      isEven ? cell(some, context) : withEqualLengths(some, some.slice(...sideBySide), call, context.fresh, (named) => cell(named, context))
    const text = placed(call.span, () =>
      this.bounded ? this.bounded.call(call, args, aggregate ?? { filter: '', over: '' }, printed) : printed(args),
    )
    if (this.names === names && isEven && !refuses && !this.bounded?.concerns(call)) return text
    // Equal calls have the same text, including lambda names and positions in errors, so that GROUP BY and the select list match.
    const id = `${this.idOf(call)} ${this.bounded?.keyOf(call) ?? ''}`
    const known = this.named.get(id)
    if (known === undefined) this.named.set(id, text)
    else this.names = names
    return known ?? text
  }

  /** Patterns that are constants are compiled once, and share a budget. Others are compiled for each row, and must be small. */
  private withPattern(
    call: CallNode,
    args: readonly Arg[],
    { at, as }: NonNullable<CallNode['row']['compiles']>,
    refuse: (message: string) => string,
  ): readonly Arg[] {
    const arg = args[at]
    if (!arg) return args
    const constants = as === 'regexps' ? constantsOf(arg)?.map(({ constant }) => constant) : [arg.constant]
    if (constants?.every((one) => one !== undefined)) {
      const id = this.idOf(call)
      if (!this.compiled.has(id))
        for (const one of constants) if (typeof one === 'string') this.budget.spend('patterns', memoryOf[as](one), call.span)
      this.compiled.add(id)
      return args
    }
    const guards = this.dialect.guards
    if (!guards || as === 'like' || as === 'text') return args
    const refusal = refuse(
      this.dialect.literal(
        `The regular expression is too large: unless it is a constant, it is compiled for each row, and can expand to at most ${mostStepsOfRow} steps. Use a constant, or fewer and smaller repetitions`,
      ),
    )
    const sql =
      as === 'regexps' ? guards.patterns(arg.sql, refusal, [this.fresh(), this.fresh()]) : guards.pattern(arg.sql, refusal, this.fresh())
    return args.with(at, { sql, type: arg.type })
  }

  private over(over: TypedWindow | null): Pick<AggregateContext, 'over'> & { readonly window?: WindowContext } {
    if (!over) return { over: '' }
    const { partitionBy, orderBy, frame } = over
    const interval = [frame?.start, frame?.end].find((edge) => edge?.offset && isNamed(edge.offset.type, 'Interval'))?.offset
    if (interval && !this.dialect.hasIntervalFrames) this.refuse('RANGE with an interval', interval.span)
    const order = this.orderList(orderBy)
    const rows = [partitionBy.length ? `PARTITION BY ${this.list(partitionBy)}` : '', order ? `ORDER BY ${order}` : '']
    const printed = frame && {
      unit: frame.unit === 'rows' ? ('ROWS' as const) : ('RANGE' as const),
      from: this.edge(frame.start),
      to: this.edge(frame.end),
    }
    const window = { rows: rows.filter(Boolean).join(' '), isOrdered: order !== '', ...(printed ? { frame: printed } : {}) }
    return { over: ` ${overText(window, window.frame)}`, window }
  }

  private edge(bound: TypedBound | null): FrameEdge {
    const side = bound?.type.endsWith('preceding') ? 'PRECEDING' : bound?.type.endsWith('following') ? 'FOLLOWING' : 'CURRENT ROW'
    return { side, offset: bound?.offset ? this.expr(bound.offset) : null }
  }
}
