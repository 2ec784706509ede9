import type { Call, Cte, Expr, OrderItem, Query, Select, SetQuery, Source, WindowSpec } from '../../../src/language/ast/nodes.ts'
import { print } from '../../../src/language/ast/print.ts'
import { aggregate, aggregateNames } from './aggregates.ts'
import { type Apply, type Calendar, functionsIn, isComparison, same, textOf } from './functions.ts'
import { asText, besideKind, cannot, inOrder, isList, isOwn, type Kind, keyOf, type Value } from './values.ts'
import type { Relation, Row } from './world.ts'

// Statements by loops over arrays of rows, written from the description of the language. What it does not know it refuses to answer.

export interface Answer {
  readonly columns: readonly string[]
  readonly rows: readonly (readonly Value[])[]
  readonly mayBeNull: readonly boolean[]
  readonly kinds: readonly Kind[]
}
type Tables = Readonly<Record<string, Relation>>

/** What an expression is evaluated in: a row, or a group of rows. */
interface Place {
  /** By the name of the source. */
  readonly row: ReadonlyMap<string, Row | null>
  readonly items: ReadonlyMap<string, Value>
  /** Rows of the group, and what it is grouped by; null where a total leaves a key out. */
  readonly group?: { readonly rows: readonly Place[]; readonly keys: ReadonlyMap<string, Value> }
  /** All rows that windows see, and which of them this is. */
  readonly all?: readonly Place[]
}

export function answerStatement(query: Query, world: Tables, calendar: Calendar): Answer {
  const functions = functionsIn(calendar)
  const answer = (asked: Query, outer: Tables): Answer => {
    const tables = withNames(asked.with, outer, asked.recursive)
    return asked.kind === 'set' ? setAnswer(asked, tables, answer) : new Selection(asked, tables, functions, answer).answer()
  }
  function withNames(ctes: readonly Cte[], outer: Tables, recursive: boolean): Tables {
    const tables = { ...outer }
    for (const cte of ctes) {
      if (cte.body.kind !== 'select' && cte.body.kind !== 'set') return cannot('an expression in WITH')
      if (cte.columns.length || cte.usingKey.length) return cannot('columns of WITH')
      const speaksOfItself = recursive && new RegExp(`\\b${cte.name}\\b`).test(print(cte.body))
      tables[cte.name] = relationOf(speaksOfItself ? repeated(cte.name, cte.body, tables) : answer(cte.body, tables))
    }
    return tables
  }
  /** Again and again over the rows that came last, until there are none. */
  function repeated(name: string, body: Query, tables: Tables): Answer {
    if (body.kind !== 'set' || body.op !== 'union' || !body.all) return cannot('this recursion')
    const first = answer(body.left, tables)
    const mayBeNull = first.mayBeNull.map(() => true)
    const kinds = first.kinds.map((kind) => (kind === 'own' ? 'other' : kind))
    const texts = (found: Answer['rows']) => found.map((row) => row.map(asText))
    let last = texts(first.rows)
    const rows = [...last]
    while (last.length) {
      last = texts(answer(body.right, { ...tables, [name]: relationOf({ columns: first.columns, rows: last, mayBeNull, kinds }) }).rows)
      rows.push(...last)
      if (rows.length > mostRows) return cannot('so many rows')
    }
    return { columns: first.columns, rows, mayBeNull, kinds }
  }
  return answer(query, world)
}
const mostRows = 100_000

function relationOf({ columns, rows, mayBeNull, kinds }: Answer): Relation {
  const place = (chain: readonly (string | number)[]) => {
    const at = columns.indexOf(String(chain[0]))
    return at < 0 || chain.length > 1 ? cannot(`the column ${chain.join('.')}`) : at
  }
  return {
    columns,
    rows: rows.map((values) => ({ read: (chain) => values[place(chain)]! })),
    has: (name) => columns.includes(name),
    mayBeNull: (chain) => mayBeNull[place(chain)]!,
    kindOf: (chain) => kinds[place(chain)]!,
  }
}

function setAnswer(set: SetQuery, tables: Tables, answer: (query: Query, tables: Tables) => Answer): Answer {
  if (set.byName || set.orderBy.length || set.limit) return cannot('an ordered set')
  const [a, b] = [answer(set.left, tables), answer(set.right, tables)]
  if (a.kinds.some((kind, i) => areMixed(kind, b.kinds[i]!))) return cannot('a set of several types')
  const kinds = a.kinds.map((kind, i) => together([kind, b.kinds[i]!]))
  const even = (side: Answer): Answer => ({ ...side, rows: side.rows.map((row) => row.map((value, i) => besideKind(value, kinds[i]!))) })
  const [left, right] = [even(a), even(b)]
  const shared = { columns: left.columns, mayBeNull: left.mayBeNull.map((may, i) => may || right.mayBeNull[i]!), kinds }
  const distinct = (rows: Answer['rows']) => [...new Map(rows.map((row) => [keyOf(row), row])).values()]
  if (set.op === 'union') {
    const all = [...left.rows, ...right.rows]
    return { ...shared, rows: set.all ? all : distinct(all) }
  }
  if (set.all) return cannot('sets that count rows')
  const other = new Set(right.rows.map(keyOf))
  return { ...shared, rows: distinct(left.rows).filter((row) => other.has(keyOf(row)) === (set.op === 'intersect')) }
}

const numeric = new Set(
  'plus minus multiply divide negate length toInt toFloat toHour toDayOfWeek count uniq sum avg quantile countIf sumIf row_number rank'.split(
    ' ',
  ),
)
const isPlain = (value: Value): boolean => value !== null && typeof value !== 'object'
/** A truth value is shown as 1 or 0, and is one number with it in a set. */
const areMixed = (a: Kind, b: Kind): boolean => [a, b].includes('boolean') && [a, b].includes('number')
/** Of values that become one column: properties stay what they are among themselves. */
const together = (kinds: readonly Kind[]): Kind => kinds.find((kind) => kind !== 'own') ?? (kinds.length ? 'own' : 'other')

const isNothing = (expr: Expr): boolean => expr.kind === 'literal' && expr.value === null
/** Arguments that the result is one of. */
const branchesOf = ({ name, args }: Call): readonly Expr[] =>
  name === 'if' ? args.slice(1) : name === 'coalesce' || name === 'ifNull' ? args : []

const wholeNumber = (expr: Expr | null): number | null =>
  expr === null ? null : expr.kind === 'literal' && typeof expr.value === 'number' ? expr.value : cannot('a limit that is no number')

class Selection {
  private readonly sources = new Map<string, Relation>()
  private readonly optional = new Set<string>()
  private readonly aliases = new Map<string, Expr>()
  private readonly open = new Set<string>()
  private readonly select: Select
  private readonly tables: Tables
  private readonly functions: Readonly<Record<string, Apply>>
  private readonly query: (query: Query, tables: Tables) => Answer

  constructor(select: Select, tables: Tables, functions: Readonly<Record<string, Apply>>, query: (query: Query, tables: Tables) => Answer) {
    this.select = select
    this.tables = tables
    this.functions = functions
    this.query = query
  }

  answer(): Answer {
    const { select } = this
    if (select.distinctOn.length || select.arrayJoin || select.settings.length || select.orderByAll || select.prewhere)
      return cannot('this clause')
    let places: Place[] = select.from
      ? this.joined(select.from).map((row) => ({ row, items: new Map() }))
      : [{ row: new Map(), items: new Map() }]
    const columns = select.columns.flatMap((column) => this.named(column))
    for (const column of select.columns)
      if (column.kind !== 'star') for (const { name, expr } of this.named(column)) if (!this.aliases.has(name)) this.aliases.set(name, expr)
    places = this.multiplied(
      places,
      columns.map((column) => column.expr),
    )
    if (select.where) places = places.filter((place) => this.value(select.where!, place) === true)
    const isGrouped =
      select.groupBy !== null || columns.some(({ expr }) => this.folds(expr)) || (select.having !== null && this.folds(select.having))
    if (isGrouped)
      places = this.grouped(
        places,
        columns.map((column) => column.expr),
      )
    if (select.having) places = places.filter((place) => this.value(select.having!, place) === true)
    if (!isGrouped) {
      const all = places.map((place) => ({ ...place }))
      places = all.map((place) => Object.assign(place, { all }))
    }
    if (select.qualify) places = places.filter((place) => this.value(select.qualify!, place) === true)
    let found = places.map((place) => ({ place, row: columns.map(({ expr }) => this.value(expr, place)) }))
    if (select.orderBy.length) {
      const keys = new Map(found.map(({ place }) => [place, select.orderBy.map((item) => this.orderValue(item, place, columns))]))
      found = found.sort((a, b) => byKeys(keys.get(a.place)!, keys.get(b.place)!, select.orderBy))
    }
    if (select.distinct) found = [...new Map(found.map((each) => [keyOf(each.row), each])).values()]
    if (select.limitBy) {
      const { limit, offset, by } = select.limitBy
      const seen = new Map<string, number>()
      const [from, count] = [wholeNumber(offset) ?? 0, wholeNumber(limit)!]
      found = found.filter(({ place }) => {
        const key = keyOf(by.map((expr) => this.value(expr, place)))
        const before = seen.get(key) ?? 0
        seen.set(key, before + 1)
        return before >= from && before < from + count
      })
    }
    if (select.limit) {
      if (select.limit.percent || select.limit.withTies) return cannot('this limit')
      const from = wholeNumber(select.limit.offset) ?? 0
      const count = wholeNumber(select.limit.limit)
      found = found.slice(from, count === null ? undefined : from + count)
    }
    return {
      columns: columns.map((column) => column.name),
      rows: found.map(({ row }) => row),
      mayBeNull: columns.map(({ expr }) => this.mayBeNull(expr)),
      kinds: columns.map(({ expr }) => this.kind(expr)),
    }
  }

  private named(column: Expr): { name: string; expr: Expr }[] {
    if (column.kind === 'alias') return [{ name: column.name, expr: column.expr }]
    const field = (name: string): Expr => ({ kind: 'field', chain: [name], span: column.span })
    if (column.kind === 'star')
      return this.allColumns(column.table)
        .filter((name) => !column.exclude.includes(name))
        .map((name) => ({ name, expr: column.replace.find((one) => one.name === name)?.expr ?? field(name) }))
    if (column.kind === 'columns') {
      if (column.pattern === null) return column.items.flatMap((item) => this.named(item))
      const pattern = new RegExp(column.pattern)
      return this.allColumns([])
        .filter((name) => pattern.test(name))
        .map((name) => ({ name, expr: field(name) }))
    }
    return [{ name: column.kind === 'field' ? column.chain.at(-1)! : print(column), expr: column }]
  }

  /** What * stands for, where there is one source. */
  private allColumns(table: readonly string[]): readonly string[] {
    const [[name, relation] = cannot('* without a source'), ...others] = [...this.sources]
    if (others.length || table.length > 1 || (table.length === 1 && table[0] !== name)) return cannot('* of several sources')
    return relation.columns ?? cannot('* of a table')
  }

  // --- sources -----------------------------------------------------------------------------------

  private joined(source: Source): ReadonlyMap<string, Row | null>[] {
    if (source.kind !== 'join') {
      const { name, relation } = this.relation(source)
      this.sources.set(name, relation)
      return relation.rows.map((row) => new Map([[name, row]]))
    }
    const { type, strictness, on } = source
    if (!on || strictness || (type !== 'inner' && type !== 'left')) return cannot('this join')
    const left = this.joined(source.left)
    const before = new Set(this.sources.keys())
    const right = this.joined(source.right)
    const added = [...this.sources.keys()].filter((name) => !before.has(name))
    if (type === 'left') for (const name of added) this.optional.add(name)
    return left.flatMap((row) => {
      const matching = right.map((other) => new Map([...row, ...other])).filter((both) => this.joins(on, { row: both, items: new Map() }))
      return matching.length || type === 'inner' ? matching : [new Map([...row, ...added.map((name) => [name, null] as const)])]
    })
  }

  /** A join matches no nulls. */
  private joins(on: Expr, place: Place): boolean {
    if (on.kind !== 'call' || on.name !== 'equals') return cannot('this condition of a join')
    const [a, b] = on.args.map((arg) => this.value(arg, place)) as [Value, Value]
    return a !== null && b !== null && same(a, b)
  }

  private relation(source: Exclude<Source, { kind: 'join' }>): { name: string; relation: Relation } {
    if (source.kind === 'unpivot') return { name: source.alias ?? '', relation: this.unpivoted(source) }
    if (source.kind === 'querySource' && !source.sample && source.columnAliases.length === 0)
      return { name: source.alias ?? '', relation: relationOf(this.query(source.query, this.tables)) }
    if (source.kind !== 'table' || source.sample || source.columnAliases.length || source.chain.length !== 1) return cannot('this source')
    const [table] = source.chain as [string]
    const name = source.alias ?? table
    if (source.args) {
      const count = table === 'numbers' && source.args.length === 1 ? wholeNumber(source.args[0]!)! : cannot('this table function')
      const rows = Array.from({ length: count }, (_, i): Row => ({ read: () => i }))
      return {
        name,
        relation: { rows, columns: ['number'], has: (field) => field === 'number', mayBeNull: () => false, kindOf: () => 'number' },
      }
    }
    return { name, relation: this.tables[table] ?? cannot(`the table ${table}`) }
  }

  /** One more row for each of the columns. */
  private unpivoted({ source, columns, name, value, includeNulls }: Extract<Source, { kind: 'unpivot' }>): Relation {
    if (source.kind === 'join' || name.kind !== 'field' || value.kind !== 'field') return cannot('this unpivot')
    const { relation } = this.relation(source)
    const turned = columns.map((column) => {
      const [expr, as] = column.kind === 'alias' ? [column.expr, column.name] : [column, null]
      return expr.kind === 'field' && expr.chain.length === 1 ? { from: expr.chain[0]!, as: as ?? expr.chain[0]! } : cannot('this unpivot')
    })
    const kept = (relation.columns ?? cannot('unpivot of a table')).filter((column) => !turned.some(({ from }) => from === column))
    const rows = relation.rows.flatMap((row) =>
      turned.flatMap(({ from, as }) => {
        const found = row.read([from])
        return found === null && !includeNulls ? [] : [[...kept.map((column) => row.read([column])), as, asText(found)]]
      }),
    )
    const mayBeNull = [
      ...kept.map((column) => relation.mayBeNull([column])),
      false,
      includeNulls && turned.some(({ from }) => relation.mayBeNull([from])),
    ]
    const kinds: Kind[] = [...kept.map((column) => relation.kindOf([column])), 'other', 'other']
    return relationOf({ columns: [...kept, name.chain.at(-1)!, value.chain.at(-1)!].map(String), rows, mayBeNull, kinds })
  }

  /** One more row for each item of an arrayJoin. */
  private multiplied(places: Place[], exprs: readonly Expr[]): Place[] {
    const calls = new Map(
      exprs.flatMap((expr) => callsIn(expr)).flatMap((call) => (call.name === 'arrayJoin' ? [[print(call), call] as const] : [])),
    )
    return [...calls].reduce(
      (rows, [text, call]) =>
        rows.flatMap((place) => {
          const items = this.value(call.args[0]!, place)
          if (!isList(items!)) return cannot('rows of this value')
          return items.map((item) => ({ ...place, items: new Map([...place.items, [text, item]]) }))
        }),
      places,
    )
  }

  // --- groups ------------------------------------------------------------------------------------

  private grouped(places: readonly Place[], columns: readonly Expr[]): Place[] {
    const { groupBy } = this.select
    const { mode, items } = groupBy ?? { mode: 'plain', items: [] }
    if (groupBy?.withTotals || mode === 'sets' || mode === 'all') return cannot('this grouping')
    const keys = items.map((item) => this.keyExpr(item, columns))
    if (keys.some((key) => this.folds(key))) return cannot('groups by an aggregate')
    if (keys.length === 0) return [this.group(places, new Map(), places[0])]
    const sets =
      mode === 'rollup'
        ? [...keys.keys()].map((n) => keys.slice(0, keys.length - n)).concat([[]])
        : mode === 'cube'
          ? Array.from({ length: 2 ** keys.length }, (_, n) => keys.filter((_, i) => n & (1 << i)))
          : [keys]
    return sets.flatMap((set) => {
      const groups = new Map<string, Place[]>()
      for (const place of places) {
        const key = keyOf(set.map((expr) => this.value(expr, place)))
        groups.set(key, [...(groups.get(key) ?? []), place])
      }
      return [...groups.values()].map((rows) => {
        // A group is a number when one of its values is.
        const held = (expr: Expr) => {
          const all = rows.map((row) => this.value(expr, row))
          return all.find((value) => isOwn(value) && typeof value.own === 'number') ?? all[0]!
        }
        const values = new Map(keys.map((expr) => [print(expr), set.includes(expr) ? held(expr) : null]))
        return this.group(rows, values, rows[0])
      })
    })
  }

  private readonly group = (rows: readonly Place[], keys: ReadonlyMap<string, Value>, first: Place | undefined): Place => ({
    row: first?.row ?? new Map(),
    items: first?.items ?? new Map(),
    group: { rows, keys },
  })

  /** A position, an alias or an expression. */
  private keyExpr(item: Expr, columns: readonly Expr[]): Expr {
    if (item.kind === 'literal' && typeof item.value === 'number') return columns[item.value - 1] ?? cannot('this position')
    if (item.kind === 'field' && item.chain.length === 1) return this.aliases.get(item.chain[0]!) ?? item
    return item
  }

  private folds(expr: Expr): boolean {
    if (expr.kind === 'field' && expr.chain.length === 1) {
      const [name] = expr.chain as [string]
      const alias = this.open.has(name) ? undefined : this.aliases.get(name)
      if (!alias) return false
      this.open.add(name)
      const folds = this.folds(alias)
      this.open.delete(name)
      return folds
    }
    return callsIn(expr).some((call) => !call.over && aggregateNames.has(call.name))
  }

  private orderValue(item: OrderItem, place: Place, columns: readonly { expr: Expr }[]): Value {
    if (item.collate || item.fill || item.nulls === 'first') return cannot('this order')
    return this.value(
      this.keyExpr(
        item.expr,
        columns.map((column) => column.expr),
      ),
      place,
    )
  }

  // --- values ------------------------------------------------------------------------------------

  private value(expr: Expr, place: Place): Value {
    const key = place.group?.keys.get(print(expr))
    if (key !== undefined) return key
    switch (expr.kind) {
      case 'literal':
        return typeof expr.value === 'bigint' ? cannot('a big number') : expr.value
      case 'alias':
        return this.value(expr.expr, place)
      case 'array':
        return expr.items.map((item) => asText(this.value(item, place)))
      case 'field':
      case 'access':
        return this.read(expr, place)
      case 'between': {
        const [value, low, high] = [expr.expr, expr.low, expr.high].map((part) => this.value(part, place)) as [Value, Value, Value]
        const [from, to] = [expr.low, expr.high].map((part) => besideKind(value, this.kind(part)))
        const inside = this.functions.greaterOrEquals!(from!, low) === true && this.functions.lessOrEquals!(to!, high) === true
        return inside !== expr.not
      }
      case 'in':
        return this.contains(expr, place) !== expr.not
      case 'call':
        return this.call(expr, place)
    }
    return cannot(`a ${expr.kind}`)
  }

  private read(expr: Expr, place: Place): Value {
    const chain = chainOf(expr)
    const [head] = chain as [string]
    if (chain.length > 1 && this.sources.has(head)) {
      const row = place.row.get(head)
      return row ? row.read(chain.slice(1)) : place.group && place.group.rows.length === 0 ? cannot('a column of no row') : null
    }
    const alias = chain.length === 1 && !this.open.has(head) ? this.aliases.get(head) : undefined
    if (alias && !(alias.kind === 'field' && alias.chain.join('.') === head)) {
      this.open.add(head)
      try {
        return this.value(alias, place)
      } finally {
        this.open.delete(head)
      }
    }
    const owners = [...this.sources].filter(([, relation]) => relation.has(head))
    if (owners.length !== 1) return cannot(`the name ${head}`)
    const row = place.row.get(owners[0]![0])
    return row ? row.read(chain) : null
  }

  private contains({ expr, set, cohort }: Extract<Expr, { kind: 'in' }>, place: Place): boolean {
    const value = this.value(expr, place)
    if (cohort) {
      if (set.kind !== 'literal' || set.value !== 1) return cannot('this cohort')
      return this.tables.cohort!.rows.some((row) => same(row.read(['person_id']), value))
    }
    const own = this.kind(expr)
    const isIn = (item: Value, kind: Kind) => {
      const [a, b] = [besideKind(value, kind), besideKind(item, own)]
      if (a === null || b === null) return a === b
      // A text and a number are equal when their texts are.
      return typeof a !== typeof b && [a, b].every(isPlain) ? same(textOf(a), textOf(b)) : same(a, b)
    }
    if (set.kind === 'subquery') {
      const { rows, kinds } = this.query(set.query, this.tables)
      return rows.some(([item]) => isIn(item!, kinds[0]!))
    }
    if (set.kind !== 'tuple' && set.kind !== 'array') return cannot('this set')
    return set.items.some((item) => isIn(this.value(item, place), isNothing(item) ? 'own' : this.kind(item)))
  }

  private call(call: Call, place: Place): Value {
    if (call.name === 'arrayJoin') return place.items.get(print(call)) ?? null
    if (call.over) return this.window(call, call.over.kind === 'window' ? call.over : cannot('a named window'), place)
    if (aggregateNames.has(call.name)) {
      if (!place.group) return cannot('an aggregate of no group')
      return this.aggregated(call, place.group.rows)
    }
    if (call.params || call.filter || call.orderBy.length || call.distinct) return cannot(`the form of ${call.name}`)
    const apply = this.functions[call.name] ?? cannot(`the function ${call.name}`)
    const values = call.args.map((arg) => this.value(arg, place))
    if (branchesOf(call).length) return apply(...values.map((value) => besideKind(value, this.kind(call))))
    if (!isComparison(call.name) || call.args.some(isNothing)) return apply(...values)
    const [a, b] = call.args.map((arg) => this.kind(arg)) as [Kind, Kind]
    const [left, right] = [besideKind(values[0]!, b), besideKind(values[1]!, a)]
    if (typeof left !== typeof right && [left, right].every(isPlain)) return cannot('a comparison of two types')
    return apply(left, right)
  }

  private aggregated(call: Call, rows: readonly Place[]): Value {
    if (call.filter || call.orderBy.length || call.args.some((arg) => arg.kind === 'star')) return cannot(`the form of ${call.name}`)
    return aggregate(call.name, {
      rows: rows.map((row) => call.args.map((arg) => this.value(arg, row))),
      params: (call.params ?? []).map((param) => this.value(param, { row: new Map(), items: new Map() })),
      isDistinct: call.distinct,
      mayBeNull: () => call.args.some((arg) => this.mayBeNull(arg)),
    })
  }

  // --- windows -----------------------------------------------------------------------------------

  private window(call: Call, { partitionBy, orderBy, frame }: WindowSpec, place: Place): Value {
    if (!place.all) return cannot('a window over groups')
    const partition = (each: Place) => keyOf(partitionBy.map((expr) => this.value(expr, each)))
    const own = partition(place)
    const keys = (each: Place) => orderBy.map((item) => this.value(item.expr, each))
    const rows = place.all.filter((each) => partition(each) === own).sort((a, b) => byKeys(keys(a), keys(b), orderBy))
    const at = rows.indexOf(place)
    const isPeer = (i: number) => byKeys(keys(rows[i]!), keys(place), orderBy) === 0
    const first = rows.findIndex((_, i) => isPeer(i))
    if (call.name === 'row_number') return at + 1
    if (call.name === 'rank') return first + 1
    if (call.name === 'lag') return at === 0 ? null : this.value(call.args[0]!, rows[at - 1]!)
    const bound = (edge: NonNullable<typeof frame>['start'] | null): number => {
      if (!edge || edge.type === 'current row') return at
      if (edge.type === 'unbounded preceding') return 0
      if (edge.type === 'unbounded following') return rows.length - 1
      return at + (edge.type === 'preceding' ? -1 : 1) * wholeNumber(edge.offset)!
    }
    if (frame?.unit === 'range') return cannot('a frame by range')
    const last = rows.findLastIndex((_, i) => isPeer(i))
    const [from, to] = frame ? [bound(frame.start), bound(frame.end)] : orderBy.length ? [0, last] : [0, rows.length - 1]
    return this.aggregated({ ...call, over: null }, rows.slice(Math.max(0, from), to + 1))
  }

  // --- kinds of expressions ----------------------------------------------------------------------

  private kind(expr: Expr): Kind {
    switch (expr.kind) {
      case 'literal':
        return typeof expr.value === 'number' ? 'number' : typeof expr.value === 'boolean' ? 'boolean' : 'other'
      case 'alias':
        return this.kind(expr.expr)
      case 'field':
      case 'access': {
        const chain = chainOf(expr)
        const [head] = chain as [string]
        if (chain.length > 1 && this.sources.has(head)) return this.sources.get(head)!.kindOf(chain.slice(1))
        const alias = chain.length === 1 && !this.open.has(head) ? this.aliases.get(head) : undefined
        if (alias && !(alias.kind === 'field' && alias.chain.join('.') === head)) {
          this.open.add(head)
          const found = this.kind(alias)
          this.open.delete(head)
          return found
        }
        return [...this.sources.values()].find((relation) => relation.has(head))?.kindOf(chain) ?? 'other'
      }
      case 'call': {
        const { name, args } = expr
        const branches = branchesOf(expr)
        if (branches.length) return together(branches.filter((arg) => !isNothing(arg)).map((arg) => this.kind(arg)))
        if (['min', 'max', 'any', 'argMax', 'lag', 'first_value'].includes(name) && args.length > 0) return this.kind(args[0]!)
        return numeric.has(name) ? 'number' : isComparison(name) ? 'boolean' : 'other'
      }
    }
    return 'other'
  }

  // --- what may be null --------------------------------------------------------------------------

  private mayBeNull(expr: Expr): boolean {
    switch (expr.kind) {
      case 'literal':
        return expr.value === null
      case 'alias':
        return this.mayBeNull(expr.expr)
      case 'in':
      case 'between':
      case 'array':
        return false
      case 'field':
      case 'access': {
        const chain = chainOf(expr)
        const [head] = chain as [string]
        if (chain.length > 1 && this.sources.has(head)) return this.optional.has(head) || this.sources.get(head)!.mayBeNull(chain.slice(1))
        const alias = chain.length === 1 && !this.open.has(head) ? this.aliases.get(head) : undefined
        if (alias && !(alias.kind === 'field' && alias.chain.join('.') === head)) {
          this.open.add(head)
          const found = this.mayBeNull(alias)
          this.open.delete(head)
          return found
        }
        const owner = [...this.sources].find(([, relation]) => relation.has(head)) ?? cannot(`the name ${head}`)
        return this.optional.has(owner[0]) || owner[1].mayBeNull(chain)
      }
      case 'call': {
        const { name, args } = expr
        if (['count', 'uniq', 'countIf', 'concat', 'row_number', 'rank', 'toFloat'].includes(name)) return name === 'toFloat'
        if (this.functions[name] && typeof this.functions[name]!(null, null) === 'boolean') return false
        if (name === 'lag') return true
        if (name === 'coalesce' || name === 'ifNull') return args.every((arg) => this.mayBeNull(arg))
        if (name === 'if') return args.slice(1).some((arg) => this.mayBeNull(arg))
        return args.some((arg) => this.mayBeNull(arg))
      }
    }
    return cannot(`a ${expr.kind}`)
  }
}

/** `e.properties.list[1]` as the chain of its steps. */
function chainOf(expr: Expr): (string | number)[] {
  if (expr.kind === 'field') return [...expr.chain]
  if (expr.kind === 'access' && expr.index.kind === 'literal' && !expr.nullish)
    return [...chainOf(expr.object), expr.index.value as string | number]
  return cannot('this access')
}

/** Calls of an expression, those of subqueries left out. */
function callsIn(node: unknown): Call[] {
  if (Array.isArray(node)) return node.flatMap(callsIn)
  if (typeof node !== 'object' || node === null || !('kind' in node) || node.kind === 'subquery') return []
  const inner = Object.entries(node).flatMap(([name, value]) => (name === 'span' ? [] : callsIn(value)))
  return node.kind === 'call' ? [node as unknown as Call, ...inner] : inner
}

function byKeys(a: readonly Value[], b: readonly Value[], items: readonly OrderItem[]): number {
  for (const [i, item] of items.entries()) {
    const order = inOrder(a[i]!, b[i]!, item.descending)
    if (order !== 0) return order
  }
  return 0
}
