import type { Expr, Query } from '../statements/nodes.ts'
import { SqlError, unsupported } from '../statements/sql-error.ts'
import { isText, titleOf } from '../types/pg-types.ts'
import { decided } from './coerce.ts'
import { anyNullable, compared, unlessNull } from './operators.ts'
import { likeWithBackslash, regexOfSimilar } from './patterns.ts'
import type { Scope } from './scope.ts'
import { textOf } from './texts.ts'
import type { Translator } from './translator.ts'
import type { Typed } from './typed.ts'

// Conditions. In the language a comparison is never NULL, in PostgreSQL it is when one of its sides is. Where rows are chosen, only what is true counts, so a condition
// is written in two ways: `holds` is true where PostgreSQL's is true (or, negated, where it is false), and `value` has its third value.

export interface Conditions {
  holds(expr: Expr, scope: Scope, isNegated: boolean): string
  value(expr: Expr, scope: Scope): Typed
}

const opposites: Readonly<Record<string, string>> = { '=': '<>', '<>': '=', '<': '>=', '>=': '<', '>': '<=', '<=': '>' }
const spelled = (op: string) => (op === '<>' ? '!=' : op)
const known = (values: readonly Typed[]): string =>
  values
    .filter(({ nullable }) => nullable)
    .map(({ sql }) => ` and isNotNull(${sql})`)
    .join('')

type Binary = Extract<Expr, { kind: 'binary' }>

/** The parts of a chain of AND, or of OR. */
function operandsOf({ op, ...expr }: Binary): Expr[] {
  const parts = [expr.right]
  let left = expr.left
  while (left.kind === 'binary' && left.op === op) {
    parts.push(left.right)
    left = left.left
  }
  return [left, ...parts.reverse()]
}

export function conditionsOf(translator: Translator): Conditions {
  return new Written(translator)
}

class Written implements Conditions {
  private readonly translator: Translator

  constructor(translator: Translator) {
    this.translator = translator
  }

  holds(expr: Expr, scope: Scope, isNegated: boolean): string {
    switch (expr.kind) {
      case 'unary':
        if (expr.op === 'not') return this.holds(expr.expr, scope, !isNegated)
        break
      case 'binary':
        if (expr.op === 'and' || expr.op === 'or') return this.chain(expr, scope, isNegated)
        if (opposites[expr.op]) return this.comparison(expr, scope, isNegated)
        break
      case 'between':
        return this.holds(this.unfolded(expr), scope, isNegated)
      case 'in':
        if (Array.isArray(expr.items)) return this.oneOf(expr, scope, isNegated)
        break
      case 'quantified':
        return this.quantified(expr, scope, isNegated)
    }
    const { sql } = this.truth(expr, scope)
    return isNegated ? `(not ${sql})` : sql
  }

  private truth(expr: Expr, scope: Scope): Typed {
    const value = decided(this.translator.value(expr, scope), 'bool', this.translator.context)
    if (value.type !== 'bool' && value.type !== 'other')
      throw new SqlError('42804', `argument of a condition must be type boolean, not type ${titleOf(value.type)}`, { offset: expr.at })
    return value
  }

  /** `a or b or c` stays one level, however long it is. */
  private chain(expr: Binary, scope: Scope, isNegated: boolean): string {
    const op = (expr.op === 'and') !== isNegated ? 'and' : 'or'
    return `(${operandsOf(expr)
      .map((one) => this.holds(one, scope, isNegated))
      .join(` ${op} `)})`
  }

  private comparison(expr: Extract<Expr, { kind: 'binary' }>, scope: Scope, isNegated: boolean): string {
    const { left, right, at } = expr
    const op = isNegated ? opposites[expr.op]! : expr.op
    if (left.kind === 'row' && right.kind === 'row') return this.holds(this.rows(expr.op, left.items, right.items, at), scope, isNegated)
    const [a, b] = this.sides(expr, scope)
    if ([a, b].some(({ sql }) => sql === 'NULL')) return 'false'
    const plain = `${a.sql} ${spelled(op)} ${b.sql}`
    // Of an equation one side that is known is enough.
    const isSafe = op === '=' ? !(a.nullable && b.nullable) : op !== '<>'
    return isSafe ? `(${plain})` : `(${plain}${op === '=' ? known([a]) : known([a, b])})`
  }

  private rows(op: string, left: readonly Expr[], right: readonly Expr[], at: number): Expr {
    if (left.length !== right.length) throw new SqlError('42601', 'unequal number of entries in row expressions', { offset: at })
    if (op !== '=' && op !== '<>') throw unsupported(`comparing rows by ${op}`, at)
    return left
      .map((one, i): Expr => ({ kind: 'binary', at, op, left: one, right: right[i]! }))
      .reduce((a, b) => ({ kind: 'binary', at, op: op === '=' ? 'and' : 'or', left: a, right: b }))
  }

  private sides({ op, left, right, at }: Extract<Expr, { kind: 'binary' }>, scope: Scope): readonly [Typed, Typed] {
    return compared(op, this.translator.value(left, scope), this.translator.value(right, scope), at, this.translator.context)
  }

  private unfolded({ expr, low, high, not, at }: Extract<Expr, { kind: 'between' }>): Expr {
    const [from, to] = [
      { kind: 'binary', at, op: '>=', left: expr, right: low },
      { kind: 'binary', at, op: '<=', left: expr, right: high },
    ] as const
    const both: Expr = { kind: 'binary', at, op: 'and', left: from, right: to }
    return not ? { kind: 'unary', at, op: 'not', expr: both } : both
  }

  /** The value and the items of a list, in one type. */
  private listed({ expr, items, at }: Extract<Expr, { kind: 'in' }>, scope: Scope): { value: Typed; list: Typed[] } {
    const { translator } = this
    const given = translator.items(items as readonly Expr[], scope)
    let value = translator.value(expr, scope)
    const list = given.map((item) => {
      const [a, b] = compared('=', value, item, at, translator.context)
      value = a
      return b
    })
    return { value, list }
  }

  private oneOf(expr: Extract<Expr, { kind: 'in' }>, scope: Scope, isNegated: boolean): string {
    if (expr.expr.kind === 'row') {
      const { items } = expr.expr
      const any = (expr.items as readonly Expr[])
        .map((row) => this.rows('=', items, row.kind === 'row' ? row.items : [row], expr.at))
        .reduce((a, b): Expr => ({ kind: 'binary', at: expr.at, op: 'or', left: a, right: b }))
      return this.holds(any, scope, expr.not !== isNegated)
    }
    const { value, list } = this.listed(expr, scope)
    return this.within(value, list, expr.not !== isNegated)
  }

  private within(value: Typed, list: readonly Typed[], isNot: boolean): string {
    const known = list.filter(({ sql }) => sql !== 'NULL')
    // NOT IN of a list with NULL is never true.
    if (isNot && known.length < list.length) return 'false'
    if (known.length === 0) return isNot ? 'true' : 'false'
    const set = `(${known.map(({ sql }) => sql).join(', ')})`
    const check = value.nullable ? ` and isNotNull(${value.sql})` : ''
    return `(${value.sql} ${isNot ? 'not ' : ''}in ${set}${check})`
  }

  private quantified(expr: Extract<Expr, { kind: 'quantified' }>, scope: Scope, isNegated: boolean): string {
    const { op, all, left, right, at } = expr
    const isList = op === '=' ? !all : op === '<>' && all
    if (!isList) throw unsupported(`${op} ${all ? 'ALL' : 'ANY'}`, at)
    const isNot = (op === '<>') !== isNegated
    if (isQuery(right)) return this.holds({ kind: 'in', at, expr: left, items: right, not: isNot }, scope, false)
    const { translator } = this
    let value = translator.value(left, scope)
    const items = translator.arrayOf(right, value.type, scope)
    if (!items) {
      const array = translator.value(right, scope)
      return `(${isNot ? 'not ' : ''}has(${array.sql}, ${value.sql}))`
    }
    const list = items.map((item) => {
      const [a, b] = compared('=', value, item, at, translator.context)
      value = a
      return b
    })
    return this.within(value, list, isNot)
  }

  value(expr: Expr, scope: Scope): Typed {
    const { at } = expr
    const { translator } = this
    const truth = (sql: string, nullable = false): Typed => ({ sql, type: 'bool', nullable, at })
    switch (expr.kind) {
      case 'unary': {
        const { sql, nullable } = this.truth(expr.expr, scope)
        return truth(`(not ${sql})`, nullable)
      }
      case 'binary':
        return this.binary(expr, scope)
      case 'is':
        return this.is(expr, scope)
      case 'between':
        return this.value(this.unfolded(expr), scope)
      case 'in': {
        if (!Array.isArray(expr.items)) return this.inQuery(expr, scope)
        if (expr.expr.kind === 'row') return truth(this.oneOf(expr, scope, false))
        const { value, list } = this.listed(expr, scope)
        const hasNull = list.some(({ sql }) => sql === 'NULL')
        if (!hasNull) return truth(unlessNull(this.within({ ...value, nullable: false }, list, expr.not), [value]), value.nullable)
        return truth(
          `if(${this.within(
            value,
            list.filter(({ sql }) => sql !== 'NULL'),
            false,
          )}, ${!expr.not}, NULL)`,
          true,
        )
      }
      case 'like':
        return this.like(expr, scope)
      case 'quantified': {
        const left = this.translator.settled(expr.left, scope)
        return truth(unlessNull(this.quantified(expr, scope, false), [left]), left.nullable)
      }
      case 'exists':
        return truth(`(exists (${translator.bind(expr.query, scope).sql}))`)
    }
    throw unsupported(`this expression (${expr.kind})`, at)
  }

  private binary(expr: Extract<Expr, { kind: 'binary' }>, scope: Scope): Typed {
    const { op, at } = expr
    if (op === 'and' || op === 'or') {
      const all = operandsOf(expr).map((one) => this.truth(one, scope))
      return { sql: `(${all.map(({ sql }) => sql).join(` ${op} `)})`, type: 'bool', nullable: anyNullable(all), at }
    }
    if (op === 'is distinct from' || op === 'is not distinct from') {
      const [a, b] = this.sides({ ...expr, op: '=' }, scope)
      return { sql: `(${a.sql} ${op === 'is distinct from' ? '!=' : '='} ${b.sql})`, type: 'bool', nullable: false, at }
    }
    if (!opposites[op]) throw new SqlError('42883', `operator does not exist: ${op}`, { offset: at })
    if (expr.left.kind === 'row' && expr.right.kind === 'row')
      return this.value(this.rows(op, expr.left.items, expr.right.items, at), scope)
    const sides = this.sides(expr, scope)
    const [a, b] = sides
    if (a.sql === 'NULL' || b.sql === 'NULL') return { sql: 'NULL', type: 'bool', nullable: true, at }
    return { sql: `(${unlessNull(`${a.sql} ${spelled(op)} ${b.sql}`, sides)})`, type: 'bool', nullable: anyNullable(sides), at }
  }

  private is({ expr, what, not, at }: Extract<Expr, { kind: 'is' }>, scope: Scope): Typed {
    const truth = (sql: string): Typed => ({ sql, type: 'bool', nullable: false, at })
    if (what === 'null') {
      const value = this.translator.settled(expr, scope)
      return truth(`${not ? 'isNotNull' : 'isNull'}(${value.sql})`)
    }
    const { sql } = this.truth(expr, scope)
    if (what === 'unknown') return truth(`${not ? 'isNotNull' : 'isNull'}(${sql})`)
    return truth(`(ifNull(${sql}, ${what === 'false'}) ${not ? '!=' : '='} ${what})`)
  }

  private inQuery({ expr, items, not, at }: Extract<Expr, { kind: 'in' }>, scope: Scope): Typed {
    const { sql, columns } = this.translator.bind(items as Query, scope)
    const [column] = columns
    if (!column || columns.length !== 1) throw new SqlError('42601', 'subquery has too many columns', { offset: at })
    const side: Typed = { sql: column.sql, type: column.type, nullable: false, at }
    const [value] = compared('=', this.translator.value(expr, scope), side, at, this.translator.context)
    const found = `${value.sql} ${not ? 'not ' : ''}in (${sql})`
    return { sql: `(${unlessNull(found, [value])})`, type: 'bool', nullable: value.nullable, at }
  }

  private like({ op, expr, pattern, escaping, not, at }: Extract<Expr, { kind: 'like' }>, scope: Scope): Typed {
    const [text, wanted] = [this.translator.settled(expr, scope), this.translator.settled(pattern, scope)]
    if (!isText(text.type) && text.type !== 'other')
      throw new SqlError('42883', `operator does not exist: ${titleOf(text.type)} ~~ ${titleOf(wanted.type)}`, {
        offset: at,
        hint: 'No operator matches the given name and argument types. You might need to add explicit type casts.',
      })
    const found =
      op === 'similar'
        ? this.similar(text, pattern, escaping, not)
        : `${text.sql} ${not ? 'not ' : ''}${op} ${this.likePattern(wanted, pattern, escaping)}`
    return { sql: `(${unlessNull(found, [text, wanted])})`, type: 'bool', nullable: anyNullable([text, wanted]), at }
  }

  private likePattern(wanted: Typed, pattern: Expr, escaping: string | undefined): string {
    if (escaping === undefined || escaping === '\\') return wanted.sql
    const known = this.patternOf(pattern, 'a pattern with ESCAPE that is not a constant')
    return known === null ? 'NULL' : textOf(likeWithBackslash(known, escaping, pattern.at))
  }

  private similar(text: Typed, pattern: Expr, escaping: string | undefined, not: boolean): string {
    const known = this.patternOf(pattern, 'a pattern of SIMILAR TO that is not a constant')
    if (known === null) return 'NULL'
    return `${not ? 'not ' : ''}match(${text.sql}, ${textOf(regexOfSimilar(known, escaping ?? '\\', pattern.at))})`
  }

  /** The text of a constant or a parameter; of one without a value yet, the empty one. */
  private patternOf(pattern: Expr, otherwise: string): string | null {
    if (pattern.kind === 'cast') return this.patternOf(pattern.expr, otherwise)
    if (pattern.kind === 'constant') return pattern.type === 'null' ? null : pattern.value
    if (pattern.kind !== 'param') throw unsupported(otherwise, pattern.at)
    const value = this.translator.context.valueOf(pattern.index - 1, pattern.at)
    return value === undefined ? '' : value
  }
}

const isQuery = (given: Expr | Query): given is Query => given.kind === 'select' || given.kind === 'values' || given.kind === 'set'
