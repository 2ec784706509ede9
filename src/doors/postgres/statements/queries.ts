import { Cursor } from './cursor.ts'
import { Expressions, reserved } from './expressions.ts'
import type { Token } from './lexer.ts'
import type { Cte, Ending, Expr, Grouping, Item, Join, Query, Select, Source, Values } from './nodes.ts'
import { SqlError, unsupported } from './sql-error.ts'

// SELECT, VALUES, WITH and set operations.

/** The ends of a clause: none of them is an alias without AS. */
const notAnAlias: ReadonlySet<string> = new Set([...reserved, 'filter', 'over', 'values', 'tablesample', 'for', 'returning'])

type Part = Pick<Ending, 'orderBy' | 'limit' | 'withTies' | 'offset'>
const noEnding: Part = { orderBy: [], limit: null, withTies: false, offset: null }
/** Its lists have 4,096 keys for each, or half as many as the square of their number. */
const most = { cube: 12, rollup: 360 } as const

class Queries extends Expressions {
  constructor(cursor: Cursor) {
    super(cursor, () => this.query())
  }

  query(): Query {
    return this.cursor.deeper(() => {
      const { cursor } = this
      const withs = cursor.takeWords('with') ? this.ctes() : { with: [], recursive: false }
      const body = this.union()
      const ending = this.ending()
      const hasEnding = ending.orderBy.length > 0 || ending.limit !== null || ending.offset !== null
      if (!hasEnding) return { ...body, with: [...withs.with, ...body.with], recursive: withs.recursive || body.recursive }
      if (body.limit === null && body.offset === null && body.orderBy.length === 0)
        return { ...body, ...ending, with: [...withs.with, ...body.with], recursive: withs.recursive || body.recursive }
      return { ...starOf(body), ...withs, ...ending }
    })
  }

  private ctes(): Pick<Ending, 'with' | 'recursive'> {
    const { cursor } = this
    const recursive = cursor.takeWords('recursive')
    const all: Cte[] = []
    do {
      const name = this.name()
      const columns = cursor.isMark('(') ? this.names() : []
      cursor.needWord('as')
      if (!cursor.takeWords('materialized')) cursor.takeWords('not', 'materialized')
      cursor.needMark('(')
      all.push({ name, columns, query: this.query() })
      cursor.needMark(')')
    } while (cursor.takeMark(','))
    return { with: all, recursive }
  }

  private union(): Query {
    let left = this.intersect()
    for (;;) {
      const { start } = this.cursor.peek()
      const op = (['union', 'except'] as const).find((one) => this.cursor.takeWords(one))
      if (!op) return left
      left = { kind: 'set', at: start, op, all: this.isAll(), left, right: this.intersect(), ...noEnding, with: [], recursive: false }
    }
  }

  private intersect(): Query {
    let left = this.single()
    for (;;) {
      const { start } = this.cursor.peek()
      if (!this.cursor.takeWords('intersect')) return left
      left = {
        kind: 'set',
        at: start,
        op: 'intersect',
        all: this.isAll(),
        left,
        right: this.single(),
        ...noEnding,
        with: [],
        recursive: false,
      }
    }
  }

  private isAll(): boolean {
    if (this.cursor.takeWords('all')) return true
    this.cursor.takeWords('distinct')
    return false
  }

  private single(): Query {
    const { cursor } = this
    if (cursor.takeMark('(')) {
      const query = this.query()
      cursor.needMark(')')
      return query
    }
    const { start } = cursor.peek()
    if (cursor.takeWords('values')) return this.values(start)
    if (cursor.takeWords('table')) {
      const from = this.source()
      return { ...emptySelect(start), items: [{ expr: { kind: 'star', at: start, table: [] }, alias: null }], from }
    }
    cursor.needWord('select')
    return this.select(start)
  }

  private values(at: number): Values {
    const { cursor } = this
    const rows: Expr[][] = []
    do {
      cursor.needMark('(')
      rows.push(this.list())
      cursor.needMark(')')
    } while (cursor.takeMark(','))
    return { kind: 'values', at, rows, ...noEnding, with: [], recursive: false }
  }

  private select(at: number): Select {
    const { cursor } = this
    const distinct = cursor.takeWords('distinct')
    if (!distinct) cursor.takeWords('all')
    let distinctOn: readonly Expr[] = []
    if (distinct && cursor.takeWords('on')) {
      cursor.needMark('(')
      distinctOn = this.list()
      cursor.needMark(')')
    }
    const isEmpty = cursor.isWord('from') || cursor.peek().kind === 'end' || cursor.isMark(')')
    const items = isEmpty ? [] : this.items()
    if (cursor.isWord('into')) throw unsupported('SELECT INTO', cursor.peek().start)
    const from = cursor.takeWords('from') ? this.sources() : null
    const where = cursor.takeWords('where') ? this.expression() : null
    const groupBy = cursor.takeWords('group', 'by') ? this.groupings() : []
    const having = cursor.takeWords('having') ? this.expression() : null
    const windows: [string, ReturnType<Expressions['window']>][] = []
    if (cursor.takeWords('window'))
      do {
        const name = this.name()
        cursor.needWord('as')
        windows.push([name, this.window()])
      } while (cursor.takeMark(','))
    return { ...emptySelect(at), distinct: distinct && distinctOn.length === 0, distinctOn, items, from, where, groupBy, having, windows }
  }

  private groupings(): Grouping[] {
    const all: Grouping[] = []
    do all.push(this.cursor.deeper(() => this.grouping()))
    while (this.cursor.takeMark(','))
    return all
  }

  private grouping(): Grouping {
    const { cursor } = this
    const at = cursor.peek().start
    const kind = (['rollup', 'cube'] as const).find((one) => cursor.isWord(one) && cursor.isMark('(', 1))
    if (kind) {
      cursor.next()
      const keys = this.within(() => this.keys())
      if (keys.length > most[kind])
        throw new SqlError('54011', `${kind.toUpperCase()} is limited to ${most[kind]} elements`, { offset: at })
      if (kind === 'rollup') return Array.from({ length: keys.length + 1 }, (_, without) => keys.slice(0, keys.length - without).flat())
      return keys.reduce<Grouping>((sets, key) => sets.flatMap((set) => [[...set, ...key], set]), [[]])
    }
    if (!cursor.takeWords('grouping', 'sets')) return [this.keys()]
    return this.within(() => cursor.deeper(() => this.grouping())).flat()
  }

  private within<T>(rule: () => T): T[] {
    const { cursor } = this
    cursor.needMark('(')
    const all: T[] = []
    do all.push(rule())
    while (cursor.takeMark(','))
    cursor.needMark(')')
    return all
  }

  /** `a`, `(a, b)` or `()`. */
  private keys(): readonly Expr[] {
    const { cursor } = this
    if (cursor.isMark('(') && cursor.isMark(')', 1)) {
      cursor.next()
      cursor.next()
      return []
    }
    const expr = this.expression()
    return expr.kind === 'row' ? expr.items : [expr]
  }

  private items(): Item[] {
    const all: Item[] = []
    do {
      const expr = this.expression()
      all.push({ expr, alias: this.alias() })
    } while (this.cursor.takeMark(','))
    return all
  }

  private alias(): string | null {
    const { cursor } = this
    if (cursor.takeWords('as')) return cursor.next().text
    const { kind, text } = cursor.peek()
    if (kind === 'quoted' || (kind === 'word' && !notAnAlias.has(text))) return cursor.next().text
    return null
  }

  name(): string {
    const { kind, text } = this.cursor.peek()
    if (kind !== 'word' && kind !== 'quoted') throw this.cursor.unexpected('a name')
    this.cursor.next()
    return text
  }

  private names(): string[] {
    const { cursor } = this
    cursor.needMark('(')
    const all = [this.name()]
    while (cursor.takeMark(',')) all.push(this.name())
    cursor.needMark(')')
    return all
  }

  private sources(): Source {
    let left = this.joined()
    while (this.cursor.isMark(',')) {
      const at = this.cursor.next().start
      left = { kind: 'join', at, type: 'cross', left, right: this.joined(), on: null, using: null, natural: false }
    }
    return left
  }

  private joined(): Source {
    const { cursor } = this
    let left = this.source()
    for (;;) {
      const at = cursor.peek().start
      const natural = cursor.takeWords('natural')
      const type = this.joinType()
      if (!type) return left
      const right = cursor.deeper(() => this.source())
      const join = { kind: 'join' as const, at, type, left, right, natural }
      if (cursor.takeWords('on')) left = { ...join, on: this.expression(), using: null }
      else if (cursor.takeWords('using')) left = { ...join, on: null, using: this.names() }
      else if (type === 'cross' || natural) left = { ...join, on: null, using: null }
      else throw cursor.unexpected('ON or USING')
    }
  }

  private joinType(): Join['type'] | null {
    const { cursor } = this
    if (cursor.takeWords('join') || cursor.takeWords('inner', 'join')) return 'inner'
    for (const type of ['left', 'right', 'full'] as const)
      if (cursor.takeWords(type, 'join') || cursor.takeWords(type, 'outer', 'join')) return type
    return cursor.takeWords('cross', 'join') ? 'cross' : null
  }

  source(): Source {
    const { cursor } = this
    const at = cursor.peek().start
    const lateral = cursor.takeWords('lateral')
    cursor.takeWords('only')
    if (cursor.isMark('(')) {
      if (!this.startsQuery()) {
        cursor.next()
        const inner = this.sources()
        cursor.needMark(')')
        return inner
      }
      cursor.next()
      const query = this.query()
      cursor.needMark(')')
      return { kind: 'query', at, query, lateral, ...this.tableAlias() }
    }
    let last = cursor.peek()
    const chain = [this.name()]
    while (cursor.takeMark('.')) {
      last = cursor.peek()
      chain.push(this.name())
    }
    if (cursor.isMark('(')) return { kind: 'function', at, call: this.callOf(last.raw ?? last.text, at), ...this.tableAlias() }
    const { alias, columns } = this.tableAlias()
    if (cursor.isWord('tablesample')) throw unsupported('TABLESAMPLE', cursor.peek().start)
    return { kind: 'table', at, chain, alias, columns }
  }

  private tableAlias(): { alias: string | null; columns: readonly string[] } {
    const alias = this.alias()
    return { alias, columns: alias !== null && this.cursor.isMark('(') ? this.names() : [] }
  }

  private ending(): Part {
    const { cursor } = this
    const orderBy = cursor.takeWords('order', 'by') ? this.orderItems() : []
    let [limit, offset]: [Expr | null, Expr | null] = [null, null]
    let withTies = false
    for (;;) {
      const { start } = cursor.peek()
      if (cursor.takeWords('limit')) limit = cursor.takeWords('all') ? null : this.expression()
      else if (cursor.takeWords('offset')) {
        offset = this.expression()
        if (!cursor.takeWords('rows')) cursor.takeWords('row')
      } else if (cursor.takeWords('fetch')) {
        if (!cursor.takeWords('first')) cursor.needWord('next')
        limit = cursor.isWord('row') || cursor.isWord('rows') ? { kind: 'constant', at: start, type: 'int', value: '1' } : this.expression()
        if (!cursor.takeWords('rows')) cursor.needWord('row')
        withTies = cursor.takeWords('with', 'ties')
        if (!withTies) cursor.needWord('only')
        if (withTies && orderBy.length === 0)
          throw new SqlError('42601', 'WITH TIES cannot be specified without ORDER BY clause', { offset: start })
      } else if (cursor.isWord('for')) this.locking()
      else return { orderBy, limit, withTies, offset }
    }
  }

  /** Nothing that is read here is ever changed, so there is nothing to lock. */
  private locking(): void {
    const { cursor } = this
    while (cursor.peek().kind === 'word') cursor.next()
  }
}

const emptySelect = (at: number): Select => ({
  kind: 'select',
  at,
  distinct: false,
  distinctOn: [],
  items: [],
  from: null,
  where: null,
  groupBy: [],
  having: null,
  windows: [],
  ...noEnding,
  with: [],
  recursive: false,
})

/** `(… LIMIT 5) LIMIT 3` reads from the inner one. */
const starOf = (query: Query): Select => ({
  ...emptySelect(query.at),
  items: [{ expr: { kind: 'star', at: query.at, table: [] }, alias: null }],
  from: { kind: 'query', at: query.at, query, lateral: false, alias: 'inner', columns: [] },
})

export function parseQuery(tokens: readonly Token[]): Query {
  const cursor = new Cursor(tokens)
  const query = new Queries(cursor).query()
  cursor.needEnd()
  return query
}
