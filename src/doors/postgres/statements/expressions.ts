import type { Cursor } from './cursor.ts'
import type { Call, Expr, OrderItem, Query, Window } from './nodes.ts'
import { SqlError, unsupported } from './sql-error.ts'
import { typeName } from './type-names.ts'

// Expressions, by PostgreSQL's precedence.

/** Words that end an expression or a list, and cannot be names without quotes. */
export const reserved: ReadonlySet<string> = new Set(
  `all and any array as asc between both case cast collate cross default desc distinct do else end except exists false fetch filter for from full group having ilike in inner intersect into is isnull
  join lateral leading left like limit natural not notnull null offset on only or order outer over right select similar some symmetric table then to trailing true union using values when where window with`
    .split(/\s+/)
    .filter((word) => word !== 'filter' && word !== 'over' && word !== 'values'),
)
/** Functions that are spelled with words that are reserved elsewhere. */
const callable: ReadonlySet<string> = new Set(['left', 'right', 'any', 'replace', 'values'])

const comparisons: ReadonlySet<string> = new Set(['=', '<>', '!=', '<', '>', '<=', '>='])
const wordsWithoutParentheses: ReadonlySet<string> = new Set([
  ...['current_date', 'current_timestamp', 'current_time', 'localtimestamp', 'localtime'],
  ...['current_user', 'session_user', 'user', 'current_role', 'current_catalog', 'current_schema'],
])

export type ReadQuery = (cursor: Cursor) => Query

export class Expressions {
  protected readonly cursor: Cursor
  private readonly readQuery: ReadQuery

  constructor(cursor: Cursor, readQuery: ReadQuery) {
    this.cursor = cursor
    this.readQuery = readQuery
  }

  expression(): Expr {
    return this.cursor.deeper(() => this.or())
  }

  list(): Expr[] {
    const items = [this.expression()]
    while (this.cursor.takeMark(',')) items.push(this.expression())
    return items
  }

  private chain(op: 'or' | 'and', operand: () => Expr): Expr {
    let left = operand()
    while (this.cursor.isWord(op)) {
      const at = this.cursor.next().start
      left = { kind: 'binary', at, op, left, right: operand() }
    }
    return left
  }

  private or(): Expr {
    return this.chain('or', () => this.chain('and', () => this.not()))
  }

  private not(): Expr {
    const { start } = this.cursor.peek()
    if (!this.cursor.takeWords('not')) return this.is()
    return { kind: 'unary', at: start, op: 'not', expr: this.cursor.deeper(() => this.not()) }
  }

  private is(): Expr {
    const { cursor } = this
    let expr = this.comparison()
    for (;;) {
      const at = cursor.peek().start
      if (cursor.takeWords('isnull')) expr = { kind: 'is', at, expr, what: 'null', not: false }
      else if (cursor.takeWords('notnull')) expr = { kind: 'is', at, expr, what: 'null', not: true }
      else if (cursor.takeWords('is')) expr = this.afterIs(expr, at)
      else return expr
    }
  }

  private afterIs(expr: Expr, at: number): Expr {
    const { cursor } = this
    const not = cursor.takeWords('not')
    for (const what of ['null', 'true', 'false', 'unknown'] as const) if (cursor.takeWords(what)) return { kind: 'is', at, expr, what, not }
    if (!cursor.takeWords('distinct', 'from')) throw cursor.unexpected('NULL, TRUE, FALSE or DISTINCT FROM')
    return { kind: 'binary', at, op: not ? 'is not distinct from' : 'is distinct from', left: expr, right: this.comparison() }
  }

  private comparison(): Expr {
    const { cursor } = this
    let left = this.matching()
    while (cursor.peek().kind === 'operator' && comparisons.has(cursor.peek().text)) {
      const { text, start } = cursor.next()
      const op = text === '!=' ? '<>' : text
      left = this.quantified(op, left, start) ?? { kind: 'binary', at: start, op, left, right: this.matching() }
    }
    return left
  }

  /** `= ANY (…)`, `<> ALL (…)`. */
  private quantified(op: string, left: Expr, at: number): Expr | null {
    const { cursor } = this
    const all = cursor.isWord('all')
    if (!(all || cursor.isWord('any') || cursor.isWord('some')) || !cursor.isMark('(', 1)) return null
    cursor.next()
    cursor.next()
    const right = this.startsQuery() ? this.readQuery(cursor) : this.expression()
    cursor.needMark(')')
    return { kind: 'quantified', at, op, all, left, right }
  }

  private matching(): Expr {
    const { cursor } = this
    const left = this.other()
    const at = cursor.peek().start
    const before = cursor.place
    const not = cursor.takeWords('not')
    if (cursor.takeWords('between')) {
      cursor.takeWords('symmetric')
      const low = this.other()
      cursor.needWord('and')
      return { kind: 'between', at, expr: left, low, high: this.other(), not }
    }
    if (cursor.takeWords('in')) return this.afterIn(left, at, not)
    for (const op of ['like', 'ilike'] as const) if (cursor.takeWords(op)) return this.afterLike({ op, expr: left, not, at })
    if (cursor.takeWords('similar', 'to')) return this.afterLike({ op: 'similar', expr: left, not, at })
    cursor.place = before
    return left
  }

  private afterLike(about: { op: 'like' | 'ilike' | 'similar'; expr: Expr; not: boolean; at: number }): Expr {
    const { cursor } = this
    const pattern = this.other()
    if (!cursor.takeWords('escape')) return { kind: 'like', pattern, ...about }
    const { kind, text: escaping, start } = cursor.next()
    if (kind !== 'string') throw unsupported('an escape character that is not a constant', start)
    if ([...escaping].length > 1)
      throw new SqlError('22025', 'invalid escape string', { offset: start, hint: 'Escape string must be empty or one character.' })
    return { kind: 'like', pattern, escaping, ...about }
  }

  private afterIn(expr: Expr, at: number, not: boolean): Expr {
    this.cursor.needMark('(')
    const items = this.startsQuery() ? this.readQuery(this.cursor) : this.list()
    this.cursor.needMark(')')
    return { kind: 'in', at, expr, items, not }
  }

  /** All operators that have no place of their own: `||`, `->`, `~`. */
  private other(): Expr {
    const { cursor } = this
    let left = this.additive()
    for (;;) {
      const { kind, text, start } = cursor.peek()
      const named = cursor.isWord('operator') && cursor.isMark('(', 1)
      if (!named && (kind !== 'operator' || comparisons.has(text) || /^[-+*/%^]$/.test(text))) return left
      const op = named ? this.namedOperator() : cursor.next().text
      left = { kind: 'binary', at: start, op, left, right: this.additive() }
    }
  }

  /** `OPERATOR(pg_catalog.~)` */
  private namedOperator(): string {
    const { cursor } = this
    cursor.next()
    cursor.needMark('(')
    let op = cursor.next().text
    while (cursor.takeMark('.')) op = cursor.next().text
    cursor.needMark(')')
    return op
  }

  private leveled(ops: readonly string[], operand: () => Expr): Expr {
    const { cursor } = this
    let left = operand()
    while (cursor.peek().kind === 'operator' && ops.includes(cursor.peek().text)) {
      const { text: op, start } = cursor.next()
      left = { kind: 'binary', at: start, op, left, right: operand() }
    }
    return left
  }

  private additive(): Expr {
    return this.leveled(['+', '-'], () => this.leveled(['*', '/', '%'], () => this.leveled(['^'], () => this.zoned())))
  }

  private zoned(): Expr {
    const { cursor } = this
    let expr = this.signed()
    for (;;) {
      const at = cursor.peek().start
      if (cursor.takeWords('at', 'time', 'zone')) expr = { kind: 'zone', at, expr, zone: this.signed() }
      else if (cursor.takeWords('collate')) {
        cursor.next()
        while (cursor.takeMark('.')) cursor.next()
      } else return expr
    }
  }

  private signed(): Expr {
    const { cursor } = this
    const { start, text, kind } = cursor.peek()
    if (kind === 'operator' && (text === '-' || text === '+')) {
      cursor.next()
      const expr = cursor.deeper(() => this.signed())
      if (text === '+') return expr
      if (expr.kind === 'constant' && (expr.type === 'int' || expr.type === 'numeric') && !expr.value.startsWith('-'))
        return { ...expr, value: `-${expr.value}` }
      return { kind: 'unary', at: start, op: '-', expr }
    }
    return this.postfix()
  }

  private postfix(): Expr {
    const { cursor } = this
    let expr = this.primary()
    for (;;) {
      const at = cursor.peek().start
      if (cursor.takeMark('::')) expr = { kind: 'cast', at, expr, type: typeName(cursor) }
      else if (cursor.takeMark('[')) {
        const index = this.expression()
        cursor.needMark(']')
        expr = { kind: 'index', at, expr, index }
      } else return expr
    }
  }

  startsQuery(): boolean {
    const { cursor } = this
    let ahead = 0
    while (cursor.isMark('(', ahead)) ahead++
    return ['select', 'with', 'values'].some((word) => cursor.isWord(word, ahead))
  }

  private primary(): Expr {
    const { cursor } = this
    const { kind, text, start } = cursor.peek()
    switch (kind) {
      case 'number':
        cursor.next()
        return { kind: 'constant', at: start, type: /^\d+$/.test(text) ? 'int' : 'numeric', value: text }
      case 'string':
        cursor.next()
        return { kind: 'constant', at: start, type: 'string', value: text }
      case 'param':
        cursor.next()
        return { kind: 'param', at: start, index: Number(text) }
      case 'mark':
        if (text === '(') return this.parenthesised()
        break
      case 'operator':
        if (text === '*') {
          cursor.next()
          return { kind: 'star', at: start, table: [] }
        }
        break
      case 'quoted':
        return this.nameOrCall()
      case 'word':
        return this.special() ?? this.nameOrCall()
    }
    throw cursor.unexpected('an expression')
  }

  private parenthesised(): Expr {
    const { cursor } = this
    const { start } = cursor.needMark('(')
    if (this.startsQuery()) {
      const query = this.readQuery(cursor)
      cursor.needMark(')')
      return { kind: 'subquery', at: start, query }
    }
    const items = this.list()
    cursor.needMark(')')
    return items.length === 1 ? items[0]! : { kind: 'row', at: start, items }
  }

  private special(): Expr | null {
    const { cursor } = this
    const { text, start } = cursor.peek()
    const opens = cursor.isMark('(', 1)
    switch (text) {
      case 'null':
      case 'true':
      case 'false':
        cursor.next()
        return { kind: 'constant', at: start, type: text === 'null' ? 'null' : 'bool', value: text }
      case 'case':
        return this.caseOf()
      case 'cast':
        return opens ? this.castOf() : null
      case 'exists': {
        if (!opens) return null
        cursor.next()
        cursor.next()
        const query = this.readQuery(cursor)
        cursor.needMark(')')
        return { kind: 'exists', at: start, query }
      }
      case 'array':
        return this.arrayOf()
      case 'row': {
        if (!opens) return null
        cursor.next()
        cursor.next()
        const items = this.list()
        cursor.needMark(')')
        return { kind: 'row', at: start, items }
      }
      case 'extract':
        return opens ? this.extractOf() : null
      case 'interval':
      case 'date':
      case 'timestamp':
      case 'timestamptz':
        return this.typedConstant()
      case 'position':
      case 'substring':
      case 'trim':
      case 'overlay':
        return opens ? this.wordy(text) : null
    }
    return null
  }

  private caseOf(): Expr {
    const { cursor } = this
    const { start } = cursor.next()
    const operand = cursor.isWord('when') ? null : this.expression()
    const branches: [Expr, Expr][] = []
    while (cursor.takeWords('when')) {
      const condition = this.expression()
      cursor.needWord('then')
      branches.push([condition, this.expression()])
    }
    if (branches.length === 0) throw cursor.unexpected('WHEN')
    const otherwise = cursor.takeWords('else') ? this.expression() : null
    cursor.needWord('end')
    return { kind: 'case', at: start, operand, branches, otherwise }
  }

  private castOf(): Expr {
    const { cursor } = this
    const { start } = cursor.next()
    cursor.next()
    const expr = this.expression()
    cursor.needWord('as')
    const type = typeName(cursor)
    cursor.needMark(')')
    return { kind: 'cast', at: start, expr, type }
  }

  private arrayOf(): Expr | null {
    const { cursor } = this
    if (!cursor.isMark('[', 1)) return null
    const { start } = cursor.next()
    cursor.next()
    const items = cursor.isMark(']') ? [] : this.list()
    cursor.needMark(']')
    return { kind: 'array', at: start, items }
  }

  private extractOf(): Expr {
    const { cursor } = this
    const { start } = cursor.next()
    cursor.next()
    const part = cursor.next().text.toLowerCase()
    cursor.needWord('from')
    const expr = this.expression()
    cursor.needMark(')')
    return { kind: 'extract', at: start, part, expr }
  }

  /** `DATE '2024-01-01'`, `INTERVAL '1' DAY`. */
  private typedConstant(): Expr | null {
    const { cursor } = this
    const place = cursor.place
    const { start, text: word } = cursor.peek()
    if (word === 'interval') {
      cursor.next()
      const { kind, text } = cursor.peek()
      if (kind !== 'string') {
        cursor.place = place
        return null
      }
      cursor.next()
      const unit = /^(?:year|month|week|day|hour|minute|second)s?$/.test(cursor.peek().text) ? ` ${cursor.next().text}` : ''
      return { kind: 'interval', at: start, text: text + unit }
    }
    const type = typeName(cursor)
    const { kind, text } = cursor.peek()
    if (kind !== 'string') {
      cursor.place = place
      return null
    }
    cursor.next()
    return { kind: 'cast', at: start, type, expr: { kind: 'constant', at: start, type: 'string', value: text } }
  }

  /** Calls whose arguments are separated by words. */
  private wordy(name: string): Expr | null {
    const { cursor } = this
    const place = cursor.place
    const { start } = cursor.next()
    cursor.next()
    const call = (args: readonly Expr[], as = name): Expr => {
      cursor.needMark(')')
      return { ...plainCall(as, start), args }
    }
    if (name === 'trim') {
      const side = (['both', 'leading', 'trailing'] as const).find((one) => cursor.takeWords(one)) ?? 'both'
      const as = { both: 'btrim', leading: 'ltrim', trailing: 'rtrim' }[side]
      const first = cursor.isWord('from') ? null : this.expression()
      if (cursor.takeWords('from')) {
        const text = this.expression()
        return call(first ? [text, first] : [text], as)
      }
      const more = cursor.takeMark(',') ? [this.expression()] : []
      return call([first!, ...more], as)
    }
    if (name === 'position') {
      const needle = this.additive()
      cursor.needWord('in')
      const text = this.expression()
      return call([text, needle], 'strpos')
    }
    const text = this.expression()
    if (name === 'substring' && (cursor.isWord('from') || cursor.isWord('for'))) {
      const from: Expr = cursor.takeWords('from') ? this.expression() : { kind: 'constant', at: start, type: 'int', value: '1' }
      return call(cursor.takeWords('for') ? [text, from, this.expression()] : [text, from])
    }
    cursor.place = place
    return null
  }

  private nameOrCall(): Expr {
    const { cursor } = this
    const first = cursor.next()
    if (first.kind === 'word' && reserved.has(first.text) && !(callable.has(first.text) && cursor.isMark('('))) {
      cursor.place--
      throw cursor.unexpected('an expression')
    }
    const chain = [first.text]
    let last = first
    while (cursor.isMark('.')) {
      if (cursor.isOperator('*', 1)) {
        cursor.next()
        cursor.next()
        return { kind: 'star', at: first.start, table: chain }
      }
      cursor.next()
      last = cursor.next()
      if (last.kind !== 'word' && last.kind !== 'quoted') throw cursor.unexpected('a name')
      chain.push(last.text)
    }
    if (cursor.isMark('(')) return this.callOf(last.raw ?? last.text, first.start)
    if (chain.length === 1 && first.kind === 'word' && wordsWithoutParentheses.has(first.text)) return plainCall(first.text, first.start)
    return { kind: 'name', at: first.start, chain }
  }

  protected callOf(name: string, at: number): Call {
    const { cursor } = this
    cursor.needMark('(')
    let call = plainCall(name, at)
    if (cursor.isOperator('*') && cursor.isMark(')', 1)) {
      cursor.next()
      call = { ...call, star: true }
    } else if (!cursor.isMark(')')) {
      const distinct = cursor.takeWords('distinct')
      if (!distinct) cursor.takeWords('all')
      const args = this.startsQuery() ? [this.parenthesisFreeQuery()] : this.list()
      call = { ...call, distinct, args, orderBy: cursor.takeWords('order', 'by') ? this.orderItems() : [] }
    }
    cursor.needMark(')')
    if (cursor.takeWords('within', 'group')) {
      cursor.needMark('(')
      cursor.needWord('order')
      cursor.needWord('by')
      call = { ...call, orderBy: this.orderItems() }
      cursor.needMark(')')
    }
    if (cursor.isWord('filter') && cursor.isMark('(', 1)) {
      cursor.next()
      cursor.next()
      cursor.needWord('where')
      call = { ...call, filter: this.expression() }
      cursor.needMark(')')
    }
    if (cursor.takeWords('over')) call = { ...call, over: cursor.isMark('(') ? this.window() : cursor.next().text }
    return call
  }

  private parenthesisFreeQuery(): Expr {
    return this.cursor.isMark('(')
      ? this.expression()
      : { kind: 'subquery', at: this.cursor.peek().start, query: this.readQuery(this.cursor) }
  }

  orderItems(): OrderItem[] {
    const { cursor } = this
    const items: OrderItem[] = []
    do {
      const expr = this.expression()
      const descending = cursor.takeWords('desc')
      if (!descending) cursor.takeWords('asc')
      const nullsFirst = cursor.takeWords('nulls', 'first') ? true : cursor.takeWords('nulls', 'last') ? false : null
      items.push({ expr, descending, nullsFirst })
    } while (cursor.takeMark(','))
    return items
  }

  window(): Window {
    const { cursor } = this
    cursor.needMark('(')
    const isClause = ['partition', 'order', 'rows', 'range'].some((word) => cursor.isWord(word))
    const base = isClause || cursor.isMark(')') ? null : cursor.next().text
    const partitionBy = cursor.takeWords('partition', 'by') ? this.list() : []
    const orderBy = cursor.takeWords('order', 'by') ? this.orderItems() : []
    const frame: string[] = []
    while (!cursor.isMark(')')) {
      const { kind, text, start } = cursor.next()
      const isFrame =
        kind === 'number' ? /^\d+$/.test(text) : /^(?:rows|range|between|and|unbounded|preceding|following|current|row)$/.test(text)
      if (!isFrame) throw unsupported('this window frame', start)
      frame.push(text)
    }
    cursor.needMark(')')
    return { base, partitionBy, orderBy, frame: frame.length > 0 ? frame.join(' ') : null }
  }
}

const plainCall = (name: string, at: number): Call => ({
  kind: 'call',
  at,
  name: name.toLowerCase(),
  written: name,
  args: [],
  star: false,
  distinct: false,
  orderBy: [],
  filter: null,
  over: null,
})
