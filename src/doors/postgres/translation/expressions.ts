import type { Call, Expr, OrderItem, Query, Window } from '../statements/nodes.ts'
import { SqlError, unsupported } from '../statements/sql-error.ts'
import { isNumber, isScalar, isText, itemOf, type TypeName, titleOf } from '../types/pg-types.ts'
import { allAlike, arrayItems, cast, decided, instant } from './coerce.ts'
import { type Conditions, conditionsOf } from './conditions.ts'
import type { Context } from './context.ts'
import { callFunction } from './functions/call.ts'
import { extracted } from './functions/dates.ts'
import { anyNullable, arithmetic, concatenated, jsonAt, jsonPart, unlessNull } from './operators.ts'
import type { Scope } from './scope.ts'
import { decimalText, spanOf, textOf } from './texts.ts'
import type { BindQuery, BoundQuery, Queries, Translator } from './translator.ts'
import type { Column, Typed } from './typed.ts'

const jsonOperators: ReadonlySet<string> = new Set(['->', '->>', '#>', '#>>'])
const arithmeticOperators: ReadonlySet<string> = new Set(['+', '-', '*', '/', '%', '^'])
const matches: Readonly<Record<string, { readonly not: boolean; readonly insensitive: boolean }>> = {
  '~': { not: false, insensitive: false },
  '~*': { not: false, insensitive: true },
  '!~': { not: true, insensitive: false },
  '!~*': { not: true, insensitive: true },
}
const likeOperators: Readonly<Record<string, readonly ['like' | 'ilike', boolean]>> = {
  '~~': ['like', false],
  '~~*': ['ilike', false],
  '!~~': ['like', true],
  '!~~*': ['ilike', true],
}

/** `a` as a column of a result is named by what it is, as PostgreSQL does. */
export const nameOf = (expr: Expr): string => {
  switch (expr.kind) {
    case 'name':
      return expr.chain.at(-1)!
    case 'call':
      return expr.name
    case 'cast': {
      const name = nameOf(expr.expr)
      return name === '?column?' ? expr.type.replace('[]', '') : name
    }
    case 'case':
      return 'case'
    case 'extract':
      return 'extract'
    case 'exists':
      return 'exists'
    case 'array':
      return 'array'
    case 'interval':
      return 'interval'
    case 'constant':
      return expr.type === 'bool' ? 'bool' : '?column?'
    case 'zone':
      return 'timezone'
    default:
      return '?column?'
  }
}

export class Expressions implements Translator {
  readonly context: Context
  private readonly bindQuery: BindQuery
  private readonly conditions: Conditions

  constructor(context: Context, bind: BindQuery) {
    this.context = context
    this.bindQuery = bind
    this.conditions = conditionsOf(this)
  }

  bind(query: Query, outer: Scope | null, queries: Queries = outer?.queries ?? new Map()): BoundQuery {
    return this.bindQuery(query, outer, queries, this)
  }

  /** A condition of rows: what is not true is left out. */
  condition(expr: Expr, scope: Scope): string {
    return this.conditions.holds(expr, scope, false)
  }

  value(expr: Expr, scope: Scope): Typed {
    const { at } = expr
    switch (expr.kind) {
      case 'constant':
        return this.constant(expr)
      case 'param': {
        const index = expr.index - 1
        if (index < 0 || index > 65_534) throw new SqlError('42P02', `there is no parameter $${expr.index}`, { offset: at })
        const type = this.context.parameters.types[index]
        const open: Typed = { sql: 'NULL', type: 'unknown', nullable: false, at, param: index }
        while (this.context.parameters.types.length <= index) this.context.parameters.types.push(undefined)
        return type === undefined ? open : decided(open, type, this.context)
      }
      case 'name':
        return this.name(expr.chain, at, scope)
      case 'star':
        throw new SqlError('42601', '* is not valid here', { offset: at })
      case 'call':
        return callFunction(expr, scope, this)
      case 'cast':
        return this.castOf(expr, scope)
      case 'unary':
      case 'binary':
        return this.operator(expr, scope)
      case 'case':
        return this.caseOf(expr, scope)
      case 'subquery':
        return this.scalarQuery(expr.query, scope, at)
      case 'array': {
        const { type, values } = allAlike(
          expr.items.map((item) => this.value(item, scope)),
          this.context,
        )
        return { sql: `[${values.map(({ sql }) => sql).join(', ')}]`, type: isScalar(type) ? `${type}[]` : 'text[]', nullable: false, at }
      }
      case 'row':
        throw unsupported('a row as a value', at)
      case 'extract':
        return extracted(expr.part, this.value(expr.expr, scope), at, this.context, 'numeric')
      case 'zone':
        return this.inZone(expr, scope)
      case 'interval':
        return { sql: '', type: 'interval', nullable: false, at, span: spanOf(expr.text, at) }
      case 'index': {
        const [array, index] = [this.value(expr.expr, scope), decided(this.value(expr.index, scope), 'int4', this.context)]
        return { sql: `arrayElement(${array.sql}, ${index.sql})`, type: itemOf(array.type) ?? 'other', nullable: true, at }
      }
      default:
        return this.conditions.value(expr, scope)
    }
  }

  /** The value with a type of its own. */
  settled(expr: Expr, scope: Scope, wanted: TypeName = 'text'): Typed {
    return decided(this.value(expr, scope), wanted, this.context)
  }

  private constant({ type, value, at }: Extract<Expr, { kind: 'constant' }>): Typed {
    const known = { nullable: false, at }
    switch (type) {
      case 'int': {
        const number = BigInt(value)
        const size =
          number >= -2147483648n && number <= 2147483647n ? 'int4' : number >= -(2n ** 63n) && number < 2n ** 63n ? 'int8' : 'numeric'
        return { ...known, sql: String(number), type: size }
      }
      case 'numeric':
        return { ...known, sql: decimalText(value), type: 'numeric' }
      case 'bool':
        return { ...known, sql: value, type: 'bool' }
      case 'null':
        return { ...known, sql: 'NULL', type: 'unknown', nullable: true, constant: null }
      case 'string':
        return { ...known, sql: textOf(value), type: 'unknown', constant: value }
    }
  }

  private name(chain: readonly string[], at: number, scope: Scope): Typed {
    const parts = chain[0] === 'public' && chain.length > 2 ? chain.slice(1) : chain
    const [first, second, ...more] = parts as [string, string?, ...string[]]
    if (second === undefined) {
      const column = scope.bare(first, at)
      if (column) return this.column(column, at)
      throw scope.unknown(first, first, at)
    }
    const own = scope.relation(first) ? scope.of(first, second, at) : undefined
    if (own) return this.inJson(this.column(own, at), more, at)
    const column = scope.bare(first, at)
    if (column?.json) return this.inJson(this.column(column, at), [second, ...more], at)
    throw new SqlError('42P01', `missing FROM-clause entry for table "${first}"`, { offset: at })
  }

  /** `properties.plan`, as in the language. */
  private inJson(value: Typed, path: readonly string[], at: number): Typed {
    if (path.length === 0) return value
    if (!value.json) throw new SqlError('42703', `column notation .${path[0]} applied to type ${titleOf(value.type)}`, { offset: at })
    return jsonAt(value.json.root, [...value.json.path, ...path], true, at)
  }

  private column({ sql, type, nullable, isDay, json }: Column, at: number): Typed {
    return { sql, type, nullable, at, ...(isDay && { isDay }), ...(json && { json }) }
  }

  private castOf({ expr, type, at }: Extract<Expr, { kind: 'cast' }>, scope: Scope): Typed {
    const name = type as TypeName
    if (!(isScalar(name) || (itemOf(name) && isScalar(itemOf(name)!))))
      throw new SqlError('42704', `type "${type}" does not exist`, { offset: at })
    if (expr.kind === 'constant' && expr.type === 'string' && name === 'interval')
      return { sql: '', type: 'interval', nullable: false, at, span: spanOf(expr.value, at) }
    return { ...cast(this.value(expr, scope), name, this.context), at }
  }

  private operator(expr: Extract<Expr, { kind: 'unary' | 'binary' }>, scope: Scope): Typed {
    const { at, op } = expr
    if (expr.kind === 'unary') {
      if (op !== '-') return this.conditions.value(expr, scope)
      const value = decided(this.value(expr.expr, scope), 'float8', this.context)
      if (value.span) return arithmetic('*', value, { sql: '-1', type: 'int4', nullable: false, at }, at, this.context)
      if (!isNumber(value.type) && value.type !== 'other')
        throw new SqlError('42883', `operator does not exist: - ${titleOf(value.type)}`, { offset: at })
      return { sql: `(-${value.sql})`, type: value.type, nullable: value.nullable, at }
    }
    const match = matches[op]
    if (match) return this.matched(expr, match, scope)
    const like = likeOperators[op]
    if (like) return this.conditions.value({ kind: 'like', at, op: like[0], expr: expr.left, pattern: expr.right, not: like[1] }, scope)
    if (!arithmeticOperators.has(op) && !jsonOperators.has(op) && op !== '||') return this.conditions.value(expr, scope)
    const [left, right] = [this.value(expr.left, scope), this.value(expr.right, scope)]
    if (jsonOperators.has(op)) return jsonPart(op, left, right, at)
    return op === '||' ? concatenated(left, right, at, this.context) : arithmetic(op, left, right, at, this.context)
  }

  private matched(expr: Extract<Expr, { kind: 'binary' }>, { not, insensitive }: (typeof matches)[string], scope: Scope): Typed {
    const [text, pattern] = [this.settled(expr.left, scope), this.settled(expr.right, scope)]
    if (!isText(text.type) && text.type !== 'other')
      throw new SqlError('42883', `operator does not exist: ${titleOf(text.type)} ${expr.op} ${titleOf(pattern.type)}`, { offset: expr.at })
    const found = `match(${text.sql}, ${insensitive ? `concat('(?i)', ${pattern.sql})` : pattern.sql})`
    const sql = unlessNull(not ? `not ${found}` : found, [text, pattern])
    return { sql: `(${sql})`, type: 'bool', nullable: anyNullable([text, pattern]), at: expr.at }
  }

  private caseOf({ operand, branches, otherwise, at }: Extract<Expr, { kind: 'case' }>, scope: Scope): Typed {
    const conditions = branches.map(([when]) =>
      this.condition(operand ? { kind: 'binary', at: when.at, op: '=', left: operand, right: when } : when, scope),
    )
    const given = [...branches.map(([, then]) => this.value(then, scope)), ...(otherwise ? [this.value(otherwise, scope)] : [])]
    const { type, values } = allAlike(given, this.context)
    const parts = conditions.flatMap((condition, i) => [condition, values[i]!.sql])
    return {
      sql: `multiIf(${[...parts, otherwise ? values.at(-1)!.sql : 'NULL'].join(', ')})`,
      type,
      nullable: !otherwise || values.some(({ nullable }) => nullable),
      at,
    }
  }

  private scalarQuery(query: Query, scope: Scope, at: number): Typed {
    const { sql, columns } = this.bind(query, scope)
    if (columns.length !== 1) throw new SqlError('42601', 'subquery must return only one column', { offset: at })
    const [column] = columns as [Column]
    return { sql: `(${sql})`, type: column.type, nullable: true, at, ...(column.isDay && { isDay: true }) }
  }

  /** `x AT TIME ZONE 'Asia/Tokyo'` */
  private inZone({ expr, zone, at }: Extract<Expr, { kind: 'zone' }>, scope: Scope): Typed {
    const named = this.settled(zone, scope)
    const value = this.settled(expr, scope, 'timestamptz')
    if (!/^'(?:[^'\\])*'$/.test(named.sql)) throw unsupported('a time zone that is not constant', zone.at)
    const here = textOf(this.context.zone)
    const wall = (from: string) => `toString(toTimeZone(${instant(value, this.context)}, ${from}))`
    const isNaive = value.type === 'timestamp'
    const sql = isNaive ? `toDateTime64(${wall(here)}, 6, ${named.sql})` : `toDateTime64(${wall(named.sql)}, 6, ${here})`
    const isSame = named.sql === here
    return { sql: isSame ? instant(value, this.context) : sql, type: isNaive ? 'timestamptz' : 'timestamp', nullable: value.nullable, at }
  }

  orderItem({ expr, descending, nullsFirst }: OrderItem, sql: string): string {
    void expr
    const first = nullsFirst ?? descending
    return `${sql}${descending ? ' desc' : ''} nulls ${first ? 'first' : 'last'}`
  }

  ordered(items: readonly OrderItem[], scope: Scope): string {
    return items.map((item) => this.orderItem(item, this.settled(item.expr, scope).sql)).join(', ')
  }

  window(window: Window | string, scope: Scope): string {
    if (typeof window === 'string') {
      if (!scope.windows.has(window)) throw new SqlError('42704', `window "${window}" does not exist`)
      return window
    }
    if (window.base !== null) throw unsupported('a window that extends a named one')
    const parts = [
      window.partitionBy.length > 0 && `partition by ${window.partitionBy.map((one) => this.settled(one, scope).sql).join(', ')}`,
      window.orderBy.length > 0 && `order by ${this.ordered(window.orderBy, scope)}`,
      window.frame,
    ]
    return `(${parts.filter(Boolean).join(' ')})`
  }

  /** What follows the arguments of an aggregate or a window function. */
  tail({ filter, over }: Call, scope: Scope): string {
    const parts = [filter && ` filter (where ${this.condition(filter, scope)})`, over && ` over ${this.window(over, scope)}`]
    return parts.filter(Boolean).join('')
  }

  /** Values in parentheses, for IN and ANY. */
  items(items: readonly Expr[], scope: Scope): Typed[] {
    return items.map((item) => this.value(item, scope))
  }

  /** The items of an array that is a constant, a parameter or is spelled out; null: it is something else. */
  arrayOf(expr: Expr, type: TypeName, scope: Scope): Typed[] | null {
    if (expr.kind === 'array') return this.items(expr.items, scope)
    if (expr.kind === 'cast' && expr.type.endsWith('[]')) return this.arrayOf(expr.expr, expr.type.slice(0, -2) as TypeName, scope)
    const wanted = isScalar(type) ? type : 'text'
    const text = (() => {
      if (expr.kind === 'constant' && expr.type === 'string') return expr.value
      if (expr.kind !== 'param') return undefined
      this.context.decide(expr.index - 1, `${wanted}[]`)
      return this.context.valueOf(expr.index - 1, expr.at) ?? '{}'
    })()
    if (text === undefined) return null
    return arrayItems(text).map((one) =>
      decided({ sql: '', type: 'unknown', nullable: false, at: expr.at, constant: one }, wanted, this.context),
    )
  }
}
