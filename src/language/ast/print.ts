import { assertNever } from '../../lib/assert-never.ts'
import type {
  Access,
  Call,
  Cte,
  Expr,
  FrameBound,
  GroupBy,
  In,
  JoinSource,
  Limit,
  Literal,
  OrderItem,
  Query,
  Sample,
  Select,
  SetQuery,
  Source,
  Star,
  WindowSpec,
} from './nodes.ts'
import { printFunctionName, printName, printNumber, printPart, printString } from './words.ts'

// Prints a tree in the query language. Keywords are in upper case, operators are calls: `1 + 1` is printed as `plus(1, 1)`.
// Parsing the text gives the same tree, except for positions.

type Printable = Query | Expr | OrderItem

export function print(node: Printable): string {
  switch (node.kind) {
    case 'select':
    case 'set':
      return query(node)
    case 'orderItem':
      return orderItem(node)
    default:
      return expr(node)
  }
}

const list = <N>(nodes: readonly N[], one: (node: N) => string): string => nodes.map(one).join(', ')
/** Joins the parts of a clause with spaces. Parts may be missing. */
const words = (...parts: readonly (string | false | null | undefined)[]): string => parts.filter(Boolean).join(' ')
const exprs = (nodes: readonly Expr[]) => list(nodes, expr)
const names = (items: readonly string[]) => list(items, printName)
const chain = ([first, ...rest]: readonly string[]) => [printName(first ?? ''), ...rest.map(printPart)].join('.')

// expressions

function expr(node: Expr): string {
  switch (node.kind) {
    case 'literal':
      return literal(node)
    case 'field':
      return chain(node.chain)
    case 'access':
      return access(node)
    case 'call':
      return call(node)
    case 'cast':
      return `${node.isTry ? 'TRY_CAST' : 'CAST'}(${plain(node.expr)} AS ${node.type})`
    case 'lambda':
      return `${node.params.length === 1 ? printName(node.params[0]!) : `(${names(node.params)})`} -> ${plain(node.body)}`
    case 'array':
      return `[${exprs(node.items)}]`
    case 'tuple':
      return node.items.length === 1 ? `(${expr(node.items[0]!)},)` : `(${exprs(node.items)})`
    case 'dict':
      return `{${list(node.entries, (entry) => `${plain(entry.key)}: ${plain(entry.value)}`)}}`
    case 'star':
      return star(node)
    case 'columns':
      return `COLUMNS(${node.pattern === null ? exprs(node.items) : printString(node.pattern)})`
    case 'placeholder':
      return `{${node.chain.map(printPart).join('.')}}`
    case 'alias':
      return `${plain(node.expr)} AS ${printName(node.name)}`
    case 'between':
      return `${tight(node.expr)} ${node.not ? 'NOT ' : ''}BETWEEN ${tight(node.low)} AND ${tight(node.high)}`
    case 'in':
      return `${tight(node.expr)} ${node.not ? 'NOT ' : ''}IN ${node.cohort ? `COHORT ${tight(node.set)}` : membership(node)}`
    case 'subquery':
      return `(${query(node.query)})`
    case 'namedArgument':
      return `${printName(node.name)} := ${plain(node.value)}`
    case 'positional':
      return `#${node.index}`
    case 'tag': {
      const name = printPart(node.name)
      const start = [name, ...node.attributes.map((attribute, i) => `${printPart(attribute)}={${plain(node.values[i]!)}}`)].join(' ')
      return node.hasChildren ? `<${start}></${name}>` : `<${start} />`
    }
    default:
      return assertNever(node)
  }
}

/** Prints an expression where no alias is allowed. */
const plain = (node: Expr): string => (node.kind === 'alias' ? `(${expr(node)})` : expr(node))

const isNegative = (node: Literal) =>
  (typeof node.value === 'bigint' && node.value < 0n) || (typeof node.value === 'number' && (node.value < 0 || Object.is(node.value, -0)))
const looseKinds: ReadonlySet<Expr['kind']> = new Set(['alias', 'lambda', 'between', 'in', 'star', 'positional', 'tag', 'namedArgument'])
/** `not(x)` would be parsed as an operator followed by parentheses. */
const isLoose = (node: Expr) =>
  looseKinds.has(node.kind) || (node.kind === 'literal' && isNegative(node)) || (node.kind === 'call' && node.name === 'not')
/** Prints an operand: an expression before or after an operator. */
const tight = (node: Expr): string => (isLoose(node) ? `(${expr(node)})` : expr(node))

function access({ object, index, dotted, nullish }: Access): string {
  const name = dotted && index.kind === 'literal' ? elementName(index) : null
  if (name === null) return `${tight(object)}${nullish ? '?.' : ''}[${plain(index)}]`
  // `1.1` would be parsed as a number, and `a.b` as one name of two parts.
  const isNamed = object.kind === 'literal' || (object.kind === 'field' && index.kind === 'literal' && index.type === 'string' && !nullish)
  return `${isNamed ? `(${expr(object)})` : tight(object)}${nullish ? '?.' : '.'}${name}`
}
/** Expressions that may be followed by a dot. */
function elementName(index: Literal): string | null {
  if (index.type === 'string') return printPart(String(index.value))
  return index.type === 'int' && !isNegative(index) ? printNumber(index.value as number | bigint, 'int') : null
}

function literal(node: Literal): string {
  switch (node.type) {
    case 'null':
      return 'NULL'
    case 'bool':
      return node.value ? 'true' : 'false'
    case 'string':
      return printString(String(node.value))
    case 'int':
    case 'float':
      return printNumber(node.value as number | bigint, node.type)
    default:
      return assertNever(node.type)
  }
}

/** One member in parentheses is a set of one, unless the member itself could be a set. */
const setKinds: ReadonlySet<Expr['kind']> = new Set(['array', 'tuple', 'placeholder', 'subquery'])
function membership({ set }: In): string {
  if (set.kind === 'tuple') return set.items.length === 1 && !setKinds.has(set.items[0]!.kind) ? `(${exprs(set.items)})` : expr(set)
  return expr(set)
}

function call(node: Call): string {
  const args = words(node.distinct && 'DISTINCT', exprs(node.args), node.orderBy.length > 0 && `ORDER BY ${list(node.orderBy, orderItem)}`)
  return words(
    `${printFunctionName(node.name)}${node.params ? `(${exprs(node.params)})` : ''}(${args})`,
    node.filter && `FILTER (WHERE ${plain(node.filter)})`,
    node.ignoreNulls && 'IGNORE NULLS',
    node.over && `OVER ${node.over.kind === 'window' ? window(node.over) : printName(node.over.name)}`,
  )
}

const star = (node: Star): string =>
  words(
    node.table.length > 0 ? `${chain(node.table)}.*` : '*',
    node.exclude.length > 0 && `EXCLUDE (${names(node.exclude)})`,
    node.replace.length > 0 && `REPLACE (${exprs(node.replace)})`,
  )

const orderItem = (item: OrderItem): string =>
  words(
    expr(item.expr),
    item.descending && 'DESC',
    item.nulls && `NULLS ${item.nulls.toUpperCase()}`,
    item.collate !== null && `COLLATE ${printString(item.collate)}`,
    item.fill && 'WITH FILL',
    item.fill?.from && `FROM ${plain(item.fill.from)}`,
    item.fill?.to && `TO ${plain(item.fill.to)}`,
    item.fill?.step && `STEP ${plain(item.fill.step)}`,
  )
const orderBy = (items: readonly OrderItem[]) => items.length > 0 && `ORDER BY ${list(items, orderItem)}`

function window({ partitionBy, orderBy: order, frame }: WindowSpec): string {
  const bounds = frame && (frame.end ? `BETWEEN ${bound(frame.start)} AND ${bound(frame.end)}` : bound(frame.start))
  return `(${words(
    partitionBy.length > 0 && `PARTITION BY ${exprs(partitionBy)}`,
    orderBy(order),
    frame && `${frame.unit.toUpperCase()} ${bounds}`,
  )})`
}

const bound = (node: FrameBound): string => words(node.offset && tight(node.offset), node.type.toUpperCase())

// queries

const query = (node: Query): string => (node.kind === 'select' ? select(node) : setQuery(node))

const ctes = (node: Query): string | false => node.with.length > 0 && `WITH ${node.recursive ? 'RECURSIVE ' : ''}${list(node.with, cte)}`

function cte(node: Cte): string {
  const { body } = node
  if (body.kind !== 'select' && body.kind !== 'set') return `${plain(body)} AS ${printName(node.name)}`
  return words(
    `${printName(node.name)}${node.columns.length > 0 ? `(${names(node.columns)})` : ''}`,
    node.usingKey.length > 0 && `USING KEY (${names(node.usingKey)})`,
    'AS',
    node.materialized !== null && (node.materialized ? 'MATERIALIZED' : 'NOT MATERIALIZED'),
    `(${query(body)})`,
  )
}

function select(node: Select): string {
  return words(
    ctes(node),
    'SELECT',
    node.distinct && 'DISTINCT',
    node.distinctOn.length > 0 && `ON (${exprs(node.distinctOn)})`,
    exprs(node.columns),
    node.from && `FROM ${source(node.from)}`,
    node.arrayJoin && `${node.arrayJoin.left ? 'LEFT ' : ''}ARRAY JOIN ${exprs(node.arrayJoin.items)}`,
    node.prewhere && `PREWHERE ${plain(node.prewhere)}`,
    node.where && `WHERE ${plain(node.where)}`,
    node.groupBy && groupBy(node.groupBy),
    node.having && `HAVING ${plain(node.having)}`,
    node.qualify && `QUALIFY ${plain(node.qualify)}`,
    node.windows.length > 0 && `WINDOW ${list(node.windows, (w) => `${printName(w.name)} AS ${window(w.window)}`)}`,
    node.orderByAll ? 'ORDER BY ALL' : orderBy(node.orderBy),
    node.limitBy &&
      words(
        `LIMIT ${plain(node.limitBy.limit)}`,
        node.limitBy.offset && `OFFSET ${plain(node.limitBy.offset)}`,
        `BY ${exprs(node.limitBy.by)}`,
      ),
    node.limit && limit(node.limit),
    node.settings.length > 0 && `SETTINGS ${list(node.settings, (s) => `${printName(s.name)} = ${plain(s.value)}`)}`,
  )
}

const limit = (node: Limit): string =>
  words(
    node.limit && `LIMIT ${plain(node.limit)}`,
    node.percent && 'PERCENT',
    node.withTies && 'WITH TIES',
    node.offset && `OFFSET ${plain(node.offset)}`,
  )

function groupBy(node: GroupBy): string {
  const totals = node.withTotals ? ' WITH TOTALS' : ''
  switch (node.mode) {
    case 'plain':
      return `GROUP BY ${exprs(node.items)}${totals}`
    case 'all':
      return `GROUP BY ALL${totals}`
    case 'cube':
    case 'rollup':
      return `GROUP BY ${node.mode.toUpperCase()}(${exprs(node.items)})${totals}`
    case 'sets':
      return `GROUP BY GROUPING SETS (${list(node.sets, (set) => `(${exprs(set)})`)})${totals}`
    default:
      return assertNever(node.mode)
  }
}

/** A bare SELECT needs no parentheses. Its own ORDER BY and LIMIT would be parsed as those of the set. */
function setQuery(node: SetQuery): string {
  const isBare = (side: Query) => side.with.length === 0 && side.orderBy.length === 0 && side.limit === null
  const left =
    isBare(node.left) && (node.left.kind === 'select' || node.op !== 'intersect' || node.left.op === 'intersect')
      ? query(node.left)
      : `(${query(node.left)})`
  const right = isBare(node.right) && node.right.kind === 'select' ? query(node.right) : `(${query(node.right)})`
  return words(
    ctes(node),
    left,
    node.op.toUpperCase(),
    node.all ? 'ALL' : node.op === 'union' && 'DISTINCT',
    node.byName && 'BY NAME',
    right,
    orderBy(node.orderBy),
    node.limit && limit(node.limit),
  )
}

// sources

function source(node: Source): string {
  switch (node.kind) {
    case 'table':
      return words(
        `${chain(node.chain)}${node.args ? `(${exprs(node.args)})` : ''}`,
        sourceAlias(node.alias, node.columnAliases),
        node.final && 'FINAL',
        node.sample && sample(node.sample),
      )
    case 'querySource':
      return words(
        node.lateral && 'LATERAL',
        `(${query(node.query)})`,
        sourceAlias(node.alias, node.columnAliases),
        node.sample && sample(node.sample),
      )
    case 'values':
      return words(`(VALUES ${list(node.rows, (row) => `(${exprs(row)})`)})`, sourceAlias(node.alias, node.columnAliases))
    case 'catalog':
      return words(node.described ? `(DESCRIBE ${source(node.described)})` : '(SHOW TABLES)', sourceAlias(node.alias))
    case 'exprSource':
      return words(expr(node.expr), sourceAlias(node.alias))
    case 'join':
      return join(node)
    case 'pivot': {
      const columns = node.columns.map((column) => `${tight(column.expr)} IN (${exprs(column.values)})`).join(' ')
      const groups = node.groupBy.length > 0 && `GROUP BY ${exprs(node.groupBy)}`
      return words(source(node.source), `PIVOT (${words(exprs(node.aggregates), 'FOR', columns, groups)})`, sourceAlias(node.alias))
    }
    case 'unpivot': {
      const turned = `(${plain(node.value)} FOR ${tight(node.name)} IN (${exprs(node.columns)}))`
      return words(source(node.source), 'UNPIVOT', node.includeNulls && 'INCLUDE NULLS', turned, sourceAlias(node.alias))
    }
    default:
      return assertNever(node)
  }
}

const sourceAlias = (alias: string | null, columns: readonly string[] = []) =>
  alias !== null && `AS ${printName(alias)}${columns.length > 0 ? `(${names(columns)})` : ''}`

const sample = (node: Sample): string =>
  words('SAMPLE', plain(node.size), node.percent && 'PERCENT', node.offset && `OFFSET ${plain(node.offset)}`)

function join(node: JoinSource): string {
  const isTree = node.right.kind === 'join' || node.right.kind === 'pivot' || node.right.kind === 'unpivot'
  return words(
    source(node.left),
    node.type !== 'inner' && node.type.toUpperCase(),
    node.strictness?.toUpperCase(),
    'JOIN',
    isTree ? `(${source(node.right)})` : source(node.right),
    node.on && `ON ${plain(node.on)}`,
    node.using.length > 0 && `USING (${exprs(node.using)})`,
  )
}
